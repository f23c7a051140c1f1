//! The files that a run leaves behind: `results.json`, `samples.jsonl` and a table of items as CSV.
//!
//! In: what `report` takes, and the docs for `samples.jsonl`. Out: JSON under lm-eval's own keys, so that scripts written for
//! its output read ours; everything that lm-eval does not have stands under the one key `evaltab`.
//! A number that is not finite becomes `null`.
//!
//! Source: lm-eval 0.4.13, `EvaluationTracker.save_results_aggregated` and `save_results_samples`, `EvalAcc._to_eval_results`.
// DIFFERS: lm-eval writes one samples file per task; here one file has all of them and each line names its `task`.
// DIFFERS: `brier_score` of a sample is that doc's number; lm-eval writes the gold index and the probabilities as numpy prints them.
// DIFFERS: `perplexity_stderr` takes 1000 bootstrap draws, as `bootstrap_iters=1000` does; lm-eval's default is 100000.

use super::{report, report_bootstrap, Report, ReportOptions, RunMeta, Sorted};
use crate::hash::sha256_hex;
use crate::metrics::groups::{macro_mean, members, pooled_stderr, Group};
use crate::metrics::perplexity::{bootstrap_stderr, is_greedy, likelihood, rolling, BOOTSTRAP_ITERS};
use crate::metrics::rules::{brier, choice_metrics, gold_is_greedy, pick_of, rule_result, softmax};
use crate::score::{FailedItem, ItemScore, Rule};
use crate::spec::{ChatMode, Subset};
use crate::task::doc::{Doc, OutputType, Unscored};
use serde_json::{json, Map, Value};
use std::collections::BTreeMap;

/// One metric of a task or group.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Metric {
    name: &'static str,
    value: f64,
    stderr: Option<f64>,
    higher_is_better: bool,
}

/// The metrics of one task's items, `acc` first.
fn task_metrics(meta: &RunMeta, items: &[&ItemScore]) -> Vec<Metric> {
    let of = |output_type: OutputType| -> Vec<&ItemScore> { items.iter().copied().filter(|item| item.output_type == output_type).collect() };
    let mut metrics = Vec::new();
    let mut push = |name, value, stderr, higher_is_better| metrics.push(Metric { name, value, stderr, higher_is_better });
    let choices = of(OutputType::MultipleChoice);
    let whole = choice_metrics(&choices);
    for rule in Rule::ALL {
        let accuracy = rule_result(&choices, rule).map(|result| (result.accuracy.value, result.accuracy.stderr));
        let probability = whole.map(|whole| (whole.gold_probability.value, whole.gold_probability.stderr));
        let is_probability = rule == Rule::Acc && meta.task.acc_is_gold_probability;
        if let Some((value, stderr)) = if is_probability { probability } else { accuracy } {
            push(rule.name(), value, stderr, true);
        }
    }
    if let Some(whole) = whole {
        push("exact_match", whole.exact_match.value, whole.exact_match.stderr, true);
        if let Some(brier) = whole.brier_score {
            // lm-eval has no standard error for it.
            push("brier_score", brier.value, None, false);
        }
    }
    let continuations = of(OutputType::Loglikelihood);
    if let Some(result) = likelihood(&continuations) {
        push("perplexity", result.perplexity.value, bootstrap_stderr(&continuations), false);
        push("acc", result.accuracy.value, result.accuracy.stderr, true);
    }
    if let Some(result) = rolling(&of(OutputType::LoglikelihoodRolling)) {
        push("word_perplexity", result.word_perplexity.value, None, false);
        if let Some(perplexity) = result.byte_perplexity {
            push("byte_perplexity", perplexity.value, None, false);
        }
        if let Some(bits) = result.bits_per_byte {
            push("bits_per_byte", bits.value, None, false);
        }
    }
    metrics
}

