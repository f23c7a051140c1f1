//! RunSpec + ItemScores + provenance → everything the page shows, as one versioned value.
//!
//! In: `RunMeta`, the scored items, the rows that were not scored, and how a person wants to look at them (`ReportOptions`).
//! Out: `Report`. Nothing here runs the model: another rule, another number of bins or another way of averaging is another call.
//! Per-item columns are in `items`, the protocol card in `protocol`, files in `files`.

pub mod files;
pub mod items;
pub mod protocol;

use crate::hash::hex;
use crate::metrics::bias::{bias, Bias};
use crate::metrics::bootstrap::{calibration_bootstrap, CalibrationBootstrap};
use crate::metrics::calibration::{calibration, Binning, Calibration, CalibrationOptions};
use crate::metrics::estimate::{mean, DetectableDifference, Interval, IntervalMethod, Mean, Proportion};
use crate::metrics::groups::{breakdown, Aggregation, Breakdown, Group, MacroMean, Outcome};
use crate::metrics::perplexity::{is_greedy, likelihood, rolling, LikelihoodResult, Perplexity, RollingResult};
use crate::metrics::rules::{chance, chance_corrected, choice_metrics, pick_of, rule_result, rule_table, ChoiceMetrics, RuleTable};
use crate::score::{BoundaryFlag, FailedItem, ItemScore, Rule};
use crate::spec::{Precision, RunSpec};
use crate::task::doc::{OutputType, Unscored};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use ts_rs::TS;

pub use protocol::{Protocol, PublishedComparison, PublishedNumber};

/// Version of `Report` and of the `evaltab` part of `results.json`; raised when a key changes its meaning.
pub const REPORT_VERSION: u32 = 1;

/// A file that went into a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, Default)]
#[serde(default)]
pub struct FileMeta {
    /// Its name.
    pub name: String,
    /// Its size.
    #[ts(type = "number")]
    pub n_bytes: u64,
    /// Of its bytes, hexadecimal; `None` while it is being computed.
    pub sha256: Option<String>,
    /// Rows, for a data file.
    pub n_rows: Option<usize>,
    /// Where it came from, if from an address.
    pub source_url: Option<String>,
}

/// The model of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, Default)]
#[serde(default)]
pub struct ModelMeta {
    /// The GGUF.
    pub file: FileMeta,
    /// `general.architecture`.
    pub architecture: String,
    /// `general.name`.
    pub name: Option<String>,
    /// Weights.
    #[ts(type = "number")]
    pub n_params: u64,
    /// In words, such as `Q4_1`.
    pub quantisation: String,
    /// Weights by tensor type.
    #[ts(type = "Record<string, number>")]
    pub n_params_by_type: BTreeMap<String, u64>,
    /// Context length of the model, tokens.
    pub n_ctx: usize,
    /// Tuned on instructions, as far as its name and chat template tell; `None` if they do not.
    pub is_instruct: Option<bool>,
}

/// A special token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, Default)]
#[serde(default)]
pub struct TokenMeta {
    /// Its id.
    pub id: u32,
    /// Its text in the vocabulary.
    pub text: String,
}

/// The tokenizer of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, Default)]
#[serde(default)]
pub struct TokenizerMeta {
    /// Hash of what defines it.
    pub sha256: String,
    /// In words.
    pub description: String,
    /// Beginning of sequence.
    pub bos: Option<TokenMeta>,
    /// End of sequence.
    pub eos: Option<TokenMeta>,
    /// What an empty context is replaced by.
    pub prefix: Option<TokenMeta>,
    /// BOS is put in front of contexts.
    pub adds_bos: bool,
}

/// A metric of the task's `metric_list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, Default)]
#[serde(default)]
pub struct MetricMeta {
    /// Its name.
    pub metric: String,
    /// Its direction.
    pub higher_is_better: bool,
}

/// The task of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, Default)]
#[serde(default)]
pub struct TaskMeta {
    /// lm-eval's `task`, or the group's name.
    pub name: String,
    /// The preset, where one was used.
    pub preset: Option<String>,
    /// lm-eval's `metadata.version`.
    pub version: Option<String>,
    /// The resolved config as YAML.
    pub yaml: String,
    /// The resolved config as it stands under `configs`.
    #[ts(type = "unknown")]
    pub config: serde_json::Value,
    /// Shots.
    pub num_fewshot: usize,
    /// Text between context and continuation, as used.
    pub target_delimiter: String,
    /// Text between shots.
    pub fewshot_delimiter: String,
    /// Letter style, where there is one.
    pub prompt_style: Option<String>,
    /// `metric_list`.
    pub metrics: Vec<MetricMeta>,
    /// The task's `acc` is the probability of the gold choices (TruthfulQA mc2).
    pub acc_is_gold_probability: bool,
}

