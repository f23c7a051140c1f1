// Generated from the Rust structs by the test `typescript_types_match_the_rust_structs`; not to be edited.

/**
 * What sort of thing went wrong.
 */
export type ErrorKind = "weights_format" | "unsupported_model" | "task_format" | "task_config" | "template" | "context_too_long" | "run_spec" | "io" | "internal";

/**
 * An error with its place, such as `line 17, key "gold"` or `tensor "blk.3.ffn_up.weight"`.
 */
export type EvalError = { 
/**
 * What to branch on.
 */
kind: ErrorKind, 
/**
 * Where: a line, field, tensor or setting.
 */
place: string | null, 
/**
 * One sentence for a person.
 */
message: string, };

/**
 * Arithmetic of the linear layers.
 */
export type Precision = "default" | "float32";

/**
 * Which implementation runs the model.
 */
export type EnginePath = "auto" | "own" | "stock";

/**
 * How few-shot examples and the question are put into a chat.
 */
export type ChatMode = "off" | "one_message" | "turns";

/**
 * Which docs of the file are run.
 */
export type Subset = { "kind": "all" } | { "kind": "first", 
/**
 * How many.
 */
n: number, } | { "kind": "random", 
/**
 * How many.
 */
n: number, 
/**
 * Seed of the draw.
 */
seed: number, } | { "kind": "per_category", 
/**
 * How many of each.
 */
n: number, 
/**
 * Seed of the draw.
 */
seed: number, };

/**
 * Whether the tokenizer's BOS is put in front.
 */
export type AddBos = "auto" | "yes" | "no";

/**
 * The settings of a run. `Default` is what the page starts with.
 */
export type RunSpec = { 
/**
 * Preset by name (see `task::presets`); `None`: recognised from the rows. Ignored where `task_yaml` is given.
 */
preset: string | null, 
/**
 * lm-eval YAML, as text.
 */
task_yaml: string | null, 
/**
 * Prompt style for letter tasks : `mmlu`, `question`, `parenthesized`, `no_labels`, `verbose`, `qa_pairs`, `chat`, `continuation`.
 */
prompt_style: string | null, 
/**
 * Overrides the config's `num_fewshot`.
 */
num_fewshot: number | null, 
/**
 * Seed of the few-shot sampler; lm-eval's default is 1234.
 */
fewshot_seed: number, 
/**
 * Which rows.
 */
subset: Subset, 
/**
 * Chat template use.
 */
chat: ChatMode, 
/**
 * System turn or text in front of everything.
 */
system_instruction: string | null, 
/**
 * Overrides the config's `target_delimiter`.
 */
target_delimiter: string | null, 
/**
 * Arithmetic.
 */
precision: Precision, 
/**
 * Implementation.
 */
engine: EnginePath, 
/**
 * BOS rule.
 */
add_bos: AddBos, 
/**
 * Token id used where a context is empty; `None`: BOS, else EOS.
 */
prefix_token_id: number | null, 
/**
 * Window in tokens; `None`: the model's context length.
 */
max_length: number | null, 
/**
 * The choice at position `j` is the row's choice `(j + choice_shift) mod K`: a probe for letter bias. 0: as in the file.
 */
choice_shift: number, 
/**
 * Also score each distinct choice without its context, for PMI.
 */
mutual_info: boolean, };

/**
 * lm-eval's `output_type`.
 */
export type OutputType = "multiple_choice" | "loglikelihood" | "loglikelihood_rolling";

/**
 * A pair whose continuation is scored given its context.
 */
export type Request = { 
/**
 * Text that is conditioned on, few-shot part included; the requests of a doc share it where it is the same.
 */
context: string, 
/**
 * Text that is scored, the target delimiter in front of it included.
 */
continuation: string, };

/**
 * One doc, ready to be tokenised.
 */
export type Doc = { 
/**
 * Position among the rows of its task, from 0: lm-eval's `doc_id`.
 */
doc_id: number, 
/**
 * Position among all rows of the data file, from 0.
 */
index: number, 
/**
 * Line of the data file, from 1.
 */
line: number, 
/**
 * The task's name; where a config is a group (MMLU), the subject's task, such as `mmlu_anatomy`.
 */
task: string, 
/**
 * The row as templates saw it.
 */
row: unknown, 
/**
 * Subject or category, where the rows have one.
 */
category: string | null, 
/**
 * What a table shows for this doc: the question alone.
 */
question: string, 
/**
 * How it is scored.
 */
output_type: OutputType, 
/**
 * One per choice, in order; exactly one for the other output types (rolling: empty context, the text as continuation).
 */
requests: Array<Request>, 
/**
 * The answer texts, delimiter not included; lengths for `acc_norm` and `acc_bytes` are taken from these.
 */
choices: Array<string>, 
/**
 * Indices of the right choices, never empty for multiple choice.
 */
gold: Array<number>, 
/**
 * lm-eval's `target`, as it stands in its samples file.
 */
target: unknown, 
/**
 * SHA-256 as lm-eval computes it.
 */
doc_hash: string, 
/**
 * SHA-256 as lm-eval computes it.
 */
prompt_hash: string, 
/**
 * SHA-256 as lm-eval computes it.
 */
target_hash: string, };

/**
 * A row that is counted but not scored.
 */
export type Unscored = { 
/**
 * Position among all rows of the data file, from 0, where the line was a row at all.
 */
index: number | null, 
/**
 * Line of the data file, from 1.
 */
line: number, 
/**
 * Why.
 */
error: EvalError, };

/**
 * What is odd about how a doc meets the tokenizer: one entry of the boundary report.
 */
export type BoundaryFlag = "merge_across_join" | "empty_continuation" | "double_space" | "letter_of_several_tokens" | "truncated" | "trailing_whitespace" | "uneven_leading_space" | "equal_choices" | "dropped_bytes" | "whitespace_moved";

/**
 * One scored continuation.
 */
