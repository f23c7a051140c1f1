//! RunSpec + ItemScores + provenance → everything the page shows, as one versioned value.
//!
//! In: `RunMeta`, the scored items, the rows that were not scored, and how a person wants to look at them (`ReportOptions`).
//! Out: `Report`. Nothing here runs the model: another rule, another number of bins or another way of averaging is another call.
//! Per-item columns are in `items`, the protocol card in `protocol`, files in `files`.

pub mod files;
pub mod items;
pub mod protocol;

use crate::metrics::bias::{bias, Bias};
use crate::metrics::bootstrap::{calibration_bootstrap, CalibrationBootstrap};
use crate::metrics::calibration::{calibration, Binning, Calibration, CalibrationOptions};
use crate::metrics::estimate::{mean, DetectableDifference, Interval, IntervalMethod};
use crate::metrics::groups::{breakdown, Aggregation, Breakdown, Group, MacroMean, Outcome};
use crate::metrics::perplexity::{is_greedy, likelihood, rolling, LikelihoodResult, RollingResult};
use crate::metrics::rules::{chance, chance_corrected, choice_metrics, pick_of, rule_table, ChoiceMetrics, RuleTable};
use crate::score::{BoundaryFlag, FailedItem, ItemScore, Rule};
use crate::spec::{Precision, RunSpec};
use crate::task::doc::{OutputType, Unscored};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use ts_rs::TS;

pub use protocol::{Fact, ProtocolDifference, ProtocolPart, Protocol, PublishedComparison, PublishedNumber};

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
pub fn report(
    meta: &RunMeta,
    items: &[ItemScore],
    unscored: &[Unscored],
    failed: &[FailedItem],
    options: &ReportOptions,
) -> Report {
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
    let published =
        options.published.as_ref().zip(headline.as_ref()).map(|(published, headline)| published.compare(headline, meta, &options));
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
    let chances: Vec<f64> = items.iter().map(|item| chance(item)).collect();
    let chance = mean(&chances)?;
    if meta.task.acc_is_gold_probability {
        let probability = choice_metrics?.gold_probability;
        return Some(Headline {
            metric: HeadlineMetric::GoldProbability,
            aggregation: Aggregation::Micro,
            value: probability.value,
            stderr: probability.stderr,
            interval: probability.interval.map(Interval::within_unit),
            interval_method: IntervalMethod::Normal,
            n: probability.n,
            n_correct: None,
            n_tied: 0,
            higher_is_better: true,
            chance: None,
            chance_corrected: None,
            chance_corrected_interval: None,
            is_chance_inside: false,
            detectable: probability.stderr.map(DetectableDifference::from_stderr),
        });
    }
    let breakdown = breakdown?;
    let (aggregation, mean): (Aggregation, Option<(MacroMean, f64)>) = match options.aggregation {
        Aggregation::Micro => (Aggregation::Micro, None),
        Aggregation::MacroCategories => {
            let chances: Vec<f64> = breakdown.categories.iter().map(|category| category.chance).collect();
            (Aggregation::MacroCategories, breakdown.macro_categories.zip(self::mean(&chances)))
        }
        Aggregation::MacroGroups => {
            let chances: Vec<f64> = breakdown.innermost_groups().map(|group| group.chance).collect();
            (Aggregation::MacroGroups, breakdown.macro_groups.zip(self::mean(&chances)))
        }
    };
    let n_tied = items.iter().filter(|item| pick_of(item, options.rule).is_some_and(|pick| pick.is_tied)).count();
    let metric = HeadlineMetric::from(options.rule);
    let headline = match mean {
        Some((mean, chance)) => Headline {
            metric,
            aggregation,
            value: mean.value,
            stderr: mean.stderr,
            interval: mean.interval,
            interval_method: IntervalMethod::Normal,
            n: breakdown.micro.n,
            n_correct: None,
            n_tied,
            higher_is_better: true,
            chance: Some(chance),
            chance_corrected: None,
            chance_corrected_interval: None,
            is_chance_inside: false,
            detectable: mean.stderr.map(DetectableDifference::from_stderr),
        },
        None => {
            let micro = crate::metrics::rules::rule_result(items, options.rule)?.accuracy;
            Headline {
                metric,
                aggregation: Aggregation::Micro,
                value: micro.value,
                stderr: micro.stderr,
                interval: Some(micro.interval),
                interval_method: IntervalMethod::Wilson,
                n: micro.n,
                n_correct: Some(micro.n_correct),
                n_tied,
                higher_is_better: true,
                chance: Some(chance),
                chance_corrected: None,
                chance_corrected_interval: None,
                is_chance_inside: false,
                detectable: Some(DetectableDifference::new(micro.n_correct, micro.n)),
            }
        }
    };
    Some(headline.above_chance())
}

impl Headline {
    /// Fills in what follows from `chance`.
    fn above_chance(mut self) -> Self {
        if let Some(chance) = self.chance {
            self.chance_corrected = chance_corrected(self.value, chance);
            self.chance_corrected_interval = self.interval.and_then(|interval| {
                Some(Interval { low: chance_corrected(interval.low, chance)?, high: chance_corrected(interval.high, chance)? })
            });
            self.is_chance_inside = self.interval.is_some_and(|interval| interval.contains(chance));
        }
        self
    }
}

fn likelihood_headline(result: Option<&LikelihoodResult>) -> Option<Headline> {
    let accuracy = result?.accuracy;
    Some(Headline {
        metric: HeadlineMetric::Greedy,
        aggregation: Aggregation::Micro,
        value: accuracy.value,
        stderr: accuracy.stderr,
        interval: Some(accuracy.interval),
        interval_method: IntervalMethod::Wilson,
        n: accuracy.n,
        n_correct: Some(accuracy.n_correct),
        n_tied: 0,
        higher_is_better: true,
        chance: None,
        chance_corrected: None,
        chance_corrected_interval: None,
        is_chance_inside: false,
        detectable: Some(DetectableDifference::new(accuracy.n_correct, accuracy.n)),
    })
}

fn rolling_headline(result: Option<&RollingResult>) -> Option<Headline> {
    let result = result?;
    let perplexity = result.word_perplexity;
    Some(Headline {
        metric: HeadlineMetric::WordPerplexity,
        aggregation: Aggregation::Micro,
        value: perplexity.value,
        stderr: perplexity.stderr,
        interval: perplexity.interval,
        interval_method: IntervalMethod::Normal,
        n: result.n,
        n_correct: None,
        n_tied: 0,
        higher_is_better: false,
        chance: None,
        chance_corrected: None,
        chance_corrected_interval: None,
        is_chance_inside: false,
        detectable: perplexity.stderr.map(DetectableDifference::from_stderr),
    })
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