/// Everything about a run that is not in its items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, Default)]
#[serde(default)]
pub struct RunMeta {
    /// The settings.
    pub spec: RunSpec,
    /// `None` for the synthetic profiles.
    pub model: Option<ModelMeta>,
    /// `None` for the synthetic profiles.
    pub tokenizer: Option<TokenizerMeta>,
    /// The rows.
    pub data: FileMeta,
    /// The rows of the few-shot examples, where they are a file of their own.
    pub fewshot_data: Option<FileMeta>,
    /// The task.
    pub task: TaskMeta,
    /// Groups of tasks or categories, outer ones first.
    pub groups: Vec<Group>,
    /// Docs that the run is to score.
    pub n_docs: usize,
    /// Window in tokens, as used.
    pub max_length: usize,
    /// The chat template's source, where one is used.
    pub chat_template: Option<String>,
    /// Version of this program that scored the items; empty: this one.
    pub engine_version: String,
    /// Which implementation ran, such as `own` or `stock`.
    pub engine_path: String,
    /// When the run began, seconds since 1970; the caller's clock.
    pub started_at: Option<f64>,
    /// How long it took, seconds, pauses not counted.
    pub seconds: Option<f64>,
    /// Tokens that were fed.
    #[ts(type = "number")]
    pub n_tokens: u64,
    /// Threads.
    pub n_threads: usize,
    /// Where it ran, in words, such as the browser's name.
    pub machine: Option<String>,
}

impl RunMeta {
    /// The version of the program that scored the items.
    pub fn engine_version(&self) -> &str {
        if self.engine_version.is_empty() {
            env!("CARGO_PKG_VERSION")
        } else {
            &self.engine_version
        }
    }
}

/// How a person wants to look at a run. `Default` is what the page starts with and what goes into files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ReportOptions {
    /// The headline's rule; where it applies to no doc, `acc` takes its place.
    pub rule: Rule,
    /// Whose scores are put through the softmax for confidences; where it applies to no doc, `acc` takes its place.
    pub confidence_rule: Rule,
    /// Bins of the reliability diagram, 1 to 100.
    pub n_bins: usize,
    /// How they are cut.
    pub binning: Binning,
    /// Divides the scores before the softmax, above 0.
    pub temperature: f64,
    /// How the headline is averaged; where there is nothing to average over, `micro` takes its place.
    pub aggregation: Aggregation,
    /// Category → group, in place of the task's own groups.
    pub category_map: Option<BTreeMap<String, String>>,
    /// Of the temperature's split and of resampling.
    pub seed: u32,
    /// A number from elsewhere to compare the headline with.
    pub published: Option<PublishedNumber>,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            rule: Rule::Acc,
            confidence_rule: Rule::Acc,
            n_bins: 10,
            binning: Binning::EqualWidth,
            temperature: 1.0,
            aggregation: Aggregation::Micro,
            category_map: None,
            seed: 1234,
            published: None,
        }
    }
}

impl ReportOptions {
    /// The same wishes with what cannot be done for these items replaced by what can.
    #[must_use]
    fn for_items(&self, items: &[&ItemScore]) -> Self {
        let applicable = |rule| if items.iter().any(|item| pick_of(item, rule).is_some()) { rule } else { Rule::Acc };
        Self {
            rule: applicable(self.rule),
            confidence_rule: applicable(self.confidence_rule),
            n_bins: self.n_bins.clamp(1, 100),
            temperature: if self.temperature.is_finite() && self.temperature > 0.0 { self.temperature } else { 1.0 },
            ..self.clone()
        }
    }

    fn calibration(&self) -> CalibrationOptions {
        CalibrationOptions {
            confidence_rule: self.confidence_rule,
            n_bins: self.n_bins,
            binning: self.binning,
            temperature: self.temperature,
            seed: self.seed,
        }
    }
}