export type ChoiceScore = { 
/**
 * The choice's text, delimiter not included.
 */
text: string, 
/**
 * Ids of the scored tokens.
 */
token_ids: Array<number>, 
/**
 * ln p of each of them, nats.
 */
token_logprobs: Array<number>, 
/**
 * Sum of `token_logprobs`, in order; 0 for an empty continuation.
 */
loglikelihood: number, 
/**
 * Every token was the argmax.
 */
is_greedy: boolean, 
/**
 * Smallest of "logit minus the best other logit" over the tokens: its sign decides `is_greedy`; `None` without tokens.
 */
least_margin: number | null, 
/**
 * Unicode code points of `text`.
 */
n_chars: number, 
/**
 * UTF-8 bytes of `text`.
 */
n_bytes: number, 
/**
 * Log-likelihood of the continuation after the prefix token alone, where asked for.
 */
loglikelihood_unconditional: number | null, 
/**
 * Log-likelihood of the continuation after "Answer:", where asked for.
 */
loglikelihood_answer: number | null, };

/**
 * A scoring rule.
 */
export type Rule = "acc" | "acc_norm" | "acc_bytes" | "acc_token" | "acc_mutual_info" | "acc_mutual_info_answer";

/**
 * One rule's verdict on one doc.
 */
export type Pick = { 
/**
 * The rule.
 */
rule: Rule, 
/**
 * Index of the first maximum.
 */
pick: number, 
/**
 * It is one of the gold indices.
 */
is_correct: boolean, 
/**
 * Another choice has exactly the same score.
 */
is_tied: boolean, 
/**
 * Best score minus second best, in the rule's own unit; `None` where the second best is −∞ (a choice of length 0).
 */
margin: number | null, };

/**
 * One scored doc.
 */
export type ItemScore = { 
/**
 * lm-eval's `doc_id`, within its task.
 */
doc_id: number, 
/**
 * Position among all rows of the file, from 0: the order of the digest.
 */
index: number, 
/**
 * Line of the file, from 1.
 */
line: number, 
/**
 * Task, for groups the subject's.
 */
task: string, 
/**
 * Subject or category.
 */
category: string | null, 
/**
 * The question alone, for a table.
 */
question: string, 
/**
 * How it was scored.
 */
output_type: OutputType, 
/**
 * One per choice (exactly one for the other output types).
 */
choices: Array<ChoiceScore>, 
/**
 * Right choices.
 */
gold: Array<number>, 
/**
 * One per rule that applies; empty unless multiple choice.
 */
picks: Array<Pick>, 
/**
 * Tokens of the context that were fed.
 */
n_context_tokens: number, 
/**
 * What the boundary report says of this doc.
 */
flags: Array<BoundaryFlag>, 
/**
 * In which arithmetic the numbers were made.
 */
precision: Precision, 
/**
 * For rolling log-likelihood and the like: words and bytes of the document.
 */
n_words: number | null, 
/**
 * UTF-8 bytes of the document.
 */
n_bytes: number | null, };

/**
 * A doc that failed while it ran; the run goes on.
 */
export type FailedItem = { 
/**
 * Position among all rows.
 */
index: number, 
/**
 * Line of the file.
 */
line: number, 
/**
 * Why.
 */
error: EvalError, };

/**
 * A closed interval at 95 %.
 */
export type Interval = { 
/**
 * Lower end.
 */
low: number, 
/**
 * Upper end.
 */
high: number, };

/**
 * How an interval was made.
 */
export type IntervalMethod = "wilson" | "normal";

/**
 * A share of docs that are right.
 */
export type Proportion = { 
/**
 * Docs.
 */
n: number, 
/**
 * Right ones.
 */
n_correct: number, 
/**
 * `n_correct / n`.
 */
value: number, 
/**
 * Sample standard deviation over √n; not available for n = 1.
 */
stderr: number | null, 
/**
 * Wilson's.
 */
interval: Interval, };

/**
 * A mean of per-doc values.
 */
export type Mean = { 
/**
 * Values.
 */
n: number, 
/**
 * Their mean.
 */
value: number, 
/**
 * Sample standard deviation over √n; not available for n = 1.
 */
stderr: number | null, 
/**
 * Value ± 1.96 standard errors; not available for n = 1.
 */
interval: Interval | null, };

/**
 * The smallest difference that a two-sided test at 5 % finds with a power of 80 %, by the normal approximation.
 */
export type DetectableDifference = { 
/**
 * Between this accuracy and a fixed number: (1.96 + 0.84) · √(p(1 − p)/n).
 */
from_fixed: number, 
/**
 * Between this run and another one on as many other docs: √2 times as much.
 */
from_independent_run: number, };

/**
 * Accuracy by one rule.
 */
export type RuleResult = { 
/**
 * The rule.
 */
rule: Rule, 
/**
 * Over the docs to which the rule applies.
 */
accuracy: Proportion, 
/**
 * Docs whose best score is shared by another choice; the first of them was picked.
 */
n_tied: number, 
/**
 * Mean length of the picked choices, code points.
 */
mean_pick_chars: number, };

/**
 * Why two rules pick the same on every doc.
 */
export type EqualBecause = "equal_chars" | "equal_bytes" | "equal_tokens" | "one_byte_per_char";

/**
 * A rule that cannot differ from another one on these docs.
 */
export type FoldedRule = { 
/**
 * The rule that is not listed.
 */
rule: Rule, 
/**
 * The listed rule that it equals.
 */
equals: Rule, 
/**
 * Why.
 */
because: EqualBecause, };

/**
 * Where two rules part, and how long their picks are.
 */
