// The table of items: which of them a query wants, in which order, and what their rows show.
//
// In: the items of a run and the module's columns (one entry per scored item, in data order). Out: indices and rows. Failed docs
// have no columns; they come at the end of every order.

import type { ItemQuery, ItemRow } from "./protocol.ts";
import type { FailedItem, ItemColumns, ItemScore, Rule } from "../types.ts";

export interface ItemStore {
  items: ReadonlyMap<number, ItemScore>;
  failed: ReadonlyMap<number, FailedItem>;
}

const letterOf = (position: number): string => (position < 26 ? String.fromCharCode(65 + position) : String(position + 1));

export function find(query: ItemQuery, store: ItemStore, columns: ItemColumns): Uint32Array {
  const needle = query.search.trim().toLowerCase();
  const categories = query.categories === null ? null : new Set(query.categories);
  const found: number[] = [];
  columns.index.forEach((index, i) => {
    const item = store.items.get(index);
    if (item === undefined || !passes(query, columns, item, i)) return;
    if (categories !== null && !categories.has(item.category ?? item.task)) return;
    if (needle !== "" && !matches(item, needle)) return;
    found.push(i);
  });
  const key = sortKey(query, store, columns);
  if (key !== null) {
    const keys = new Map(found.map((i) => [i, key(i)]));
    // Equal keys stay in data order; what has no key comes last in both directions.
    found.sort((a, b) => compare(keys.get(a) ?? null, keys.get(b) ?? null, query.descending ? -1 : 1) || a - b);
  } else if (query.descending) {
    found.reverse();
  }
  const order = found.map((i) => columns.index[i] ?? 0);
  const wantsFailed = (query.filter === "all" || query.filter === "failed") && query.bin === null && query.confidence === null && categories === null && needle === "";
  return Uint32Array.from(wantsFailed ? [...order, ...[...store.failed.keys()].sort((a, b) => a - b)] : order);
}

function passes(query: ItemQuery, columns: ItemColumns, item: ItemScore, i: number): boolean {
  if (query.bin !== null && columns.bin[i] !== query.bin) return false;
  const confidence = columns.confidence[i] ?? null;
  if (query.confidence !== null && (confidence === null || confidence < query.confidence.min || confidence > query.confidence.max)) return false;
  switch (query.filter) {
    case "all":
      return true;
    case "right":
      return columns.is_correct[i] === true;
    case "wrong":
      return columns.is_correct[i] === false;
    case "tied":
      return columns.is_tied[i] === true;
    case "disagree":
      return columns.rules_disagree[i] === true;
    case "flagged":
      return item.flags.length > 0;
    case "failed":
      return false;
  }
}

const matches = (item: ItemScore, needle: string): boolean =>
  item.question.toLowerCase().includes(needle) ||
  (item.category ?? "").toLowerCase().includes(needle) ||
  item.choices.some(({ text }) => text.toLowerCase().includes(needle));

type Key = string | number | null;

function sortKey(query: ItemQuery, { items }: ItemStore, columns: ItemColumns): ((i: number) => Key) | null {
  const item = (i: number): ItemScore | undefined => items.get(columns.index[i] ?? -1);
  switch (query.sort) {
    case "line":
      return null;
    case "question":
      return (i) => item(i)?.question ?? null;
    case "category":
      return (i) => item(i)?.category ?? item(i)?.task ?? null;
    case "confidence":
      return (i) => columns.confidence[i] ?? null;
    case "margin":
      return (i) => columns.margin[i] ?? null;
    case "correct":
      return (i) => (columns.is_correct[i] === null ? null : Number(columns.is_correct[i]));
  }
}

function compare(a: Key, b: Key, direction: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -direction : a > b ? direction : 0;
}

export function rowsOf(indices: readonly number[], store: ItemStore, columns: ItemColumns, rule: Rule): ItemRow[] {
  return indices.flatMap((index) => {
    const item = store.items.get(index);
    if (item === undefined) {
      const failed = store.failed.get(index);
      return failed === undefined ? [] : [failedRow(failed)];
    }
    const i = positionOf(columns.index, index);
    const pick = item.picks.find((candidate) => candidate.rule === rule) ?? item.picks[0];
    return [
      {
        index,
        line: item.line,
        question: item.question,
        category: item.category,
        error: null,
        choices: item.choices.map((choice, position) => ({
          letter: letterOf(position),
          text: choice.text,
          loglikelihood: choice.loglikelihood,
          per_char: choice.n_chars === 0 ? null : choice.loglikelihood / choice.n_chars,
          is_gold: item.gold.includes(position),
          is_pick: pick?.pick === position,
        })),
        is_correct: columns.is_correct[i] ?? null,
        is_tied: columns.is_tied[i] ?? false,
        is_flagged: item.flags.length > 0,
        rules_disagree: columns.rules_disagree[i] ?? false,
        confidence: columns.confidence[i] ?? null,
      },
    ];
  });
}

const failedRow = ({ index, line, error }: FailedItem): ItemRow => ({
  index,
  line,
  question: "",
  category: null,
  error: error.place === null ? error.message : `${error.place}: ${error.message}`,
  choices: [],
  is_correct: null,
  is_tied: false,
  is_flagged: false,
  rules_disagree: false,
  confidence: null,
});

/** Place of a value in an ascending list. */
function positionOf(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
