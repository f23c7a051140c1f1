// English text of the report: calibration, bias, one item, the published number, the protocol card, the report as a file.

import { count, dateAndTime, fixed, percent, percentRange, plural, points, range } from "./text.ts";
import type {
  Bias,
  Bin,
  Calibration,
  CalibrationBootstrap,
  CategoryResult,
  ChoiceScore,
  Comparison,
  Headline,
  LengthBias,
  Pick,
  PositionCount,
  Proportion,
  PublishedComparison,
  RotationReport,
  SelectivePoint,
  TemperatureFit,
} from "./types.ts";

/** 48.2 % of 418, with its interval. */
export const proportion = ({ value, n, interval }: Proportion): string => `${percent(value)} of ${count(n)} (${percentRange(interval)})`;

export const figure = {
  table: "The same as a table",
  png: "PNG",
  svg: "SVG",
  save: (name: string, format: string) => `Save the chart “${name}” as ${format}`,
};

export const bias = {
  heading: "Bias probes",
  intro: "Does the model answer the question, or does it like a letter or a length? Where it has no such taste, its picks are spread as the right answers are.",
  letters: "Letters",
  places: "Place of the answer",
  placesHint: "The answers themselves were scored: A stands for the first choice of each item, B for the second.",
  picked: "picked",
  gold: "right",
  lettersChart: (positions: readonly PositionCount[]): string =>
    `Share of picks and of right answers by letter: ${positions.map(({ letter, picked, gold }) => `${letter} picked ${percent(picked.value)}, right ${percent(gold.value)}`).join("; ")}.`,
  lettersNote: ({ letter, picked, gold, accuracy_when_gold }: PositionCount): string[] => [
    letter,
    `picked: ${proportion(picked)}`,
    `right: ${proportion(gold)}`,
    ...(accuracy_when_gold === null ? [] : [`found when right: ${proportion(accuracy_when_gold)}`]),
  ],
  shareAxis: "share of docs",
  columns: ["Letter", "Docs", "Picked", "Right", "Found when right"],
  moved: ({ total_variation }: Bias): string => `${percent(total_variation)} of the picks would have to move to another letter to be spread as the right answers are.`,
  length: "Length of the answers",
  lengths: ({ mean_chars_picked, mean_chars_gold, mean_chars_all, n }: LengthBias): string =>
    `On the ${plural(n, "doc")} whose choices differ in length, picks have ${fixed(mean_chars_picked, 1)} characters on average, right answers ${fixed(mean_chars_gold, 1)}, all choices ${fixed(mean_chars_all, 1)}.`,
  noLength: "All choices of an item are equally long here, so length cannot matter.",
  longest: "longest",
  shortest: "shortest",
  lengthChart: ({ picked_longest, gold_longest, picked_shortest, gold_shortest }: LengthBias): string =>
    `The pick is one of the longest choices on ${percent(picked_longest.value)} of the docs, the right answer on ${percent(gold_longest.value)}; one of the shortest on ${percent(picked_shortest.value)}, the right answer on ${percent(gold_shortest.value)}.`,
  lengthColumns: ["Choice", "Picked", "Right"],
  rotate: "Rotate the choices and score again",
  rotateHint: "Scores every doc once more for each other order of its choices. A model that knows the answer finds it wherever it stands.",
  rotateNeedsRun: "Needs a finished run whose model is still loaded.",
  rotateChangesNothing: "The prompts of this run do not list the choices, so another order of them would change nothing.",
  rotating: "Scoring the rotated choices…",
  rotated: ({ consistent, always_correct, n_orders, mean_accuracy }: RotationReport): string =>
    `Over ${count(n_orders)} orders, the pick is the same answer on ${plural(consistent.n_correct, "doc")} of ${count(consistent.n)} (${percentRange(consistent.interval)}), and right in every order on ${percent(always_correct.value)}. Accuracy averaged over the orders: ${percent(mean_accuracy.value)}.`,
  shifts: "By order of the choices",
  shiftColumns: ["Choices moved by", "Accuracy"],
  positions: "By place of the choice",
  positionColumns: ["Place", "Picked, over all orders", "Accuracy when the right answer stands here"],
};

