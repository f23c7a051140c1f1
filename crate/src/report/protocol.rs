//! The protocol card: what has to stand under a number so that someone else can get the same one, or see why not.
//!
//! In: `RunMeta`, counts, headline. Out: one paragraph to paste, the same facts as a list, and the comparison with a number
//! from elsewhere together with the parts of the protocol that differ.

use super::{Counts, Headline, HeadlineMetric, ReportOptions, RunMeta};
use crate::hash::sha256_hex;
use crate::metrics::calibration::Binning;
use crate::metrics::estimate::IntervalMethod;
use crate::metrics::groups::Aggregation;
use crate::spec::{ChatMode, Precision, Subset};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One line of the card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Fact {
    /// Such as `model sha256`.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Protocol {
    /// To paste under a number.
    pub paragraph: String,
    /// The same, one by one.
    pub facts: Vec<Fact>,
}

/// A number from a paper or a leaderboard, with what is known of how it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, Default)]
#[serde(default, deny_unknown_fields)]
pub struct PublishedNumber {
    /// On the headline's scale, 0 to 1 for accuracies.
    pub value: f64,
    /// Shots.
    pub num_fewshot: Option<usize>,
    /// An instruction-tuned model.
    pub is_instruct: Option<bool>,
    /// A chat template was used.
    pub uses_chat_template: Option<bool>,
    /// Prompt style, by the names that this program uses.
    pub prompt_style: Option<String>,
    /// Metric, such as `acc_norm`.
    pub metric: Option<String>,
    /// Average.
    pub aggregation: Option<Aggregation>,
    /// Docs behind it.
    pub n: Option<usize>,
}

/// A part of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ProtocolPart {
    /// Number of shots.
    NumFewshot,
    /// Base or instruct.
    Model,
    /// With or without chat template.
    ChatTemplate,
    /// Prompt style.
    PromptStyle,
    /// Scoring rule.
    Metric,
    /// Micro or macro.
    Aggregation,
    /// Docs.
    Subset,
}

/// A part in which two protocols differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProtocolDifference {
    /// The part.
    pub part: ProtocolPart,
    /// In this run.
    pub here: String,
    /// In the published one.
    pub published: String,
}

/// The headline beside a published number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PublishedComparison {
    /// The published number.
    pub published: f64,
    /// It lies inside the headline's interval; `None` where there is no interval.
    pub is_inside: Option<bool>,
    /// Headline minus published.
    pub difference: f64,
    /// The difference in standard errors of the headline.
    pub n_stderrs: Option<f64>,
    /// Parts of the protocol that are known to differ.
    pub differences: Vec<ProtocolDifference>,
    /// Parts of which nothing was said about the published number.
    pub unknown: Vec<ProtocolPart>,
}

impl PublishedNumber {
    /// The headline beside this number.
    pub(super) fn compare(&self, headline: &Headline, meta: &RunMeta, options: &ReportOptions) -> PublishedComparison {
        let model_kind = |is_instruct: bool| if is_instruct { "instruct" } else { "base" }.to_owned();
        let template = |is_used: bool| if is_used { "with chat template" } else { "without chat template" }.to_owned();
        let aggregation = |aggregation: Aggregation| aggregation_name(aggregation).to_owned();
        let parts = [
            (ProtocolPart::NumFewshot, Some(meta.task.num_fewshot.to_string()), self.num_fewshot.map(|n| n.to_string())),
            (ProtocolPart::Model, meta.model.as_ref().and_then(|model| model.is_instruct).map(model_kind), self.is_instruct.map(model_kind)),
            (ProtocolPart::ChatTemplate, Some(template(meta.spec.chat != ChatMode::Off)), self.uses_chat_template.map(template)),
            (ProtocolPart::PromptStyle, meta.task.prompt_style.clone(), self.prompt_style.clone()),
            (ProtocolPart::Metric, Some(headline.metric.name().to_owned()), self.metric.clone()),
            (ProtocolPart::Aggregation, Some(aggregation(options.aggregation)), self.aggregation.map(aggregation)),
            (ProtocolPart::Subset, Some(format!("{} docs", headline.n)), self.n.map(|n| format!("{n} docs"))),
        ];
        let mut differences = Vec::new();
        let mut unknown = Vec::new();
        for (part, here, published) in parts {
            match (here, published) {
                (Some(here), Some(published)) if here != published => differences.push(ProtocolDifference { part, here, published }),
                (Some(_), Some(_)) => {}
                (_, None) | (None, _) => unknown.push(part),
            }
        }
        let difference = headline.value - self.value;
        PublishedComparison {
            published: self.value,
            is_inside: headline.interval.map(|interval| interval.contains(self.value)),
            difference,
            n_stderrs: headline.stderr.filter(|se| *se > 0.0).map(|se| difference / se),
            differences,
            unknown,
        }
    }
}