export type RuleParting = { 
/**
 * One rule.
 */
a: Rule, 
/**
 * The other.
 */
b: Rule, 
/**
 * Docs to which both apply.
 */
n: number, 
/**
 * Docs where they pick different choices.
 */
n_differ: number, 
/**
 * Docs where only `a` is right.
 */
n_only_a_correct: number, 
/**
 * Docs where only `b` is right.
 */
n_only_b_correct: number, 
/**
 * McNemar's exact two-sided p-value of the two counts above.
 */
p_value: number, 
/**
 * Mean length of `a`'s picks, code points.
 */
mean_chars_a: number, 
/**
 * Mean length of `b`'s picks, code points.
 */
mean_chars_b: number, 
/**
 * Mean length of the gold choices, code points.
 */
mean_chars_gold: number, 
/**
 * Mean length of all choices (mean over docs of the mean of each), code points.
 */
mean_chars_all: number, };

/**
 * All rules on one set of docs.
 */
export type RuleTable = { 
/**
 * Rules that have something of their own to say, `acc` first.
 */
listed: Array<RuleResult>, 
/**
 * Rules equal to a listed one by construction.
 */
folded: Array<FoldedRule>, 
/**
 * Docs on which the listed rules do not all pick the same choice.
 */
n_rules_disagree: number, 
/**
 * `acc` and `acc_norm`, unless the latter is folded.
 */
acc_and_acc_norm: RuleParting | null, };

/**
 * Numbers over whole distributions of the raw log-likelihoods, and greediness.
 */
export type ChoiceMetrics = { 
/**
 * lm-eval's `exact_match`: a gold choice is what the model would have written greedily.
 */
exact_match: Proportion, 
/**
 * Probability of the gold choices among the choices, softmax of raw log-likelihoods; TruthfulQA mc2's `acc`.
 */
gold_probability: Mean, 
/**
 * lm-eval's `brier_score`: Σ (p − gold)² over the choices, 0 to 2, docs with one gold only; `None` without such docs.
 */
brier_score: Mean | null, };

/**
 * A named set of categories, tasks or other groups; lm-eval's `group`.
 */
export type Group = { 
/**
 * Its name, such as `mmlu_stem`.
 */
name: string, 
/**
 * What a table shows.
 */
alias: string, 
/**
 * Names of categories, tasks or groups.
 */
members: Array<string>, 
/**
 * lm-eval's `weight_by_size`: the group's own number is the micro mean, else the plain mean over its tasks.
 */
weight_by_size: boolean, 
/**
 * lm-eval's `metadata.version`.
 */
version: string | null, };

/**
 * How the headline number is averaged.
 */
export type Aggregation = "micro" | "macro_categories" | "macro_groups";

/**
 * One category.
 */
export type CategoryResult = { 
/**
 * The category, or the task where its docs name none.
 */
name: string, 
/**
 * The task.
 */
task: string, 
/**
 * The innermost group it belongs to.
 */
group: string | null, 
/**
 * Share of right docs.
 */
accuracy: Proportion, 
/**
 * Mean chance level.
 */
chance: number, };

/**
 * Mean of parts that count alike.
 */
export type MacroMean = { 
/**
 * Parts.
 */
n_parts: number, 
/**
 * Their mean.
 */
value: number, 
/**
 * √(Σ w²·se²), w = 1/parts; not available where a part has only one doc.
 */
stderr: number | null, 
/**
 * Value ± 1.96 standard errors, inside [0, 1].
 */
interval: Interval | null, };

/**
 * One group.
 */
export type GroupResult = { 
/**
 * Its name.
 */
name: string, 
/**
 * What a table shows.
 */
alias: string, 
/**
 * The group around it.
 */
parent: string | null, 
/**
 * Its categories, those of inner groups included.
 */
categories: Array<string>, 
/**
 * Σ n·m / Σ n over its categories: every doc counts once.
 */
micro: Proportion, 
/**
 * lm-eval's pooled standard error of the micro mean; not available where a category has one doc only.
 */
pooled_stderr: number | null, 
/**
 * Every category counts once.
 */
macro_categories: MacroMean, 
/**
 * Mean chance level.
 */
chance: number, };

/**
 * Accuracy by category and group.
 */
export type Breakdown = { 
/**
 * Sorted by name.
 */
categories: Array<CategoryResult>, 
/**
 * In the order in which they were described; groups without docs are left out.
 */
groups: Array<GroupResult>, 
/**
 * All docs.
 */
micro: Proportion, 
/**
 * lm-eval's pooled standard error over all categories.
 */
pooled_stderr: number | null, 
/**
 * Every category counts once; `None` for a single category.
 */
macro_categories: MacroMean | null, 
/**
 * Every innermost group counts once, with its micro mean and pooled standard error; `None` below two groups.
 */
macro_groups: MacroMean | null, };

/**
 * How confidences are put into bins.
 */
export type Binning = "equal_width" | "equal_mass";

/**
 * One bin of the reliability diagram.
 */
export type Bin = { 
/**
 * Lower edge; for equal mass the smallest confidence inside.
 */
low: number, 
/**
 * Upper edge; for equal mass the largest confidence inside.
 */
high: number, 
/**
 * Docs.
 */
n: number, 
/**
 * Right ones.
 */
n_correct: number, 
/**
 * `None` for an empty bin.
 */
mean_confidence: number | null, 
/**
 * `None` for an empty bin.
 */
accuracy: number | null, 
/**
 * Wilson's, of the accuracy; `None` for an empty bin.
 */
interval: Interval | null, 
/**
 * Mean confidence minus accuracy: above 0 is overconfident.
 */
gap: number | null, };

/**
 * Calibration in single numbers, at one temperature.
 */
export type CalibrationValues = { 
/**
 * Scores are divided by it.
 */
temperature: number, 
/**
 * Share of docs whose most probable choice is gold.
 */
accuracy: number, 
/**
 * Mean of the largest probabilities.
 */
mean_confidence: number, 
/**
 * Σ n_m/N · |accuracy_m − confidence_m| over the chosen bins.
 */
ece: number, 
/**
 * Largest |accuracy_m − confidence_m| of a bin that is not empty.
 */
mce: number, 
/**
 * Mean of Σ (p − gold)² over the choices, 0 to 2, over docs with one gold; `None` without such docs.
 */
brier: number | null, 
/**
 * Mean of −ln p(gold), nats.
 */
nll: number, };

