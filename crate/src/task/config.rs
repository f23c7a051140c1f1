//! A task's config, in lm-eval's own vocabulary.
//!
//! In: YAML text, and other YAML texts that it may include. Out: `TaskConfig`, which serialises to YAML that lm-eval loads. A
//! field that is unknown or cannot work in a page is an error with its name. `!function` is kept as a name; `builtin` knows some.
//!
//! Source: lm-eval 0.4.13, `config/task.py` and its task guide.

use super::doc::OutputType;
use super::yaml::to_yaml;
use crate::error::{ErrorKind, EvalError, Result};
use serde::{Deserialize, Serialize};
use serde_yaml_ng::value::{Tag, TaggedValue};
use serde_yaml_ng::{Mapping, Value};
use std::collections::BTreeMap;

/// What a `doc_to_*` field can be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Field {
    /// A template, or the name of a column.
    Text(String),
    /// The same index for every row.
    Index(usize),
    /// The same texts for every row; a map gives its values.
    List(Vec<String>),
    /// `!function module.name`.
    Function(String),
}

/// `!function module.name`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Function(pub String);

fn function_name(tagged: TaggedValue) -> Result<String, String> {
    match tagged.value {
        Value::String(name) if tagged.tag == "!function" => Ok(name),
        _ => Err(format!("tag {} is not supported", tagged.tag)),
    }
}

fn function_value(name: String) -> Value {
    Value::Tagged(Box::new(TaggedValue { tag: Tag::new("!function"), value: Value::String(name) }))
}

impl TryFrom<Value> for Function {
    type Error = String;
    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::Tagged(tagged) => function_name(*tagged).map(Self),
            _ => Err("expected !function".to_owned()),
        }
    }
}

impl From<Function> for Value {
    fn from(function: Function) -> Self {
        function_value(function.0)
    }
}

impl TryFrom<Value> for Field {
    type Error = String;
    fn try_from(value: Value) -> Result<Self, String> {
        let text = |value| match value {
            Value::String(text) => Ok(text),
            other => Err(format!("expected a list of texts, found {other:?} in it")),
        };
        match value {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Number(number) => {
                let index = number.as_u64().and_then(|n| usize::try_from(n).ok());
                index.map(Self::Index).ok_or_else(|| format!("{number} is no index"))
            }
            Value::Sequence(items) => items.into_iter().map(text).collect::<Result<_, _>>().map(Self::List),
            Value::Mapping(items) => items.into_iter().map(|(_, v)| text(v)).collect::<Result<_, _>>().map(Self::List),
            Value::Tagged(tagged) => function_name(*tagged).map(Self::Function),
            Value::Bool(_) | Value::Null => Err("expected a template".to_owned()),
        }
    }
}

impl From<Field> for Value {
    fn from(field: Field) -> Self {
        match field {
            Field::Text(text) => Self::String(text),
            Field::Index(index) => Self::Number(index.into()),
            Field::List(items) => Self::Sequence(items.into_iter().map(Self::String).collect()),
            Field::Function(name) => function_value(name),
        }
    }
}

/// One entry of `metric_list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Its name, such as `acc`.
    pub metric: String,
    /// How docs are put together; the metric's own way where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<String>,
    /// Direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub higher_is_better: Option<bool>,
    /// Arguments of metrics that are functions; those of log-likelihoods have none.
    #[serde(flatten)]
    pub arguments: Mapping,
}

impl Metric {
    fn is_supported(&self) -> bool {
        METRICS.iter().any(|(name, _)| *name == self.metric)
    }
}

/// Metrics that a report has, and whether higher is better.
const METRICS: [(&str, bool); 11] = [
    ("acc", true),
    ("acc_norm", true),
    ("acc_bytes", true),
    ("acc_token", true),
    ("acc_mutual_info", true),
    ("exact_match", true),
    ("brier_score", false),
    ("perplexity", false),
    ("word_perplexity", false),
    ("byte_perplexity", false),
    ("bits_per_byte", false),
];

/// `fewshot_config`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FewshotConfig {
    /// How examples are drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampler: Option<Sampler>,
    /// Name of the split they are drawn from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// The examples themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<Vec<serde_json::Value>>,
    /// Rows of the pool that may be drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewshot_indices: Option<Vec<usize>>,
    /// In place of the task's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_to_text: Option<Field>,
    /// In place of the task's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_to_choice: Option<Field>,
    /// In place of the task's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_to_target: Option<Field>,
    /// In place of the task's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewshot_delimiter: Option<String>,
    /// In place of the task's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_delimiter: Option<String>,
}