/// An aggregation in words.
fn aggregation_name(aggregation: Aggregation) -> &'static str {
    match aggregation {
        Aggregation::Micro => "micro average over docs",
        Aggregation::MacroCategories => "macro average over categories",
        Aggregation::MacroGroups => "macro average over groups",
    }
}

/// How a metric picks, in words.
fn definition(metric: HeadlineMetric) -> &'static str {
    match metric {
        HeadlineMetric::Acc => "the choice with the highest summed log-likelihood counts as the answer",
        HeadlineMetric::AccNorm => "the choice with the highest log-likelihood per character (code point) counts as the answer",
        HeadlineMetric::AccBytes => "the choice with the highest log-likelihood per UTF-8 byte counts as the answer",
        HeadlineMetric::AccToken => "the choice with the highest log-likelihood per token counts as the answer",
        HeadlineMetric::AccMutualInfo => "the choice whose log-likelihood gains most over that given the prefix token alone counts as the answer",
        HeadlineMetric::AccMutualInfoAnswer => "the choice whose log-likelihood gains most over that given \"Answer:\" alone counts as the answer",
        HeadlineMetric::GoldProbability => "mean probability of the true choices under a softmax of the log-likelihoods",
        HeadlineMetric::Greedy => "a doc is right if the model would have written the continuation greedily",
        HeadlineMetric::WordPerplexity => "exp of the negative log-likelihood per whitespace-separated word",
    }
}

/// An interval's method in words.
fn method_name(method: IntervalMethod) -> &'static str {
    match method {
        IntervalMethod::Wilson => "Wilson",
        IntervalMethod::Normal => "normal approximation",
    }
}

/// The card of a run.
pub(super) fn protocol(meta: &RunMeta, counts: &Counts, headline: Option<&Headline>, options: &ReportOptions, digest: &str) -> Protocol {
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: String| facts.push(Fact { name: name.to_owned(), value });
    if let Some(model) = &meta.model {
        fact("model", model.file.name.clone());
        fact("model sha256", known(&model.file.sha256));
        fact("model size", format!("{} bytes", model.file.n_bytes));
        fact("architecture", model.architecture.clone());
        fact("parameters", model.n_params.to_string());
        fact("quantisation", model.quantisation.clone());
    }
    if let Some(tokenizer) = &meta.tokenizer {
        fact("tokenizer", tokenizer.description.clone());
        fact("tokenizer sha256", tokenizer.sha256.clone());
        if let Some(prefix) = &tokenizer.prefix {
            fact("prefix token", format!("{} ({})", prefix.text, prefix.id));
        }
        fact("bos in front", if tokenizer.adds_bos { "yes" } else { "no" }.to_owned());
    }
    fact("task", meta.task.name.clone());
    if let Some(version) = &meta.task.version {
        fact("task version", version.clone());
    }
    fact("data", meta.data.name.clone());
    fact("data sha256", known(&meta.data.sha256));
    fact("subset", subset_in_words(&meta.spec.subset));
    fact("shots", shots_in_words(meta));
    if let Some(style) = &meta.task.prompt_style {
        fact("prompt style", style.clone());
    }
    fact("target delimiter", format!("{:?}", meta.task.target_delimiter));
    fact("chat template", chat_in_words(meta));
    if let Some(template) = &meta.chat_template {
        fact("chat template sha256", sha256_hex(template));
    }
    if meta.max_length > 0 {
        fact("window", format!("{} tokens", meta.max_length));
    }
    fact("docs", format!("{} scored, {} unscored, {} failed, {} flagged", counts.n_scored, counts.n_unscored, counts.n_failed, counts.n_flagged));
    if let Some(headline) = headline {
        fact("metric", format!("{}: {}", headline.metric.name(), definition(headline.metric)));
        fact("average", aggregation_name(headline.aggregation).to_owned());
        fact("interval", format!("95 %, {}", method_name(headline.interval_method)));
        fact("ties", format!("{} docs, first maximum wins", headline.n_tied));
    }
    fact(
        "calibration",
        format!(
            "softmax of {} over the choices, T = {}, {} {} bins",
            options.confidence_rule.name(),
            options.temperature,
            options.n_bins,
            match options.binning {
                Binning::EqualWidth => "equal-width right-closed",
                Binning::EqualMass => "equal-mass",
            }
        ),
    );
    fact("arithmetic", arithmetic_in_words(meta).to_owned());
    fact("engine", format!("evaltab {}{}", meta.engine_version(), parenthesised(&meta.engine_path)));
    fact("log-likelihood digest", digest.to_owned());
    Protocol { paragraph: paragraph(meta, counts, headline, digest), facts }
}

