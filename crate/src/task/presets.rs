//! Configs for well-known row shapes, and how a file of rows finds its own.
//!
//! In: rows, a preset's name and a prompt style, either of which may be absent. Out: a config, as the YAML that it is. A style
//! puts a question, its choices and its answer into one of several usual prompts; for rows of other shapes the expressions
//! differ, not the prompt.
//!
//! Source of prompts and versions: lm-eval 0.4.13's task files. `multiple_choice`, `documents` and the styles are evaltab's own,
//! but for `mmlu` and `continuation`, which are lm-eval's.

use super::config::{FewshotConfig, Sampler, TaskConfig};
use super::rows::Rows;
use crate::error::{ErrorKind, EvalError, Result};
use crate::metrics::groups::Group;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use ts_rs::TS;

/// A preset, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PresetInfo {
    /// What `RunSpec::preset` says.
    pub name: String,
    /// For people.
    pub title: String,
    /// Fields that a row needs.
    pub fields: Vec<String>,
    /// The config.
    pub yaml: String,
    /// It takes a prompt style.
    pub has_styles: bool,
}

struct Preset {
    name: &'static str,
    title: &'static str,
    fields: &'static [&'static str],
    yaml: &'static str,
    /// Question, choices and answer, where prompt styles apply.
    expressions: Option<Expressions>,
}

#[derive(Clone, Copy)]
struct Expressions {
    question: &'static str,
    choices: &'static str,
    /// `None`: by the kind of the rows' `answer`.
    target: Option<&'static str>,
}

const PLAIN: Option<Expressions> = Some(Expressions { question: "question", choices: "choices", target: None });
const LABELLED: Option<Expressions> =
    Some(Expressions { question: "question", choices: "choices.text", target: Some("{{choices.label.index(answerKey)}}") });
const STEM: Option<Expressions> =
    Some(Expressions { question: "question_stem", choices: "choices.text", target: Some("{{choices.label.index(answerKey.lstrip())}}") });

macro_rules! yaml {
    ($name:literal) => {
        include_str!(concat!("presets/", $name, ".yaml"))
    };
}

/// The generic preset's name.
const GENERIC: &str = "multiple_choice";

/// In the order in which rows are held against them: the first whose fields are all there is theirs.
const PRESETS: [Preset; 16] = [
    preset("hellaswag", "HellaSwag", &["activity_label", "ctx_a", "ctx_b", "endings", "label"], yaml!("hellaswag"), None),
    preset("piqa", "PIQA", &["goal", "sol1", "sol2", "label"], yaml!("piqa"), None),
    preset("winogrande", "WinoGrande", &["sentence", "option1", "option2", "answer"], yaml!("winogrande"), None),
    preset("truthfulqa_mc1", "TruthfulQA mc1", &["question", "mc1_targets"], yaml!("truthfulqa_mc1"), None),
    preset("truthfulqa_mc2", "TruthfulQA mc2", &["question", "mc2_targets"], yaml!("truthfulqa_mc2"), None),
    preset("boolq", "BoolQ", &["question", "passage", "label"], yaml!("boolq"), None),
    preset("commonsense_qa", "CommonsenseQA", &["question", "question_concept", "choices", "answerKey"], yaml!("commonsense_qa"), LABELLED),
    preset("openbookqa", "OpenBookQA", &["question_stem", "choices", "answerKey"], yaml!("openbookqa"), STEM),
    preset("arc_easy", "ARC-Easy", &["question", "choices", "answerKey"], yaml!("arc_easy"), LABELLED),
    preset("arc_challenge", "ARC-Challenge", &["question", "choices", "answerKey"], yaml!("arc_challenge"), LABELLED),
    preset("mmlu", "MMLU", &["question", "subject", "choices", "answer"], yaml!("mmlu"), PLAIN),
    preset("mmlu_continuation", "MMLU, full answers", &["question", "subject", "choices", "answer"], yaml!("mmlu_continuation"), PLAIN),
    preset(GENERIC, "Multiple choice", &["question", "choices", "answer"], yaml!("style_mmlu"), PLAIN),
    preset("wikitext", "WikiText", &["page"], yaml!("wikitext"), None),
    preset("lambada_openai", "LAMBADA", &["text"], yaml!("lambada_openai"), None),
    preset("documents", "Perplexity of documents", &["text"], yaml!("documents"), None),
];