/// How many docs took which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Counts {
    /// Docs the run is to score.
    pub n_docs: usize,
    /// Docs scored.
    pub n_scored: usize,
    /// Rows that are no doc, left out of every metric.
    pub n_unscored: usize,
    /// Docs that failed while they ran, left out of every metric.
    pub n_failed: usize,
    /// Scored docs with at least one flag of the boundary report.
    pub n_flagged: usize,
    /// Near ties that were scored again in float32.
    pub n_settled_in_float32: usize,
    /// Scored docs by output type.
    pub n_multiple_choice: usize,
    /// Scored docs by output type.
    pub n_loglikelihood: usize,
    /// Scored docs by output type.
    pub n_loglikelihood_rolling: usize,
}

/// What the headline measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HeadlineMetric {
    /// `Rule::Acc`
    Acc,
    /// `Rule::AccNorm`
    AccNorm,
    /// `Rule::AccBytes`
    AccBytes,
    /// `Rule::AccToken`
    AccToken,
    /// `Rule::AccMutualInfo`
    AccMutualInfo,
    /// `Rule::AccMutualInfoAnswer`
    AccMutualInfoAnswer,
    /// Probability of the gold choices (TruthfulQA mc2's `acc`).
    GoldProbability,
    /// Share of docs whose continuation is greedy (LAMBADA's `acc`).
    Greedy,
    /// exp(−Σ ll / Σ words).
    WordPerplexity,
}

impl From<Rule> for HeadlineMetric {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::Acc => Self::Acc,
            Rule::AccNorm => Self::AccNorm,
            Rule::AccBytes => Self::AccBytes,
            Rule::AccToken => Self::AccToken,
            Rule::AccMutualInfo => Self::AccMutualInfo,
            Rule::AccMutualInfoAnswer => Self::AccMutualInfoAnswer,
        }
    }
}

impl HeadlineMetric {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Acc => Rule::Acc.name(),
            Self::AccNorm => Rule::AccNorm.name(),
            Self::AccBytes => Rule::AccBytes.name(),
            Self::AccToken => Rule::AccToken.name(),
            Self::AccMutualInfo => Rule::AccMutualInfo.name(),
            Self::AccMutualInfoAnswer => Rule::AccMutualInfoAnswer.name(),
            Self::GoldProbability => "gold_probability",
            Self::Greedy => "acc",
            Self::WordPerplexity => "word_perplexity",
        }
    }
}

/// The one number, with what is needed to read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Headline {
    /// What is measured.
    pub metric: HeadlineMetric,
    /// How it is averaged.
    pub aggregation: Aggregation,
    /// The number.
    pub value: f64,
    /// Its standard error; not available for n = 1.
    pub stderr: Option<f64>,
    /// At 95 %.
    pub interval: Option<Interval>,
    /// How the interval was made.
    pub interval_method: IntervalMethod,
    /// Docs behind it.
    pub n: usize,
    /// Docs that were right, where right and wrong is what is averaged and every doc counts once.
    pub n_correct: Option<usize>,
    /// Docs whose best score is shared by another choice.
    pub n_tied: usize,
    /// Larger is better.
    pub higher_is_better: bool,
    /// Mean chance of picking right blindly, averaged as the headline is.
    pub chance: Option<f64>,
    /// (value − chance)/(1 − chance).
    pub chance_corrected: Option<f64>,
    /// The interval's ends, corrected in the same way.
    pub chance_corrected_interval: Option<Interval>,
    /// Chance lies inside the interval: this run does not show that the model knows anything.
    pub is_chance_inside: bool,
    /// Smallest difference that this n can detect.
    pub detectable: Option<DetectableDifference>,
}

/// How many scored docs carry a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FlagCount {
    /// The flag.
    pub flag: BoundaryFlag,
    /// Docs.
    pub n: usize,
}

/// Everything the page shows of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Report {
    /// `REPORT_VERSION`.
    pub report_version: u32,
    /// The program that scored the items.
    pub engine_version: String,
    /// As used: what could not be done is replaced.
    pub options: ReportOptions,
    /// Which docs took which way.
    pub counts: Counts,
    /// `None` before the first scored doc.
    pub headline: Option<Headline>,
    /// Multiple choice: the rules side by side.
    pub rules: Option<RuleTable>,
    /// Multiple choice: what is not a rule.
    pub choice_metrics: Option<ChoiceMetrics>,
    /// `loglikelihood` docs.
    pub likelihood: Option<LikelihoodResult>,
    /// `loglikelihood_rolling` docs.
    pub rolling: Option<RollingResult>,
    /// By category and group: multiple choice by the headline's rule, `loglikelihood` by greediness.
    pub breakdown: Option<Breakdown>,
    /// Multiple choice.
    pub calibration: Option<Calibration>,
    /// Multiple choice.
    pub bias: Option<Bias>,
    /// The headline beside the number that was typed in.
    pub published: Option<PublishedComparison>,
    /// Flags with at least one doc.
    pub boundary: Vec<FlagCount>,
    /// What to paste under a number.
    pub protocol: Protocol,
    /// SHA-256 over every choice's summed log-likelihood, items in data order.
    pub loglikelihood_digest: String,
}