/// How few-shot examples are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampler {
    /// Python's `random.Random(seed).sample`.
    #[default]
    Default,
    /// The first rows of the pool.
    FirstN,
}

/// A name or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Names {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

/// A task. Field names and meanings are lm-eval's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct TaskConfig {
    #[serde(default = "unnamed")]
    pub task: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_alias: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Names>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset_kwargs: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_split: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_split: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_split: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewshot_split: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_docs: Option<Function>,
    pub output_type: OutputType,
    pub doc_to_text: Field,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_to_choice: Option<Field>,
    pub doc_to_target: Field,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default = "space")]
    pub target_delimiter: String,
    #[serde(default = "blank_line")]
    pub fewshot_delimiter: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewshot_config: Option<FewshotConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_fewshot: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_results: Option<Function>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric_list: Option<Vec<Metric>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation_kwargs: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter_list: Option<Vec<FilterPipeline>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub should_decontaminate: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_to_decontamination_query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// One entry of `filter_list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterPipeline {
    /// Its name in the results.
    pub name: String,
    /// What it does.
    pub filter: Vec<Filter>,
}

/// One step of a filter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Filter {
    /// Its name; `take_first` is the one that means something for log-likelihoods.
    pub function: String,
}

fn unnamed() -> String {
    "task".to_owned()
}

fn space() -> String {
    " ".to_owned()
}

fn blank_line() -> String {
    "\n\n".to_owned()
}

/// Fields of lm-eval that cannot work here.
const UNSUPPORTED: [&str; 6] = ["custom_dataset", "doc_to_image", "doc_to_audio", "unsafe_code", "use_prompt", "gen_prefix"];

/// Fields of `TaskConfig`, as in YAML.
const KNOWN: [&str; 28] = [
    "task",
    "task_alias",
    "tag",
    "dataset_path",
    "dataset_name",
    "dataset_kwargs",
    "training_split",
    "validation_split",
    "test_split",
    "fewshot_split",
    "process_docs",
    "output_type",
    "doc_to_text",
    "doc_to_choice",
    "doc_to_target",
    "description",
    "target_delimiter",
    "fewshot_delimiter",
    "fewshot_config",
    "num_fewshot",
    "process_results",
    "metric_list",
    "generation_kwargs",
    "filter_list",
    "repeats",
    "should_decontaminate",
    "doc_to_decontamination_query",
    "metadata",
];

/// An error of the config.
pub(super) fn config_error(field: &str, message: impl Into<String>) -> EvalError {
    EvalError::new(ErrorKind::TaskConfig, message).at(format!("field \"{field}\""))
}

/// YAML text → a mapping, what it includes merged under it.
///
/// # Errors
/// `ErrorKind::TaskConfig` if it is no YAML mapping, or an included file is not among `includes` or includes itself.
pub fn mapping(yaml: &str, includes: &BTreeMap<String, String>) -> Result<Mapping> {
    merged(yaml, includes, 0)
}

fn merged(yaml: &str, includes: &BTreeMap<String, String>, depth: usize) -> Result<Mapping> {
    let value: Value = serde_yaml_ng::from_str(yaml).map_err(|e| EvalError::new(ErrorKind::TaskConfig, format!("not YAML: {e}")).at("task YAML"))?;
    match value {
        Value::Mapping(fields) => with_includes(fields, includes, depth),
        _ => Err(EvalError::new(ErrorKind::TaskConfig, "YAML is not a mapping of fields").at("task YAML")),
    }
}

/// Fields over those of the files that they include.
pub(super) fn with_includes(mut own: Mapping, includes: &BTreeMap<String, String>, depth: usize) -> Result<Mapping> {
    let names = match own.remove("include") {
        None => Vec::new(),
        Some(Value::String(name)) => vec![name],
        Some(Value::Sequence(names)) => names.into_iter().filter_map(|n| n.as_str().map(str::to_owned)).collect(),
        Some(_) => return Err(config_error("include", "expected a file name")),
    };
    if names.is_empty() {
        return Ok(own);
    }
    // A file that includes itself would go on for ever; no task of lm-eval's nests this deep.
    if depth == 16 {
        return Err(config_error("include", "files include one another without end"));
    }
    let mut all = Mapping::new();
    for path in names {
        let base = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let found = includes.iter().find(|(name, _)| base(name) == base(&path));
        let (_, text) = found.ok_or_else(|| config_error("include", format!("file \"{path}\" was not given")))?;
        all.extend(merged(text, includes, depth + 1)?);
    }
    all.extend(own);
    Ok(all)
}

