//! Docs against lm-eval itself: the cases that `tests/generate/task.py` has run through it.

mod common;

use common::{fixture, json};
use evaltab::metrics::random::PythonRandom;
use evaltab::spec::{ChatMode, RunSpec};
use evaltab::task::{build, read_rows, ChatTemplate, Files, Rows, TaskSet};
use serde_json::{json, Value};
use std::collections::BTreeMap;

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn rows(rows: &Value) -> Rows {
    let lines: String = rows.as_array().expect("rows").iter().map(|row| format!("{row}\n")).collect();
    read_rows("rows.jsonl", lines.as_bytes()).expect("rows")
}

fn built(case: &Value) -> TaskSet {
    let fewshot = case.get("fewshot").map(rows);
    let files = Files { data: rows(&case["rows"]), fewshot, includes: BTreeMap::new() };
    let number = |name: &str| case.get(name).and_then(Value::as_u64);
    let mut spec = RunSpec { task_yaml: Some(text(&case["yaml"]).to_owned()), ..RunSpec::default() };
    spec.num_fewshot = number("num_fewshot").map(|n| n as usize);
    spec.fewshot_seed = number("fewshot_seed").map_or(spec.fewshot_seed, |seed| seed as u32);
    spec.system_instruction = case.get("system_instruction").map(|s| text(s).to_owned());
    let chat = case.get("chat").map(|chat| {
        spec.chat = if chat["mode"] == "turns" { ChatMode::Turns } else { ChatMode::OneMessage };
        let [source, bos_token, eos_token] = ["template", "bos_token", "eos_token"].map(|name| text(&chat[name]).to_owned());
        ChatTemplate { source, bos_token, eos_token }
    });
    build(&files, &spec, chat.as_ref()).unwrap_or_else(|e| panic!("{}: {e}", case["name"]))
}

#[test]
fn docs_are_lm_evals() {
    let cases = json(&fixture("task/lm_eval_cases.json"));
    for case in cases["cases"].as_array().expect("cases") {
        let set = built(case);
        let docs: BTreeMap<usize, _> = set.docs.iter().map(|doc| (doc.doc_id, doc)).collect();
        for (i, expected) in case["docs"].as_array().expect("docs").iter().enumerate() {
            let at = format!("{}, doc {i}", text(&case["name"]));
            // lm-eval scores a gold outside the choices as wrong; here the row is set aside.
            if expected.get("gold").is_some_and(|gold| gold.as_array().is_none_or(Vec::is_empty)) {
                assert!(set.unscored.iter().any(|unscored| unscored.index == Some(i)), "{at}");
                continue;
            }
            let doc = docs.get(&i).unwrap_or_else(|| panic!("{at}: {:?}", set.unscored));
            let requests: Vec<Value> = doc.requests.iter().map(|r| json!([&*r.context, r.continuation])).collect();
            assert_eq!(json!(requests), expected["requests"], "{at}");
            assert_eq!(doc.target, expected["target"], "{at}");
            if let Some(gold) = expected.get("gold") {
                assert_eq!(json!(doc.gold), *gold, "{at}");
            }
            for (name, hash) in [("doc", &doc.doc_hash), ("prompt", &doc.prompt_hash), ("target", &doc.target_hash)] {
                assert_eq!(hash.as_str(), text(&expected[format!("{name}_hash")]), "{at}: {name}_hash");
            }
        }
        assert_eq!(set.docs.len() + set.unscored.len(), case["docs"].as_array().map_or(0, Vec::len));
    }
}

#[test]
fn a_resolved_config_builds_the_same_docs() {
    let cases = json(&fixture("task/lm_eval_cases.json"));
    for case in cases["cases"].as_array().expect("cases") {
        let set = built(case);
        let mut again = case.clone();
        again["yaml"] = json!(set.config.yaml());
        let requests = |set: &TaskSet| set.docs.iter().map(|doc| doc.requests.clone()).collect::<Vec<_>>();
        assert_eq!(requests(&built(&again)), requests(&set), "{}", case["name"]);
    }
}

#[test]
fn samples_are_drawn_as_python_draws_them() {
    let cases = json(&fixture("task/lm_eval_cases.json"));
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    for stream in cases["draws"].as_array().expect("draws") {
        let mut random = PythonRandom::new(number(&stream["seed"]) as u32);
        for draw in stream["draws"].as_array().expect("draws") {
            let sample = random.sample(number(&draw["n"]), number(&draw["k"]));
            assert_eq!(json!(sample), draw["sample"], "seed {}, {draw}", stream["seed"]);
        }
    }
}