/// The items in data order, split by output type.
struct Sorted<'a> {
    all: Vec<&'a ItemScore>,
    multiple_choice: Vec<&'a ItemScore>,
    loglikelihood: Vec<&'a ItemScore>,
    rolling: Vec<&'a ItemScore>,
}

impl<'a> Sorted<'a> {
    fn new(items: &'a [ItemScore]) -> Self {
        let mut all: Vec<&ItemScore> = items.iter().collect();
        all.sort_by_key(|item| item.index);
        let of = |output_type: OutputType| all.iter().copied().filter(|item| item.output_type == output_type).collect();
        Self {
            multiple_choice: of(OutputType::MultipleChoice),
            loglikelihood: of(OutputType::Loglikelihood),
            rolling: of(OutputType::LoglikelihoodRolling),
            all,
        }
    }
}

/// Everything the page shows, from what is scored so far. The order of `items` does not matter.
pub fn report(meta: &RunMeta, items: &[ItemScore], unscored: &[Unscored], failed: &[FailedItem], options: &ReportOptions) -> Report {
    let sorted = Sorted::new(items);
    let options = options.for_items(&sorted.multiple_choice);
    let counts = counts(meta, &sorted, unscored.len(), failed.len());
    let rules = rule_table(&sorted.multiple_choice);
    let choice_metrics = choice_metrics(&sorted.multiple_choice);
    let likelihood = likelihood(&sorted.loglikelihood);
    let rolling = rolling(&sorted.rolling);
    let outcomes: Vec<Outcome> = sorted
        .all
        .iter()
        .filter_map(|item| {
            let is_correct = match item.output_type {
                OutputType::MultipleChoice => pick_of(item, options.rule)?.is_correct,
                OutputType::Loglikelihood => is_greedy(item),
                OutputType::LoglikelihoodRolling => return None,
            };
            Some(Outcome::new(item, is_correct))
        })
        .collect();
    let breakdown = breakdown(&outcomes, &meta.groups, options.category_map.as_ref());
    let headline = choice_headline(meta, &sorted, &options, breakdown.as_ref(), choice_metrics.as_ref())
        .or_else(|| likelihood_headline(likelihood.as_ref()))
        .or_else(|| rolling_headline(rolling.as_ref()));
    let digest = loglikelihood_digest(items);
    let published = options.published.as_ref().zip(headline.as_ref()).map(|(published, headline)| published.compare(headline, meta, &options));
    Report {
        report_version: REPORT_VERSION,
        engine_version: meta.engine_version().to_owned(),
        counts,
        rules,
        choice_metrics,
        likelihood,
        rolling,
        breakdown,
        calibration: calibration(&sorted.multiple_choice, options.calibration()),
        bias: bias(&sorted.multiple_choice, options.rule),
        published,
        boundary: flag_counts(&sorted.all),
        protocol: protocol::protocol(meta, &counts, headline.as_ref(), &options, &digest),
        headline,
        options,
        loglikelihood_digest: digest,
    }
}

/// The calibration section alone, for a slider that moves.
pub fn report_calibration(items: &[ItemScore], options: &ReportOptions) -> Option<Calibration> {
    let sorted = Sorted::new(items);
    calibration(&sorted.multiple_choice, options.for_items(&sorted.multiple_choice).calibration())
}

/// What resampling says of the calibration: a call of its own, because it takes longer than the rest together.
pub fn report_bootstrap(items: &[ItemScore], options: &ReportOptions) -> Option<CalibrationBootstrap> {
    let sorted = Sorted::new(items);
    calibration_bootstrap(&sorted.multiple_choice, options.for_items(&sorted.multiple_choice).calibration())
}