/// lm-eval's entry for a task or group.
fn entry(name: &str, alias: &str, n: usize, metrics: &[Metric]) -> Value {
    let mut entry = Map::new();
    entry.insert("name".into(), json!(name));
    entry.insert("alias".into(), json!(alias));
    entry.insert("sample_len".into(), json!(n));
    for metric in metrics {
        entry.insert(format!("{},none", metric.name), json!(metric.value));
        let stderr = metric.stderr.map_or_else(|| json!("N/A"), |stderr| json!(stderr));
        entry.insert(format!("{}_stderr,none", metric.name), stderr);
    }
    Value::Object(entry)
}

/// A group's metrics from those of its tasks; a metric that a task lacks is left out.
fn group_metrics(group: &Group, tasks: &[(&str, usize, Vec<Metric>)]) -> Vec<Metric> {
    let Some((_, _, first)) = tasks.first() else { return Vec::new() };
    let combine = |metric: &Metric| {
        let find = |metrics: &[Metric]| metrics.iter().find(|other| other.name == metric.name).copied();
        let parts: Option<Vec<(usize, Metric)>> = tasks.iter().map(|(_, n, metrics)| Some((*n, find(metrics)?))).collect();
        let parts = parts?;
        let n: usize = parts.iter().map(|(n, _)| n).sum();
        let (value, stderr) = if group.weight_by_size {
            let sum: f64 = parts.iter().map(|(n, part)| part.value * *n as f64).sum();
            (sum / n as f64, pooled_stderr(&parts.iter().map(|(n, part)| (*n, part.stderr)).collect::<Vec<_>>()))
        } else {
            let mean = macro_mean(&parts.iter().map(|(_, part)| (part.value, part.stderr)).collect::<Vec<_>>())?;
            (mean.value, mean.stderr)
        };
        Some(Metric { value, stderr, ..*metric })
    };
    first.iter().filter_map(combine).collect()
}