impl TaskConfig {
    /// A mapping → a config.
    ///
    /// # Errors
    /// `ErrorKind::TaskConfig`, naming the field that is unknown, unsupported or of the wrong type.
    pub fn from_mapping(fields: Mapping) -> Result<Self> {
        for name in fields.keys() {
            match name.as_str() {
                Some(name) if KNOWN.contains(&name) => {}
                Some(name) if UNSUPPORTED.contains(&name) => return Err(config_error(name, "is not supported")),
                Some(name) => return Err(config_error(name, "unknown field")),
                None => return Err(EvalError::new(ErrorKind::TaskConfig, "a field's name is not text").at("task YAML")),
            }
        }
        // lm-eval takes an explicit null for an absent field.
        let fields: Mapping = fields.into_iter().filter(|(_, value)| !value.is_null()).collect();
        let output_type = fields.get("output_type").and_then(Value::as_str).unwrap_or("generate_until");
        if output_type == "generate_until" {
            return Err(config_error("output_type", "generate_until is not supported: no text is generated"));
        }
        for name in ["doc_to_text", "doc_to_target"] {
            if !fields.contains_key(name) {
                return Err(config_error(name, "is missing"));
            }
        }
        if output_type == "multiple_choice" && !fields.contains_key("doc_to_choice") {
            return Err(config_error("doc_to_choice", "is missing"));
        }
        // One field at a time, so that the error can name it.
        for (name, value) in &fields {
            let mut one = Mapping::new();
            for (name, value) in [("output_type", "multiple_choice"), ("doc_to_text", ""), ("doc_to_target", "")] {
                one.insert(name.into(), value.into());
            }
            one.insert(name.clone(), value.clone());
            serde_yaml_ng::from_value::<Self>(Value::Mapping(one)).map_err(|e| config_error(name.as_str().unwrap_or_default(), e.to_string()))?;
        }
        let config: Self =
            serde_yaml_ng::from_value(Value::Mapping(fields)).map_err(|e| EvalError::new(ErrorKind::TaskConfig, e.to_string()).at("task YAML"))?;
        config.check()?;
        Ok(config)
    }

    /// YAML text → a config.
    ///
    /// # Errors
    /// As `mapping` and `from_mapping`.
    pub fn from_yaml(yaml: &str, includes: &BTreeMap<String, String>) -> Result<Self> {
        Self::from_mapping(mapping(yaml, includes)?)
    }

    fn check(&self) -> Result<()> {
        let metrics = || self.metric_list.iter().flatten();
        if let Some(first) = metrics().next().filter(|_| !metrics().any(Metric::is_supported)) {
            return Err(config_error("metric_list", format!("metric \"{}\" is not supported", first.metric)));
        }
        for metric in metrics().filter(|metric| metric.is_supported()) {
            let ok = ["mean", "perplexity", "weighted_perplexity", "bits_per_byte", "brier_score"];
            if let Some(aggregation) = metric.aggregation.as_deref().filter(|name| !ok.contains(name)) {
                return Err(config_error("metric_list", format!("aggregation \"{aggregation}\" is not supported")));
            }
        }
        for filter in self.filter_list.iter().flatten().flat_map(|pipeline| &pipeline.filter) {
            if filter.function != "take_first" {
                return Err(config_error("filter_list", format!("filter \"{}\" is not supported", filter.function)));
            }
        }
        if self.repeats.is_some_and(|n| n != 1) {
            return Err(config_error("repeats", "only 1 is supported: a log-likelihood is the same each time"));
        }
        Ok(())
    }