const fn preset(
    name: &'static str,
    title: &'static str,
    fields: &'static [&'static str],
    yaml: &'static str,
    expressions: Option<Expressions>,
) -> Preset {
    Preset { name, title, fields, yaml, expressions }
}

/// Prompt styles by name.
pub const STYLES: [(&str, &str); 8] = [
    ("mmlu", yaml!("style_mmlu")),
    ("question", yaml!("style_question")),
    ("parenthesized", yaml!("style_parenthesized")),
    ("no_labels", yaml!("style_no_labels")),
    ("verbose", yaml!("style_verbose")),
    ("qa_pairs", yaml!("style_qa_pairs")),
    ("chat", yaml!("style_chat")),
    ("continuation", yaml!("style_continuation")),
];

/// All presets.
pub fn presets() -> Vec<PresetInfo> {
    let info = |preset: &Preset| PresetInfo {
        name: preset.name.to_owned(),
        title: preset.title.to_owned(),
        fields: preset.fields.iter().map(|field| (*field).to_owned()).collect(),
        yaml: match preset.expressions {
            Some(expressions) if preset.name == GENERIC => filled(preset.yaml, expressions, "{{answer}}", false),
            _ => preset.yaml.to_owned(),
        },
        has_styles: preset.expressions.is_some(),
    };
    PRESETS.iter().map(info).collect()
}

/// What rows were found to be.
pub struct Chosen {
    /// The preset's name.
    pub preset: String,
    /// Its config, with the prompt style.
    pub config: TaskConfig,
    /// Every subject is a task of its own.
    pub by_subject: bool,
}

fn run_error(setting: &str, message: String) -> EvalError {
    EvalError::new(ErrorKind::RunSpec, message).at(format!("setting \"{setting}\""))
}

/// The preset by name or by the first row's fields, in a prompt style or its own.
///
/// # Errors
/// `ErrorKind::RunSpec` if name or style is unknown or the style does not apply; `ErrorKind::TaskFormat` if the rows are of no
/// known shape.
pub fn choose(rows: &Rows, name: Option<&str>, style: Option<&str>) -> Result<Chosen> {
    let preset = match name {
        Some(name) => by_name(name, rows)?,
        None => recognised(rows)?,
    };
    let config = config(preset, rows, style)?;
    let by_subject = preset.name.starts_with("mmlu");
    Ok(Chosen { preset: preset.name.to_owned(), config, by_subject })
}

fn by_name(name: &str, rows: &Rows) -> Result<&'static Preset> {
    let find = |name: &str| PRESETS.iter().find(|preset| preset.name == name);
    let preset = find(name).ok_or_else(|| run_error("preset", format!("there is no preset \"{name}\"")))?;
    // Documents that are no WikiText pages need no clean-up.
    let preset = match find("documents") {
        Some(documents) if name == "wikitext" && !has(rows, preset) && has(rows, documents) => documents,
        _ => preset,
    };
    if !has(rows, preset) {
        let row = &rows.rows[0];
        let missing = preset.fields.iter().find(|field| row.value.get(**field).is_none()).copied().unwrap_or_default();
        let message = format!("the row has no field \"{missing}\", which preset \"{name}\" needs");
        return Err(EvalError::new(ErrorKind::TaskFormat, message).at(format!("line {}", row.line)));
    }
    Ok(preset)
}

fn has(rows: &Rows, preset: &Preset) -> bool {
    preset.fields.iter().all(|field| rows.rows[0].value.get(field).is_some())
}