/// `results.json`. `docs` may be empty, where only the scores are at hand: `task_hashes` is then left out.
pub fn results_json(
    meta: &RunMeta,
    items: &[ItemScore],
    unscored: &[Unscored],
    failed: &[FailedItem],
    docs: &[Doc],
    options: &ReportOptions,
) -> Value {
    let sorted = Sorted::new(items);
    let mut by_task: BTreeMap<&str, Vec<&ItemScore>> = BTreeMap::new();
    for item in &sorted.all {
        by_task.entry(&item.task).or_default().push(item);
    }
    let tasks: Vec<(&str, usize, Vec<Metric>)> = by_task.iter().map(|(task, items)| (*task, items.len(), task_metrics(meta, items))).collect();
    let mut results = Map::new();
    let mut higher_is_better = Map::new();
    let mut directions = |name: &str, metrics: &[Metric]| {
        let directions: Map<String, Value> = metrics.iter().map(|m| (m.name.to_owned(), json!(m.higher_is_better))).collect();
        higher_is_better.insert(name.to_owned(), Value::Object(directions));
    };
    for (task, n, metrics) in &tasks {
        results.insert((*task).to_owned(), entry(task, task, *n, metrics));
        directions(task, metrics);
    }
    let mut groups = Map::new();
    let mut group_subtasks = Map::new();
    let mut versions = Map::new();
    for (task, ..) in &tasks {
        versions.insert((*task).to_owned(), version(meta.task.version.as_deref()));
    }
    for group in &meta.groups {
        let names = members(group, &meta.groups);
        let parts: Vec<_> = tasks.iter().filter(|(task, ..)| names.contains(task)).cloned().collect();
        if parts.is_empty() {
            continue;
        }
        let metrics = group_metrics(group, &parts);
        let n = parts.iter().map(|(_, n, _)| n).sum();
        let entry = entry(&group.name, &group.alias, n, &metrics);
        directions(&group.name, &metrics);
        results.insert(group.name.clone(), entry.clone());
        groups.insert(group.name.clone(), entry);
        group_subtasks.insert(group.name.clone(), json!(group.members));
        versions.insert(group.name.clone(), version(group.version.as_deref()));
    }
    let per_task = |value: &dyn Fn(&str, &[&ItemScore]) -> Value| -> Value {
        Value::Object(by_task.iter().map(|(task, items)| ((*task).to_owned(), value(task, items))).collect())
    };
    let config_of = |task: &str| {
        let mut config = meta.task.config.clone();
        if let Value::Object(config) = &mut config {
            config.insert("task".into(), json!(task));
        }
        config
    };
    let report = report(meta, items, unscored, failed, options);
    let model_name = meta.model.as_ref().map_or("synthetic", |model| model.file.name.as_str());
    let mut out = Map::new();
    out.insert("results".into(), Value::Object(results));
    if !groups.is_empty() {
        out.insert("groups".into(), Value::Object(groups));
    }
    out.insert("group_subtasks".into(), Value::Object(group_subtasks));
    out.insert("configs".into(), per_task(&|task, _| config_of(task)));
    out.insert("n-shot".into(), versions.keys().map(|name| (name.clone(), json!(meta.task.num_fewshot))).collect());
    out.insert("versions".into(), Value::Object(versions));
    out.insert("higher_is_better".into(), Value::Object(higher_is_better));
    out.insert("n-samples".into(), per_task(&|_, items| n_samples(meta, by_task.len(), items)));
    out.insert("config".into(), config(meta, model_name));
    out.insert("git_hash".into(), Value::Null);
    out.insert("date".into(), json!(meta.started_at));
    if !docs.is_empty() {
        out.insert("task_hashes".into(), task_hashes(&sorted, docs));
    }
    out.insert("model_source".into(), json!("evaltab"));
    out.insert("model_name".into(), json!(model_name));
    out.insert("model_name_sanitized".into(), json!(sanitised(model_name)));
    out.insert("system_instruction".into(), json!(meta.spec.system_instruction));
    out.insert("system_instruction_sha".into(), json!(meta.spec.system_instruction.as_deref().map(sha256_hex)));
    out.insert("fewshot_as_multiturn".into(), json!(meta.spec.chat == ChatMode::Turns));
    out.insert("chat_template".into(), json!(meta.chat_template));
    out.insert("chat_template_sha".into(), json!(meta.chat_template.as_deref().map(sha256_hex)));
    out.insert("max_length".into(), json!(meta.max_length));
    if let Some(tokenizer) = &meta.tokenizer {
        for (key, token) in [("tokenizer_eos_token", &tokenizer.eos), ("tokenizer_bos_token", &tokenizer.bos)] {
            out.insert(key.into(), token.as_ref().map_or(Value::Null, |token| json!([token.text, token.id.to_string()])));
        }
        out.insert("eot_token_id".into(), json!(tokenizer.eos.as_ref().map(|token| token.id)));
    }
    out.insert("total_evaluation_time_seconds".into(), json!(meta.seconds.map(|seconds| seconds.to_string())));
    out.insert("evaltab".into(), own_part(meta, &report, items, unscored, failed, options));
    Value::Object(out)
}

/// lm-eval keeps versions as numbers where they are.
fn version(version: Option<&str>) -> Value {
    let Some(version) = version else { return json!("N/A") };
    version.parse::<f64>().ok().filter(|v| v.is_finite()).map_or_else(|| json!(version), |v| json!(v))
}

/// lm-eval's `original` is the split's size; with several tasks in one file only the docs of the run are known to belong to each.
fn n_samples(meta: &RunMeta, n_tasks: usize, items: &[&ItemScore]) -> Value {
    let original = if n_tasks == 1 { meta.data.n_rows.unwrap_or(items.len()) } else { items.len() };
    json!({ "original": original, "effective": items.len() })
}

/// lm-eval's `config`.
fn config(meta: &RunMeta, model_name: &str) -> Value {
    let limit = match meta.spec.subset {
        Subset::First { n } => json!(n),
        Subset::All | Subset::Random { .. } | Subset::PerCategory { .. } => Value::Null,
    };
    json!({
        "model": "evaltab",
        "model_args": { "pretrained": model_name },
        "model_num_parameters": meta.model.as_ref().map(|model| model.n_params),
        "model_dtype": meta.model.as_ref().map(|model| model.quantisation.as_str()),
        "model_sha": meta.model.as_ref().and_then(|model| model.file.sha256.as_deref()),
        "device": "cpu",
        "limit": limit,
        "bootstrap_iters": BOOTSTRAP_ITERS,
        "fewshot_seed": meta.spec.fewshot_seed,
    })
}