/**
 * Accuracy on the docs the model is surest of.
 */
export type SelectivePoint = { 
/**
 * Docs kept.
 */
n: number, 
/**
 * Share of docs kept.
 */
coverage: number, 
/**
 * Smallest confidence kept.
 */
confidence: number, 
/**
 * Accuracy of those kept.
 */
accuracy: number, };

/**
 * A temperature fitted on one half of the docs and judged on the other.
 */
export type TemperatureFit = { 
/**
 * The T > 0 with the smallest NLL on the fitted half, within 0.01 to 100.
 */
temperature: number, 
/**
 * The smallest NLL lies at an end of that range.
 */
is_at_bound: boolean, 
/**
 * Seed of the split.
 */
seed: number, 
/**
 * Docs it was fitted on.
 */
n_fit: number, 
/**
 * Docs it was judged on.
 */
n_held_out: number, 
/**
 * The other half at T = 1.
 */
before: CalibrationValues, 
/**
 * The other half at the fitted T.
 */
after: CalibrationValues, };

/**
 * The calibration section of a report.
 */
export type Calibration = { 
/**
 * The rule whose scores are put through the softmax.
 */
confidence_rule: Rule, 
/**
 * Docs.
 */
n: number, 
/**
 * Bins asked for.
 */
n_bins: number, 
/**
 * How they are cut.
 */
binning: Binning, 
/**
 * In ascending order, empty ones included.
 */
bins: Array<Bin>, 
/**
 * At the chosen temperature.
 */
values: CalibrationValues, 
/**
 * At T = 1.
 */
values_at_one: CalibrationValues, 
/**
 * ECE by equal-width bins, at the chosen temperature.
 */
ece_equal_width: number, 
/**
 * ECE by equal-mass bins, at the chosen temperature.
 */
ece_equal_mass: number, 
/**
 * From the surest docs to all of them, at most 100 points.
 */
selective: Array<SelectivePoint>, 
/**
 * `None` for fewer than four docs.
 */
temperature_fit: TemperatureFit | null, };

/**
 * Resampled calibration.
 */
export type CalibrationBootstrap = { 
/**
 * Docs.
 */
n: number, 
/**
 * Bins.
 */
n_bins: number, 
/**
 * Draws of each kind.
 */
n_draws: number, 
/**
 * Seed of both streams.
 */
seed: number, 
/**
 * The ECE itself.
 */
ece: number, 
/**
 * 2.5 and 97.5 % points of the ECE over docs drawn with replacement, the bins held fixed.
 */
ece_interval: Interval, 
/**
 * Mean ECE of a perfectly calibrated model with these confidences: what chance alone gives at this n and these bins.
 */
calibrated_ece: number, 
/**
 * 2.5 and 97.5 % points of it.
 */
calibrated_interval: Interval, 
/**
 * Share of perfectly calibrated draws with at least this ECE, (k + 1)/(draws + 1).
 */
p_value: number, };

/**
 * One position (letter) of the choices.
 */
export type PositionCount = { 
/**
 * Position, from 0.
 */
position: number, 
/**
 * `A`, `B` …
 */
letter: string, 
/**
 * Docs that have a choice here.
 */
n_docs: number, 
/**
 * Picks here out of all docs.
 */
picked: Proportion, 
/**
 * Docs with a gold choice here out of all docs.
 */
gold: Proportion, 
/**
 * Accuracy on the docs whose (only) gold choice is here.
 */
accuracy_when_gold: Proportion | null, };

/**
 * Lengths of picks beside those of the gold choices.
 */
export type LengthBias = { 
/**
 * Docs whose choices differ in length.
 */
n: number, 
/**
 * Mean length of the picks, code points.
 */
mean_chars_picked: number, 
/**
 * Mean length of the gold choices, code points.
 */
mean_chars_gold: number, 
/**
 * Mean over docs of the mean length of a choice, code points.
 */
mean_chars_all: number, 
/**
 * The pick is one of the longest choices.
 */
picked_longest: Proportion, 
/**
 * A gold choice is one of the longest.
 */
gold_longest: Proportion, 
/**
 * The pick is one of the shortest choices.
 */
picked_shortest: Proportion, 
/**
 * A gold choice is one of the shortest.
 */
gold_shortest: Proportion, };

/**
 * Both probes.
 */
export type Bias = { 
/**
 * The rule whose picks are looked at.
 */
rule: Rule, 
/**
 * One per position that any doc has.
 */
positions: Array<PositionCount>, 
/**
 * Half the sum of |share picked − share gold|: the share of picks that would have to move to match the gold letters, 0 to 1.
 */
total_variation: number, 
/**
 * `None` where no doc's choices differ in length (letters).
 */
length: LengthBias | null, };

/**
 * A perplexity, or bits per byte.
 */
export type Perplexity = { 
/**
 * exp of the mean, or bits.
 */
value: number, 
/**
 * Delta method; not available for one doc.
 */
stderr: number | null, 
/**
 * exp of the mean log-likelihood ± 1.96 standard errors, so never below 1; for bits ± 1.96 standard errors.
 */
interval: Interval | null, };

/**
 * Items of output type `loglikelihood`.
 */
export type LikelihoodResult = { 
/**
 * The continuation is what the model would have written greedily; lm-eval's `acc` of this output type.
 */
accuracy: Proportion, 
/**
 * Mean log-likelihood of a continuation, nats.
 */
loglikelihood: Mean, 
/**
 * exp(−mean log-likelihood over docs).
 */
perplexity: Perplexity, };

/**
 * Items of output type `loglikelihood_rolling`.
 */