fn recognised(rows: &Rows) -> Result<&'static Preset> {
    let file = rows.name.to_ascii_lowercase();
    let fits = |preset: &&Preset| match preset.name {
        // Shapes that two tasks share go by the file's name.
        "arc_easy" => !file.contains("challenge"),
        "truthfulqa_mc1" => !file.contains("mc2"),
        "mmlu" => is_mmlu(rows),
        "mmlu_continuation" => false,
        _ => true,
    };
    let found = PRESETS.iter().filter(fits).find(|preset| has(rows, preset));
    found.ok_or_else(|| {
        let row = &rows.rows[0];
        let names: Vec<&str> = row.value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let message = match (row.value.get("question"), row.value.get("answer")) {
            (Some(_), Some(_)) => "rows without choices need generated answers, which are not supported".to_owned(),
            _ => format!("no preset knows rows with the fields {}", names.join(", ")),
        };
        EvalError::new(ErrorKind::TaskFormat, message).at(format!("line {}", row.line))
    })
}

/// Every subject is one of MMLU's and every row has four choices.
fn is_mmlu(rows: &Rows) -> bool {
    rows.rows.iter().all(|row| {
        let subject = row.value.get("subject").and_then(Value::as_str).unwrap_or_default();
        let n_choices = row.value.get("choices").and_then(Value::as_array).map_or(0, Vec::len);
        n_choices == 4 && MMLU.iter().any(|(_, _, subjects)| subjects.contains(&subject))
    })
}

fn config(preset: &Preset, rows: &Rows, style: Option<&str>) -> Result<TaskConfig> {
    let read = |yaml: &str| TaskConfig::from_yaml(yaml, &BTreeMap::new());
    let own_style = match preset.name {
        "mmlu" | GENERIC => Some("mmlu"),
        "mmlu_continuation" => Some("continuation"),
        _ => None,
    };
    let style = style.or(own_style.filter(|_| preset.name == GENERIC));
    let Some(style) = style.filter(|style| preset.name == GENERIC || own_style != Some(style)) else {
        return read(preset.yaml);
    };
    if (preset.name, style) == ("mmlu", "continuation") {
        return read(yaml!("mmlu_continuation"));
    }
    if (preset.name, style) == ("mmlu_continuation", "mmlu") {
        return read(yaml!("mmlu"));
    }
    let Some((_, yaml)) = STYLES.iter().find(|(name, _)| *name == style) else {
        return Err(run_error("prompt_style", format!("there is no prompt style \"{style}\"")));
    };
    let Some(expressions) = preset.expressions else {
        return Err(run_error("prompt_style", format!("prompt styles do not apply to preset \"{}\"", preset.name)));
    };
    let has_subject = rows.rows.iter().all(|row| row.value.get("subject").is_some_and(Value::is_string));
    let target = expressions.target.map_or_else(|| answer_kind(rows).target(rows), str::to_owned);
    let mut config = read(&filled(yaml, expressions, &target, has_subject))?;
    config.task = preset.name.to_owned();
    if preset.name.starts_with("mmlu") {
        "mmlu".clone_into(&mut config.task);
        config.fewshot_split = Some("dev".to_owned());
        config.fewshot_config = Some(FewshotConfig { sampler: Some(Sampler::FirstN), ..FewshotConfig::default() });
    }
    Ok(config)
}

/// A style with a shape's expressions.
fn filled(yaml: &str, expressions: Expressions, target: &str, has_subject: bool) -> String {
    let about = if has_subject { " about {{subject.replace('_', ' ')}}" } else { "" };
    yaml.replace("QUESTION", expressions.question).replace("CHOICES", expressions.choices).replace("TARGET", target).replace("ABOUT", about)
}

/// What the `answer` of generic rows is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerKind {
    Index,
    Letter,
    Text,
    /// An index written as text, as CSV has it.
    Digits,
}

impl AnswerKind {
    fn reads(self, answer: &Value, choices: &[Value]) -> bool {
        if let Value::Array(answers) = answer {
            return answers.iter().all(|answer| self.reads(answer, choices));
        }
        match (self, answer) {
            (Self::Index, answer) => answer.is_number(),
            (Self::Letter, Value::String(text)) => match text.trim().as_bytes() {
                [letter] => usize::from(letter.to_ascii_uppercase().wrapping_sub(b'A')) < choices.len(),
                _ => false,
            },
            (Self::Text, Value::String(_)) => choices.contains(answer),
            (Self::Digits, Value::String(text)) => text.trim().parse::<usize>().is_ok(),
            _ => false,
        }
    }

