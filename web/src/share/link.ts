// What a run link says: every setting, the model, the rows, and what came out. The grammar is in GRAMMAR.md.
//
// In: foreign JSON (`RUN_LINK`), or the parts of a finished run (`outcomeOf`). Out: `RunLink`, plain JSON.
// How it becomes a fragment or a file is codec.ts; whether it is true is verify.ts.

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { FailedItem, ItemScore, RunSpec, Rule, Subset } from "../types.ts";
import { fromBase64Url, packBits, toBase64Url, unpackBits } from "./bytes.ts";
import { checked, flag, integer, list, matching, nullable, number, oneOf, record, tagged, text, tuple, withDefault, type Shape } from "./shape.ts";

export const LINK_VERSION = 1;

/** A file by name, address and hash. `url` is relative to the page, or https (http on this machine only). */
export interface FileRef {
  name: string;
  url: string | null;
  n_bytes: number;
  sha256: string;
}

/** Rows as the engine read them: JSONL or CSV bytes, after parquet, zip or rows API were turned into them. */
export interface DataRef extends FileRef {
  /** Rows in the file. */
  n: number;
  /** The file itself, UTF-8, where the user asked for it to travel along. */
  rows: string | null;
}

/** [category, scored docs, right ones] */
export type CategoryCount = [string, number, number];
/** [scored docs, right ones, mean confidence], bins in rising order of confidence */
export type CalibrationBin = [number, number, number];
/** [name as lm-eval writes it, value] */
export type MetricValue = [string, number];

export interface Outcome {
  /** Docs of the run, those that failed included; unscored rows are not docs. */
  n_docs: number;
  n_unscored: number;
  /** Positions among the docs, in data order from 0, of those that failed. */
  failed: number[];
  /** The rule behind `correct`, `picks`, `categories` and `bins`; null where the docs have no choices. */
  rule: Rule | null;
  categories: CategoryCount[];
  bins: CalibrationBin[];
  metrics: MetricValue[];
  /** Bit set, one bit a doc in data order, base64url; a failed doc's bit is 0. Null where there is no right or wrong. */
  correct: string | null;
  /** Width of a pick in bits; 0: no picks. */
  pick_bits: number;
  /** Picks, `pick_bits` each, doc by doc in data order, base64url; a failed doc's pick is 0. */
  picks: string;
  /** SHA-256 over every choice's summed log-likelihood, as in results.json. */
  loglikelihood_digest: string;
}

export interface RunLink {
  v: typeof LINK_VERSION;
  engine_version: string;
  spec: RunSpec;
  model: FileRef;
  data: DataRef;
  fewshot: DataRef | null;
  outcome: Outcome;
}

// Limits. A link is at most 32 kB and a file 16 MiB, so these only keep a hostile one from costing time.
const MAX_DOCS = 1_000_000;
const MAX_TEXT = 262_144;

const LABEL = matching(/^[^\u0000-\u001F\u007F\u0085\u2028\u2029\u202A-\u202E\u2066-\u2069]*$/u, 256, "text of one line");
/** A file name: no angle brackets, no control characters, no direction marks that make it read as another name. */
const FILE_NAME = checked(LABEL, (name) => (/[<>]/.test(name) || name === "" ? `${JSON.stringify(name)} is not a file name` : null));
const SHA256 = matching(/^[0-9a-f]{64}$/, 64, "64 hexadecimal digits");
const BASE64URL = matching(/^[A-Za-z0-9_-]*$/, MAX_DOCS, "base64url");

/** An address that a page may fetch: relative and below the page's own folder, https, or http on this machine. */
export function isSourceUrl(url: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:/i.test(url)) {
    if (!URL.canParse(url)) return false;
    const parsed = new URL(url);
    if (parsed.username !== "" || parsed.password !== "") return false;
    return parsed.protocol === "https:" || (parsed.protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(parsed.hostname));
  }
  return /^[^/\\?#][^\\?#]*$/.test(url) && !url.split("/").some((part) => decodesToParent(part));
}

const decodesToParent = (part: string): boolean => part.replace(/%2e/gi, ".") === ".." || /%2f|%5c/i.test(part);

const SOURCE_URL = checked(matching(/^[\u0021-\u007E]+$/, 2048, "an address"), (url) => (isSourceUrl(url) ? null : `${JSON.stringify(url)} is not an address that this page fetches`));

const SUBSET: Shape<Subset> = tagged<"kind", Subset>("kind", {
  all: record({ kind: oneOf("all") }),
  first: record({ kind: oneOf("first"), n: integer(0, MAX_DOCS) }),
  random: record({ kind: oneOf("random"), n: integer(0, MAX_DOCS), seed: integer(0, 0xffff_ffff) }),
  per_category: record({ kind: oneOf("per_category"), n: integer(0, MAX_DOCS), seed: integer(0, 0xffff_ffff) }),
});