export type RollingResult = { 
/**
 * Documents.
 */
n: number, 
/**
 * Sum of their log-likelihoods, nats.
 */
loglikelihood: number, 
/**
 * Pieces between runs of whitespace.
 */
n_words: number, 
/**
 * UTF-8 bytes.
 */
n_bytes: number, 
/**
 * Tokens scored.
 */
n_tokens: number, 
/**
 * exp(−Σ ll / Σ words).
 */
word_perplexity: Perplexity, 
/**
 * exp(−Σ ll / Σ bytes); `None` where all documents are empty.
 */
byte_perplexity: Perplexity | null, 
/**
 * −Σ ll / (Σ bytes · ln 2); `None` where all documents are empty.
 */
bits_per_byte: Perplexity | null, };

/**
 * A doc on which two runs differ.
 */
export type Flip = { 
/**
 * Position among all rows.
 */
index: number, 
/**
 * This run's pick.
 */
pick: number, 
/**
 * The other run's pick.
 */
other_pick: number, 
/**
 * This run is right.
 */
is_correct: boolean, 
/**
 * The other run is right.
 */
other_is_correct: boolean, };

/**
 * Two runs on the docs they share.
 */
export type Comparison = { 
/**
 * The rule by which both are judged.
 */
rule: Rule, 
/**
 * Docs that both have, with the same number of choices.
 */
n: number, 
/**
 * Docs of this run that the other one lacks.
 */
n_only_here: number, 
/**
 * Docs of the other run that this one lacks.
 */
n_only_other: number, 
/**
 * This run on the shared docs.
 */
accuracy: Proportion, 
/**
 * The other run on the shared docs.
 */
other_accuracy: Proportion, 
/**
 * This run minus the other: mean of the per-doc differences, its standard error and interval.
 */
difference: Mean, 
/**
 * Right in both.
 */
n_both_correct: number, 
/**
 * Right here, wrong there.
 */
n_only_here_correct: number, 
/**
 * Wrong here, right there.
 */
n_only_other_correct: number, 
/**
 * Wrong in both.
 */
n_both_wrong: number, 
/**
 * McNemar's exact two-sided p-value.
 */
p_value: number, 
/**
 * Docs with different picks, in data order.
 */
flips: Array<Flip>, 
/**
 * Largest difference between two log-likelihoods of the same choice, nats.
 */
max_loglikelihood_difference: number, 
/**
 * Mean of those differences, nats.
 */
mean_loglikelihood_difference: number, 
/**
 * Every log-likelihood of every shared doc has the same bits.
 */
is_bit_equal: boolean, };

/**
 * A run in which the choice at position `j` is the one that stands at `(j + shift) mod K` in the file.
 */
export type RotatedRun = { 
/**
 * By how many positions.
 */
shift: number, 
/**
 * Its items.
 */
items: Array<ItemScore>, };

/**
 * One position's share of the picks over all rotations.
 */
export type PositionShare = { 
/**
 * Position, from 0.
 */
position: number, 
/**
 * Picks at this position, with their share and Wilson's interval.
 */
picked: Proportion, 
/**
 * Right answers that stood at this position, over those docs that have it: accuracy if the answer is at this place.
 */
accuracy_when_gold: Proportion | null, };

/**
 * Several orders of the same choices.
 */
export type RotationReport = { 
/**
 * The rule.
 */
rule: Rule, 
/**
 * Docs that every run has.
 */
n: number, 
/**
 * Orders compared.
 */
n_orders: number, 
/**
 * Docs whose pick is the same answer in every order.
 */
consistent: Proportion, 
/**
 * Docs that are right in every order.
 */
always_correct: Proportion, 
/**
 * Accuracy by shift, in the order given.
 */
accuracy_by_shift: Array<[number, Proportion]>, 
/**
 * Mean over docs of the share of orders in which they are right.
 */
mean_accuracy: Mean, 
/**
 * Where the picks stand.
 */
positions: Array<PositionShare>, };

/**
 * A made-up model.
 */
export type SyntheticProfile = "strong_calibrated" | "strong_overconfident" | "weak_calibrated";

/**
 * A file that went into a run.
 */
export type FileMeta = { 
/**
 * Its name.
 */
name: string, 
/**
 * Its size.
 */
n_bytes: number, 
/**
 * Of its bytes, hexadecimal; `None` while it is being computed.
 */
sha256: string | null, 
/**
 * Rows, for a data file.
 */
n_rows: number | null, 
/**
 * Where it came from, if from an address.
 */
source_url: string | null, };

/**
 * The model of a run.
 */
export type ModelMeta = { 
/**
 * The GGUF.
 */
file: FileMeta, 
/**
 * `general.architecture`.
 */
architecture: string, 
/**
 * `general.name`.
 */
name: string | null, 
/**
 * Weights.
 */
n_params: number, 
/**
 * In words, such as `Q4_1`.
 */
quantisation: string, 
/**
 * Weights by tensor type.
 */
n_params_by_type: Record<string, number>, 
/**
 * Context length of the model, tokens.
 */
n_ctx: number, 
/**
 * Tuned on instructions, as far as its name and chat template tell; `None` if they do not.
 */
is_instruct: boolean | null, };

/**
 * A special token.
 */
export type TokenMeta = { 
/**
 * Its id.
 */
id: number, 
/**
 * Its text in the vocabulary.
 */
text: string, };

/**
 * The tokenizer of a run.
 */
export type TokenizerMeta = { 
/**
 * Hash of what defines it.
 */
sha256: string, 
/**
 * In words.
 */
description: string, 
/**
 * Beginning of sequence.
 */
bos: TokenMeta | null, 
/**
 * End of sequence.
 */
eos: TokenMeta | null, 
/**
 * What an empty context is replaced by.
 */
prefix: TokenMeta | null, 
/**
 * BOS is put in front of contexts.
 */
adds_bos: boolean, };

/**
 * A metric of the task's `metric_list`.
 */
export type MetricMeta = { 
/**
 * Its name.
 */
metric: string, 
/**
 * Its direction.
 */
higher_is_better: boolean, };

/**
 * The task of a run.
 */
