// All English text of the page, and how numbers are written.

import type { Aggregation, BoundaryFlag, EqualBecause, HeadlineMetric, Interval, ProtocolPart, Rule, SyntheticProfile } from "./types.ts";
import type { EvalErrorLike, ItemFilter, ItemSort } from "./worker/protocol.ts";

const grouped = new Intl.NumberFormat("en", { useGrouping: true });

/** 14 042, with thin spaces. */
export const count = (n: number): string => grouped.format(n).replaceAll(",", "\u202F");
/** 0.482 as 48.2 %. */
export const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)}\u00A0%`;
export const fixed = (value: number, digits = 3): string => (Object.is(value, -0) ? 0 : value).toFixed(digits).replace(/^-/, "\u2212");
export const percentRange = ({ low, high }: Interval): string => `${(100 * low).toFixed(1)}\u2009–\u2009${percent(high)}`;
export const range = ({ low, high }: Interval, digits = 3): string => `${fixed(low, digits)}\u2009–\u2009${fixed(high, digits)}`;
/** Four digits that matter, for values of any size. */
export const significant = (value: number): string => (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3) ? value.toExponential(2) : Number(value.toPrecision(4)).toString());
/** As p-values are written: never as zero. */
export const pValue = (p: number): string => (p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`);
/** Percentage points with their sign. */
export const points = (difference: number): string => `${difference < 0 ? "\u2212" : "+"}${Math.abs(100 * difference).toFixed(1)}`;
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

export function bytes(n: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let power = 0;
  let value = n;
  while (value >= 1000 && power < units.length - 1) {
    value /= 1000;
    power += 1;
  }
  return `${power === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)}\u00A0${units[power]}`;
}

export function parameters(n: number): string {
  if (n < 1e6) return count(n);
  return n >= 1e9 ? `${(n / 1e9).toFixed(2)}\u00A0billion` : `${(n / 1e6).toFixed(0)}\u00A0million`;
}

export function duration(seconds: number): string {
  const s = Math.round(seconds);
  if (s < 60) return `${s}\u00A0s`;
  if (s < 3600) return `${Math.floor(s / 60)}\u00A0min ${String(s % 60).padStart(2, "0")}\u00A0s`;
  return `${Math.floor(s / 3600)}\u00A0h ${String(Math.floor((s % 3600) / 60)).padStart(2, "0")}\u00A0min`;
}

export const RULES: Record<Rule, { name: string; gloss: string }> = {
  acc: { name: "acc", gloss: "picks the choice with the highest log-likelihood" },
  acc_norm: { name: "acc_norm", gloss: "log-likelihood divided by the choice's characters" },
  acc_bytes: { name: "acc_bytes", gloss: "log-likelihood divided by the choice's UTF-8 bytes" },
  acc_token: { name: "acc_token", gloss: "log-likelihood divided by the choice's tokens" },
  acc_mutual_info: { name: "acc_mutual_info", gloss: "log-likelihood minus the choice's own, without the question" },
  acc_mutual_info_answer: { name: "acc_mutual_info (Answer:)", gloss: "log-likelihood minus the choice's own after “Answer:” alone" },
};

export const METRICS: Record<HeadlineMetric, string> = {
  acc: "Accuracy",
  acc_norm: "Accuracy, normalised by characters",
  acc_bytes: "Accuracy, normalised by bytes",
  acc_token: "Accuracy, normalised by tokens",
  acc_mutual_info: "Accuracy, by mutual information",
  acc_mutual_info_answer: "Accuracy, by mutual information with “Answer:”",
  gold_probability: "Probability of the right choices",
  greedy: "Greedy accuracy",
  word_perplexity: "Word perplexity",
};

export const AGGREGATIONS: Record<Aggregation, string> = {
  micro: "micro: every doc counts once",
  macro_categories: "macro: every category counts once",
  macro_groups: "macro: every group counts once",
};

