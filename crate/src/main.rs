//! The native command: the page's run from a terminal.
//!
//! `evaltab --model M.gguf --data rows.jsonl [--task task.yaml] [--set key=value …] --out DIR` writes `results.json` and
//! `samples.jsonl`. Progress goes to the error stream, the summary to the output.

#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    match command::run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod command {
    use clap::Parser;
    use evaltab::error::{ErrorKind, EvalError, Result};
    use evaltab::evaluation::Evaluation;
    use evaltab::hash::hex;
    use evaltab::model::source::{model_sha256, part_paths, Parts};
    use evaltab::model::{Model, ModelLoader};
    use evaltab::report::{Report, ReportOptions};
    use evaltab::run::Phase;
    use evaltab::spec::RunSpec;
    use evaltab::task::{read_rows, Files};
    use sha2::{Digest, Sha256};
    use std::collections::BTreeMap;
    use std::fs::{self, File};
    use std::io::{BufRead, BufReader, Write};
    use std::path::{Path, PathBuf};
    use std::time::{Instant, SystemTime, UNIX_EPOCH};

    /// Evaluate a GGUF language model on a task, with the numbers of the page.
    #[derive(Parser)]
    #[command(version)]
    struct Arguments {
        /// The model, a GGUF file; of a split one its first part, the others are found beside it.
        #[arg(long)]
        model: PathBuf,
        /// The rows: JSONL or CSV.
        #[arg(long)]
        data: PathBuf,
        /// An lm-eval task config; without one it is recognised from the rows.
        #[arg(long)]
        task: Option<PathBuf>,
        /// Rows of the few-shot examples.
        #[arg(long)]
        fewshot_data: Option<PathBuf>,
        /// A setting of the run, such as `num_fewshot=5` or `subset={"kind":"first","n":20}`; may be repeated.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        settings: Vec<String>,
        /// Threads; without it one per core.
        #[arg(long)]
        threads: Option<usize>,
        /// Folder for results.json and samples.jsonl.
        #[arg(long)]
        out: PathBuf,
    }

    fn at(path: &Path) -> impl Fn(std::io::Error) -> EvalError + '_ {
        move |e| EvalError::from(e).at(path.display().to_string())
    }

    fn name(path: &Path) -> String {
        path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Default settings with those of the command line in their place. A value is JSON, or else a text.
    fn spec(arguments: &Arguments) -> Result<RunSpec> {
        let bad = |message: String, setting: &str| EvalError::new(ErrorKind::RunSpec, message).at(format!("setting \"{setting}\""));
        let mut all = serde_json::to_value(RunSpec::default()).expect("settings are JSON");
        for setting in &arguments.settings {
            let (key, value) = setting.split_once('=').ok_or_else(|| bad("is not key=value".into(), setting))?;
            let slot = all.get_mut(key).ok_or_else(|| bad("is not known".into(), key))?;
            *slot = serde_json::from_str(value).unwrap_or_else(|_| serde_json::Value::from(value));
        }
        if let Some(path) = &arguments.task {
            all["task_yaml"] = fs::read_to_string(path).map_err(at(path))?.into();
        }
        serde_json::from_value(all).map_err(|e| EvalError::new(ErrorKind::RunSpec, e.to_string()))
    }

    /// The other YAML files beside a config, by name: what its `include` and a group's tasks may refer to.
    fn includes(task: Option<&PathBuf>) -> Result<BTreeMap<String, String>> {
        let Some(folder) = task.and_then(|t| t.parent()) else { return Ok(BTreeMap::new()) };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let mut all = BTreeMap::new();
        for entry in fs::read_dir(folder).map_err(at(folder))? {
            let path = entry.map_err(at(folder))?.path();
            let is_config = path.is_file() && (path.extension().is_none() || path.extension().is_some_and(|e| e == "yaml" || e == "yml"));
            if let (true, Ok(text)) = (is_config, fs::read_to_string(&path)) {
                all.insert(name(&path), text);
            }
        }
        Ok(all)
    }

    fn sha256(path: &Path) -> Result<[u8; 32]> {
        let mut reader = BufReader::with_capacity(1 << 20, File::open(path).map_err(at(path))?);
        let mut hasher = Sha256::new();
        loop {
            let n = {
                let bytes = reader.fill_buf().map_err(at(path))?;
                hasher.update(bytes);
                bytes.len()
            };
            if n == 0 {
                return Ok(hasher.finalize().into());
            }
            reader.consume(n);
        }
    }

    fn load(path: &Path, spec: &RunSpec, n_threads: usize) -> Result<Model> {
        let paths = part_paths(path);
        let mut parts = Parts(paths.iter().map(|part| File::open(part).map_err(at(part))).collect::<Result<Vec<_>>>()?);
        let mut loader = ModelLoader::open(&mut parts, &name(&paths[0]), spec.engine, n_threads)?;
        while !loader.step(&mut parts)?.done {}
        loader.finish()
    }

    pub fn run() -> Result<()> {
        let arguments = Arguments::parse();
        let spec = spec(&arguments)?;
        let rows = |path: &PathBuf| read_rows(&name(path), &fs::read(path).map_err(at(path))?);
        let files = Files {
            data: rows(&arguments.data)?,
            fewshot: arguments.fewshot_data.as_ref().map(rows).transpose()?,
            includes: includes(arguments.task.as_ref())?,
        };
        let n_threads = arguments.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let started = Instant::now();
        let mut model = load(&arguments.model, &spec, n_threads)?;
        eprintln!(
            "{}: {} weights, {} engine, loaded in {:.1} s",
            model.info.file_name,
            model.info.n_params,
            model.info.engine,
            started.elapsed().as_secs_f64()
        );
        let mut evaluation = Evaluation::new(&model, &files, spec, None)?;
        evaluation.meta.started_at = SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|d| d.as_secs_f64());
        evaluation.meta.machine = Some(format!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
        if let Some(meta) = &mut evaluation.meta.model {
            let parts = part_paths(&arguments.model).iter().map(|part| sha256(part)).collect::<Result<Vec<_>>>()?;
            meta.file.sha256 = Some(hex(&model_sha256(&parts)));
        }
        for row in evaluation.unscored() {
            eprintln!("line {} is not scored: {}", row.line, row.error);
        }
        let started = Instant::now();
        loop {
            let step = evaluation.step(&mut model)?;
            for failed in &step.failed {
                eprintln!("line {} failed: {}", failed.line, failed.error);
            }
            let seconds = started.elapsed().as_secs_f64();
            let rate = step.n_tokens_done as f64 / seconds;
            eprint!("\r{:?} {}/{}, {rate:.0} tokens/s   ", step.phase, step.n_done, step.n_total);
            std::io::stderr().flush()?;
            if step.phase == Phase::Done {
                eprintln!();
                evaluation.meta.seconds = Some(seconds);
                break;
            }
        }
        let options = ReportOptions::default();
        fs::create_dir_all(&arguments.out).map_err(at(&arguments.out))?;
        for (file, text) in [("results.json", evaluation.results_json(&options)), ("samples.jsonl", evaluation.samples_jsonl())] {
            let path = arguments.out.join(file);
            fs::write(&path, text).map_err(at(&path))?;
        }
        print_summary(&evaluation.report(&options));
        Ok(())
    }

    fn print_summary(report: &Report) {
        if let Some(h) = &report.headline {
            let interval = h.interval.as_ref().map(|i| format!(" [{:.4}, {:.4}]", i.low, i.high)).unwrap_or_default();
            println!("{}: {:.4}{interval}, n = {}", h.metric.name(), h.value, h.n);
        }
        for rule in report.rules.iter().flat_map(|r| &r.listed) {
            println!("  {}: {:.4}", rule.rule.name(), rule.accuracy.value);
        }
        println!("loglikelihood_digest: {}", report.loglikelihood_digest);
        println!("{}", report.protocol.paragraph);
    }
}