export const published = {
  heading: "Compare with a published number",
  intro: "Type in a number from a paper or a leaderboard and what you know of how it was made.",
  value: "Published number",
  percentHint: "in per cent",
  plainHint: "as it is printed",
  metric: "Metric",
  shots: "Shots",
  model: "Model",
  chat: "Chat template",
  style: "Prompt style",
  average: "Average",
  docs: "Docs",
  unknown: "not known",
  emptyHint: "empty: not known",
  base: "base",
  instruct: "instruct",
  with: "used",
  without: "not used",
  clear: "Clear",
  verdict({ is_inside, difference, n_stderrs }: PublishedComparison, { metric }: Headline): string {
    const size = metric === "word_perplexity" ? fixed(Math.abs(difference), 2) : `${(100 * Math.abs(difference)).toFixed(1)} points`;
    const here = `this run is ${size} ${difference < 0 ? "lower" : "higher"}`;
    const inStderrs = n_stderrs === null ? "" : `, ${fixed(Math.abs(n_stderrs), 1)} standard errors`;
    switch (is_inside) {
      case true:
        return `Inside this run's interval: the two numbers do not contradict each other (${here}${inStderrs}).`;
      case false:
        return `Outside this run's interval (${here}${inStderrs}): chance alone hardly explains it. Look at what was done differently.`;
      case null:
        return `There is no interval to judge it by; ${here}.`;
    }
  },
  differ: "Done differently",
  columns: ["Part of the protocol", "This run", "Published"],
  noDifference: "Nothing that you told differs from this run.",
  notTold: (parts: readonly string[]): string => `Not known of the published number: ${parts.join(", ")}. Each of these can move a number by several points.`,
};

export const protocol = {
  heading: "Protocol card",
  intro: "What has to stand under the number, so that someone else can get the same one.",
  copy: "Copy the paragraph",
  copied: "Copied",
  notCopied: "The browser did not allow it; select the text and copy it.",
  facts: "Line by line",
};

export const file = {
  title: (task: string, model: string | null): string => (model === null ? `${task}: evaltab report` : `${model} on ${task}: evaltab report`),
  incomplete: (done: number, all: number): string => `This run was not finished: ${count(done)} of ${plural(all, "doc")}.`,
  of: (n: number, correct: number | null): string => (correct === null ? plural(n, "doc") : `${count(correct)} of ${plural(n, "doc")} right`),
  interval: "95 % interval",
  stderr: "standard error",
  chance: "chance",
  chanceCorrected: "chance-corrected",
  detectable: "smallest detectable difference to a fixed number",
  rules: "Scoring rules",
  ruleColumns: ["Rule", "Value", "95 % interval", "Standard error", "Right", "Ties"],
  folded: (rule: string, equals: string, because: string): string => `${rule} equals ${equals}: ${because}.`,
  categories: "Categories",
  categoryColumns: ["Category", "Group", "Right", "Docs", "Value", "95 % interval", "Chance"],
  category: ({ name, group, accuracy, chance }: CategoryResult): string[] => [
    name,
    group ?? "",
    count(accuracy.n_correct),
    count(accuracy.n),
    percent(accuracy.value),
    percentRange(accuracy.interval),
    percent(chance),
  ],
  groups: "Groups",
  groupColumns: ["Group", "Docs", "Micro (every doc counts once)", "95 % interval", "Macro (every category counts once)"],
  calibration: "Calibration",
  binColumns: ["Confidence", "Docs", "Right", "Mean confidence", "Accuracy", "95 % interval", "Gap"],
  calibrationFacts: { ece: "ECE", mce: "MCE", brier: "Brier score", nll: "NLL", temperature: "temperature", n_bins: "bins", equal_width: "equal width", equal_mass: "equal mass" },
  perplexity: "Perplexity",
  boundary: "Boundary report",
  boundaryColumns: ["What", "Docs", "Meaning"],
  leftOut: "Rows that were left out",
  leftOutColumns: ["Line", "Why"],
  docs: "Docs",
  facts: "Protocol, line by line",
  made: (version: string): string => `Made by evaltab ${version}. This file needs no network.`,
};

const share = (value: number): string => percent(value, 0);