/// File names of lm-eval's: everything that a path may not have becomes `__`.
fn sanitised(name: &str) -> String {
    let mut out = String::new();
    let mut in_run = false;
    for c in name.chars() {
        let is_bad = matches!(c, '"' | '<' | '>' | ':' | '/' | '|' | '\\' | '?' | '*' | '[' | ']');
        if !is_bad {
            out.push(c);
        } else if !in_run {
            out.push_str("__");
        }
        in_run = is_bad;
    }
    out
}

/// SHA-256 over the hashes of a task's docs, as lm-eval does.
fn task_hashes(sorted: &Sorted, docs: &[Doc]) -> Value {
    let by_index: BTreeMap<usize, &Doc> = docs.iter().map(|doc| (doc.index, doc)).collect();
    let mut hashes: BTreeMap<&str, String> = BTreeMap::new();
    for item in &sorted.all {
        if let Some(doc) = by_index.get(&item.index) {
            let all = hashes.entry(&item.task).or_default();
            for hash in [&doc.doc_hash, &doc.prompt_hash, &doc.target_hash] {
                all.push_str(hash);
            }
        }
    }
    Value::Object(hashes.into_iter().map(|(task, all)| (task.to_owned(), json!(sha256_hex(&all)))).collect())
}

/// What lm-eval does not have.
fn own_part(meta: &RunMeta, report: &Report, items: &[ItemScore], unscored: &[Unscored], failed: &[FailedItem], options: &ReportOptions) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "meta": meta,
        "report": report,
        "calibration_bootstrap": report_bootstrap(items, options),
        "unscored": unscored,
        "failed": failed,
        "loglikelihood_digest": report.loglikelihood_digest,
    })
}

/// `samples.jsonl`: one line per scored item, in data order, each ending in a newline.
///
/// An item whose doc is not among `docs` (a run that was reopened without its file) has `null` for what only the doc knows.
pub fn samples_jsonl(meta: &RunMeta, items: &[ItemScore], docs: &[Doc]) -> String {
    let by_index: BTreeMap<usize, &Doc> = docs.iter().map(|doc| (doc.index, doc)).collect();
    let mut out = String::new();
    for item in Sorted::new(items).all {
        out += &sample(meta, item, by_index.get(&item.index).copied()).to_string();
        out.push('\n');
    }
    out
}

/// One line of `samples.jsonl`.
fn sample(meta: &RunMeta, item: &ItemScore, doc: Option<&Doc>) -> Value {
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("doc_id", json!(item.doc_id));
    put("doc", doc.map_or(Value::Null, |doc| doc.row.clone()));
    put("target", doc.map_or(Value::Null, |doc| json!(python_str(&doc.target))));
    put("arguments", doc.map_or(Value::Null, |doc| arguments(item, doc)));
    let responses = responses(item);
    put("resps", responses.iter().map(|response| json!([response])).collect());
    put("filtered_resps", Value::Array(responses));
    put("filter", json!("none"));
    let metrics = sample_metrics(meta, item);
    put("metrics", metrics.iter().map(|(name, _)| json!(name)).collect());
    for (key, hash) in [
        ("doc_hash", doc.map(|doc| &doc.doc_hash)),
        ("prompt_hash", doc.map(|doc| &doc.prompt_hash)),
        ("target_hash", doc.map(|doc| &doc.target_hash)),
    ] {
        put(key, json!(hash));
    }
    for (name, value) in metrics {
        put(name, value);
    }
    put("task", json!(item.task));
    put(
        "evaltab",
        json!({
            "index": item.index,
            "line": item.line,
            "category": item.category,
            "question": item.question,
            "output_type": item.output_type,
            "gold": item.gold,
            "choices": item.choices,
            "picks": item.picks,
            "n_context_tokens": item.n_context_tokens,
            "flags": item.flags,
            "precision": item.precision,
        }),
    );
    Value::Object(out)
}

