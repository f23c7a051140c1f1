//! The parity report: every run of the lm-eval reference, item by item.
//!
//! `cargo run --release --example parity -- --shared ../shared --models .models [--model smollm2] [--task arc_easy] [--float32]`
//! prints a table and writes it as Markdown and JSON where `--out DIR` says. For each task: contexts equal as strings, token ids
//! equal, mean and largest difference of log-likelihood, picks that differ with their margins, aggregates beside lm-eval's.
//! Ends with an error where contexts, ids or picks differ or a difference is above the engine's bound.

use clap::Parser;
use evaltab::evaluation::Evaluation;
use evaltab::model::{Model, ModelLoader};
use evaltab::prompt::Encoder;
use evaltab::run::Phase;
use evaltab::score::{ItemScore, Rule};
use evaltab::spec::{ChatMode, EnginePath, Precision, RunSpec};
use evaltab::task::{read_rows, Files, Rows};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
struct Arguments {
    /// Folder with `data` and `reference`.
    #[arg(long, default_value = "../shared")]
    shared: PathBuf,
    /// Folder with the two GGUF files.
    #[arg(long, default_value = ".models")]
    models: PathBuf,
    /// Only this reference folder (smollm2, qwen25-coder).
    #[arg(long)]
    model: Option<String>,
    /// Only this run.
    #[arg(long)]
    task: Option<String>,
    /// float32 instead of the default precision.
    #[arg(long)]
    float32: bool,
    /// At most this many docs of each run.
    #[arg(long)]
    limit: Option<usize>,
    /// Folder for parity.md and parity.json.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// One reference run and the settings that reproduce it.
struct Reference {
    file: &'static str,
    data: &'static str,
    preset: &'static str,
    fewshot: Option<&'static str>,
    spec: fn(RunSpec) -> RunSpec,
}

const fn plain(file: &'static str, preset: &'static str) -> Reference {
    Reference { file, data: file, preset, fewshot: None, spec: |s| s }
}

const REFERENCES: [Reference; 13] = [
    plain("arc_easy", "arc_easy"),
    plain("arc_challenge", "arc_challenge"),
    Reference { file: "arc_easy_mutual_info", data: "arc_easy", preset: "arc_easy", fewshot: None, spec: |s| RunSpec { mutual_info: true, ..s } },
    plain("hellaswag", "hellaswag"),
    plain("piqa", "piqa"),
    plain("winogrande", "winogrande"),
    plain("lambada_openai", "lambada_openai"),
    Reference { data: "truthfulqa_mc", ..plain("truthfulqa_mc1", "truthfulqa_mc1") },
    Reference { data: "truthfulqa_mc", ..plain("truthfulqa_mc2", "truthfulqa_mc2") },
    plain("mmlu", "mmlu"),
    Reference { data: "mmlu", ..plain("mmlu_continuation", "mmlu_continuation") },
    Reference { file: "mmlu_chat", data: "mmlu", preset: "mmlu", fewshot: None, spec: |s| RunSpec { chat: ChatMode::OneMessage, ..s } },
    Reference {
        file: "mmlu_5shot",
        data: "mmlu",
        preset: "mmlu",
        fewshot: Some("mmlu_dev_fewshot"),
        spec: |s| RunSpec { num_fewshot: Some(5), ..s },
    },
];

/// Reference folder, file and lm-eval's prefix token.
const MODELS: [(&str, &str, u32); 2] =
    [("smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", 1), ("qwen25-coder", "Qwen2.5-Coder-0.5B-Instruct.Q4_K_M.gguf", 151_645)];

#[derive(Default)]
struct Outcome {
    n_docs: usize,
    n_choices: usize,
    n_tokens: usize,
    contexts_differ: usize,
    ids_differ: usize,
    hashes_differ: usize,
    above_bound: usize,
    sum_choice: f64,
    worst_choice: f64,
    worst_token: f64,
    picks: Vec<String>,
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.split('\n').filter(|l| !l.is_empty()).map(|l| serde_json::from_str(l).expect("a JSON line")).collect()
}

fn rows(shared: &Path, name: &str) -> Rows {
    let name = format!("{name}.jsonl");
    let bytes = std::fs::read(shared.join("data").join(&name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    read_rows(&name, &bytes).expect("the reference's rows are sound")
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().expect("a list").iter().map(|v| v.as_u64().expect("an id") as u32).collect()
}

fn load(path: &Path, threads: usize) -> Model {
    let mut file = std::fs::File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut loader = ModelLoader::open(&mut file, "model", EnginePath::Own, threads).expect("a model that this build runs");
    while !loader.step(&mut file).expect("a tensor").done {}
    loader.finish().expect("all tensors")
}

/// Largest difference in nats that a choice of `n` tokens may show.
fn bound(precision: Precision, n: usize, is_f64: bool) -> f64 {
    match precision {
        Precision::Default => 1e-2,
        Precision::Float32 => 2e-4 + n as f64 * if is_f64 { 2e-5 } else { 1e-4 },
    }
}

/// lm-eval's verdicts on a row, by our rule.
const VERDICTS: [(Rule, &str); 4] =
    [(Rule::Acc, "acc"), (Rule::AccNorm, "acc_norm"), (Rule::AccBytes, "acc_bytes"), (Rule::AccMutualInfo, "acc_mutual_info")];

fn compare(reference: &Reference, expected: &[Value], model: &mut Model, shared: &Path, prefix: u32, precision: Precision) -> Outcome {
    let files = Files { data: rows(shared, reference.data), fewshot: reference.fewshot.map(|f| rows(shared, f)), includes: BTreeMap::new() };
    let base = RunSpec { preset: Some(reference.preset.into()), prefix_token_id: Some(prefix), precision, ..RunSpec::default() };
    let spec = (reference.spec)(base);
    let by_row: BTreeMap<usize, &Value> =
        expected.iter().map(|r| (r.get("row").unwrap_or(&r["doc_id"]).as_u64().expect("a row") as usize, r)).collect();
    let only: Vec<usize> = by_row.keys().copied().collect();
    let mut evaluation = Evaluation::new(model, &files, spec.clone(), Some(&only)).unwrap_or_else(|e| panic!("{}: {e}", reference.file));
    while evaluation.step(model).expect("the run goes on").phase != Phase::Done {}
    let tokenizer = model.tokenizer();
    let encoder = Encoder::new(&tokenizer, &spec, model.info.n_ctx).expect("sound settings");
    let run = evaluation.run();
    let (docs, items) = (run.docs().to_vec(), run.items());
    assert_eq!(docs.len(), expected.len(), "{}: docs", reference.file);
    let mut o = Outcome { n_docs: docs.len(), ..Outcome::default() };
    for (doc, item) in docs.iter().zip(&items) {
        let row = by_row[&doc.index];
        let encoded = encoder.doc(doc).expect("it was encoded before");
        let texts_equal = doc.requests.iter().enumerate().all(|(i, r)| {
            let context = if row["context"].is_array() { &row["context"][i] } else { &row["context"] };
            context == &Value::from(&*r.context) && row["continuations"][i] == r.continuation.as_str()
        });
        o.contexts_differ += usize::from(!texts_equal || row["continuations"].as_array().map(Vec::len) != Some(doc.requests.len()));
        let hashes = [("doc_hash", &doc.doc_hash), ("prompt_hash", &doc.prompt_hash), ("target_hash", &doc.target_hash)];
        o.hashes_differ += usize::from(hashes.iter().any(|(key, hash)| row[*key] != hash.as_str()));
        let is_f64 = row["loglikelihood_f64_softmax"].is_array();
        let lls = if is_f64 { &row["loglikelihood_f64_softmax"] } else { &row["loglikelihood"] };
        for (i, request) in encoded.requests.iter().enumerate() {
            let context = if row["context_ids"][0].is_array() { ids(&row["context_ids"][i]) } else { ids(&row["context_ids"]) };
            o.ids_differ += usize::from((&request.context[..], &request.continuation) != (&context[..], &ids(&row["continuation_ids"][i])));
            let n = request.continuation.len();
            let difference = (item.choices[i].loglikelihood - lls[i].as_f64().expect("a number")).abs();
            (o.n_choices, o.n_tokens) = (o.n_choices + 1, o.n_tokens + n);
            o.sum_choice += difference;
            o.worst_choice = o.worst_choice.max(difference);
            o.worst_token = o.worst_token.max(difference / n.max(1) as f64);
            o.above_bound += usize::from(difference > bound(precision, n, is_f64));
        }
        compare_picks(row, item, &mut o.picks);
    }
    o
}

fn compare_picks(row: &Value, item: &ItemScore, picks: &mut Vec<String>) {
    for (rule, key) in VERDICTS {
        let (Some(expected), Some(pick)) = (row[key].as_f64().filter(|v| *v == 0.0 || *v == 1.0), item.picks.iter().find(|p| p.rule == rule)) else {
            continue;
        };
        if (expected == 1.0) != pick.is_correct {
            picks.push(format!("line {} {key}: lm-eval {expected}, here {}, margin {:?}", item.line, u8::from(pick.is_correct), pick.margin));
        }
    }
    for (i, choice) in item.choices.iter().enumerate() {
        if row["is_greedy"][i] != choice.is_greedy {
            picks.push(format!("line {} choice {i} is_greedy: here {}, least margin {:?}", item.line, choice.is_greedy, choice.least_margin));
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let precision = if arguments.float32 { Precision::Float32 } else { Precision::Default };
    let mut table = vec![
        "| model | run | docs | contexts ≠ | ids ≠ | hashes ≠ | mean nats/choice | worst nats/choice | worst nats/token | above bound | picks ≠ |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    let mut machine = Vec::new();
    let mut notes = Vec::new();
    let mut is_equal = true;
    for (folder, file, prefix) in MODELS.iter().filter(|m| arguments.model.as_deref().is_none_or(|n| n == m.0)) {
        let path = arguments.models.join(file);
        if !path.exists() {
            println!("skipped: {file} is not in {}", arguments.models.display());
            continue;
        }
        let mut model = load(&path, arguments.threads);
        for reference in REFERENCES.iter().filter(|r| arguments.task.as_deref().is_none_or(|n| n == r.file)) {
            let path = arguments.shared.join("reference").join(folder).join(format!("{}.jsonl", reference.file));
            if !path.exists() {
                continue;
            }
            let mut expected = lines(&path);
            expected.truncate(arguments.limit.unwrap_or(usize::MAX));
            let o = compare(reference, &expected, &mut model, &arguments.shared, *prefix, precision);
            let mean = o.sum_choice / o.n_choices as f64;
            let row = format!(
                "| {folder} | {} | {} | {} | {} | {} | {mean:.1e} | {:.1e} | {:.1e} | {} | {} |",
                reference.file,
                o.n_docs,
                o.contexts_differ,
                o.ids_differ,
                o.hashes_differ,
                o.worst_choice,
                o.worst_token,
                o.above_bound,
                o.picks.len()
            );
            println!("{row}");
            table.push(row);
            notes.extend(o.picks.iter().map(|p| format!("{folder} {}: {p}", reference.file)));
            let mean_bound = if precision == Precision::Default { 2e-3 } else { f64::INFINITY };
            is_equal &= o.contexts_differ + o.ids_differ + o.hashes_differ + o.above_bound + o.picks.len() == 0 && mean <= mean_bound;
            machine.push(json!({
                "model": folder, "run": reference.file, "n_docs": o.n_docs, "n_choices": o.n_choices, "n_tokens": o.n_tokens,
                "contexts_differ": o.contexts_differ, "ids_differ": o.ids_differ, "hashes_differ": o.hashes_differ, "mean_nats_per_choice": mean,
                "worst_nats_per_choice": o.worst_choice, "worst_nats_per_token": o.worst_token, "above_bound": o.above_bound, "picks": o.picks,
            }));
        }
    }
    for note in &notes {
        println!("{note}");
    }
    if let Some(out) = &arguments.out {
        std::fs::create_dir_all(out).expect("the folder can be made");
        std::fs::write(out.join("parity.md"), table.join("\n") + "\n" + &notes.join("\n") + "\n").expect("parity.md can be written");
        std::fs::write(out.join("parity.json"), serde_json::to_string_pretty(&machine).expect("JSON")).expect("parity.json can be written");
    }
    println!("{}", if is_equal { "equal within the bounds" } else { "NOT equal" });
    if is_equal {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
