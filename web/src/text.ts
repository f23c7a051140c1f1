// All English text of the page, and how numbers are written.

import type { Progress } from "./sources/download.ts";
import type { RowsProgress } from "./sources/rows.ts";
import type {
  Aggregation,
  BoundaryFlag,
  ChatMode,
  Counts,
  DetectableDifference,
  EnginePath,
  EqualBecause,
  Headline,
  HeadlineMetric,
  Interval,
  ModelInfo,
  Precision,
  Prepared,
  Proportion,
  ProtocolPart,
  Rule,
  RuleParting,
  Subset,
  SyntheticProfile,
  TaskInfo,
} from "./types.ts";
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
export const significantRange = ({ low, high }: Interval): string => `${significant(low)}\u2009–\u2009${significant(high)}`;
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

/** 29 Nov 2026, 19:34, from milliseconds since 1970. */
export const dateAndTime = (at: number): string => new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

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
  acc: "Accuracy where the choice with the highest log-likelihood counts as the answer: Σ ln p over the choice's tokens.",
  acc_norm: "Accuracy where the log-likelihood is divided by the choice's length in characters before the highest is taken, so that long choices are not at a disadvantage.",
  acc_bytes: "Accuracy where the log-likelihood is divided by the choice's length in UTF-8 bytes. The same as acc_norm for plain English.",
  acc_token: "Accuracy where the log-likelihood is divided by the choice's number of tokens: the mean of ln p.",
  acc_mutual_info: "Accuracy where the choice's log-likelihood without the question is taken off: how much the question makes it more probable.",
  acc_mutual_info_answer: "As acc_mutual_info, with what the choice scores after “Answer:” alone taken off.",
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
  ties: "Docs on which two choices share the highest score. The first of them counts as picked.",
  bitsPerByte: "Mean negative log-likelihood per byte of text, in bits: comparable between models with other tokenizers.",
  perplexity: "exp of the mean negative log-likelihood: how many equally likely tokens the model seems to hesitate between.",
} as const;

const sentence = ({ place, message }: EvalErrorLike): string => (place === null ? message : `${place}: ${message}`);

