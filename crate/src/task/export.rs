//! A task set for other programs: files for lm-eval, files for Inspect.
//!
//! In: a task set, the files that it was built from, the settings. Out: named text files that go into one folder. With lm-eval
//! they give the same requests; Inspect asks for an answer in words, so it has the same prompts and another score.
//!
//! Source: lm-eval 0.4.13's task guide and command line; Inspect's documentation (`inspect_ai.dataset.json_dataset`).

use super::build::{category, Files, TaskSet};
use super::config::{Field, TaskConfig};
use super::doc::OutputType;
use super::presets;
use super::rows::Rows;
use super::yaml::to_yaml;
use crate::error::{ErrorKind, EvalError, Result};
use crate::metrics::groups::{members, Group};
use crate::spec::{ChatMode, RunSpec, Subset};
use serde::{Deserialize, Serialize};
use serde_yaml_ng::{Mapping, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use ts_rs::TS;

/// One file of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ExportFile {
    /// Its name in the folder.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// Rows as JSON Lines.
fn json_lines<'v>(rows: impl Iterator<Item = &'v serde_json::Value>) -> String {
    rows.fold(String::new(), |mut text, row| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{row}");
        text
    })
}

/// A task as one of lm-eval's, and the category that its rows have, if not all are its.
struct Part {
    config: TaskConfig,
    category: Option<String>,
}

/// A YAML for every task and group, and the rows of every task. The first file is the one that a command names, and begins with
/// that command.
pub fn lm_eval(set: &TaskSet, files: &Files, spec: &RunSpec) -> Vec<ExportFile> {
    let yaml_file = |name: &str, text: String| ExportFile { name: format!("{name}.yaml"), text };
    let (mut yamls, mut data) = (Vec::new(), Vec::new());
    let parts = parts(set, files);
    let names: BTreeSet<String> = parts.iter().map(|part| part.config.task.clone()).collect();
    for group in &set.groups {
        if let Some(value) = group_value(group, &set.groups, &names) {
            yamls.push(yaml_file(&group.name, to_yaml(&value)));
        }
    }
    for Part { mut config, category } in parts {
        let mut data_files = Mapping::new();
        let mut add = |split: &str, rows: &Rows, ending: &str| {
            let name = format!("{}{ending}.jsonl", config.task);
            let rows = rows.rows.iter().map(|row| &row.value);
            let is_ours = |row: &&serde_json::Value| category.is_none() || self::category(row) == category;
            data.push(ExportFile { name: name.clone(), text: json_lines(rows.filter(is_ours)) });
            data_files.insert(split.into(), name.into());
        };
        let evaluated = config.test_split.clone().or_else(|| config.validation_split.clone()).unwrap_or_default();
        add(&evaluated, &files.data, "");
        match files.fewshot.as_ref().filter(|_| config.num_fewshot.unwrap_or(0) > 0) {
            Some(fewshot) => {
                let split = config.fewshot_split.clone().or_else(|| config.training_split.clone());
                add(&split.unwrap_or_else(|| "train".to_owned()), fewshot, "_fewshot");
            }
            // lm-eval opens every split that is named.
            None => {
                config.training_split = None;
                config.fewshot_split = config.fewshot_split.filter(|split| *split == evaluated);
                config.validation_split = config.validation_split.filter(|split| *split == evaluated);
            }
        }
        // A rule that lm-eval does not have; without a list it takes its default metrics.
        let metrics = config.metric_list.take().into_iter().flatten().filter(|metric| metric.metric != "acc_token");
        config.metric_list = Some(metrics.collect::<Vec<_>>()).filter(|metrics| !metrics.is_empty());
        config.dataset_path = Some("json".to_owned());
        config.dataset_name = None;
        let data_files = ("data_files".into(), Value::Mapping(data_files));
        config.dataset_kwargs = Some(Value::Mapping(Mapping::from_iter([data_files])));
        yamls.push(yaml_file(&config.task, config.yaml()));
    }
    if let Some(first) = yamls.first_mut() {
        first.text.insert_str(0, &header(set, spec));
    }
    yamls.extend(data);
    yamls
}

