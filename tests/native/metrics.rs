//! Aggregates against an independent generator's (`tests/generate/metrics.py`) and against lm-eval's own on two real models.

use evaltab::metrics::groups::Group;
use evaltab::report::{report, ReportOptions, RunMeta};
use evaltab::score::{item_score, BoundaryFlag, ItemScore, Rule, ScoredContinuation, ScoredDoc, TokenScores};
use evaltab::spec::Precision;
use evaltab::task::doc::{Doc, OutputType, Request};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn jsonl(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.split('\n').filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

fn assert_close(got: f64, expected: f64, bound: f64, place: &str) {
    assert!((got - expected).abs() <= bound * expected.abs().max(1.0), "{place}: expected {expected}, got {got}");
}

fn fixture(name: &str) -> Value {
    json(&workspace().join("tests/fixtures/metrics").join(name))
}

/// MMLU's subjects by group, as lm-eval maps them.
fn mmlu_map() -> BTreeMap<String, String> {
    let subjects = fixture("mmlu.json");
    let group = |(subject, entry): (&String, &Value)| (subject.clone(), entry["group"].as_str().expect("a group").to_owned());
    subjects.as_object().expect("subjects").iter().map(group).collect()
}

/// Compares what `expected` has with what stands at the same place in `got`; `got` may have more keys.
///
/// `bound` is absolute below 1 and relative above.
fn assert_matches(got: &Value, expected: &Value, bound: f64, place: &str) {
    match expected {
        Value::Object(fields) => {
            for (key, expected) in fields {
                assert_matches(&got[key], expected, bound, &format!("{place}.{key}"));
            }
        }
        Value::Array(values) => {
            assert_eq!(got.as_array().map(Vec::len), Some(values.len()), "{place}: entries");
            for (i, expected) in values.iter().enumerate() {
                assert_matches(&got[i], expected, bound, &format!("{place}[{i}]"));
            }
        }
        Value::Number(number) => {
            let expected = number.as_f64().expect("a finite number");
            let got = got.as_f64().unwrap_or_else(|| panic!("{place}: expected {expected}, got {got}"));
            assert_close(got, expected, bound, place);
        }
        Value::Null | Value::Bool(_) | Value::String(_) => assert_eq!(got, expected, "{place}"),
    }
}

/// Golden cases of the generator.
mod golden {
    use super::*;
    use evaltab::metrics::compare::mcnemar_exact;
    use evaltab::report::report_bootstrap;
    use evaltab::score::n_words;

    /// An item as the generator describes it, through `item_score`.
    fn item(entry: &Value) -> ItemScore {
        let text = |value: &Value| value.as_str().expect("a string").to_owned();
        let index = entry["index"].as_u64().expect("an index") as usize;
        let choices = entry["choices"].as_array().expect("choices");
        let doc = Doc {
            doc_id: index,
            index,
            line: index + 1,
            task: text(&entry["task"]),
            row: Value::Null,
            category: entry["category"].as_str().map(str::to_owned),
            question: String::new(),
            output_type: serde_json::from_value(entry["output_type"].clone()).expect("an output type"),
            requests: choices.iter().map(|c| Request { context: "".into(), continuation: text(&c["text"]) }).collect(),
            choices: choices.iter().map(|c| text(&c["text"])).collect(),
            gold: serde_json::from_value(entry["gold"].clone()).expect("indices"),
            target: Value::Null,
            doc_hash: String::new(),
            prompt_hash: String::new(),
            target_hash: String::new(),
        };
        let continuation = |c: &Value| {
            let token_logprobs: Vec<f64> = serde_json::from_value(c["token_logprobs"].clone()).expect("numbers");
            ScoredContinuation {
                token_ids: vec![0; token_logprobs.len()],
                scores: TokenScores { token_logprobs, is_greedy: c["is_greedy"] == Value::Bool(true), least_margin: None },
                loglikelihood_unconditional: c["unconditional"].as_f64(),
                loglikelihood_answer: c["answer"].as_f64(),
            }
        };
        let scored = ScoredDoc {
            continuations: choices.iter().map(continuation).collect(),
            n_context_tokens: 1,
            flags: Vec::new(),
            precision: Precision::Default,
        };
        item_score(&doc, scored)
    }

    /// Members by group → groups.
    fn groups(entry: &Value) -> Vec<Group> {
        let group = |(name, members): (&String, &Value)| Group {
            name: name.clone(),
            alias: name.clone(),
            members: serde_json::from_value(members.clone()).expect("names"),
            weight_by_size: true,
            version: None,
        };
        entry.as_object().expect("groups").iter().map(group).collect()
    }

    #[test]
    fn every_number_of_the_report_equals_the_generators() {
        let fixture = fixture("cases.json");
        for case in fixture["cases"].as_array().expect("cases") {
            let name = case["name"].as_str().expect("a name");
            let set = &fixture["items"][case["items"].as_str().expect("a set's name")];
            let mut items: Vec<ItemScore> = set.as_array().expect("items").iter().map(item).collect();
            // The report is in data order, whatever the order of the items.
            items.reverse();
            let options: ReportOptions = serde_json::from_value(case["options"].clone()).expect("options");
            let meta = RunMeta { groups: groups(&case["groups"]), ..RunMeta::default() };
            let report = serde_json::to_value(report(&meta, &items, &[], &[], &options)).expect("JSON");
            // Some thousand additions of numbers near 1, and a temperature that two methods find to 1e-12.
            assert_matches(&report, &case["report"], 1e-10, name);
            let bootstrap = serde_json::to_value(report_bootstrap(&items, &options)).expect("JSON");
            assert_matches(&bootstrap, &case["bootstrap"], 1e-10, &format!("{name}, bootstrap"));
        }
    }

    #[test]
    fn words_are_split_as_python_splits_them() {
        for case in fixture("python.json")["words"].as_array().expect("cases") {
            assert_eq!(Some(n_words(case[0].as_str().expect("a text")) as u64), case[1].as_u64(), "{case}");
        }
    }

    #[test]
    fn mcnemars_test_equals_exact_fractions() {
        for case in fixture("python.json")["mcnemar"].as_array().expect("cases") {
            let count = |i: usize| case[i].as_u64().expect("a count") as usize;
            // Relative: the logarithm of the gamma function of some thousand has 1e-13 · 1e4 to lose.
            let (got, expected) = (mcnemar_exact(count(0), count(1)), case[2].as_f64().expect("a number"));
            assert!((got - expected).abs() <= 1e-9 * expected, "{case}: got {got}");
        }
    }

    #[test]
    fn responses_print_floats_as_python_does() {
        for case in fixture("python.json")["floats"].as_array().expect("cases") {
            let choice = |x: &Value| serde_json::json!({ "text": "a", "token_logprobs": [x], "is_greedy": false });
            let entry = serde_json::json!({
                "index": 0, "task": "t", "category": null, "output_type": "loglikelihood", "gold": [0], "choices": [choice(&case[0])],
            });
            let samples = evaltab::report::files::samples_jsonl(&RunMeta::default(), &[item(&entry)], &[]);
            let sample: Value = serde_json::from_str(&samples).expect("JSON");
            assert_eq!(sample["filtered_resps"][0][0], case[1]);
        }
    }
}

/// MMLU's table from counts alone: 22 docs of each of 57 subjects.
mod mmlu_table {
    use super::*;
    use evaltab::metrics::groups::{breakdown, Outcome};

    #[test]
    fn counts_give_the_published_intervals() {
        // Right answers by group; subjects by lm-eval's map, anatomy under STEM.
        let n_correct = BTreeMap::from([("mmlu_stem", 163), ("mmlu_humanities", 146), ("mmlu_social_sciences", 141), ("mmlu_other", 155)]);
        let map = mmlu_map();
        let mut left = n_correct.clone();
        let mut outcomes = Vec::new();
        for (subject, group) in &map {
            for _ in 0..22 {
                let left = left.get_mut(group.as_str()).expect("one of four groups");
                outcomes.push(Outcome { task: "mmlu", category: Some(subject), is_correct: *left > 0, chance: 0.25 });
                *left = usize::saturating_sub(*left, 1);
            }
        }
        let table = breakdown(&outcomes, &[], Some(&map)).expect("docs");
        assert_eq!(table.categories.len(), 57);
        let expected = [
            ("mmlu_humanities", 286, 13, 0.5105, 0.4528, 0.5679),
            ("mmlu_other", 286, 13, 0.5420, 0.4840, 0.5988),
            ("mmlu_social_sciences", 264, 12, 0.5341, 0.4739, 0.5933),
            ("mmlu_stem", 418, 19, 0.3900, 0.3444, 0.4375),
        ];
        assert_eq!(table.groups.len(), expected.len());
        for (got, (name, n, n_subjects, value, low, high)) in table.groups.iter().zip(expected) {
            assert_eq!((got.name.as_str(), got.micro.n, got.categories.len()), (name, n, n_subjects));
            // Printed to four decimals.
            assert_close(got.micro.value, value, 5.1e-5, name);
            assert_close(got.micro.interval.low, low, 5.1e-5, name);
            assert_close(got.micro.interval.high, high, 5.1e-5, name);
        }
        assert_eq!((table.micro.n_correct, table.micro.n), (605, 1254));
        assert_close(table.micro.interval.low, 0.4549, 5.1e-5, "all, low");
        assert_close(table.micro.interval.high, 0.5101, 5.1e-5, "all, high");
        assert_close(table.micro.stderr.expect("n > 1"), 0.0141165, 5e-8, "all, stderr");
        // Groups of equal weight: (163/418 + 146/286 + 141/264 + 155/286)/4.
        assert_close(table.macro_groups.expect("four groups").value, 0.494_122_7, 5e-8, "macro over groups");
    }

    #[test]
    fn test_rows_add_up_to_14042() {
        let mut rows = BTreeMap::<String, u64>::new();
        for entry in fixture("mmlu.json").as_object().expect("subjects").values() {
            *rows.entry(entry["group"].as_str().expect("a group").to_owned()).or_default() += entry["n_rows"].as_u64().expect("a count");
        }
        let got: Vec<_> = rows.iter().map(|(group, n)| (group.as_str(), *n)).collect();
        assert_eq!(got, [("mmlu_humanities", 4705), ("mmlu_other", 3107), ("mmlu_social_sciences", 3077), ("mmlu_stem", 3153)]);
    }
}

/// Runs of the reference: what lm-eval 0.4.13 gave for two small models, row by row and in sum.
mod reference {
    use super::*;

    /// Where the reference lies: `EVALTAB_SHARED`, else beside the workspace.
    fn shared() -> Option<PathBuf> {
        let shared = std::env::var_os("EVALTAB_SHARED").map_or_else(|| workspace().join("../shared"), PathBuf::from);
        shared.join("reference").is_dir().then_some(shared)
    }

    struct Run {
        place: String,
        meta: RunMeta,
        items: Vec<ItemScore>,
        lm_eval: Value,
        own: Value,
    }

    /// The numbers in an array of numbers.
    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().expect("an array").iter().map(|x| x.as_f64().expect("a number")).collect()
    }

    fn strings(value: &Value, n: usize) -> Vec<String> {
        match value {
            Value::String(one) => vec![one.clone(); n],
            many => many.as_array().expect("an array").iter().map(|x| x.as_str().expect("a string").to_owned()).collect(),
        }
    }

    /// A reference row as the doc and the scores that a run would have made of it.
    fn item(index: usize, row: &Value, name: &str, delimiter: &str, mc2_labels: Option<&Value>) -> ItemScore {
        let is_likelihood = name == "lambada_openai";
        let lls = numbers(&row["loglikelihood"]);
        let continuations = strings(&row["continuations"], lls.len());
        let contexts = strings(&row["context"], lls.len());
        let gold = match mc2_labels {
            Some(labels) => numbers(labels).iter().enumerate().filter(|(_, label)| **label == 1.0).map(|(i, _)| i).collect(),
            None if is_likelihood => vec![0],
            None => vec![row["gold"].as_u64().expect("a gold index") as usize],
        };
        let text = |name: &str| row[name].as_str().expect("a string").to_owned();
        let doc = Doc {
            doc_id: row["doc_id"].as_u64().expect("an index") as usize,
            index,
            line: index + 1,
            task: text("task"),
            row: Value::Null,
            category: row["subject"].as_str().map(str::to_owned),
            question: String::new(),
            output_type: if is_likelihood { OutputType::Loglikelihood } else { OutputType::MultipleChoice },
            choices: continuations.iter().map(|c| c.strip_prefix(delimiter).unwrap_or(c).to_owned()).collect(),
            requests: contexts
                .into_iter()
                .zip(&continuations)
                .map(|(context, continuation)| Request { context: context.into(), continuation: continuation.clone() })
                .collect(),
            gold,
            target: row["target"].clone(),
            doc_hash: text("doc_hash"),
            prompt_hash: text("prompt_hash"),
            target_hash: text("target_hash"),
        };
        let ids = |i: usize| numbers(&row["continuation_ids"][i]).iter().map(|id| *id as u32).collect();
        let unconditional = row.get("unconditional").map(|null| numbers(&null["loglikelihood"]));
        let continuation = |(i, ll): (usize, &f64)| ScoredContinuation {
            token_ids: ids(i),
            scores: TokenScores { token_logprobs: vec![*ll], is_greedy: row["is_greedy"][i] == Value::Bool(true), least_margin: None },
            loglikelihood_unconditional: unconditional.as_ref().map(|lls| lls[i]),
            loglikelihood_answer: None,
        };
        let scored = ScoredDoc {
            continuations: lls.iter().enumerate().map(continuation).collect(),
            n_context_tokens: 0,
            flags: Vec::<BoundaryFlag>::new(),
            precision: Precision::Float32,
        };
        item_score(&doc, scored)
    }

    /// Every multiple-choice and likelihood run of both models; without the reference, empty with a line that says why.
    fn runs() -> Vec<Run> {
        let Some(shared) = shared() else {
            println!("skipped: no reference runs (EVALTAB_SHARED or ../shared)");
            return Vec::new();
        };
        let mc2: Vec<Value> = jsonl(&shared.join("data/truthfulqa_mc.jsonl"));
        let mut runs = Vec::new();
        for model in ["smollm2", "qwen25-coder"] {
            let folder = shared.join("reference").join(model);
            let results = json(&folder.join("results.json"));
            for (name, run) in results["runs"].as_object().expect("runs") {
                // Generation is not scored here.
                if name == "gsm8k" {
                    continue;
                }
                let delimiter = run["settings"]["target_delimiter"].as_str().expect("a delimiter");
                let delimiter = if run["settings"]["apply_chat_template"] == Value::Bool(true) { "" } else { delimiter };
                let is_mc2 = name == "truthfulqa_mc2";
                let mut meta = RunMeta::default();
                meta.task.acc_is_gold_probability = is_mc2;
                let rows = jsonl(&folder.join(format!("{name}.jsonl")));
                let labels = |i: usize| is_mc2.then(|| &mc2[i]["mc2_targets"]["labels"]);
                let items = rows.iter().enumerate().map(|(i, row)| item(i, row, name, delimiter, labels(i))).collect();
                runs.push(Run {
                    place: format!("{model}/{name}"),
                    meta,
                    items,
                    lm_eval: run["lm_eval_results"].clone(),
                    own: run["computed_here_not_by_lm_eval"].clone(),
                });
            }
        }
        runs
    }

    /// lm-eval's groups of MMLU, members as its results list them.
    fn mmlu_groups(lm_eval: &Value, items: &[ItemScore]) -> Vec<Group> {
        let group = |name: &str, members: Vec<String>| Group {
            name: name.to_owned(),
            alias: name.to_owned(),
            members,
            weight_by_size: true,
            version: Some("2".to_owned()),
        };
        let Some(whole) = ["mmlu_continuation", "mmlu"].into_iter().find(|name| lm_eval.get(name).is_some()) else {
            return Vec::new();
        };
        let map = super::mmlu_map();
        let names = ["stem", "other", "social_sciences", "humanities"].map(|name| format!("{whole}_{name}"));
        let mut groups = vec![group(whole, names.to_vec())];
        for name in &names {
            let mut members: Vec<String> = items
                .iter()
                .filter(|item| map[item.category.as_deref().expect("a subject")] == name.replace(whole, "mmlu"))
                .map(|item| item.task.clone())
                .collect();
            members.sort();
            members.dedup();
            groups.push(group(name, members));
        }
        groups
    }

    #[test]
    fn every_aggregate_of_results_json_equals_lm_evals() {
        let mut n_compared = 0;
        for mut run in runs() {
            run.meta.groups = mmlu_groups(&run.lm_eval, &run.items);
            let ours = evaltab::report::files::results_json(&run.meta, &run.items, &[], &[], &[], &ReportOptions::default());
            for (task, metrics) in run.lm_eval.as_object().expect("tasks") {
                for (key, expected) in metrics.as_object().expect("metrics") {
                    let place = format!("{}: {task}, {key}", run.place);
                    let got = &ours["results"][task][key];
                    match expected.as_f64() {
                        // lm-eval leaves out what it calls N/A: the standard error of a single row.
                        Some(expected) => {
                            let got = got.as_f64().unwrap_or_else(|| panic!("{place}: expected {expected}, got {got}"));
                            // Means and roots of at most 228 f64: a few units in the last place.
                            assert_close(got, expected, 1e-12, &place);
                        }
                        None => assert_eq!(got, expected, "{place}"),
                    }
                    n_compared += 1;
                }
            }
        }
        println!("{n_compared} aggregates compared");
    }

    #[test]
    fn calibration_brier_nll_and_acc_token_equal_the_references() {
        for run in runs() {
            let Some(own) = run.own.as_object() else { continue };
            let report = report(&run.meta, &run.items, &[], &[], &ReportOptions::default());
            let calibration = report.calibration.expect("multiple choice");
            let rules = report.rules.expect("multiple choice");
            for (key, expected) in own {
                let place = format!("{}: {key}", run.place);
                let number = || expected.as_f64().expect("a number");
                match key.as_str() {
                    "accuracy" => assert_close(calibration.values.accuracy, number(), 1e-12, &place),
                    "mean_confidence" => assert_close(calibration.values.mean_confidence, number(), 1e-12, &place),
                    "ece_10_equal_width" => assert_close(calibration.values.ece, number(), 1e-12, &place),
                    "nll" => assert_close(calibration.values.nll, number(), 1e-12, &place),
                    "brier" => assert_close(calibration.values.brier.expect("one gold a doc"), number(), 1e-12, &place),
                    "acc_token" => {
                        let folded = rules.folded.iter().find(|f| f.rule == Rule::AccToken);
                        let rule = folded.map_or(Rule::AccToken, |f| f.equals);
                        let result = rules.listed.iter().find(|result| result.rule == rule).expect("a listed rule");
                        assert_close(result.accuracy.value, number(), 1e-12, &place);
                    }
                    "items_with_tie_at_the_top" => assert_eq!(rules.listed[0].n_tied as f64, number(), "{place}"),
                    "ece_bins_index_n_conf_acc" => {
                        let got: Vec<_> = calibration.bins.iter().enumerate().filter(|(_, bin)| bin.n > 0).collect();
                        let expected = expected.as_array().expect("bins");
                        assert_eq!(got.len(), expected.len(), "{place}");
                        for ((m, bin), expected) in got.into_iter().zip(expected) {
                            let expected = numbers(expected);
                            assert_eq!((m as f64, bin.n as f64), (expected[0], expected[1]), "{place}");
                            assert_close(bin.mean_confidence.expect("not empty"), expected[2], 1e-12, &place);
                            assert_close(bin.accuracy.expect("not empty"), expected[3], 1e-12, &place);
                        }
                    }
                    other => panic!("{place}: nothing compares {other}"),
                }
            }
        }
    }

    #[test]
    fn every_rows_verdicts_equal_lm_evals() {
        let Some(shared) = shared() else {
            println!("skipped: no reference runs (EVALTAB_SHARED or ../shared)");
            return;
        };
        for run in runs() {
            let (model, name) = run.place.split_once('/').expect("model/run");
            let rows = jsonl(&shared.join("reference").join(model).join(format!("{name}.jsonl")));
            let samples = evaltab::report::files::samples_jsonl(&run.meta, &run.items, &[]);
            let samples: Vec<Value> = samples.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
            assert_eq!(samples.len(), rows.len(), "{}", run.place);
            for (sample, row) in samples.iter().zip(&rows) {
                for key in ["acc", "acc_norm", "acc_bytes", "acc_mutual_info", "perplexity"] {
                    if let Some(expected) = row.get(key).and_then(Value::as_f64) {
                        let place = format!("{}: doc {}, {key}", run.place, row["doc_id"]);
                        assert_close(sample[key].as_f64().unwrap_or(f64::NAN), expected, 1e-12, &place);
                    }
                }
            }
        }
    }
}