export const calibration = {
  heading: "Calibration",
  intro: "When the model says it is 70 % sure, is it right 7 times in 10? Points below the diagonal: too sure. Points above: not sure enough.",
  diagram: "Reliability diagram",
  run: "this run",
  axisConfidence: "confidence",
  axisAccuracy: "accuracy",
  axisDocs: "docs",
  axisCoverage: "share of docs answered",
  share,
  label: ({ bins, values, n }: Calibration): string => {
    const filled = bins.filter(({ n: docs }) => docs > 0);
    const over = filled.filter(({ gap }) => (gap ?? 0) > 0).length;
    return `Reliability diagram of ${plural(n, "doc")} in ${plural(filled.length, "filled bin")}: mean confidence ${percent(values.mean_confidence)}, accuracy ${percent(values.accuracy)}, ECE ${fixed(values.ece)}; the model is surer than right in ${plural(over, "bin")}.`;
  },
  note: ({ low, high, n, n_correct, mean_confidence, accuracy, interval, gap }: Bin): string[] => [
    `confidence ${share(low)} to ${share(high)}`,
    n === 0 ? "no docs" : `${count(n_correct)} of ${plural(n, "doc")} right`,
    ...(accuracy === null || interval === null ? [] : [`accuracy ${percent(accuracy)} (${percentRange(interval)})`]),
    ...(mean_confidence === null ? [] : [`mean confidence ${percent(mean_confidence)}`]),
    ...(gap === null ? [] : [`gap ${points(gap)} points`]),
  ],
  columns: ["Confidence", "Docs", "Right", "Mean confidence", "Accuracy", "95 % interval", "Gap in points"],
  row: ({ low, high, n, n_correct, mean_confidence, accuracy, interval, gap }: Bin): string[] => [
    `${percent(low)} to ${percent(high)}`,
    count(n),
    count(n_correct),
    mean_confidence === null ? "" : percent(mean_confidence),
    accuracy === null ? "" : percent(accuracy),
    interval === null ? "" : percentRange(interval),
    gap === null ? "" : points(gap),
  ],
  pickHint: "A click on a bin, or Enter, shows its items.",
  bins: "Bins",
  cut: "Binning",
  cuts: { equal_width: "equal width", equal_mass: "equal mass (docs)" },
  scores: "Confidence from",
  temperature: "Temperature",
  reset: "Back to 1",
  fit: (fit: TemperatureFit): string => `Use the fitted ${fixed(fit.temperature, 2)}`,
  fitted: ({ temperature, n_fit, n_held_out, before, after, is_at_bound }: TemperatureFit): string =>
    `Fitted on ${plural(n_fit, "doc")}: T = ${fixed(temperature, 2)}${is_at_bound ? " (at the end of the range searched)" : ""}. On the other ${plural(n_held_out, "doc")}, ECE goes from ${fixed(before.ece)} to ${fixed(after.ece)} and NLL from ${fixed(before.nll)} to ${fixed(after.nll)}. Picks do not change.`,
  ece: "ECE",
  eceInterval: ({ ece_interval }: CalibrationBootstrap): string => `95 % interval ${range(ece_interval)}`,
  calibratedEce: "A perfectly calibrated model",
  calibrated: ({ calibrated_ece, calibrated_interval, p_value, n_draws }: CalibrationBootstrap): string =>
    `would show ${fixed(calibrated_ece)} here (${range(calibrated_interval)}); ${
      p_value > 0.05 ? "this run's ECE is no larger than luck makes it" : "this run's ECE is larger than luck makes it"
    } (p ${p_value < 0.001 ? "< 0.001" : `= ${fixed(p_value)}`}, ${count(n_draws)} draws).`,
  waiting: "resampling …",
  mce: "MCE",
  brier: "Brier",
  nll: "NLL",
  atOne: (value: number): string => `(${fixed(value)} at T = 1)`,
  accuracy: "Accuracy of the surest choice",
  meanConfidence: "Mean confidence",
  over: "Overlay",
  overNothing: "another run …",
  overRun: (task: string, n: number): string => `${task}, ${plural(n, "doc")}`,
  remove: (name: string): string => `Remove ${name}`,
  chance: "chance",
  selective: "Selective accuracy",
  selectiveLabel: ({ selective }: Calibration): string => {
    const half = selective.find(({ coverage }) => coverage >= 0.5);
    const all = selective.at(-1);
    return `Accuracy when only the surest docs are answered${half === undefined || all === undefined ? "" : `: ${percent(half.accuracy)} on the surer half, ${percent(all.accuracy)} on all`}.`;
  },
  selectiveNote: ({ n, coverage, confidence, accuracy }: SelectivePoint): string[] => [`the surest ${percent(coverage)}: ${plural(n, "doc")}`, `accuracy ${percent(accuracy)}`, `confidence from ${percent(confidence)}`],
  selectiveColumns: ["Share answered", "Docs", "Confidence from", "Accuracy"],
  selectiveRow: ({ n, coverage, confidence, accuracy }: SelectivePoint): string[] => [percent(coverage), count(n), percent(confidence), percent(accuracy)],
};