fn counts(meta: &RunMeta, sorted: &Sorted, n_unscored: usize, n_failed: usize) -> Counts {
    let n_scored = sorted.all.len();
    // A run in float32 throughout has no near ties to settle.
    let is_settled = |item: &&&ItemScore| meta.spec.precision == Precision::Default && item.precision == Precision::Float32;
    Counts {
        // Synthetic profiles have no plan.
        n_docs: meta.n_docs.max(n_scored + n_failed),
        n_scored,
        n_unscored,
        n_failed,
        n_flagged: sorted.all.iter().filter(|item| !item.flags.is_empty()).count(),
        n_settled_in_float32: if meta.model.is_some() { sorted.all.iter().filter(is_settled).count() } else { 0 },
        n_multiple_choice: sorted.multiple_choice.len(),
        n_loglikelihood: sorted.loglikelihood.len(),
        n_loglikelihood_rolling: sorted.rolling.len(),
    }
}

fn flag_counts(items: &[&ItemScore]) -> Vec<FlagCount> {
    let mut counts = BTreeMap::<BoundaryFlag, usize>::new();
    for item in items {
        let mut flags = item.flags.clone();
        flags.sort_unstable();
        flags.dedup();
        for flag in flags {
            *counts.entry(flag).or_default() += 1;
        }
    }
    counts.into_iter().map(|(flag, n)| FlagCount { flag, n }).collect()
}

fn choice_headline(
    meta: &RunMeta,
    sorted: &Sorted,
    options: &ReportOptions,
    breakdown: Option<&Breakdown>,
    choice_metrics: Option<&ChoiceMetrics>,
) -> Option<Headline> {
    let items = &sorted.multiple_choice;
    if meta.task.acc_is_gold_probability {
        let mut probability = choice_metrics?.gold_probability;
        probability.interval = probability.interval.map(Interval::within_unit);
        return Some(Headline::of_mean(HeadlineMetric::GoldProbability, Aggregation::Micro, probability));
    }
    let breakdown = breakdown?;
    let category_chances: Vec<f64> = breakdown.categories.iter().map(|category| category.chance).collect();
    let group_chances: Vec<f64> = breakdown.innermost_groups().map(|group| group.chance).collect();
    let macro_mean = match options.aggregation {
        Aggregation::Micro => None,
        Aggregation::MacroCategories => breakdown.macro_categories.zip(mean(&category_chances)),
        Aggregation::MacroGroups => breakdown.macro_groups.zip(mean(&group_chances)),
    };
    let result = rule_result(items, options.rule)?;
    let metric = HeadlineMetric::from(options.rule);
    let (headline, chance) = match macro_mean {
        Some((MacroMean { value, stderr, interval, .. }, chance)) => {
            let mean = Mean { n: breakdown.micro.n, value, stderr, interval };
            (Headline::of_mean(metric, options.aggregation, mean), chance)
        }
        None => {
            let chances: Vec<f64> = items.iter().map(|item| chance(item)).collect();
            (Headline::of_proportion(metric, result.accuracy), mean(&chances)?)
        }
    };
    Some(Headline { n_tied: result.n_tied, ..headline }.above(chance))
}

fn likelihood_headline(result: Option<&LikelihoodResult>) -> Option<Headline> {
    Some(Headline::of_proportion(HeadlineMetric::Greedy, result?.accuracy))
}

fn rolling_headline(result: Option<&RollingResult>) -> Option<Headline> {
    let result = result?;
    let Perplexity { value, stderr, interval } = result.word_perplexity;
    let mean = Mean { n: result.n, value, stderr, interval };
    Some(Headline { higher_is_better: false, ..Headline::of_mean(HeadlineMetric::WordPerplexity, Aggregation::Micro, mean) })
}

impl Headline {
    /// A share of docs.
    fn of_proportion(metric: HeadlineMetric, share: Proportion) -> Self {
        Self {
            metric,
            aggregation: Aggregation::Micro,
            value: share.value,
            stderr: share.stderr,
            interval: Some(share.interval),
            interval_method: IntervalMethod::Wilson,
            n: share.n,
            n_correct: Some(share.n_correct),
            n_tied: 0,
            higher_is_better: true,
            chance: None,
            chance_corrected: None,
            chance_corrected_interval: None,
            is_chance_inside: false,
            detectable: Some(DetectableDifference::new(share.n_correct, share.n)),
        }
    }