export type TaskMeta = { 
/**
 * lm-eval's `task`, or the group's name.
 */
name: string, 
/**
 * The preset, where one was used.
 */
preset: string | null, 
/**
 * lm-eval's `metadata.version`.
 */
version: string | null, 
/**
 * The resolved config as YAML.
 */
yaml: string, 
/**
 * The resolved config as it stands under `configs`.
 */
config: unknown, 
/**
 * Shots.
 */
num_fewshot: number, 
/**
 * Text between context and continuation, as used.
 */
target_delimiter: string, 
/**
 * Text between shots.
 */
fewshot_delimiter: string, 
/**
 * Letter style, where there is one.
 */
prompt_style: string | null, 
/**
 * `metric_list`.
 */
metrics: Array<MetricMeta>, 
/**
 * The task's `acc` is the probability of the gold choices (TruthfulQA mc2).
 */
acc_is_gold_probability: boolean, };

/**
 * Everything about a run that is not in its items.
 */
export type RunMeta = { 
/**
 * The settings.
 */
spec: RunSpec, 
/**
 * `None` for the synthetic profiles.
 */
model: ModelMeta | null, 
/**
 * `None` for the synthetic profiles.
 */
tokenizer: TokenizerMeta | null, 
/**
 * The rows.
 */
data: FileMeta, 
/**
 * The rows of the few-shot examples, where they are a file of their own.
 */
fewshot_data: FileMeta | null, 
/**
 * The task.
 */
task: TaskMeta, 
/**
 * Groups of tasks or categories, outer ones first.
 */
groups: Array<Group>, 
/**
 * Docs that the run is to score.
 */
n_docs: number, 
/**
 * Window in tokens, as used.
 */
max_length: number, 
/**
 * The chat template's source, where one is used.
 */
chat_template: string | null, 
/**
 * Version of this program that scored the items; empty: this one.
 */
engine_version: string, 
/**
 * Which implementation ran, such as `own` or `stock`.
 */
engine_path: string, 
/**
 * When the run began, seconds since 1970; the caller's clock.
 */
started_at: number | null, 
/**
 * How long it took, seconds, pauses not counted.
 */
seconds: number | null, 
/**
 * Tokens that were fed.
 */
n_tokens: number, 
/**
 * Threads.
 */
n_threads: number, 
/**
 * Where it ran, in words, such as the browser's name.
 */
machine: string | null, };

/**
 * How a person wants to look at a run. `Default` is what the page starts with and what goes into files.
 */
export type ReportOptions = { 
/**
 * The headline's rule; where it applies to no doc, `acc` takes its place.
 */
rule: Rule, 
/**
 * Whose scores are put through the softmax for confidences; where it applies to no doc, `acc` takes its place.
 */
confidence_rule: Rule, 
/**
 * Bins of the reliability diagram, 1 to 100.
 */
n_bins: number, 
/**
 * How they are cut.
 */
binning: Binning, 
/**
 * Divides the scores before the softmax, above 0.
 */
temperature: number, 
/**
 * How the headline is averaged; where there is nothing to average over, `micro` takes its place.
 */
aggregation: Aggregation, 
/**
 * Category → group, in place of the task's own groups.
 */
category_map: { [key in string]?: string } | null, 
/**
 * Of the temperature's split and of resampling.
 */
seed: number, 
/**
 * A number from elsewhere to compare the headline with.
 */
published: PublishedNumber | null, };

/**
 * How many docs took which way.
 */
export type Counts = { 
/**
 * Docs the run is to score.
 */
n_docs: number, 
/**
 * Docs scored.
 */
n_scored: number, 
/**
 * Rows that are no doc, left out of every metric.
 */
n_unscored: number, 
/**
 * Docs that failed while they ran, left out of every metric.
 */
n_failed: number, 
/**
 * Scored docs with at least one flag of the boundary report.
 */
n_flagged: number, 
/**
 * Near ties that were scored again in float32.
 */
n_settled_in_float32: number, 
/**
 * Scored docs by output type.
 */
n_multiple_choice: number, 
/**
 * Scored docs by output type.
 */
n_loglikelihood: number, 
/**
 * Scored docs by output type.
 */
n_loglikelihood_rolling: number, };

/**
 * What the headline measures.
 */
export type HeadlineMetric = "acc" | "acc_norm" | "acc_bytes" | "acc_token" | "acc_mutual_info" | "acc_mutual_info_answer" | "gold_probability" | "greedy" | "word_perplexity";

/**
 * The one number, with what is needed to read it.
 */
export type Headline = { 
/**
 * What is measured.
 */
metric: HeadlineMetric, 
/**
 * How it is averaged.
 */
aggregation: Aggregation, 
/**
 * The number.
 */
value: number, 
/**
 * Its standard error; not available for n = 1.
 */
stderr: number | null, 
/**
 * At 95 %.
 */
interval: Interval | null, 
/**
 * How the interval was made.
 */
interval_method: IntervalMethod, 
/**
 * Docs behind it.
 */
n: number, 
/**
 * Docs that were right, where right and wrong is what is averaged and every doc counts once.
 */
n_correct: number | null, 
/**
 * Docs whose best score is shared by another choice.
 */
n_tied: number, 
/**
 * Larger is better.
 */
higher_is_better: boolean, 
/**
 * Mean chance of picking right blindly, averaged as the headline is.
 */
chance: number | null, 
/**
 * (value − chance)/(1 − chance).
 */
chance_corrected: number | null, 
/**
 * The interval's ends, corrected in the same way.
 */
chance_corrected_interval: Interval | null, 
/**
 * Chance lies inside the interval: this run does not show that the model knows anything.
 */
is_chance_inside: boolean, 
/**
 * Smallest difference that this n can detect.
 */
detectable: DetectableDifference | null, };

/**
 * How many scored docs carry a flag.
 */
export type FlagCount = { 
/**
 * The flag.
 */
flag: BoundaryFlag, 
/**
 * Docs.
 */
n: number, };

/**
 * Everything the page shows of a run.
 */
