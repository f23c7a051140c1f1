// The table of items: only the rows in view exist, whatever the number of items.

import { useEffect, useRef, useState } from "preact/hooks";
import { Field, Select } from "./parts.tsx";
import { rootFontSize } from "../charts/theme.ts";
import { FILTERS, fixed, percent, SORTS, text } from "../text.ts";
import * as state from "../state.ts";
import { openItem, setQuery, showRows, step } from "../actions.ts";
import type { ItemRow, ItemSort } from "../worker/protocol.ts";

const entries = <K extends string>(names: Record<K, string>): [K, string][] => Object.entries(names) as [K, string][];

export function ItemsView() {
  const section = useRef<HTMLElement>(null);
  const asked = state.itemsAsked.value;
  useEffect(() => {
    if (asked > 0) section.current?.scrollIntoView();
  }, [asked]);
  if (!state.hasItems.value) return null;
  return (
    <section ref={section} class="report-section" id="report-items" aria-labelledby="report-items-heading">
      <h2 id="report-items-heading">{text.items.heading}</h2>
      <Toolbar />
      <Table />
    </section>
  );
}

function Toolbar() {
  const words = text.items;
  const { value: query } = state.query;
  const categories = state.report.value?.breakdown?.categories.map(({ name }) => name) ?? [];
  const chosen = query.categories?.length === 1 ? (query.categories[0] ?? "") : "";
  return (
    <div class="toolbar">
      <Field label={words.search}>
        <input type="search" value={query.search} onInput={({ currentTarget }) => setQuery({ search: currentTarget.value })} />
      </Field>
      <Select label={words.filter} value={query.filter} choices={entries(FILTERS)} onChange={(filter) => setQuery({ filter })} />
      {categories.length > 1 && (
        <Select
          label={words.category}
          value={chosen}
          choices={[["", query.categories !== null && chosen === "" ? words.categories(query.categories.length) : words.allCategories], ...categories.map((name) => [name, name] as const)]}
          onChange={(name) => setQuery({ categories: name === "" ? null : [name] })}
        />
      )}
      <Select label={words.sort} value={query.sort} choices={entries(SORTS)} onChange={(sort) => setQuery({ sort, descending: sort === "confidence" || sort === "margin" })} />
      <button type="button" class="quiet" aria-pressed={query.descending} onClick={() => setQuery({ descending: !query.descending })}>
        {query.descending ? words.descending : words.ascending}
      </button>
      <ConfidenceRange />
      <Chips />
      <p class="hint" role="status">
        {words.found(state.found.value.length, (state.run.value?.n_items ?? 0) + (state.run.value?.n_failed ?? 0))}
      </p>
    </div>
  );
}

function ConfidenceRange() {
  if (state.report.value?.calibration == null) return null;
  const { min, max } = state.query.value.confidence ?? { min: 0, max: 1 };
  const set = (next: { min: number; max: number }): void => setQuery({ confidence: next.min <= 0 && next.max >= 1 ? null : next });
  const field = (label: string, value: number, change: (value: number) => void) => (
    <Field label={label}>
      <input type="number" min={0} max={100} step={1} value={Math.round(100 * value)} onChange={({ currentTarget }) => !Number.isNaN(currentTarget.valueAsNumber) && change(currentTarget.valueAsNumber / 100)} />
    </Field>
  );
  return (
    <span class="pair">
      {field(text.items.from, min, (value) => set({ min: value, max }))}
      {field(text.items.to, max, (value) => set({ min, max: value }))}
    </span>
  );
}

function Chips() {
  const { bin, categories } = state.query.value;
  const cut = bin === null ? undefined : state.report.value?.calibration?.bins[bin];
  return (
    <>
      {cut !== undefined && (
        <button type="button" class="chip" onClick={() => setQuery({ bin: null })}>
          {text.items.bin(cut)} ×
        </button>
      )}
      {categories !== null && (
        <button type="button" class="chip" onClick={() => setQuery({ categories: null })}>
          {categories.length === 1 ? categories[0] : text.items.categories(categories.length)} ×
        </button>
      )}
    </>
  );
}

/** Height of a row in rem, as in the style sheet: four choices and their padding. */
const ROW_REM = 4.75;
/** Rows beyond the edges, so that a slow scroll never shows a gap. */
const MARGIN = 6;