// A setting that a link lacks was not known to the page that wrote it: it has the value that changes nothing.
export const SPEC: Shape<RunSpec> = record<RunSpec>({
  preset: withDefault(nullable(LABEL), null),
  task_yaml: withDefault(nullable(text(MAX_TEXT)), null),
  prompt_style: withDefault(nullable(LABEL), null),
  num_fewshot: withDefault(nullable(integer(0, 1000)), null),
  fewshot_seed: withDefault(integer(0, 0xffff_ffff), 1234),
  subset: SUBSET,
  chat: withDefault(oneOf("off", "one_message", "turns"), "off"),
  system_instruction: withDefault(nullable(text(MAX_TEXT)), null),
  target_delimiter: withDefault(nullable(text(1024)), null),
  precision: withDefault(oneOf("default", "float32"), "default"),
  engine: withDefault(oneOf("auto", "own", "stock"), "auto"),
  add_bos: withDefault(oneOf("auto", "yes", "no"), "auto"),
  prefix_token_id: withDefault(nullable(integer(0, 0xffff_ffff)), null),
  max_length: withDefault(nullable(integer(1, 0xffff_ffff)), null),
  choice_shift: withDefault(integer(0, 1000), 0),
  mutual_info: withDefault(flag, false),
});

export const RULE: Shape<Rule> = oneOf("acc", "acc_norm", "acc_bytes", "acc_token", "acc_mutual_info", "acc_mutual_info_answer");

const CATEGORY: Shape<CategoryCount> = tuple(LABEL, integer(0, MAX_DOCS), integer(0, MAX_DOCS));
const BIN: Shape<CalibrationBin> = tuple(integer(0, MAX_DOCS), integer(0, MAX_DOCS), number(0, 1));
const METRIC: Shape<MetricValue> = tuple(LABEL, number(-Number.MAX_VALUE, Number.MAX_VALUE));

const FILE_FIELDS = { name: FILE_NAME, url: nullable(SOURCE_URL), n_bytes: integer(0), sha256: SHA256 };

/** Rows that travel along are hashed here, so that no later stage can take other rows for the claimed ones. */
const DATA: Shape<DataRef> = checked(record<DataRef>({ ...FILE_FIELDS, n: integer(0, MAX_DOCS), rows: nullable(text(16_777_216)) }), ({ rows, n_bytes, sha256: claimed }) => {
  if (rows === null) return null;
  const bytes = new TextEncoder().encode(rows);
  if (bytes.length !== n_bytes) return `the rows have ${bytes.length} bytes, the link says ${n_bytes}`;
  return bytesToHex(sha256(bytes)) === claimed ? null : "the rows do not have the hash that the link says";
});

const OUTCOME: Shape<Outcome> = checked(
  record<Outcome>({
    n_docs: integer(0, MAX_DOCS),
    n_unscored: integer(0, MAX_DOCS),
    failed: list(integer(0, MAX_DOCS), MAX_DOCS),
    rule: nullable(RULE),
    categories: list(CATEGORY, 1000),
    bins: list(BIN, 100),
    metrics: list(METRIC, 100),
    correct: nullable(BASE64URL),
    pick_bits: integer(0, 8),
    picks: BASE64URL,
    loglikelihood_digest: SHA256,
  }),
  contradiction,
);

/** What in an outcome cannot be true whatever was run; null where nothing is. */
function contradiction(outcome: Outcome): string | null {
  const { n_docs, failed, categories, bins, correct, pick_bits, picks } = outcome;
  if (failed.some((position, i) => position >= n_docs || position <= (failed[i - 1] ?? -1))) return "failed docs are not positions in rising order";
  for (const [name, n, nCorrect] of categories) if (nCorrect > n) return `category ${JSON.stringify(name)} has ${nCorrect} right of ${n}`;
  for (const [n, nCorrect] of bins) if (nCorrect > n) return `a calibration bin has ${nCorrect} right of ${n}`;
  if (fromBase64Url(picks)?.length !== Math.ceil((n_docs * pick_bits) / 8)) return `the picks are not ${n_docs} of ${pick_bits} bits`;
  if (correct === null) return [...categories.map(([, n]) => n), ...bins.map(([n]) => n)].some((n) => n > 0) ? "counts of right docs, but no bit set" : null;
  const bytes = fromBase64Url(correct);
  if (bytes?.length !== Math.ceil(n_docs / 8)) return `the bit set is not ${n_docs} bits long`;
  const nRight = unpackBits(bytes, 1, bytes.length * 8).reduce((sum, bit) => sum + bit, 0);
  const nScored = n_docs - failed.length;
  const inCategories = categories.reduce((sum, [, n]) => sum + n, 0);
  const rightInCategories = categories.reduce((sum, [, , n]) => sum + n, 0);
  if (nRight > nScored) return `${nRight} docs are right of ${nScored} scored`;
  if (categories.length > 0 && inCategories > nScored) return `the categories count ${inCategories} docs of ${nScored} scored`;
  if (categories.length > 0 && (inCategories === nScored ? rightInCategories !== nRight : rightInCategories > nRight)) {
    return `the categories count ${rightInCategories} right docs, the bit set ${nRight}`;
  }
  return null;
}