/// Each task of lm-eval's; of a preset by subject, one a subject of the file.
fn parts(set: &TaskSet, files: &Files) -> Vec<Part> {
    let categories = || files.data.rows.iter().filter_map(|row| category(&row.value));
    if set.preset.is_some() && !set.groups.is_empty() {
        let subjects: BTreeSet<String> = categories().collect();
        let part = |subject: String| {
            let task = presets::subject_task(&set.config.task, &subject);
            let config = TaskConfig { task, task_alias: Some(subject.clone()), ..set.config.clone() };
            Part { config, category: Some(subject) }
        };
        return subjects.into_iter().map(part).collect();
    }
    let has_categories = !set.groups.is_empty() && categories().next().is_some();
    let configs = std::iter::once(&set.config).chain(&set.more).cloned();
    configs.map(|config| Part { category: config.dataset_name.clone().filter(|_| has_categories), config }).collect()
}

/// A group by the names of its members; `None` if no task is under it.
fn group_value(group: &Group, groups: &[Group], tasks: &BTreeSet<String>) -> Option<Value> {
    let is_there = |name: &&str| members(group, groups).contains(*name) && tasks.contains(*name);
    tasks.iter().map(String::as_str).find(is_there)?;
    let is_member = |name: &&String| {
        let inner = groups.iter().find(|inner| inner.name == **name);
        tasks.contains(*name) || inner.is_some_and(|inner| group_value(inner, groups, tasks).is_some())
    };
    let names = group.members.iter().filter(is_member).map(|name| Value::from(name.as_str())).collect();
    let mut metric = Mapping::new();
    metric.insert("metric".into(), "acc".into());
    metric.insert("weight_by_size".into(), group.weight_by_size.into());
    let mut fields = Mapping::new();
    fields.insert("group".into(), group.name.clone().into());
    fields.insert("group_alias".into(), group.alias.clone().into());
    fields.insert("task".into(), Value::Sequence(names));
    fields.insert("aggregate_metric_list".into(), Value::Sequence(vec![Value::Mapping(metric)]));
    if let Some(version) = &group.version {
        let version = serde_yaml_ng::from_str(version).unwrap_or_else(|_| Value::from(version.as_str()));
        fields.insert("metadata".into(), Value::Mapping(Mapping::from_iter([("version".into(), version)])));
    }
    Some(Value::Mapping(fields))
}

/// Comment lines: the command, and what it needs besides.
fn header(set: &TaskSet, spec: &RunSpec) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let mut command = format!("lm_eval --model vllm --model_args pretrained=NAME --include_path . --tasks {}", set.name());
    if set.num_fewshot > 0 {
        // The fourth seed is the few-shot sampler's.
        let _ = write!(command, " --seed 0,1234,1234,{}", spec.fewshot_seed);
    }
    match spec.chat {
        ChatMode::Off => {}
        ChatMode::OneMessage => command.push_str(" --apply_chat_template --fewshot_as_multiturn false"),
        ChatMode::Turns => command.push_str(" --apply_chat_template --fewshot_as_multiturn true"),
    }
    if let Some(instruction) = &spec.system_instruction {
        let _ = write!(command, " --system_instruction {}", quoted(instruction));
    }
    if spec.subset != Subset::All || !set.unscored.is_empty() {
        let mut samples: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for doc in &set.docs {
            samples.entry(&doc.task).or_default().push(doc.doc_id);
        }
        let _ = write!(command, " --samples {}", quoted(&serde_json::json!(samples).to_string()));
    }
    // A comment has one line.
    let mut header = format!("# In this folder: {}\n", command.replace('\n', " "));
    let mut modules: Vec<String> = std::iter::once(&set.config).chain(&set.more).flat_map(modules).collect();
    modules.sort();
    modules.dedup();
    for module in modules {
        let _ = writeln!(header, "# Needs {module}.py of lm-eval's task \"{}\" in this folder.", set.config.task);
    }
    header
}