/// lm-eval's `arguments`: contexts and continuations, then, for mutual information, the continuations without context.
fn arguments(item: &ItemScore, doc: &Doc) -> Value {
    let pair = |context: &str, continuation: &str| json!({ "arg_0": context, "arg_1": continuation });
    let mut arguments: Vec<Value> = match doc.output_type {
        OutputType::MultipleChoice | OutputType::Loglikelihood => {
            doc.requests.iter().map(|request| pair(&request.context, &request.continuation)).collect()
        }
        OutputType::LoglikelihoodRolling => doc.requests.iter().map(|request| json!({ "arg_0": request.continuation })).collect(),
    };
    if is_mutual_info(item) {
        arguments.extend(doc.requests.iter().map(|request| pair("", &request.continuation)));
    }
    Value::Object(arguments.into_iter().enumerate().map(|(i, argument)| (format!("gen_args_{i}"), argument)).collect())
}

/// Whether every choice was also scored without its context.
fn is_mutual_info(item: &ItemScore) -> bool {
    item.output_type == OutputType::MultipleChoice && item.choices.iter().all(|choice| choice.loglikelihood_unconditional.is_some())
}

/// What the model answered to each request, numbers as Python prints them.
fn responses(item: &ItemScore) -> Vec<Value> {
    let greedy = |is_greedy: bool| if is_greedy { "True" } else { "False" };
    let mut responses: Vec<Value> = item
        .choices
        .iter()
        .map(|choice| match item.output_type {
            OutputType::MultipleChoice | OutputType::Loglikelihood => {
                json!([python_float(choice.loglikelihood), greedy(choice.is_greedy)])
            }
            OutputType::LoglikelihoodRolling => json!(python_float(choice.loglikelihood)),
        })
        .collect();
    if is_mutual_info(item) {
        // Whether the continuation is greedy without its context is not kept: no metric asks for it.
        let without_context = item.choices.iter().filter_map(|choice| choice.loglikelihood_unconditional);
        responses.extend(without_context.map(|ll| json!([python_float(ll), Value::Null])));
    }
    responses
}

/// lm-eval's per-doc metrics by name.
fn sample_metrics(meta: &RunMeta, item: &ItemScore) -> Vec<(&'static str, Value)> {
    let ll = item.choices.first().map_or(0.0, |choice| choice.loglikelihood);
    match item.output_type {
        OutputType::MultipleChoice => {
            let lls: Vec<f64> = item.choices.iter().map(|choice| choice.loglikelihood).collect();
            let p = softmax(&lls, 1.0);
            let mut metrics = Vec::new();
            for rule in Rule::ALL {
                if let Some(pick) = pick_of(item, rule) {
                    metrics.push((rule.name(), json!(f64::from(u8::from(pick.is_correct)))));
                }
            }
            if meta.task.acc_is_gold_probability {
                let probability: f64 = item.gold.iter().filter_map(|gold| p.get(*gold)).sum();
                metrics.retain(|(name, _)| *name != Rule::Acc.name());
                metrics.insert(0, (Rule::Acc.name(), json!(probability)));
            }
            metrics.push(("exact_match", json!(u8::from(gold_is_greedy(item)))));
            if let [gold] = item.gold[..] {
                metrics.push(("brier_score", json!(brier(&p, gold))));
            }
            metrics
        }
        OutputType::Loglikelihood => vec![("perplexity", json!(ll)), ("acc", json!(u8::from(is_greedy(item))))],
        OutputType::LoglikelihoodRolling => vec![
            ("word_perplexity", json!([ll, item.n_words])),
            ("byte_perplexity", json!([ll, item.n_bytes])),
            ("bits_per_byte", json!([ll, item.n_bytes])),
        ],
    }
}