export type Report = { 
/**
 * `REPORT_VERSION`.
 */
report_version: number, 
/**
 * The program that scored the items.
 */
engine_version: string, 
/**
 * As used: what could not be done is replaced.
 */
options: ReportOptions, 
/**
 * Which docs took which way.
 */
counts: Counts, 
/**
 * `None` before the first scored doc.
 */
headline: Headline | null, 
/**
 * Multiple choice: the rules side by side.
 */
rules: RuleTable | null, 
/**
 * Multiple choice: what is not a rule.
 */
choice_metrics: ChoiceMetrics | null, 
/**
 * `loglikelihood` docs.
 */
likelihood: LikelihoodResult | null, 
/**
 * `loglikelihood_rolling` docs.
 */
rolling: RollingResult | null, 
/**
 * By category and group: multiple choice by the headline's rule, `loglikelihood` by greediness.
 */
breakdown: Breakdown | null, 
/**
 * Multiple choice.
 */
calibration: Calibration | null, 
/**
 * Multiple choice.
 */
bias: Bias | null, 
/**
 * The headline beside the number that was typed in.
 */
published: PublishedComparison | null, 
/**
 * Flags with at least one doc.
 */
boundary: Array<FlagCount>, 
/**
 * What to paste under a number.
 */
protocol: Protocol, 
/**
 * SHA-256 over every choice's summed log-likelihood, items in data order.
 */
loglikelihood_digest: string, };

/**
 * One line of the card.
 */
export type Fact = { 
/**
 * Such as `model sha256`.
 */
name: string, 
/**
 * Its value.
 */
value: string, };

/**
 * The card.
 */
export type Protocol = { 
/**
 * To paste under a number.
 */
paragraph: string, 
/**
 * The same, one by one.
 */
facts: Array<Fact>, };

/**
 * A number from a paper or a leaderboard, with what is known of how it was made.
 */
export type PublishedNumber = { 
/**
 * On the headline's scale, 0 to 1 for accuracies.
 */
value: number, 
/**
 * Shots.
 */
num_fewshot: number | null, 
/**
 * An instruction-tuned model.
 */
is_instruct: boolean | null, 
/**
 * A chat template was used.
 */
uses_chat_template: boolean | null, 
/**
 * Prompt style, by the names that this program uses.
 */
prompt_style: string | null, 
/**
 * Metric, such as `acc_norm`.
 */
metric: string | null, 
/**
 * Average.
 */
aggregation: Aggregation | null, 
/**
 * Docs behind it.
 */
n: number | null, };

/**
 * A part of the protocol.
 */
export type ProtocolPart = "num_fewshot" | "model" | "chat_template" | "prompt_style" | "metric" | "aggregation" | "subset";

/**
 * A part in which two protocols differ.
 */
export type ProtocolDifference = { 
/**
 * The part.
 */
part: ProtocolPart, 
/**
 * In this run.
 */
here: string, 
/**
 * In the published one.
 */
published: string, };

/**
 * The headline beside a published number.
 */
export type PublishedComparison = { 
/**
 * The published number.
 */
published: number, 
/**
 * It lies inside the headline's interval; `None` where there is no interval.
 */
is_inside: boolean | null, 
/**
 * Headline minus published.
 */
difference: number, 
/**
 * The difference in standard errors of the headline.
 */
n_stderrs: number | null, 
/**
 * Parts of the protocol that are known to differ.
 */
differences: Array<ProtocolDifference>, 
/**
 * Parts of which nothing was said about the published number.
 */
unknown: Array<ProtocolPart>, };

/**
 * A preset, as a list shows it.
 */
export type PresetInfo = { 
/**
 * What `RunSpec::preset` says.
 */
name: string, 
/**
 * For people.
 */
title: string, 
/**
 * Fields that a row needs.
 */
fields: Array<string>, 
/**
 * The config.
 */
yaml: string, 
/**
 * It takes a prompt style.
 */
has_styles: boolean, };

/**
 * One file of an export.
 */
export type ExportFile = { 
/**
 * Its name in the folder.
 */
name: string, 
/**
 * Its content.
 */
text: string, };

/**
 * What a page shows of a model.
 */
export type ModelInfo = { 
/**
 * File name.
 */
file_name: string, 
/**
 * Size of the file.
 */
n_bytes: number, 
/**
 * `general.architecture`.
 */
architecture: string, 
/**
 * `general.name`.
 */
name: string | null, 
/**
 * `general.license`.
 */
license: string | null, 
/**
 * Number of weights.
 */
n_params: number, 
/**
 * Weights by number kind.
 */
n_params_by_type: Record<string, number>, 
/**
 * The kind that most weights have.
 */
quantisation: string, 
/**
 * Tokens the model was trained to see.
 */
n_ctx: number, 
/**
 * Entries of the vocabulary.
 */
n_vocab: number, 
/**
 * Layers.
 */
n_layers: number, 
/**
 * Width of the residual stream.
 */
d_model: number, 
/**
 * `"own"` or `"stock"`.
 */
engine: string, 
/**
 * The tokenizer in words.
 */
tokenizer: string, 
/**
 * Hash of everything that decides token ids.
 */
tokenizer_sha256: string, 
/**
 * The file has a chat template.
 */
has_chat_template: boolean, 
/**
 * Tuned on instructions, as far as name and chat template tell.
 */
is_instruct: boolean | null, 
/**
 * Bytes that the weights take in memory.
 */
n_weight_bytes: number, };

/**
 * One step of loading.
 */
export type LoadStep = { 
/**
 * Bytes read by now.
 */
bytes_loaded: number, 
/**
 * Size of the file.
 */
total_bytes: number, 
/**
 * The tensor that was read.
 */
tensor: string | null, 
/**
 * Nothing is left to read.
 */
done: boolean, };

/**
 * A token of a preview.
 */
export type TokenView = { 
/**
 * Its id.
 */
id: number, 
/**
 * Its text.
 */
text: string, };