fn known(sha256: &Option<String>) -> String {
    sha256.clone().unwrap_or_else(|| "not computed".to_owned())
}

fn parenthesised(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(" ({text})")
    }
}

fn shots_in_words(meta: &RunMeta) -> String {
    match meta.task.num_fewshot {
        0 => "0-shot".to_owned(),
        n => format!("{n}-shot, sampler seed {}", meta.spec.fewshot_seed),
    }
}

fn chat_in_words(meta: &RunMeta) -> String {
    match meta.spec.chat {
        ChatMode::Off => "no chat template",
        ChatMode::OneMessage => "the model's chat template, everything in one message",
        ChatMode::Turns => "the model's chat template, one turn an example",
    }
    .to_owned()
}

fn arithmetic_in_words(meta: &RunMeta) -> &'static str {
    match (meta.engine_path.as_str(), meta.spec.precision) {
        // candle's quantised products round activations, whatever the run asked for.
        ("stock", _) => "8-bit activations (stock path)",
        (_, Precision::Default) => "16-bit activations, near ties settled in float32",
        (_, Precision::Float32) => "float32",
    }
}

fn subset_in_words(subset: &Subset) -> String {
    match subset {
        Subset::All => "all rows".to_owned(),
        Subset::First { n } => format!("the first {n} rows"),
        Subset::Random { n, seed } => format!("{n} rows drawn with seed {seed}"),
        Subset::PerCategory { n, seed } => format!("{n} rows of each category drawn with seed {seed}"),
    }
}

/// Four decimals for shares and small perplexities.
fn number(x: f64) -> String {
    format!("{x:.4}")
}

fn paragraph(meta: &RunMeta, counts: &Counts, headline: Option<&Headline>, digest: &str) -> String {
    let short = |sha256: &str| sha256.chars().take(12).collect::<String>();
    let hash = |sha256: &Option<String>| sha256.as_deref().map_or(String::new(), |sha256| format!("sha256 {}…", short(sha256)));
    let mut text = String::new();
    match &meta.model {
        Some(model) => {
            let details: Vec<String> = [model.architecture.clone(), model.quantisation.clone(), hash(&model.file.sha256)]
                .into_iter()
                .filter(|detail| !detail.is_empty())
                .collect();
            text += &format!("{}{}", model.file.name, parenthesised(&details.join(", ")));
        }
        None => text += "A made-up model",
    }
    text += &format!(" on {}", meta.task.name);
    if let Some(version) = &meta.task.version {
        text += &format!(" version {version}");
    }
    text += &parenthesised(&[meta.data.name.clone(), hash(&meta.data.sha256)].into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join(", "));
    if let Some(headline) = headline {
        text += &format!(": {} = {}", headline.metric.name(), number(headline.value));
        let mut details = Vec::new();
        if let Some(interval) = headline.interval {
            let method = method_name(headline.interval_method);
            details.push(format!("95 % interval {} to {}, {method}", number(interval.low), number(interval.high)));
        }
        if let Some(stderr) = headline.stderr {
            details.push(format!("stderr {}", number(stderr)));
        }
        details.push(format!("n = {}", headline.n));
        details.push(aggregation_name(headline.aggregation).to_owned());
        if let Some(chance) = headline.chance {
            details.push(format!("chance {}", number(chance)));
        }
        text += &parenthesised(&details.join("; "));
        text += &format!("; {}", definition(headline.metric));
        if headline.n_tied > 0 {
            text += &format!(", the first one on the {} docs with a tie", headline.n_tied);
        }
    }
    text += ". ";
    if meta.model.is_none() {
        return text + "No model was run.";
    }
    text += &format!("{}; {}; {}", capitalised(&subset_in_words(&meta.spec.subset)), shots_in_words(meta), chat_in_words(meta));
    if let Some(style) = &meta.task.prompt_style {
        text += &format!("; prompt style {style}");
    }
    text += ". ";
    if counts.n_unscored + counts.n_failed > 0 {
        text += &format!("{} rows could not be scored and {} docs failed; neither is counted. ", counts.n_unscored, counts.n_failed);
    }
    if counts.n_scored < counts.n_docs {
        text += &format!("The run is not finished: {} of {} docs. ", counts.n_scored, counts.n_docs);
    }
    text += &format!(
        "Log-softmax over the full vocabulary; {}; evaltab {}; log-likelihood digest {}….",
        arithmetic_in_words(meta),
        meta.engine_version(),
        short(digest)
    );
    text
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + chars.as_str())
}