/// Python's `str` of a float: shortest digits that read back, an exponent below 1e-4 and from 1e16.
pub(crate) fn python_float(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if x == 0.0 || (1e-4..1e16).contains(&x.abs()) {
        return format!("{x:?}");
    }
    let text = format!("{x:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(("+", exponent), |exponent| ("-", exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Python's `str` of a JSON value.
fn python_str(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => python_repr(other),
    }
}

/// Python's `repr` of a JSON value.
fn python_repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) if number.is_f64() => python_float(number.as_f64().unwrap_or(f64::NAN)),
        Value::Number(number) => number.to_string(),
        Value::String(text) => python_string_repr(text),
        Value::Array(values) => format!("[{}]", values.iter().map(python_repr).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let pairs: Vec<String> = map.iter().map(|(k, v)| format!("{}: {}", python_string_repr(k), python_repr(v))).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

/// Python's `repr` of a string of printable characters.
fn python_string_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// The items as CSV (RFC 4180) with a header line.
pub fn items_csv(items: &[ItemScore], options: &ReportOptions) -> String {
    let columns = super::items::item_columns(items, options);
    let mut out = String::from(
        "index,line,task,category,question,n_choices,gold,pick,is_correct,is_tied,margin,rules_disagree,confidence,flags,loglikelihoods\r\n",
    );
    let text = |value: &dyn std::fmt::Display| value.to_string();
    for (i, item) in Sorted::new(items).all.into_iter().enumerate() {
        let list = |values: Vec<String>| values.join(" ");
        let fields = [
            text(&item.index),
            text(&item.line),
            item.task.clone(),
            item.category.clone().unwrap_or_default(),
            item.question.clone(),
            text(&item.choices.len()),
            list(item.gold.iter().map(|gold| text(gold)).collect()),
            columns.pick[i].map_or(String::new(), |pick| text(&pick)),
            columns.is_correct[i].map_or(String::new(), |is_correct| text(&is_correct)),
            text(&columns.is_tied[i]),
            columns.margin[i].map_or(String::new(), |margin| text(&margin)),
            text(&columns.rules_disagree[i]),
            columns.confidence[i].map_or(String::new(), |confidence| text(&confidence)),
            list(item.flags.iter().filter_map(|flag| json!(flag).as_str().map(str::to_owned)).collect()),
            list(item.choices.iter().map(|choice| text(&choice.loglikelihood)).collect()),
        ];
        out += &fields.iter().map(|field| csv_field(field)).collect::<Vec<_>>().join(",");
        out += "\r\n";
    }
    out
}

/// A CSV field, quoted where it has to be. Text that a spreadsheet would run as a formula gets an apostrophe in front.
fn csv_field(field: &str) -> String {
    let is_number = field.parse::<f64>().is_ok() || field.split(' ').all(|part| part.parse::<f64>().is_ok());
    let guarded = if !is_number && field.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{field}") } else { field.to_owned() };
    if guarded.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::cases::{choice, item, letters, text_item};
    use crate::task::doc::Request;

    fn doc(index: usize) -> Doc {
        let request = |letter: &str| Request { context: "Q\nAnswer:".into(), continuation: format!(" {letter}") };
        Doc {
            doc_id: index,
            index,
            line: index + 1,
            task: "t".to_owned(),
            row: json!({ "question": "Q", "answer": 0 }),
            category: None,
            question: "Q".to_owned(),
            output_type: OutputType::MultipleChoice,
            requests: vec![request("A"), request("B")],
            choices: vec!["A".to_owned(), "B".to_owned()],
            gold: vec![0],
            target: json!(0),
            doc_hash: "d".repeat(64),
            prompt_hash: "e".repeat(64),
            target_hash: "f".repeat(64),
        }
    }

    fn results(items: &[ItemScore], docs: &[Doc]) -> Value {
        results_json(&RunMeta::default(), items, &[], &[], docs, &ReportOptions::default())
    }

    #[test]
    fn a_sample_has_lm_evals_keys_in_its_order() {
        let items = [item(0, vec![choice(-1.5, 1), choice(-1e-5, 1)], &[0])];
        let line = samples_jsonl(&RunMeta::default(), &items, &[doc(0)]);
        assert_eq!(line.matches('\n').count(), 1);
        let sample: Value = serde_json::from_str(&line).expect("JSON");
        let keys: Vec<&str> = sample.as_object().expect("an object").keys().map(String::as_str).collect();
        let lm_eval = ["doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"];
        assert_eq!(keys[..lm_eval.len()], lm_eval);
        assert_eq!(sample["target"], "0");
        assert_eq!(sample["arguments"]["gen_args_1"], json!({ "arg_0": "Q\nAnswer:", "arg_1": " B" }));
        assert_eq!(sample["resps"], json!([[["-1.5", "False"]], [["-1e-05", "False"]]]));
        assert_eq!(sample["filtered_resps"], json!([["-1.5", "False"], ["-1e-05", "False"]]));
        assert_eq!(sample["metrics"], json!(["acc", "acc_norm", "acc_bytes", "acc_token", "exact_match", "brier_score"]));
        assert_eq!((&sample["acc"], &sample["filter"], &sample["doc"]["answer"]), (&json!(0.0), &json!("none"), &json!(0)));
        assert_eq!(sample["evaltab"]["choices"][1]["token_ids"], json!([7]));
    }

    #[test]
    fn a_sample_without_its_doc_has_nulls_and_keeps_its_scores() {
        let sample: Value = serde_json::from_str(&samples_jsonl(&RunMeta::default(), &[letters(3, &[0.9, 0.1], 0)], &[])).expect("JSON");
        assert_eq!((&sample["doc"], &sample["doc_hash"], &sample["acc"]), (&Value::Null, &Value::Null, &json!(1.0)));
    }

    #[test]
    fn unconditional_requests_come_after_the_conditional_ones() {
        let mut one = item(0, vec![choice(-1.0, 1), choice(-2.0, 1)], &[0]);
        for choice in &mut one.choices {
            choice.loglikelihood_unconditional = Some(-4.0);
        }
        let sample: Value = serde_json::from_str(&samples_jsonl(&RunMeta::default(), &[one], &[doc(0)])).expect("JSON");
        assert_eq!(sample["arguments"]["gen_args_3"], json!({ "arg_0": "", "arg_1": " B" }));
        assert_eq!(sample["filtered_resps"][2][0], "-4.0");
    }

    #[test]
    fn numbers_that_are_not_finite_leave_valid_json() {
        let items = [item(0, vec![choice(f64::NEG_INFINITY, 1), choice(f64::NAN, 0)], &[0])];
        let text = results(&items, &[]).to_string() + "\n" + &samples_jsonl(&RunMeta::default(), &items, &[]);
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).expect("JSON");
            assert!(value.is_object());
        }
        assert!(!text.contains("NaN") && !text.contains("Infinity"));
    }

    #[test]
    fn task_hashes_are_lm_evals() {
        // hashlib.sha256(("d"*64 + "e"*64 + "f"*64).encode()).hexdigest()
        assert_eq!(
            results(&[letters(0, &[0.9, 0.1], 0)], &[doc(0)])["task_hashes"]["t"],
            "47918e571d7b096a8e9e4350e5d66f86abae1c8c09d86fbad39652bb766507a1"
        );
        assert_eq!(results(&[letters(0, &[0.9, 0.1], 0)], &[]).get("task_hashes"), None);
    }

    #[test]
    fn results_have_lm_evals_keys() {
        let results = results(&[letters(0, &[0.9, 0.1], 0), letters(1, &[0.9, 0.1], 1)], &[]);
        assert_eq!(results["results"]["t"]["acc,none"], 0.5);
        assert_eq!(results["results"]["t"]["acc_stderr,none"], 0.5);
        assert_eq!(results["results"]["t"]["sample_len"], 2);
        assert_eq!(results["n-samples"]["t"], json!({ "original": 2, "effective": 2 }));
        assert_eq!(results["higher_is_better"]["t"]["brier_score"], false);
        for key in ["group_subtasks", "configs", "versions", "n-shot", "config", "model_name", "chat_template", "max_length"] {
            assert!(results.get(key).is_some(), "{key}");
        }
        let own = &results["evaltab"];
        assert_eq!(own["report"]["report_version"], super::super::REPORT_VERSION);
        assert_eq!(own["loglikelihood_digest"].as_str().map(str::len), Some(64));
        assert!(own["calibration_bootstrap"]["ece_interval"]["low"].is_number());
    }

    #[test]
    fn one_doc_has_no_standard_error() {
        assert_eq!(results(&[letters(0, &[0.9, 0.1], 0)], &[])["results"]["t"]["acc_stderr,none"], "N/A");
    }

    #[test]
    fn a_group_that_does_not_weigh_by_size_takes_the_plain_mean() {
        let mut items = vec![letters(0, &[0.9, 0.1], 0), letters(1, &[0.9, 0.1], 0), letters(2, &[0.9, 0.1], 1), letters(3, &[0.9, 0.1], 0)];
        items.extend((4..6).map(|i| letters(i, &[0.9, 0.1], 1)));
        for item in &mut items[4..] {
            item.task = "u".to_owned();
        }
        let group = |weight_by_size| Group {
            name: "g".to_owned(),
            alias: "g".to_owned(),
            members: vec!["t".to_owned(), "u".to_owned()],
            weight_by_size,
            version: Some("2".to_owned()),
        };
        let of = |weight_by_size| {
            let meta = RunMeta { groups: vec![group(weight_by_size)], ..RunMeta::default() };
            results_json(&meta, &items, &[], &[], &[], &ReportOptions::default())
        };
        // 3/4 and 0/2: by size 3/6, plain (.75 + 0)/2.
        assert_eq!((&of(true)["groups"]["g"]["acc,none"], &of(false)["groups"]["g"]["acc,none"]), (&json!(0.5), &json!(0.375)));
        assert_eq!((&of(true)["versions"]["g"], &of(true)["group_subtasks"]["g"]), (&json!(2.0), &json!(["t", "u"])));
        // √(.0625)/2: the second task's standard error is 0.
        assert_eq!(of(false)["groups"]["g"]["acc_stderr,none"], 0.125);
    }

    #[test]
    fn likelihoods_are_written_as_lm_eval_writes_them() {
        let items = [text_item(0, OutputType::Loglikelihood, -2.0, 1, 4)];
        let sample: Value = serde_json::from_str(&samples_jsonl(&RunMeta::default(), &items, &[])).expect("JSON");
        assert_eq!((&sample["perplexity"], &sample["acc"], &sample["metrics"]), (&json!(-2.0), &json!(0), &json!(["perplexity", "acc"])));
        let items = [text_item(0, OutputType::LoglikelihoodRolling, -2.0, 3, 4)];
        let sample: Value = serde_json::from_str(&samples_jsonl(&RunMeta::default(), &items, &[])).expect("JSON");
        assert_eq!((&sample["word_perplexity"], &sample["filtered_resps"]), (&json!([-2.0, 3]), &json!(["-2.0"])));
        assert_eq!(results(&items, &[])["results"]["t"]["word_perplexity_stderr,none"], "N/A");
    }

    #[test]
    fn values_print_as_python_prints_them() {
        let cases = [
            (json!("a'b"), "a'b"),
            (json!(["a'b", "c\"d", "e\n"]), "[\"a'b\", 'c\"d', 'e\\n']"),
            (json!({ "a": [1, 2.5, true, null] }), "{'a': [1, 2.5, True, None]}"),
        ];
        for (value, expected) in cases {
            assert_eq!(python_str(&value), expected);
        }
    }

    #[test]
    fn csv_quotes_what_would_break_a_line_or_run_as_a_formula() {
        let mut one = letters(0, &[0.9, 0.1], 0);
        one.question = "=1+1, \"really\"\nyes".to_owned();
        let csv = items_csv(&[one], &ReportOptions::default());
        assert_eq!(csv.lines().next().map(|header| header.split(',').count()), Some(15));
        assert!(csv.contains(",\"'=1+1, \"\"really\"\"\nyes\",2,0,0,true,false,"), "{csv}");
    }
}