/// Python modules that `!function` names.
fn modules(config: &TaskConfig) -> Vec<String> {
    let fields = [Some(&config.doc_to_text), config.doc_to_choice.as_ref(), Some(&config.doc_to_target)];
    let of_fields = fields.into_iter().flatten().filter_map(|field| match field {
        Field::Function(name) => Some(name),
        _ => None,
    });
    let others = [&config.process_docs, &config.process_results].into_iter().flatten().map(|function| &function.0);
    of_fields.chain(others).filter_map(|name| name.split_once('.').map(|(module, _)| module.to_owned())).collect()
}

/// A Python file and its samples for Inspect: the prompts as they are, the right answers as texts to begin with.
///
/// # Errors
/// `ErrorKind::RunSpec` if a doc has no single prompt with an answer to it: documents, or choices in the context.
pub fn inspect(set: &TaskSet) -> Result<Vec<ExportFile>> {
    let name: String = set.name().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut samples = Vec::with_capacity(set.docs.len());
    for doc in &set.docs {
        let context = doc.requests.first().map(|request| &request.context);
        let has_one = doc.requests.iter().all(|request| Some(&request.context) == context);
        let Some(context) = context.filter(|_| has_one && doc.output_type != OutputType::LoglikelihoodRolling) else {
            let message = format!("task \"{}\" has no single prompt with an answer to it", doc.task);
            return Err(EvalError::new(ErrorKind::RunSpec, message));
        };
        let right: Vec<&str> = match doc.output_type {
            OutputType::MultipleChoice => doc.gold.iter().map(|gold| doc.choices[*gold].trim()).collect(),
            _ => doc.choices.iter().map(|choice| choice.trim()).collect(),
        };
        let id = format!("{}:{}", doc.task, doc.doc_id);
        let metadata = serde_json::json!({ "category": doc.category, "choices": doc.choices });
        samples.push(serde_json::json!({ "id": id, "input": &**context, "target": right, "metadata": metadata }));
    }
    let longest = set.docs.iter().flat_map(|doc| &doc.choices).map(|choice| choice.chars().count()).max().unwrap_or(1);
    let text = format!(
        r#""""{name}: the prompts of an evaluation by log-likelihood, answered in words.

An answer is right if it begins with a right choice's text; the scores are not those of log-likelihoods.

Run: inspect eval {name}.py --model PROVIDER/NAME
"""

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import match
from inspect_ai.solver import generate


@task
def {name}():
    return Task(
        dataset=json_dataset("{name}.samples.jsonl"),
        solver=generate(),
        scorer=match(location="begin"),
        config=GenerateConfig(temperature=0.0, max_tokens={max_tokens}),
    )
"#,
        max_tokens = longest + 8,
    );
    Ok(vec![ExportFile { name: format!("{name}.py"), text }, ExportFile { name: format!("{name}.samples.jsonl"), text: json_lines(samples.iter()) }])
}

#[cfg(test)]
mod tests {
    use super::super::{build, read_rows};
    use super::*;

    fn files(text: &str) -> Files {
        let data = read_rows("rows.jsonl", text.as_bytes()).expect("rows");
        Files { data, fewshot: None, includes: BTreeMap::new() }
    }

    fn mmlu_row(subject: &str, answer: usize) -> String {
        format!("{{\"question\": \"Q?\", \"subject\": \"{subject}\", \"choices\": [\"a\", \"b\", \"c\", \"d\"], \"answer\": {answer}}}\n")
    }

    fn names(files: &[ExportFile]) -> Vec<&str> {
        files.iter().map(|file| file.name.as_str()).collect()
    }

    #[test]
    fn one_task_is_its_yaml_and_its_rows_and_reads_back() {
        let files = files("{\"goal\": \"g\", \"sol1\": \"x\", \"sol2\": \"y\", \"label\": 1}\n");
        let set = build(&files, &RunSpec::default(), None).expect("a set");
        let out = lm_eval(&set, &files, &RunSpec::default());
        assert_eq!(names(&out), ["piqa.yaml", "piqa.jsonl"]);
        assert_eq!(out[1].text, "{\"goal\":\"g\",\"sol1\":\"x\",\"sol2\":\"y\",\"label\":1}\n");
        assert!(out[0].text.starts_with("# In this folder: lm_eval --model vllm"), "{}", out[0].text);
        assert!(out[0].text.contains("data_files:\n    validation: piqa.jsonl\n"), "{}", out[0].text);
        let spec = RunSpec { task_yaml: Some(out[0].text.clone()), ..RunSpec::default() };
        assert_eq!(build(&files, &spec, None).expect("a set").docs[0].requests, set.docs[0].requests);
    }

    #[test]
    fn metrics_that_lm_eval_does_not_have_stay_here() {
        let files = files("{\"t\": \"q\", \"c\": [\"x\", \"y\"]}\n");
        let yaml = "task: t\noutput_type: multiple_choice\ndoc_to_text: t\ndoc_to_choice: c\ndoc_to_target: 0\nmetric_list:\n- metric: acc_token\n";
        let exported = |yaml: &str| {
            let spec = RunSpec { task_yaml: Some(yaml.to_owned()), ..RunSpec::default() };
            lm_eval(&build(&files, &spec, None).expect("a set"), &files, &spec).swap_remove(0).text
        };
        assert!(!exported(yaml).contains("metric"), "{}", exported(yaml));
        let both = exported(&format!("{yaml}- metric: acc\n"));
        assert!(both.contains("metric: acc\n") && !both.contains("acc_token"), "{both}");
    }

    #[test]
    fn subjects_are_tasks_of_a_group_with_rows_of_their_own() {
        let files = files(&(mmlu_row("anatomy", 0) + &mmlu_row("virology", 1) + &mmlu_row("anatomy", 2)));
        let spec = RunSpec { num_fewshot: Some(1), subset: Subset::First { n: 2 }, ..RunSpec::default() };
        let spec = RunSpec { prompt_style: Some("mmlu".to_owned()), ..spec };
        // Virology has one row, which leaves none to show before it.
        assert!(build(&files, &spec, None).is_err_and(|e| e.message.contains("0 rows are there")));
        let spec = RunSpec { num_fewshot: None, ..spec };
        let set = build(&files, &spec, None).expect("a set");
        let out = lm_eval(&set, &files, &spec);
        let expected = [
            "mmlu.yaml",
            "mmlu_stem.yaml",
            "mmlu_other.yaml",
            "mmlu_anatomy.yaml",
            "mmlu_virology.yaml",
            "mmlu_anatomy.jsonl",
            "mmlu_virology.jsonl",
        ];
        assert_eq!(names(&out), expected);
        assert_eq!(out[5].text.lines().count(), 2);
        assert!(out[0].text.contains(r#"--samples '{"mmlu_anatomy":[0],"mmlu_virology":[0]}'"#), "{}", out[0].text);
        let values: Vec<Value> = out[..4].iter().map(|file| serde_yaml_ng::from_str(&file.text).expect("YAML")).collect();
        assert_eq!((values[0]["task"].as_sequence().map(Vec::len), &values[0]["metadata"]["version"]), (Some(2), &2.into()));
        assert_eq!(values[1]["task"][0], "mmlu_anatomy");
        assert_eq!(values[3]["dataset_kwargs"]["data_files"]["test"], "mmlu_anatomy.jsonl");
    }

    #[test]
    fn inspect_gets_the_prompts_and_the_right_answers() {
        let files = files(&mmlu_row("anatomy", 2));
        let set = build(&files, &RunSpec::default(), None).expect("a set");
        let out = inspect(&set).expect("one prompt a doc");
        assert_eq!(names(&out), ["mmlu.py", "mmlu.samples.jsonl"]);
        let sample: serde_json::Value = serde_json::from_str(&out[1].text).expect("JSON");
        assert_eq!((&sample["target"][0], &sample["id"]), (&"C".into(), &"mmlu_anatomy:0".into()));
        let files = self::files("{\"sentence\": \"a _ b\", \"option1\": \"x\", \"option2\": \"y\", \"answer\": \"1\"}\n");
        assert!(inspect(&build(&files, &RunSpec::default(), None).expect("a set")).is_err());
    }
}