export const FLAGS: Record<BoundaryFlag, { name: string; gloss: string }> = {
  merge_across_join: { name: "merge across the join", gloss: "the tokenizer fuses the end of the context with the beginning of the continuation" },
  empty_continuation: { name: "empty continuation", gloss: "a choice has no token of its own behind the context" },
  double_space: { name: "double space", gloss: "context and continuation meet with two spaces" },
  letter_of_several_tokens: { name: "letter of several tokens", gloss: "an answer letter is more than one token" },
  truncated: { name: "truncated", gloss: "the beginning of the context was cut to fit the window" },
  trailing_whitespace: { name: "trailing whitespace", gloss: "a choice ends in whitespace, which counts as length" },
  uneven_leading_space: { name: "uneven leading space", gloss: "some choices begin with a space and others do not" },
  equal_choices: { name: "equal choices", gloss: "two choices have the same text" },
  dropped_bytes: { name: "dropped bytes", gloss: "the tokenizer has no token for some bytes of the text" },
  whitespace_moved: { name: "whitespace moved", gloss: "whitespace at the context's end was moved into the continuation" },
};

export const EQUAL_BECAUSE: Record<EqualBecause, string> = {
  equal_chars: "all choices of an item have equally many characters",
  equal_bytes: "all choices of an item have equally many bytes",
  equal_tokens: "all choices of an item have equally many tokens",
  one_byte_per_char: "every character is one byte",
};

export const PARTS: Record<ProtocolPart, string> = {
  num_fewshot: "shots",
  model: "base or instruct",
  chat_template: "chat template",
  prompt_style: "prompt style",
  metric: "metric",
  aggregation: "average",
  subset: "number of docs",
};

export const FILTERS: Record<ItemFilter, string> = {
  all: "All items",
  wrong: "Wrong",
  right: "Right",
  tied: "Tied",
  disagree: "Rules disagree",
  flagged: "Flagged at the join",
  failed: "Failed",
};

export const SORTS: Record<ItemSort, string> = {
  line: "Line",
  question: "Question",
  category: "Category",
  confidence: "Confidence",
  margin: "Margin",
  correct: "Result",
};

export const PROFILES: Record<SyntheticProfile, { name: string; lesson: string }> = {
  strong_calibrated: {
    name: "Strong and honest",
    lesson: "Right on 80 % of the items, and 80 % sure each time. Its point lies on the diagonal: this is what calibrated means.",
  },
  strong_overconfident: {
    name: "Strong but too sure",
    lesson: "Just as often right, 80 %, but 98 % sure. Same accuracy, yet the point hangs far below the diagonal: its confidence says nothing that you can rely on.",
  },
  weak_calibrated: {
    name: "Weak and honest",
    lesson: "Right on 40 % only, and it knows: 40 % sure. On the diagonal again. Calibration is not skill; it is knowing how much skill one has.",
  },
};

export const GLOSSARY = {
  accuracy: "Share of docs on which the picked choice is the right one.",
  interval: "Wilson's interval at 95 %: had the same kind of docs been drawn again and again, such intervals would hold the true value 95 times in 100.",
  stderr: "Standard error of the mean: sample standard deviation over √n.",
  chance: "What blind guessing would get: the mean of 1/K over the docs, K being a doc's number of choices.",
  chanceCorrected: "(accuracy − chance) / (1 − chance): 0 is guessing, 1 is perfect.",
  detectable: "The smallest true difference that a test at 5 % finds four times in five with this many docs.",
  micro: "Every doc counts once.",
  macro: "Every category counts once, however few docs it has.",
  ece: "Expected calibration error: docs are put into bins by confidence; in each bin the gap between mean confidence and accuracy; the mean of the gaps, weighted by docs. Σ nₘ/N · |accₘ − confₘ| (Guo et al. 2017).",
  mce: "Maximum calibration error: the largest gap of any bin.",
  brier: "Brier score over all choices: the sum of (p − gold)², 0 is perfect and 2 the worst.",
  nll: "Negative log-likelihood of the right choice among the choices, in nats; log(K) is guessing.",
  confidence: "The largest probability after a softmax over the choices' scores.",
  temperature: "A number by which the scores are divided before the softmax. Above 1 it makes the model less sure. Picks stay the same.",
  selective: "Accuracy when only the docs with the highest confidence are answered.",
  exactMatch: "Share of docs on which a right choice is what the model would have written greedily.",
  greedy: "Share of docs on which every token of the continuation is the model's first choice.",
  goldProbability: "Mean probability of the right choices among the choices.",
  calibratedEce: "With finitely many docs even a perfectly calibrated model shows some error. This is what it would show here.",
  perplexity: "exp of the mean negative log-likelihood: how many equally likely tokens the model seems to hesitate between.",
} as const;