    /// A mean with a standard error.
    fn of_mean(metric: HeadlineMetric, aggregation: Aggregation, mean: Mean) -> Self {
        Self {
            metric,
            aggregation,
            value: mean.value,
            stderr: mean.stderr,
            interval: mean.interval,
            interval_method: IntervalMethod::Normal,
            n: mean.n,
            n_correct: None,
            n_tied: 0,
            higher_is_better: true,
            chance: None,
            chance_corrected: None,
            chance_corrected_interval: None,
            is_chance_inside: false,
            detectable: mean.stderr.map(DetectableDifference::from_stderr),
        }
    }

    /// The same with what follows from the chance level.
    fn above(self, chance: f64) -> Self {
        let corrected =
            |interval: Interval| Some(Interval { low: chance_corrected(interval.low, chance)?, high: chance_corrected(interval.high, chance)? });
        Self {
            chance: Some(chance),
            chance_corrected: chance_corrected(self.value, chance),
            chance_corrected_interval: self.interval.and_then(corrected),
            is_chance_inside: self.interval.is_some_and(|interval| interval.contains(chance)),
            ..self
        }
    }
}

/// SHA-256, hexadecimal, over every choice's summed log-likelihood as little-endian f64, items in data order, choices in order.
pub fn loglikelihood_digest(items: &[ItemScore]) -> String {
    let mut sha256 = Sha256::new();
    for item in Sorted::new(items).all {
        for choice in &item.choices {
            sha256.update(choice.loglikelihood.to_le_bytes());
        }
    }
    hex(&sha256.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ErrorKind, EvalError};
    use crate::metrics::cases::{choice, item, letters, text_item};
    use crate::spec::ChatMode;

    fn plain(items: &[ItemScore], options: &ReportOptions) -> Report {
        report(&RunMeta::default(), items, &[], &[], options)
    }

    /// Three docs of two letters and one of four, the first three right.
    fn mixed() -> Vec<ItemScore> {
        let mut items: Vec<ItemScore> = (0..3).map(|i| letters(i, &[0.9, 0.1], 0)).collect();
        items.push(letters(3, &[0.4, 0.3, 0.2, 0.1], 1));
        items
    }

    #[test]
    fn the_digest_is_sha256_over_little_endian_sums_in_data_order() {
        // python3 -c "import hashlib, struct; print(hashlib.sha256(struct.pack('<4d', -1, -2.5, -0.125, -3)).hexdigest())"
        let expected = "76ca4543a2851c7d50865297ac4c17c3a0b62f9cb3d3cd525dffbf9160ee6764";
        let items = [item(0, vec![choice(-1.0, 1), choice(-2.5, 1)], &[0]), item(1, vec![choice(-0.125, 1), choice(-3.0, 1)], &[0])];
        assert_eq!(loglikelihood_digest(&items), expected);
        let [first, second] = items;
        assert_eq!(loglikelihood_digest(&[second, first]), expected);
    }

    #[test]
    fn chance_is_that_of_the_docs_and_the_headline_is_corrected_by_it() {
        let headline = plain(&mixed(), &ReportOptions::default()).headline.expect("docs");
        // (3 · ½ + ¼)/4 = .4375; (.75 − .4375)/.5625 = .5556.
        assert_eq!((headline.value, headline.chance), (0.75, Some(0.4375)));
        assert!((headline.chance_corrected.expect("chance < 1") - 5.0 / 9.0).abs() < 1e-15);
        // Wilson's interval of 3/4 is [.3006, .9544].
        assert!(headline.is_chance_inside);
        assert_eq!((headline.n_correct, headline.interval_method), (Some(3), IntervalMethod::Wilson));
    }

    #[test]
    fn what_cannot_be_done_is_replaced_and_told() {
        let wishes = ReportOptions {
            rule: Rule::AccMutualInfo,
            confidence_rule: Rule::AccMutualInfoAnswer,
            n_bins: 0,
            temperature: f64::NAN,
            aggregation: Aggregation::MacroGroups,
            ..ReportOptions::default()
        };
        let report = plain(&mixed(), &wishes);
        assert_eq!((report.options.rule, report.options.confidence_rule), (Rule::Acc, Rule::Acc));
        assert_eq!((report.options.n_bins, report.options.temperature), (1, 1.0));
        assert_eq!(report.headline.expect("docs").aggregation, Aggregation::Micro);
    }

    #[test]
    fn unscored_and_failed_docs_are_counted_and_in_no_mean() {
        let error = EvalError::new(ErrorKind::TaskFormat, "gold is 4 but there are 4 choices (0 to 3)");
        let unscored = [Unscored { index: Some(9), line: 10, error: error.clone() }];
        let failed = [FailedItem { index: 8, line: 9, error }];
        let report = report(
            &RunMeta { n_docs: 6, model: Some(ModelMeta::default()), ..RunMeta::default() },
            &mixed(),
            &unscored,
            &failed,
            &ReportOptions::default(),
        );
        assert_eq!((report.counts.n_docs, report.counts.n_scored, report.counts.n_unscored, report.counts.n_failed), (6, 4, 1, 1));
        assert_eq!(report.headline.expect("docs").n, 4);
        assert!(report.protocol.paragraph.contains("1 rows could not be scored and 1 docs failed"), "{}", report.protocol.paragraph);
    }

    #[test]
    fn a_report_before_the_first_doc_is_empty() {
        let report = plain(&[], &ReportOptions::default());
        assert!(report.headline.is_none() && report.rules.is_none() && report.calibration.is_none() && report.breakdown.is_none());
        // SHA-256 of nothing.
        assert_eq!(report.loglikelihood_digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn flags_are_counted_once_a_doc() {
        let mut items = mixed();
        items[0].flags = vec![BoundaryFlag::Truncated, BoundaryFlag::EqualChoices, BoundaryFlag::Truncated];
        items[2].flags = vec![BoundaryFlag::Truncated];
        let report = plain(&items, &ReportOptions::default());
        let counts: Vec<_> = report.boundary.iter().map(|count| (count.flag, count.n)).collect();
        assert_eq!(counts, [(BoundaryFlag::Truncated, 2), (BoundaryFlag::EqualChoices, 1)]);
        assert_eq!(report.counts.n_flagged, 2);
    }

    #[test]
    fn the_headline_of_texts_is_greediness_or_perplexity() {
        let texts = [text_item(0, OutputType::Loglikelihood, -1.0, 1, 4), text_item(1, OutputType::Loglikelihood, -3.0, 1, 4)];
        let headline = plain(&texts, &ReportOptions::default()).headline.expect("docs");
        assert_eq!((headline.metric, headline.value, headline.chance), (HeadlineMetric::Greedy, 0.0, None));
        let documents = [text_item(0, OutputType::LoglikelihoodRolling, -6.0, 3, 12)];
        let headline = plain(&documents, &ReportOptions::default()).headline.expect("docs");
        assert_eq!((headline.metric, headline.value), (HeadlineMetric::WordPerplexity, libm::exp(2.0)));
        assert!(!headline.higher_is_better && headline.stderr.is_none());
    }

    #[test]
    fn a_published_number_is_placed_and_the_protocols_compared() {
        let published = PublishedNumber {
            value: 0.9,
            num_fewshot: Some(5),
            uses_chat_template: Some(true),
            metric: Some("acc".to_owned()),
            ..PublishedNumber::default()
        };
        let options = ReportOptions { published: Some(published), ..ReportOptions::default() };
        let mut meta = RunMeta::default();
        meta.spec.chat = ChatMode::OneMessage;
        let comparison = report(&meta, &mixed(), &[], &[], &options).published.expect("a number was given");
        assert_eq!(comparison.is_inside, Some(true));
        assert!((comparison.difference + 0.15).abs() < 1e-15);
        // Standard error √(.75 · .25/3) = .25.
        assert!((comparison.n_stderrs.expect("n > 1") + 0.6).abs() < 1e-12);
        let parts: Vec<_> = comparison.differences.iter().map(|d| (d.part, d.here.as_str(), d.published.as_str())).collect();
        assert_eq!(parts, [(protocol::ProtocolPart::NumFewshot, "0", "5")]);
        assert!(comparison.unknown.contains(&protocol::ProtocolPart::Model));
    }

    #[test]
    fn near_ties_settled_in_float32_are_counted_where_the_run_is_not_in_float32() {
        let mut items = mixed();
        items[1].precision = Precision::Float32;
        let mut meta = RunMeta { model: Some(ModelMeta::default()), ..RunMeta::default() };
        assert_eq!(report(&meta, &items, &[], &[], &ReportOptions::default()).counts.n_settled_in_float32, 1);
        meta.spec.precision = Precision::Float32;
        assert_eq!(report(&meta, &items, &[], &[], &ReportOptions::default()).counts.n_settled_in_float32, 0);
    }

    #[test]
    fn the_paragraph_of_a_made_up_model_says_that_no_model_was_run() {
        let mut meta = RunMeta::default();
        meta.task.name = "synthetic_weak_calibrated".to_owned();
        let paragraph = report(&meta, &mixed(), &[], &[], &ReportOptions::default()).protocol.paragraph;
        assert!(paragraph.starts_with("A made-up model on synthetic_weak_calibrated: acc = 0.7500 ("), "{paragraph}");
        assert!(paragraph.ends_with("counts as the answer. No model was run."), "{paragraph}");
    }

    #[test]
    fn the_stock_path_is_not_said_to_be_16_bit() {
        let model = Some(ModelMeta::default());
        let meta = RunMeta { model, engine_path: "stock".to_owned(), ..RunMeta::default() };
        let paragraph = report(&meta, &mixed(), &[], &[], &ReportOptions::default()).protocol.paragraph;
        assert!(paragraph.contains("8-bit activations (stock path)") && !paragraph.contains("16-bit"), "{paragraph}");
    }

    #[test]
    fn the_paragraph_names_what_a_reader_needs() {
        let mut meta = RunMeta { n_docs: 4, engine_version: "0.1.0".to_owned(), ..RunMeta::default() };
        meta.task.name = "arc_easy".to_owned();
        meta.task.version = Some("1.0".to_owned());
        meta.task.num_fewshot = 5;
        meta.data.name = "arc.jsonl".to_owned();
        meta.model = Some(ModelMeta {
            file: FileMeta { name: "m.gguf".to_owned(), sha256: Some("0123456789abcdef".to_owned()), ..FileMeta::default() },
            architecture: "llama".to_owned(),
            quantisation: "Q4_1".to_owned(),
            ..ModelMeta::default()
        });
        let paragraph = report(&meta, &mixed(), &[], &[], &ReportOptions::default()).protocol.paragraph;
        let digest: String = loglikelihood_digest(&mixed()).chars().take(12).collect();
        assert_eq!(
            paragraph,
            format!(
                "m.gguf (llama, Q4_1, sha256 0123456789ab…) on arc_easy version 1.0 (arc.jsonl): acc = 0.7500 (95 % interval 0.3006 to \
                 0.9544, Wilson; stderr 0.2500; n = 4; micro average over docs; chance 0.4375); the choice with the highest summed \
                 log-likelihood counts as the answer. All rows; 5-shot, sampler seed 1234; no chat template. Log-softmax over the full \
                 vocabulary; 16-bit activations, near ties settled in float32; evaltab 0.1.0; log-likelihood digest {digest}…."
            )
        );
    }

    #[test]
    fn columns_are_in_data_order_and_agree_with_the_report() {
        let mut shuffled = mixed();
        shuffled.reverse();
        let columns = items::item_columns(&shuffled, &ReportOptions::default());
        assert_eq!(columns.index, [0, 1, 2, 3]);
        assert_eq!(columns.is_correct, [Some(true), Some(true), Some(true), Some(false)]);
        // .9 is closed on the right of the ninth bin but for rounding; .4 of the fourth.
        let report = plain(&shuffled, &ReportOptions::default());
        for (m, bin) in report.calibration.expect("docs").bins.iter().enumerate() {
            assert_eq!(columns.bin.iter().filter(|b| **b == Some(m)).count(), bin.n, "bin {m}");
        }
        let texts = [text_item(0, OutputType::LoglikelihoodRolling, -1.0, 1, 4)];
        let columns = items::item_columns(&texts, &ReportOptions::default());
        assert_eq!((columns.is_correct, columns.bin, columns.confidence), (vec![None], vec![None], vec![None]));
    }

    #[test]
    fn the_drawer_shows_every_rules_score_and_pick() {
        let one = item(7, vec![choice(-2.0, 2), choice(-3.0, 9), choice(-9.0, 0)], &[1]);
        let detail = items::item_detail(&one, &ReportOptions::default());
        let by_chars = |i: usize| detail.choices[i].scores.iter().find(|score| score.rule == Rule::AccNorm).expect("a rule");
        assert_eq!((by_chars(0).score, by_chars(1).score, by_chars(2).score), (Some(-1.0), Some(-3.0 / 9.0), None));
        assert_eq!((by_chars(0).is_pick, by_chars(1).is_pick), (false, true));
        assert_eq!((detail.choices[1].letter.as_str(), detail.choices[1].is_gold), ("B", true));
        let sum: f64 = detail.choices.iter().map(|choice| choice.probability).sum();
        assert!((sum - 1.0).abs() < 1e-15);
    }
}