/** A whole run link, checked down to the last field. */
export const RUN_LINK: Shape<RunLink> = record<RunLink>({
  v: oneOf(LINK_VERSION),
  engine_version: matching(/^[\w.+-]{1,64}$/, 64, "a version"),
  spec: SPEC,
  model: record<FileRef>(FILE_FIELDS),
  data: DATA,
  fewshot: nullable(DATA),
  outcome: OUTCOME,
});

/** A name as links allow it: what `FILE_NAME` refuses becomes "_". */
export const fileNameForLink = (name: string): string =>
  name.replace(/[<>\u0000-\u001F\u007F\u0085\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, "_").slice(-256) || "_";

/** The same for a category. */
const labelForLink = (label: string): string => label.replace(/[\u0000-\u001F\u007F\u0085\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, " ").slice(0, 256);

/** What one doc came to, by the link's rule. */
export interface DocOutcome {
  is_correct: boolean | null;
  pick: number | null;
}

/** A scored doc by a rule; docs without choices are right where their continuation was greedy, a whole text is neither. */
export function docOutcome(item: ItemScore, rule: Rule | null): DocOutcome {
  const pick = item.picks.find((candidate) => candidate.rule === rule);
  if (pick !== undefined) return { is_correct: pick.is_correct, pick: pick.pick };
  return { is_correct: item.output_type === "loglikelihood" ? (item.choices[0]?.is_greedy ?? false) : null, pick: null };
}

/** The docs of an outcome in data order; null where one failed. */
export function docOutcomes(outcome: Outcome): (DocOutcome | null)[] {
  const { n_docs, correct, pick_bits } = outcome;
  const failed = new Set(outcome.failed);
  const bits = correct === null ? null : unpackBits(fromBase64Url(correct) ?? new Uint8Array(), 1, n_docs);
  const picks = pick_bits === 0 ? null : unpackBits(fromBase64Url(outcome.picks) ?? new Uint8Array(), pick_bits, n_docs);
  return Array.from({ length: n_docs }, (_, i) => (failed.has(i) ? null : { is_correct: bits === null ? null : bits[i] === 1, pick: picks?.[i] ?? null }));
}

/** The numbers of an outcome that come from the report as they are. */
export interface OutcomeNumbers {
  n_unscored: number;
  rule: Rule | null;
  categories: CategoryCount[];
  bins: CalibrationBin[];
  metrics: MetricValue[];
  loglikelihood_digest: string;
}

/** The outcome of a finished run. `items` and `failed` in any order, each index once. */
export function outcomeOf(items: readonly ItemScore[], failed: readonly FailedItem[], numbers: OutcomeNumbers): Outcome {
  const docs = inDataOrder(items, failed);
  const outcomes = docs.map((doc) => (doc.item === null ? null : docOutcome(doc.item, numbers.rule)));
  const largestPick = outcomes.reduce((largest, doc) => Math.max(largest, doc?.pick ?? -1), -1);
  const pickBits = largestPick < 0 ? 0 : Math.max(1, 32 - Math.clz32(largestPick));
  const hasCorrect = outcomes.some((doc) => doc !== null && doc.is_correct !== null);
  return {
    n_docs: docs.length,
    n_unscored: numbers.n_unscored,
    failed: outcomes.flatMap((doc, i) => (doc === null ? [i] : [])),
    rule: numbers.rule,
    categories: numbers.categories.map(([name, n, nCorrect]) => [labelForLink(name), n, nCorrect]),
    // Four decimals show a bin on a diagram; more would double the bins' share of the link.
    bins: numbers.bins.map(([n, nCorrect, confidence]) => [n, nCorrect, Number(confidence.toFixed(4))]),
    metrics: numbers.metrics.map(([name, value]) => [labelForLink(name), Number(value.toPrecision(8))]),
    correct: hasCorrect ? toBase64Url(packBits(outcomes.map((doc) => (doc?.is_correct === true ? 1 : 0)), 1)) : null,
    pick_bits: pickBits,
    picks: toBase64Url(packBits(outcomes.map((doc) => doc?.pick ?? 0), pickBits)),
    loglikelihood_digest: numbers.loglikelihood_digest,
  };
}

/** Scored and failed docs by their place in the data; `item` is null for a failed one. */
export function inDataOrder(items: readonly ItemScore[], failed: readonly FailedItem[]): { index: number; item: ItemScore | null }[] {
  const docs = [...items.map((item) => ({ index: item.index, item })), ...failed.map(({ index }) => ({ index, item: null }))];
  return docs.sort((a, b) => a.index - b.index);
}