export const text = {
  title: "evaltab",
  tagline: "Evaluate a language model in this tab. Nothing leaves your machine.",
  intro:
    "Pick a model and a task, press Run. The model reads every question here in the browser, says how probable it finds each answer, and the report grows below: how often it is right, how sure that number is, and whether the model knows when it does not know.",
  skip: "Skip to the report",
  sent: (n: number) => `${bytes(n)} of your data have left this tab.`,
  model: {
    heading: "Model",
    served: "Model",
    file: "Model file",
    drop: "or drop a GGUF file here",
    url: "Model address",
    load: "Load now",
    open: "Open",
    split: (n: number) => `a model in ${n} files is not read; join them first with llama-gguf-split --merge`,
    loaded: (name: string) => `${name} is loaded`,
    downloading: "Downloading",
    loading: "Loading",
    cancel: "Stop the download",
    whyMemory: {
      quota: "in memory only: the browser has no room for it, so the next visit fetches it again",
      no_storage: "in memory only: this browser window keeps no files, so the next visit fetches it again",
      storage_failed: "in memory only: the browser could not write it down, so the next visit fetches it again",
    },
  },
  task: {
    heading: "Task",
    sample: "Sample task",
    own: "your own file",
    file: "Task file",
    drop: "or drop JSONL, CSV, parquet or zip, with a YAML beside it if you like",
    url: "Task address",
    fewshot: "Few-shot file",
    settings: "Settings",
    yaml: "Task description (YAML, as in lm-evaluation-harness)",
    applyYaml: "Use this description",
    ownYaml: "Back to the recognised one",
    examples: "What the model will read",
  },
  run: {
    heading: "Run",
    run: "Run",
    pause: "Pause",
    resume: "Resume",
    cancel: "Cancel",
    started: "The run has started",
    finished: "The run is finished",
    cancelled: "The run was cancelled",
    order: (order: number, nOrders: number) => `Order ${order} of ${nOrders}`,
    states: { starting: "Starting", paused: "Paused", cancelling: "Stopping after this batch…", cancelled: "Cancelled", done: "Finished" },
    phases: { encode: "Reading the docs", score: "Scoring", settle: "Settling near ties in float32", done: "Finished" },
    devtools: "With the developer tools open, some browsers run the engine at half speed.",
  },
  files: {
    intro: "results.json and samples.jsonl use the keys of lm-evaluation-harness; what is more is added under keys of its own.",
    harnesses: "The same task for another program, rows and settings included: a number that two programs agree on is worth more than one.",
  },
  isolation: {
    insecure_context: "This address is not secure, so the engine runs on one thread.",
    no_service_worker: "This browser keeps no service worker here, so the engine runs on one thread.",
    embedded: "Inside another page, so the engine runs on one thread.",
    registration_failed: "The service worker could not be registered, so the engine runs on one thread.",
    reload_did_not_help: "This browser shares no memory between threads here, so the engine runs on one.",
  },
  offline: "This page works without a network now.",
  updateWaits: "A new version is ready.",
  update: "Reload into it",
  errors: {
    notAnAddress: "this is not an address",
    sentence: ({ place, message }: EvalErrorLike) => (place === null ? message : `${place}: ${message}`),
  },
} as const;