function Table() {
  const { columns } = text.items;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [rowHeight, setRowHeight] = useState(16 * ROW_REM);
  const found = state.found.value;
  const first = Math.max(0, Math.floor(view.top / rowHeight) - MARGIN);
  const last = Math.min(found.length, Math.ceil((view.top + view.height) / rowHeight) + MARGIN);
  const age = state.rowsAge.value;
  const cursor = state.cursor.value;

  useEffect(() => showRows([...found.subarray(first, last)]), [found, first, last, age]);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      setView(({ top }) => ({ top, height: element.clientHeight }));
      setRowHeight(ROW_REM * rootFontSize());
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // The cursor stays in view.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const top = cursor * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
  }, [cursor]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -found.length, End: found.length }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      step(by);
    } else if (event.key === "Enter") {
      const index = found[cursor];
      if (index !== undefined) void openItem(index);
    }
  };

  return (
    <div
      ref={box}
      class="items"
      role="grid"
      aria-label={text.items.grid}
      aria-rowcount={found.length + 1}
      aria-activedescendant={found.length > 0 ? `item-${found[cursor]}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget }) => setView({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })}
    >
      <div class="item-row item-head" role="row" aria-rowindex={1}>
        <Head name="line" label={columns.line} />
        <Head name="question" label={columns.question} />
        <span role="columnheader" class="choice">
          <span class="choice-head">{columns.choices}</span>
          <span class="choice-number">{columns.loglikelihood}</span>
          <span class="choice-number">{columns.perChar}</span>
        </span>
        <Head name="confidence" label={columns.confidence} />
        <Head name="correct" label={columns.correct} />
      </div>
      <div class="item-space" role="rowgroup" style={{ height: `${found.length * rowHeight}px` }}>
        {[...found.subarray(first, last)].map((index, i) => (
          <Row key={index} index={index} top={(first + i) * rowHeight} place={first + i} row={state.rows.value.get(index)} isCurrent={first + i === cursor} />
        ))}
      </div>
    </div>
  );
}

function Head({ name, label }: { name: ItemSort; label: string }) {
  const { sort, descending } = state.query.value;
  const direction = sort !== name ? "none" : descending ? "descending" : "ascending";
  return (
    <span role="columnheader" aria-sort={direction}>
      <button type="button" class="sort" tabIndex={-1} onClick={() => setQuery({ sort: name, descending: sort === name && !descending })}>
        {label}
        <span aria-hidden="true">{direction === "none" ? "" : descending ? " ↓" : " ↑"}</span>
      </button>
    </span>
  );
}

function Row({ index, top, place, row, isCurrent }: { index: number; top: number; place: number; row: ItemRow | undefined; isCurrent: boolean }) {
  return (
    <div
      id={`item-${index}`}
      class={`item-row${isCurrent ? " current" : ""}`}
      role="row"
      aria-rowindex={place + 2}
      aria-selected={isCurrent}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => void openItem(index)}
    >
      {row === undefined ? (
        <span role="gridcell" class="hint">
          …
        </span>
      ) : (
        <Cells row={row} />
      )}
    </div>
  );
}

function Cells({ row }: { row: ItemRow }) {
  const words = text.items;
  return (
    <>
      <span role="gridcell" class="item-line">
        {row.line}
      </span>
      <span role="gridcell" class="item-question">
        <span class="clamp">{row.error ?? row.question}</span>
        {row.category !== null && <span class="hint">{row.category}</span>}
      </span>
      <span role="gridcell" class="item-choices">
        {row.choices.slice(0, 4).map((choice) => (
          <span key={choice.letter} class={`choice${choice.is_gold ? " gold" : ""}${choice.is_pick ? " pick" : ""}`}>
            <span class="mark" aria-label={choice.is_gold ? words.right : choice.is_pick ? words.picked : ""}>
              {choice.is_pick ? "▸" : ""}
              {choice.is_gold ? "✓" : ""}
            </span>
            <span class="choice-text">{choice.text}</span>
            <span class="choice-number">{fixed(choice.loglikelihood, 2)}</span>
            <span class="choice-number">{choice.per_char === null ? "–" : fixed(choice.per_char, 2)}</span>
          </span>
        ))}
      </span>
      <span role="gridcell" class="item-sure">
        {row.confidence === null ? "–" : percent(row.confidence, 0)}
      </span>
      <span role="gridcell" class={`item-result ${row.error !== null ? "failed" : row.is_correct === true ? "is-right" : row.is_correct === false ? "is-wrong" : ""}`}>
        {row.error !== null ? words.failed : row.is_correct === null ? "–" : row.is_correct ? words.right : words.wrong}
        <span class="hint">{[...(row.is_tied ? [words.tie] : []), ...(row.rules_disagree ? [words.part] : []), ...(row.is_flagged ? [words.flag] : [])].join(" · ")}</span>
      </span>
    </>
  );
}