    /// What the config asks for without effect, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for metric in self.metric_list.iter().flatten() {
            if !metric.is_supported() {
                warnings.push(format!("metric \"{}\" is not computed", metric.metric));
            } else if let Some(name) = metric.arguments.keys().find_map(Value::as_str) {
                warnings.push(format!("\"{name}\" of metric \"{}\" has no effect", metric.metric));
            }
        }
        if self.generation_kwargs.is_some() {
            warnings.push("generation_kwargs have no effect on log-likelihoods".to_owned());
        }
        warnings
    }

    /// The metrics and whether higher is better; lm-eval's default ones where the config names none.
    pub fn metrics(&self) -> Vec<(String, bool)> {
        let direction = |name: &str| METRICS.iter().find(|(known, _)| *known == name).is_none_or(|(_, higher)| *higher);
        match &self.metric_list {
            Some(list) => {
                let supported = list.iter().filter(|metric| metric.is_supported());
                supported.map(|m| (m.metric.clone(), m.higher_is_better.unwrap_or(direction(&m.metric)))).collect()
            }
            None => {
                let names: &[&str] = match self.output_type {
                    OutputType::MultipleChoice => &["acc", "acc_norm"],
                    OutputType::Loglikelihood => &["perplexity", "acc"],
                    OutputType::LoglikelihoodRolling => &["word_perplexity", "byte_perplexity", "bits_per_byte"],
                };
                names.iter().map(|name| ((*name).to_owned(), direction(name))).collect()
            }
        }
    }

    /// `metadata.version` as it stands there.
    pub fn version(&self) -> Option<String> {
        match self.metadata.as_ref()?.get("version")? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// The config as lm-eval's YAML.
    pub fn yaml(&self) -> String {
        to_yaml(&serde_yaml_ng::to_value(self).expect("a config has text keys only"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARC: &str =
        "task: arc\noutput_type: multiple_choice\ndoc_to_text: \"Q: {{question}}\"\ndoc_to_choice: \"{{choices.text}}\"\ndoc_to_target: 0\n";

    fn read(yaml: &str) -> Result<TaskConfig> {
        TaskConfig::from_yaml(yaml, &BTreeMap::new())
    }

    #[test]
    fn absent_fields_have_lm_evals_defaults() {
        let config = read(ARC).expect("a config");
        assert_eq!((config.target_delimiter.as_str(), config.fewshot_delimiter.as_str()), (" ", "\n\n"));
        assert_eq!(config.metrics(), [("acc".to_owned(), true), ("acc_norm".to_owned(), true)]);
        assert_eq!(config.doc_to_target, Field::Index(0));
    }

    #[test]
    fn a_field_that_cannot_be_used_is_named() {
        let message = |more: &str| read(&format!("{ARC}{more}")).expect_err("wrong").to_string();
        assert_eq!(message("doc_to_foo: x\n"), "task_config: field \"doc_to_foo\": unknown field");
        assert_eq!(message("use_prompt: x\n"), "task_config: field \"use_prompt\": is not supported");
        assert!(message("num_fewshot: many\n").starts_with("task_config: field \"num_fewshot\": "));
        assert!(message("metric_list:\n  - metric: bleu\n").contains("metric \"bleu\" is not supported"));
        let config = read(&format!("{ARC}metric_list:\n  - metric: acc\n  - metric: f1\n    average: macro\n")).expect("a config");
        assert_eq!((config.metrics().len(), config.warnings()), (1, vec!["metric \"f1\" is not computed".to_owned()]));
        assert!(message("filter_list:\n  - name: x\n    filter:\n      - function: regex\n").contains("filter \"regex\""));
        assert!(read("task: x\ndoc_to_text: a\n").expect_err("generates").message.starts_with("generate_until"));
        assert!(read("- a\n").is_err() && read("a: [\n").is_err());
    }

    #[test]
    fn included_files_lie_under_the_own_fields() {
        let includes = BTreeMap::from([("dir/base.yaml".to_owned(), ARC.to_owned())]);
        let config = TaskConfig::from_yaml("include: base.yaml\ntask: mine\nnum_fewshot: null\n", &includes);
        let config = config.expect("a config");
        assert_eq!((config.task.as_str(), config.num_fewshot), ("mine", None));
        assert!(TaskConfig::from_yaml("include: other.yaml", &includes).is_err());
        let circle = BTreeMap::from([("a.yaml".to_owned(), "include: a.yaml".to_owned())]);
        assert!(TaskConfig::from_yaml("include: a.yaml", &circle).is_err());
    }

    #[test]
    fn what_is_written_reads_back() {
        let yaml = format!(
            "{ARC}process_docs: !function utils.process_docs\ntag: [a, b]\nfewshot_config:\n  sampler: first_n\n  samples:\n    - question: x\nmetadata:\n  version: 1.0\n"
        );
        let config = read(&yaml).expect("a config");
        assert_eq!(config.version().as_deref(), Some("1.0"));
        let json = serde_json::to_value(&config).expect("JSON, for the results");
        assert_eq!(json["process_docs"], serde_json::json!({"!function": "utils.process_docs"}));
        assert_eq!(read(&config.yaml()), Ok(config));
    }
}