/**
 * The join of one doc, to look at.
 */
export type JoinView = { 
/**
 * Position of the doc among the rows.
 */
index: number, 
/**
 * Its line.
 */
line: number, 
/**
 * What is odd about it.
 */
flags: Array<BoundaryFlag>, 
/**
 * The end of the context that is fed, the last tokens.
 */
context_end: Array<TokenView>, 
/**
 * Tokens of the context in all.
 */
n_context_tokens: number, 
/**
 * The scored tokens of each choice.
 */
continuations: Array<Array<TokenView>>, };

/**
 * Where a run is.
 */
export type Phase = "encode" | "score" | "settle" | "done";

/**
 * What one call did.
 */
export type Step = { 
/**
 * The phase that the next call is in.
 */
phase: Phase, 
/**
 * Items that this call scored; one with the index of an earlier one replaces it.
 */
items: Array<ItemScore>, 
/**
 * Docs that failed in this call.
 */
failed: Array<FailedItem>, 
/**
 * Docs done in this phase.
 */
n_done: number, 
/**
 * Docs of this phase.
 */
n_total: number, 
/**
 * Tokens fed to the model by this call.
 */
n_tokens: number, 
/**
 * Tokens fed by now, in all phases.
 */
n_tokens_done: number, 
/**
 * Tokens that all docs of this phase need, as far as is known; what docs share counts once.
 */
n_tokens_total: number, };

/**
 * One doc as it is fed.
 */
export type DocView = { 
/**
 * Its texts.
 */
doc: Doc, 
/**
 * The whole context of its first request.
 */
context: Array<TokenView>, 
/**
 * The scored tokens of each request.
 */
continuations: Array<Array<TokenView>>, };

/**
 * How many docs have a flag.
 */
export type FlaggedDocs = { 
/**
 * The flag.
 */
flag: BoundaryFlag, 
/**
 * Docs that have it.
 */
n_docs: number, 
/**
 * Lines of the first of them.
 */
lines: Array<number>, };

/**
 * The boundary report: what is known before anything is scored.
 */
export type Prepared = { 
/**
 * Docs that will be scored.
 */
n_docs: number, 
/**
 * Docs that cannot be, with the reason.
 */
failed: number, 
/**
 * Continuations that will be scored.
 */
n_requests: number, 
/**
 * Tokens that will be fed; what docs share counts once.
 */
n_tokens: number, 
/**
 * Longest sequence, tokens.
 */
longest: number, 
/**
 * Flags with at least one doc.
 */
flags: Array<FlaggedDocs>, 
/**
 * The first docs, and the first doc of each flag, with the join marked.
 */
examples: Array<JoinView>, 
/**
 * The token that stands for an empty context.
 */
prefix_token: TokenView, 
/**
 * Contexts begin with BOS.
 */
adds_bos: boolean, 
/**
 * Window in tokens.
 */
max_length: number, };

/**
 * What is known of a task before a run.
 */
export type TaskInfo = { 
/**
 * Name of the data file.
 */
file_name: string, 
/**
 * SHA-256 of its bytes.
 */
data_sha256: string, 
/**
 * Well-formed rows in the file.
 */
n_rows: number, 
/**
 * Docs under these settings.
 */
n_docs: number, 
/**
 * The task's name.
 */
name: string, 
/**
 * The preset, where one is used.
 */
preset: string | null, 
/**
 * The resolved config.
 */
yaml: string, 
/**
 * Docs by category, in order of name.
 */
categories: Record<string, number>, 
/**
 * Lines and rows that cannot be scored, with the reason.
 */
unscored: Array<Unscored>, 
/**
 * What a person should know.
 */
warnings: Array<string>, 
/**
 * The first docs as they will be fed.
 */
examples: Array<Doc>, 
/**
 * Shots, as used.
 */
num_fewshot: number, };

/**
 * One entry per scored item in every column, in data order.
 *
 * Entries are `None` where an item has no such thing: picks and confidences outside of multiple choice, right and wrong for
 * rolling log-likelihoods.
 */
export type ItemColumns = { 
/**
 * Position among all rows: the key to the item.
 */
index: Array<number>, 
/**
 * The headline rule's pick.
 */
pick: Array<number | null>, 
/**
 * It is gold; for `loglikelihood` the continuation is greedy.
 */
is_correct: Array<boolean | null>, 
/**
 * Another choice has the same score by the headline's rule.
 */
is_tied: Array<boolean>, 
/**
 * Best score minus second best by the headline's rule, in its unit.
 */
margin: Array<number | null>, 
/**
 * Not every rule picks the same choice.
 */
rules_disagree: Array<boolean>, 
/**
 * Largest probability over the choices, by the confidence rule and the temperature.
 */
confidence: Array<number | null>, 
/**
 * The most probable choice is gold: what calibration counts as right.
 */
is_confidence_correct: Array<boolean | null>, 
/**
 * Bin of the reliability diagram, from 0.
 */
bin: Array<number | null>, };

/**
 * A rule's score of one choice.
 */
export type RuleScore = { 
/**
 * The rule.
 */
rule: Rule, 
/**
 * In nats, or nats per character, byte, token; `None` for −∞ (a choice of length 0).
 */
score: number | null, 
/**
 * This choice is the rule's pick.
 */
is_pick: boolean, };

/**
 * One choice in the drawer.
 */
export type ChoiceDetail = { 
/**
 * `A`, `B` …
 */
letter: string, 
/**
 * It is right.
 */
is_gold: boolean, 
/**
 * By every rule that applies.
 */
scores: Array<RuleScore>, 
/**
 * Softmax over the choices, by the confidence rule and the temperature.
 */
probability: number, };

/**
 * One item in the drawer.
 */
export type ItemDetail = { 
/**
 * Position among all rows.
 */
index: number, 
/**
 * In order; empty outside of multiple choice.
 */
choices: Array<ChoiceDetail>, 
/**
 * The rules' verdicts.
 */
picks: Array<Pick>, };
