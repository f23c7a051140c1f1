//! Every context, continuation and hash of the reference runs, rebuilt from their rows: equal to the letter.

mod common;

use common::{json_lines, shared};
use evaltab::spec::{ChatMode, RunSpec};
use evaltab::task::doc::Doc;
use evaltab::task::{build, read_rows, ChatTemplate, Files, TaskSet};
use serde_json::Value;
use std::collections::BTreeMap;

/// The part of both models' templates that these runs go through.
const CHATML: &str = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

fn task_set(data: &str, fewshot: Option<&str>, spec: &RunSpec) -> Option<TaskSet> {
    let rows = |name: &str| {
        let path = shared(&format!("data/{name}.jsonl"))?;
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Some(read_rows(&format!("{name}.jsonl"), &bytes).unwrap_or_else(|e| panic!("{name}: {e}")))
    };
    let fewshot = match fewshot {
        Some(name) => Some(rows(name)?),
        None => None,
    };
    let files = Files { data: rows(data)?, fewshot, includes: BTreeMap::new() };
    let (source, token) = (CHATML.to_owned(), "<|im_end|>".to_owned());
    let chat = ChatTemplate { source, bos_token: token.clone(), eos_token: token };
    Some(build(&files, spec, Some(&chat)).unwrap_or_else(|e| panic!("{data}: {e}")))
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        other => other.as_array().expect("a list").iter().map(|text| text.as_str().expect("a text")).collect(),
    }
}

/// Holds the docs of a run against both models' reference; says how many rows there were.
fn compare(run: &str, set: &TaskSet) -> usize {
    assert_eq!(set.unscored, [], "{run}");
    let by_id: BTreeMap<(&str, usize), &Doc> = set.docs.iter().map(|doc| ((doc.task.as_str(), doc.doc_id), doc)).collect();
    let mut n_rows = 0;
    for model in ["smollm2", "qwen25-coder"] {
        let Some(path) = shared(&format!("reference/{model}")).map(|folder| folder.join(format!("{run}.jsonl"))) else { continue };
        if !path.exists() {
            // Not every run was made with both models.
            continue;
        }
        for row in json_lines(&path) {
            n_rows += 1;
            // These two tasks were given names of their own for the run.
            let task = row["task"].as_str().expect("a task").trim_end_matches("_mutual_info");
            let doc_id = row["doc_id"].as_u64().expect("a number") as usize;
            let at = format!("{run}, {model}, {task} {doc_id}");
            let doc = by_id.get(&(task, doc_id)).unwrap_or_else(|| panic!("{at}: no such doc"));
            if let Some(index) = row["row"].as_u64() {
                assert_eq!(doc.index as u64, index, "{at}");
            }
            let contexts = texts(&row["context"]);
            for (i, request) in doc.requests.iter().enumerate() {
                assert_eq!(&*request.context, contexts[i.min(contexts.len() - 1)], "{at}");
            }
            let continuations: Vec<&str> = doc.requests.iter().map(|request| request.continuation.as_str()).collect();
            assert_eq!(continuations, texts(&row["continuations"]), "{at}");
            assert_eq!(doc.target, row["target"], "{at}");
            if let Some(gold) = row["gold"].as_u64() {
                assert_eq!(doc.gold[0] as u64, gold, "{at}");
            }
            let hashes = [&doc.doc_hash, &doc.prompt_hash, &doc.target_hash];
            let expected = ["doc_hash", "prompt_hash", "target_hash"].map(|name| row[name].as_str().expect("a hash"));
            assert_eq!(hashes, expected, "{at}");
        }
    }
    n_rows
}

#[test]
fn tasks_without_examples_are_lm_evals() {
    let runs = [
        ("mmlu", "mmlu", 285),
        ("hellaswag", "hellaswag", 110),
        ("arc_easy", "arc_easy", 120),
        ("arc_challenge", "arc_challenge", 120),
        ("arc_easy_mutual_info", "arc_easy", 40),
        ("piqa", "piqa", 120),
        ("winogrande", "winogrande", 120),
        ("lambada_openai", "lambada_openai", 120),
        ("truthfulqa_mc1", "truthfulqa_mc", 40),
    ];
    for (run, data, n_rows) in runs {
        let Some(set) = task_set(data, None, &RunSpec::default()) else { return };
        assert_eq!(compare(run, &set), n_rows, "{run}");
    }
}

#[test]
fn presets_by_name_are_lm_evals() {
    for (preset, data, n_rows) in [("truthfulqa_mc2", "truthfulqa_mc", 25), ("mmlu_continuation", "mmlu", 114)] {
        let spec = RunSpec { preset: Some(preset.to_owned()), ..RunSpec::default() };
        let Some(set) = task_set(data, None, &spec) else { return };
        assert_eq!(compare(preset, &set), n_rows, "{preset}");
    }
    let spec = RunSpec { prompt_style: Some("continuation".to_owned()), ..RunSpec::default() };
    if let Some(set) = task_set("mmlu", None, &spec) {
        assert_eq!(compare("mmlu_continuation", &set), 114);
    }
}

#[test]
fn five_examples_from_a_second_file_are_lm_evals() {
    let spec = RunSpec { num_fewshot: Some(5), ..RunSpec::default() };
    let Some(set) = task_set("mmlu", Some("mmlu_dev_fewshot"), &spec) else { return };
    assert_eq!(compare("mmlu_5shot", &set), 114);
}

#[test]
fn chats_are_lm_evals() {
    let spec = RunSpec { chat: ChatMode::OneMessage, ..RunSpec::default() };
    let Some(set) = task_set("mmlu", None, &spec) else { return };
    assert_eq!(compare("mmlu_chat", &set), 171);
}