/** Choices of a setting and their names. */
const choices = <K extends string>(...pairs: (readonly [K, string])[]): readonly (readonly [K, string])[] => pairs;

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
    loaded: (name: string) => `${name} is loaded`,
    downloading: "Downloading",
    loading: "Loading",
    cancel: "Stop the download",
    address: "From an address",
    facts: {
      architecture: "Architecture",
      parameters: "Parameters",
      quantisation: "Quantisation",
      context: "Context",
      tokenizer: "Tokenizer",
      memory: "Memory",
      engine: "Engine",
      kept: "Kept",
      sha256: "SHA-256",
    },
    shape: ({ architecture, n_layers, d_model }: ModelInfo) => `${architecture}, ${n_layers} layers of width ${count(d_model)}`,
    window: (nTokens: number) => `${count(nTokens)} tokens`,
    memory: (nWeightBytes: number, nBytes: number) => `${bytes(nWeightBytes)} of weights, file ${bytes(nBytes)}`,
    engine: (name: string, nThreads: number) => `${name}, ${nThreads === 1 ? "one thread" : `${nThreads} threads`}`,
    hashing: "being computed…",
    downloaded: ({ n_bytes_done, n_bytes_total, n_bytes_resumed, bytes_per_second, eta_ms }: Progress) => {
      const done = n_bytes_total === null ? bytes(n_bytes_done) : `${bytes(n_bytes_done)} of ${bytes(n_bytes_total)}`;
      const resumed = n_bytes_resumed > 0 ? `, ${bytes(n_bytes_resumed)} of them from before` : "";
      return `${done}${resumed}, ${bytes(bytes_per_second)}/s${eta_ms === null ? "" : `, ${duration(eta_ms / 1000)} left`}`;
    },
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
    reading: (name: string, progress: Progress | RowsProgress | null): string => {
      if (progress === null) return `Reading ${name}…`;
      const done = "n_rows_done" in progress ? `${count(progress.n_rows_done)} of ${plural(progress.n_rows_total, "row")}` : text.model.downloaded(progress);
      return `Reading ${name}: ${done}`;
    },
    docs: (n: number) => plural(n, "doc"),
    readAs: "Read as ",
    summary: (info: TaskInfo) => {
      const nCategories = Object.keys(info.categories).length;
      const preset = info.preset === null || info.preset === info.name ? "" : `, recognised as ${info.preset}`;
      return `${preset}: ${plural(info.n_docs, "doc")} of ${plural(info.n_rows, "row")}${nCategories > 1 ? `, ${count(nCategories)} categories` : ""}`;
    },
    leftOut: (n: number) => `${plural(n, "row")} left out, counted in the report`,
    more: (n: number) => `and ${count(n)} more; results.json has them all`,
    line: (line: number, error: EvalErrorLike) => `line ${line}: ${sentence(error)}`,
    scored: (nOthers: number) => `The marked text is scored${nOthers > 0 ? `, as are the ${nOthers} other choices in its place` : ""}.`,
  },
  settings: {
    preset: "Read rows as",
    recognised: "what their fields say",
    style: "Prompt style",
    asTask: "as the task says",
    subset: "Docs",
    subsets: choices<Subset["kind"]>(["all", "all docs"], ["first", "the first n"], ["random", "n drawn at random"], ["per_category", "n of each category"]),
    n: "Number of docs",
    seed: "Seed of the draw",
    shots: "Shots",
    shotsHint: "empty: as the task says",
    chat: "Chat template",
    chats: choices<ChatMode>(["off", "off"], ["one_message", "on, shots in one message"], ["turns", "on, shots as turns"]),
    system: "System text",
    precision: "Arithmetic",
    precisions: choices<Precision>(["default", "16-bit activations, near ties in float32"], ["float32", "float32 throughout (slower)"]),
    engine: "Engine",
    engines: choices<EnginePath>(["auto", "whichever reads this model"], ["own", "own: fast, llama-shaped models"], ["stock", "stock: candle-transformers, slow"]),
    window: "Window in tokens",
    windowHint: "empty: the model's",
    mutualInfo: "Also score each choice without its question (mutual information)",
    fewshotHint: "rows that the shots are taken from",
    fewshotUrl: "Few-shot address",
    fewshotIs: (name: string) => `Shots are taken from ${name}.`,
  },
  run: {
    heading: "Run",
    preparing: "Getting the model ready…",
    progress: "Progress of the run",
    done: (n: number, nTotal: number) => `${count(n)} of ${plural(nTotal, "doc")}`,
    speed: (tokensPerSecond: number) => `${count(Math.round(tokensPerSecond))} tokens/s`,
    left: (seconds: number) => `${duration(seconds)} left`,
    inAll: (seconds: number) => `${duration(seconds)} in all`,
    boundary: (nFlags: number) => (nFlags === 0 ? "Nothing odd at the joins" : `Boundary report: ${plural(nFlags, "thing")} to know`),
    prepared: ({ n_requests, n_tokens, longest, max_length, prefix_token }: Prepared) =>
      `${plural(n_requests, "continuation")}, ${plural(n_tokens, "token")} to feed, longest sequence ${count(longest)} of ${count(max_length)}. For an empty context stands ${prefix_token.text} (${prefix_token.id}).`,
    flagged: (n: number, lines: readonly number[], gloss: string) => `${plural(n, "doc")}, as in line ${lines.join(", ")}. ${gloss}.`,
    lesson: "No model at hand? Look at three made-up ones and learn to read the calibration diagram:",
    run: "Run",
    pause: "Pause",
    resume: "Resume",
    cancel: "Cancel",
    started: "The run has started",
    replaced: (n: number) => `The engine stopped ${n === 1 ? "once" : `${n} times`} and was replaced. What was scored is kept, and the run goes on.`,
    finished: "The run is finished",
    cancelled: "The run was cancelled",
    order: (order: number, nOrders: number) => `Order ${order} of ${nOrders}`,
    states: { starting: "Starting", paused: "Paused", cancelling: "Stopping after this batch…", cancelled: "Cancelled", done: "Finished" },
    phases: { encode: "Reading the docs", score: "Scoring", settle: "Settling near ties in float32", done: "Finished" },
    devtools: "With the developer tools open, some browsers run the engine at half speed.",
  },
  overview: {
    heading: "Overview",
    subject: (model: string, task: string, data: string, nShots: number, startedAt: number | null) =>
      `${model} on ${task} (${data}), ${nShots}-shot${startedAt === null ? "" : `, ${dateAndTime(1000 * startedAt)}`}`,
    madeUp: (name: string) => `“${name}”: a made-up model, no run`,
    average: "Average",
    interval: "95\u00A0% interval",
    docs: "docs",
    stderr: "standard error",
    chance: "chance",
    chanceCorrected: "above chance",
    detectable: "detectable difference",
    detectableValue: ({ from_fixed, from_independent_run }: DetectableDifference) => `${(100 * from_fixed).toFixed(1)} points to a fixed number, ${(100 * from_independent_run).toFixed(1)} to another run`,
    ties: "ties",
    tiesValue: (n: number) => `${plural(n, "doc")} with a tie; the first choice was taken`,
    strip: (value: string, between: string | null, chance: number | null) =>
      `${value}${between === null ? "" : `, interval ${between}`}${chance === null ? "" : `, chance ${percent(chance)}`}, on a line from 0 to 100 %`,
    /** What the number says to someone who sees one for the first time. */
    reading: ({ n, n_correct, interval, chance, is_chance_inside }: Headline) => {
      if (n_correct === null || interval === null) return "";
      const right = `${count(n_correct)} of ${plural(n, "doc")} right.`;
      if (chance === null) return right;
      if (is_chance_inside) return `${right} Guessing lies inside the interval: this run does not show that the model knows anything.`;
      if (interval.high < chance) return `${right} Below guessing, and not by accident: look at the prompt, and at how the answers are given.`;
      return `${right} Above guessing, beyond what luck explains.`;
    },
    rule: "Scoring rule",
    ruleHint: "Everything in the report follows; nothing is run again.",
    columns: { rule: "Rule", accuracy: "Accuracy", interval: "95\u00A0% interval", ties: "Ties", length: "Length of picks" },
    folded: (because: EqualBecause) => `here: ${EQUAL_BECAUSE[because]}.`,
    equals: "equals",
    parting: ({ n, n_differ, n_only_a_correct, n_only_b_correct, p_value, mean_chars_a, mean_chars_b, mean_chars_gold }: RuleParting) => {
      // A difference in mean length below a tenth of the right answers' length explains nothing.
      const telling = 0.1 * mean_chars_gold;
      const why =
        mean_chars_b - mean_chars_a > telling
          ? "every further token makes a text less probable, so acc favours short answers; acc_norm takes that back"
          : mean_chars_a - mean_chars_b > telling
            ? "acc does not favour short answers here; dividing by length does"
            : "length is hardly what makes the difference here";
      return (
        `acc and acc_norm pick different choices on ${count(n_differ)} of ${plural(n, "doc")}; on those, acc alone is right ${plural(n_only_a_correct, "time")}, acc_norm alone ${plural(n_only_b_correct, "time")} (McNemar's test: ${pValue(p_value)}). ` +
        `Picks of acc have ${mean_chars_a.toFixed(1)} characters on average, those of acc_norm ${mean_chars_b.toFixed(1)}, the right answers ${mean_chars_gold.toFixed(1)}: ${why}.`
      );
    },
    goldProbability: "probability of gold",
    counts: ({ n_scored, n_docs, n_unscored, n_failed, n_flagged, n_settled_in_float32 }: Counts) =>
      [
        `${plural(n_scored, "doc")} of ${count(n_docs)} scored`,
        ...(n_unscored > 0 ? [`${plural(n_unscored, "row")} left out`] : []),
        ...(n_failed > 0 ? [`${count(n_failed)} failed`] : []),
        ...(n_flagged > 0 ? [`${count(n_flagged)} flagged at the join`] : []),
        ...(n_settled_in_float32 > 0 ? [`${plural(n_settled_in_float32, "near tie")} settled in float32`] : []),
      ].join(" · "),
  },
  breakdown: {
    heading: "Categories",
    micro: "Micro",
    macro: (n: number) => `macro over ${plural(n, "category", "categories")}`,
    groups: (n: number, value: number) => `, macro over ${plural(n, "group")} ${percent(value)}`,
    order: "Order of categories",
    orders: choices<"name" | "accuracy" | "docs">(["name", "name"], ["accuracy", "accuracy, best first"], ["docs", "docs, most first"]),
    hint: "Whiskers are Wilson's 95 % intervals: the fewer docs, the wider. The line marks blind guessing. Choose a row to see its items.",
    chart: "Accuracy by category",
    axis: "accuracy",
    published: "published",
    label: (n: number, best: { name: string; value: number }, worst: { name: string; value: number }) =>
      `Accuracy of ${plural(n, "category", "categories")} with intervals: highest ${best.name} with ${percent(best.value)}, lowest ${worst.name} with ${percent(worst.value)}.`,
    columns: ["Category", "Accuracy", "95 % interval", "Right", "Docs"],
    note: ({ value, n }: Proportion) => `${percent(value)} of ${count(n)}`,
    details: (name: string, { value, interval, n, n_correct }: Proportion) => [name, `${percent(value)}, ${percentRange(interval)}`, `${count(n_correct)} of ${plural(n, "doc")} right`],
  },
  items: {
    heading: "Items",
    search: "Search items",
    filter: "Filter",
    category: "Category",
    allCategories: "all",
    categories: (n: number) => plural(n, "category", "categories"),
    sort: "Sort by",
    ascending: "ascending",
    descending: "descending",
    found: (n: number, nAll: number) => `${plural(n, "item")} of ${count(nAll)}`,
    from: "Confidence from, %",
    to: "to, %",
    bin: ({ low, high }: Interval) => `bin ${percent(low, 0)} to ${percent(high, 0)}`,
    grid: "Items; j and k move, Enter opens",
    columns: { line: "Line", question: "Question", choices: "Choices", loglikelihood: "ln p", perChar: "per char", confidence: "Confidence", correct: "Result" },
    right: "right",
    wrong: "wrong",
    failed: "failed",
    picked: "picked",
    tie: "tie",
    part: "rules disagree",
    flag: "flag",
  },
  files: {
    heading: "Files",
    download: (name: string) => `Download ${name}`,
    lmEval: "Download for lm-evaluation-harness",
    inspect: "Download for Inspect",
    print: "Print",
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
    threadDied: "a helper thread stopped",
    sentence,
  },
} as const;