    /// The template that gives the index.
    fn target(self, rows: &Rows) -> String {
        let has_lists = rows.rows.iter().any(|row| row.value["answer"].is_array());
        let index = |answer: &str| match self {
            Self::Index => answer.to_owned(),
            Self::Letter => format!("'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.index({answer}.strip().upper())"),
            Self::Text => format!("choices.index({answer})"),
            Self::Digits => format!("{answer}|int"),
        };
        match self {
            // A list of indices is what it is.
            Self::Index => "{{answer}}".to_owned(),
            _ if has_lists => format!(
                "{{% if answer is string %}}{{{{{}}}}}{{% else %}}[{{% for each in answer %}}{{{{{}}}}}, {{% endfor %}}]{{% endif %}}",
                index("answer"),
                index("each")
            ),
            _ => format!("{{{{{}}}}}", index("answer")),
        }
    }
}

/// The kind that reads the most rows; letters before texts before digits.
fn answer_kind(rows: &Rows) -> AnswerKind {
    let n_read = |kind: AnswerKind| {
        let reads = |row: &&super::rows::Row| kind.reads(&row.value["answer"], row.value["choices"].as_array().map_or(&[][..], |choices| choices));
        rows.rows.iter().filter(reads).count()
    };
    let kinds = [AnswerKind::Index, AnswerKind::Letter, AnswerKind::Text, AnswerKind::Digits];
    // The first of equals: `max_by_key` takes the last.
    kinds.into_iter().rev().max_by_key(|kind| n_read(*kind)).unwrap_or(AnswerKind::Index)
}

/// MMLU's groups: name, alias, subjects.
const MMLU: [(&str, &str, &[&str]); 4] = [
    (
        "mmlu_stem",
        "stem",
        &[
            "abstract_algebra",
            "anatomy",
            "astronomy",
            "college_biology",
            "college_chemistry",
            "college_computer_science",
            "college_mathematics",
            "college_physics",
            "computer_security",
            "conceptual_physics",
            "electrical_engineering",
            "elementary_mathematics",
            "high_school_biology",
            "high_school_chemistry",
            "high_school_computer_science",
            "high_school_mathematics",
            "high_school_physics",
            "high_school_statistics",
            "machine_learning",
        ],
    ),
    (
        "mmlu_other",
        "other",
        &[
            "business_ethics",
            "clinical_knowledge",
            "college_medicine",
            "global_facts",
            "human_aging",
            "management",
            "marketing",
            "medical_genetics",
            "miscellaneous",
            "nutrition",
            "professional_accounting",
            "professional_medicine",
            "virology",
        ],
    ),
    (
        "mmlu_social_sciences",
        "social sciences",
        &[
            "econometrics",
            "high_school_geography",
            "high_school_government_and_politics",
            "high_school_macroeconomics",
            "high_school_microeconomics",
            "high_school_psychology",
            "human_sexuality",
            "professional_psychology",
            "public_relations",
            "security_studies",
            "sociology",
            "us_foreign_policy",
        ],
    ),
    (
        "mmlu_humanities",
        "humanities",
        &[
            "formal_logic",
            "high_school_european_history",
            "high_school_us_history",
            "high_school_world_history",
            "international_law",
            "jurisprudence",
            "logical_fallacies",
            "moral_disputes",
            "moral_scenarios",
            "philosophy",
            "prehistory",
            "professional_law",
            "world_religions",
        ],
    ),
];

/// The task of a subject: `mmlu_anatomy`, or `mmlu_anatomy_continuation`.
pub fn subject_task(task: &str, subject: &str) -> String {
    match task.split_once('_') {
        Some((mmlu, ending)) => format!("{mmlu}_{subject}_{ending}"),
        None => format!("{task}_{subject}"),
    }
}