export const drawer = {
  label: (line: number): string => `Item of line ${count(line)}`,
  right: "right",
  wrong: "wrong",
  tied: "tied",
  close: "Close",
  next: "Next item (j)",
  previous: "Previous item (k)",
  prompt: "What the model read",
  noPrompt: "The prompt can be looked at while the model that scored it is loaded.",
  join: "the join: what follows is scored",
  promptHint: "The bar marks the join. What stands behind it is scored; shown here is the right answer.",
  ids: "Show token ids",
  showAll: (n: number): string => `Show all ${plural(n, "token")}`,
  cut: (n: number): string => `${plural(n, "token")} before this are not shown`,
  contextTokens: (n: number): string => `${plural(n, "token")} of context`,
  choices: "Choices",
  legend: "The stronger a token's colour, the less probable the model found it.",
  token: (logprob: number): string => `ln p ${fixed(logprob)}`,
  gold: "right answer",
  pick: "picked",
  choice: "Choice",
  probability: "Confidence",
  loglikelihood: "Log-likelihood",
  lengths: ({ n_chars, n_bytes, token_ids }: ChoiceScore): string => `${plural(n_chars, "character")}, ${plural(n_bytes, "byte")}, ${plural(token_ids.length, "token")}`,
  scores: "Scores by every rule; the rule's pick is in bold",
  verdicts: "What each rule picks",
  verdict: ({ is_correct, is_tied, margin }: Pick): string => `${is_correct ? "right" : "wrong"}${is_tied ? ", tied" : ""}${margin === null ? "" : `, margin ${fixed(margin)}`}`,
  verdictColumns: ["Rule", "Picks", "Result"],
  greedy: "Greedy decoding writes exactly this.",
  precision: { default: "16-bit activations", float32: "float32" },
  flags: "At the join",
  edit: "Change the prompt and score it again",
  context: "Context",
  continuation: (letter: string): string => `Continuation ${letter}`,
  rescore: "Score again",
  rescored: "The changed prompt",
  rescoredColumns: ["Choice", "Before", "Now"],
  rescoredPick: (before: string, now: string): string => (before === now ? `The pick stays ${now}.` : `The pick moves from ${before} to ${now}.`),
  notStored: "Scored in float32; the run keeps its own numbers.",
};

export const comparison = {
  heading: "Compare with another run",
  intro: "Doc by doc, on what both runs have: a paired comparison sees smaller differences than two intervals side by side.",
  other: "The other run",
  nothing: "choose …",
  none: "Runs that are kept in this browser appear here once there is more than one.",
  run: (model: string, task: string, startedAt: number): string => `${model} on ${task}, ${dateAndTime(startedAt)}`,
  notComparable: "The two runs share no doc.",
  difference: ({ difference, p_value, n }: Comparison, name: string): string =>
    `This run is ${points(difference.value)} points from ${name} on ${plural(n, "shared doc")}${
      difference.interval === null ? "" : ` (95 % interval ${points(difference.interval.low)} to ${points(difference.interval.high)})`
    }; McNemar's exact p ${p_value < 0.001 ? "< 0.001" : `= ${fixed(p_value)}`}: ${p_value < 0.05 ? "more than luck explains" : "luck alone explains as much"}.`,
  table: "Docs by result",
  columns: ["", "right there", "wrong there"],
  rightHere: "right here",
  wrongHere: "wrong here",
  only: ({ n_only_here, n_only_other }: Comparison): string => `Only in this run: ${plural(n_only_here, "doc")}; only in the other: ${plural(n_only_other, "doc")}.`,
  bits: ({ is_bit_equal, max_loglikelihood_difference, mean_loglikelihood_difference }: Comparison): string =>
    is_bit_equal
      ? "Every log-likelihood is the same to the last bit."
      : `Log-likelihoods differ by ${fixed(mean_loglikelihood_difference, 4)} nats on average and ${fixed(max_loglikelihood_difference, 4)} at most.`,
  flips: (n: number): string => `Docs with another pick (${count(n)})`,
  flip: (index: number, here: boolean, there: boolean): string => `Row ${count(index + 1)}: ${here ? "right" : "wrong"} here, ${there ? "right" : "wrong"} there`,
};

export const categoryMap = {
  heading: "Group the categories in another way",
  intro: "One line per category, with its group after a colon. The report follows at once; nothing is run again.",
  label: "Categories and their groups",
  apply: "Use these groups",
  reset: "Back to the task's groups",
  noColon: (line: number): string => `line ${count(line)} has no colon`,
  unknown: (line: number, name: string): string => `line ${count(line)}: no doc has the category “${name}”`,
};
