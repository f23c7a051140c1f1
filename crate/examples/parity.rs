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
use evaltab::report::ReportOptions;
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

/// What one run came to.
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
    aggregates: Vec<Aggregate>,
}

/// One number of lm-eval's results and ours.
#[derive(serde::Serialize)]
struct Aggregate {
    task: String,
    metric: String,
    lm_eval: f64,
    here: Option<f64>,
}

impl Aggregate {
    /// A share of verdicts is equal to rounding; what is a mean of probabilities follows the log-likelihoods' differences.
    fn is_equal(&self) -> bool {
        let is_share = self.metric.starts_with("acc") && self.task != "truthfulqa_mc2";
        let bound = if is_share { 1e-9 } else { 5e-3 * self.lm_eval.abs().max(1.0) };
        self.here.is_some_and(|here| (here - self.lm_eval).abs() <= bound)
    }

    /// One of a whole run, not of a subject or group within it.
    fn is_of_run(&self, run: &str) -> bool {
        run.starts_with(&self.task)
    }
}

/// lm-eval's aggregates beside those of our `results.json`, in the order of its file. A task that the reference gave a name of
/// its own has the preset's name here, and the groups of `mmlu_continuation` have those of lm-eval's YAML ("social sciences").
fn aggregates(lm_eval: &Value, ours: &Value, run: &str, preset: &str) -> Vec<Aggregate> {
    let mut all = Vec::new();
    for (task, metrics) in lm_eval.as_object().expect("results by task") {
        let own_name = if task == run { preset.to_owned() } else { task.trim_start_matches("mmlu_continuation_").replace('_', " ") };
        let ours = ours["results"].get(task).unwrap_or(&ours["results"][&own_name]);
        for (metric, value) in metrics.as_object().expect("numbers by metric") {
            let Some(lm_eval) = value.as_f64().filter(|_| metric != "sample_len") else { continue };
            all.push(Aggregate { task: task.clone(), metric: metric.clone(), lm_eval, here: ours[metric].as_f64() });
        }
    }
    all
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

fn compare(
    reference: &Reference,
    (expected, lm_eval): (&[Value], Option<&Value>),
    model: &mut Model,
    shared: &Path,
    prefix: u32,
    precision: Precision,
) -> Outcome {
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
    let ours: Value = serde_json::from_str(&evaluation.results_json(&ReportOptions::default())).expect("our own JSON");
    o.aggregates = lm_eval.map_or_else(Vec::new, |lm_eval| aggregates(lm_eval, &ours, reference.file, reference.preset));
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

impl Outcome {
    fn mean(&self) -> f64 {
        self.sum_choice / self.n_choices as f64
    }

    fn aggregates_differ(&self) -> usize {
        self.aggregates.iter().filter(|a| !a.is_equal()).count()
    }

    fn is_equal(&self, precision: Precision) -> bool {
        let mean_bound = if precision == Precision::Default { 2e-3 } else { f64::INFINITY };
        let n_different = self.contexts_differ + self.ids_differ + self.hashes_differ + self.above_bound + self.picks.len();
        n_different + self.aggregates_differ() == 0 && self.mean() <= mean_bound
    }

    fn row(&self, model: &str, run: &str) -> String {
        format!(
            "| {model} | {run} | {} | {} | {} | {} | {:.1e} | {:.1e} | {:.1e} | {} | {} | {} of {} |",
            self.n_docs,
            self.contexts_differ,
            self.ids_differ,
            self.hashes_differ,
            self.mean(),
            self.worst_choice,
            self.worst_token,
            self.above_bound,
            self.picks.len(),
            self.aggregates_differ(),
            self.aggregates.len()
        )
    }

    fn aggregate_rows(&self, model: &str, run: &str) -> Vec<String> {
        let shown = self.aggregates.iter().filter(|a| a.is_of_run(run) || !a.is_equal());
        let here = |a: &Aggregate| a.here.map_or_else(|| "none".to_owned(), |v| v.to_string());
        shown.map(|a| format!("| {model} | {run} | {} | {} | {} | {} |", a.task, a.metric, a.lm_eval, here(a))).collect()
    }

    fn json(&self, model: &str, run: &str) -> Value {
        json!({
            "model": model, "run": run, "n_docs": self.n_docs, "n_choices": self.n_choices, "n_tokens": self.n_tokens,
            "contexts_differ": self.contexts_differ, "ids_differ": self.ids_differ, "hashes_differ": self.hashes_differ,
            "mean_nats_per_choice": self.mean(), "worst_nats_per_choice": self.worst_choice, "worst_nats_per_token": self.worst_token,
            "above_bound": self.above_bound, "picks": self.picks, "aggregates": self.aggregates,
        })
    }
}

const HEADER: [&str; 2] = [
    "| model | run | docs | contexts ≠ | ids ≠ | hashes ≠ | mean nats/choice | worst nats/choice | worst nats/token | above bound | picks ≠ | aggregates ≠ |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|",
];
const AGGREGATES_HEADER: [&str; 3] = ["", "| model | run | task | metric | lm-eval | here |", "|---|---|---|---|---|---|"];

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let precision = if arguments.float32 { Precision::Float32 } else { Precision::Default };
    let (mut table, mut aggregates, mut notes) = (HEADER.map(str::to_owned).to_vec(), AGGREGATES_HEADER.map(str::to_owned).to_vec(), Vec::new());
    let mut machine = Vec::new();
    let mut is_equal = true;
    table.iter().for_each(|line| println!("{line}"));
    for (folder, file, prefix) in MODELS.iter().filter(|m| arguments.model.as_deref().is_none_or(|n| n == m.0)) {
        let path = arguments.models.join(file);
        if !path.exists() {
            println!("skipped: {file} is not in {}", arguments.models.display());
            continue;
        }
        let mut model = load(&path, arguments.threads);
        let folder_path = arguments.shared.join("reference").join(folder);
        let results: Value = serde_json::from_str(&std::fs::read_to_string(folder_path.join("results.json")).expect("results.json")).expect("JSON");
        for reference in REFERENCES.iter().filter(|r| arguments.task.as_deref().is_none_or(|n| n == r.file)) {
            let path = folder_path.join(format!("{}.jsonl", reference.file));
            if !path.exists() {
                continue;
            }
            let mut expected = lines(&path);
            expected.truncate(arguments.limit.unwrap_or(usize::MAX));
            // Aggregates are of all docs.
            let lm_eval = arguments.limit.is_none().then(|| &results["runs"][reference.file]["lm_eval_results"]);
            let o = compare(reference, (&expected, lm_eval), &mut model, &arguments.shared, *prefix, precision);
            table.push(o.row(folder, reference.file));
            println!("{}", table.last().expect("pushed above"));
            aggregates.extend(o.aggregate_rows(folder, reference.file));
            notes.extend(o.picks.iter().map(|p| format!("{folder} {}: {p}", reference.file)));
            is_equal &= o.is_equal(precision);
            machine.push(o.json(folder, reference.file));
        }
    }
    aggregates.iter().chain(&notes).for_each(|line| println!("{line}"));
    if let Some(out) = &arguments.out {
        std::fs::create_dir_all(out).expect("the folder can be made");
        let text: Vec<String> = [table, aggregates, notes].concat();
        std::fs::write(out.join("parity.md"), text.join("\n") + "\n").expect("parity.md can be written");
        std::fs::write(out.join("parity.json"), serde_json::to_string_pretty(&machine).expect("JSON")).expect("parity.json can be written");
    }
    println!("{}", if is_equal { "equal within the bounds" } else { "NOT equal" });
    if is_equal {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