/// MMLU's four groups and the one around them, under the names that lm-eval has for letters or for full answers.
pub fn mmlu_groups(task: &str) -> Vec<Group> {
    let is_letters = task == "mmlu";
    let version = |there: bool| there.then(|| "2".to_owned());
    let inner = |(name, alias, subjects): &(&str, &str, &[&str])| Group {
        name: if is_letters { *name } else { *alias }.to_owned(),
        alias: (*alias).to_owned(),
        members: subjects.iter().map(|subject| subject_task(task, subject)).collect(),
        weight_by_size: true,
        version: version(is_letters),
    };
    let mut groups: Vec<Group> = MMLU.iter().map(inner).collect();
    let outer = Group {
        name: task.to_owned(),
        alias: if is_letters { "mmlu" } else { "mmlu (continuation)" }.to_owned(),
        members: groups.iter().map(|group| group.name.clone()).collect(),
        weight_by_size: true,
        version: version(true),
    };
    groups.insert(0, outer);
    groups
}

#[cfg(test)]
mod tests {
    use super::super::rows::read_rows;
    use super::*;
    use crate::task::config::Field;

    fn rows(text: &str) -> Rows {
        read_rows("t.jsonl", text.as_bytes()).expect("rows")
    }

    #[test]
    fn every_preset_and_style_is_a_config() {
        for info in presets() {
            let config = TaskConfig::from_yaml(&info.yaml, &BTreeMap::new()).unwrap_or_else(|e| panic!("{}: {e}", info.name));
            assert_eq!(config.task, info.name);
        }
        let rows = rows(r#"{"question": "q", "choices": ["a", "b"], "answer": 1}"#);
        for (style, _) in STYLES {
            let chosen = choose(&rows, None, Some(style)).unwrap_or_else(|e| panic!("{style}: {e}"));
            assert!(!chosen.config.yaml().contains("ABOUT") && !chosen.config.yaml().contains("QUESTION"));
        }
    }

    #[test]
    fn mmlu_has_57_subjects_in_four_groups() {
        let sizes: Vec<usize> = mmlu_groups("mmlu").iter().map(|group| group.members.len()).collect();
        assert_eq!(sizes, [4, 19, 13, 12, 13]);
        assert_eq!(subject_task("mmlu_continuation", "us_foreign_policy"), "mmlu_us_foreign_policy_continuation");
    }

    #[test]
    fn the_answers_kind_is_decided_by_all_rows() {
        let target = |text: &str| match choose(&rows(text), None, None).expect("a config").config.doc_to_target {
            Field::Text(text) => text,
            other => panic!("{other:?}"),
        };
        let row = |choices: &str, answer: &str| format!("{{\"question\": \"q\", \"choices\": {choices}, \"answer\": {answer}}}\n");
        assert_eq!(target(&row("[\"x\", \"y\"]", "1")), "{{answer}}");
        let letters = "{{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.index(answer.strip().upper())}}";
        assert_eq!(target(&row("[\"x\", \"y\"]", "\"b\"")), letters);
        // A and C are also texts of the first row; the second decides.
        let bases = row("[\"C\", \"A\"]", "\"A\"") + &row("[\"x\", \"C\"]", "\"C\"");
        assert_eq!(target(&bases), "{{choices.index(answer)}}");
        assert_eq!(target(&row("[\"1\", \"2\"]", "\"2\"")), "{{choices.index(answer)}}");
        assert_eq!(target(&row("[\"x\", \"y\"]", "\"1\"")), "{{answer|int}}");
        assert!(target(&row("[\"x\", \"y\"]", "[\"A\"]")).contains("for each in answer"));
    }

    #[test]
    fn rows_of_no_shape_are_told_so() {
        let message = |text: &str| choose(&rows(text), None, None).map(|c| c.preset).expect_err("no shape").message;
        assert_eq!(message(r#"{"a": 1, "b": 2}"#), "no preset knows rows with the fields a, b");
        assert!(message(r#"{"question": "q", "answer": "a"}"#).contains("generated answers"));
        let piqa = rows(r#"{"goal": "g", "sol1": "a", "sol2": "b", "label": 0}"#);
        assert!(choose(&piqa, None, Some("mmlu")).is_err());
        assert!(choose(&piqa, Some("boolq"), None).is_err_and(|e| e.message.contains("no field \"question\"")));
        assert!(choose(&piqa, Some("nope"), None).is_err() && choose(&piqa, None, None).is_ok());
    }
}
