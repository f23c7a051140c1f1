//! One evaluation from end to end: files + settings + model → a [`Run`], its provenance, and the report and files it leaves.
//!
//! What the page and the native command have in common; neither knows how the stages are put together.

use crate::error::{ErrorKind, EvalError, Result};
use crate::model::Model;
use crate::report::files::{results_json, samples_jsonl};
use crate::report::{report, FileMeta, MetricMeta, ModelMeta, Report, ReportOptions, RunMeta, TaskMeta, TokenMeta, TokenizerMeta};
use crate::run::{DocView, Prepared, Run, Step};
use crate::score::ItemScore;
use crate::spec::{ChatMode, EnginePath, RunSpec};
use crate::task::doc::{Doc, Unscored};
use crate::task::{self, ChatTemplate, ExportFile, Files, TaskSet};
use crate::tokenizer::Tokenizer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use ts_rs::TS;

/// What is known of a task before a run.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
pub struct TaskInfo {
    /// Name of the data file.
    pub file_name: String,
    /// SHA-256 of its bytes.
    pub data_sha256: String,
    /// Well-formed rows in the file.
    pub n_rows: usize,
    /// Docs under these settings.
    pub n_docs: usize,
    /// The task's name.
    pub name: String,
    /// The preset, where one is used.
    pub preset: Option<String>,
    /// The resolved config.
    pub yaml: String,
    /// Docs by category, in order of name.
    #[ts(type = "Record<string, number>")]
    pub categories: BTreeMap<String, usize>,
    /// Lines and rows that cannot be scored, with the reason.
    pub unscored: Vec<Unscored>,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// The first docs as they will be fed.
    pub examples: Vec<Doc>,
    /// Shots, as used.
    pub num_fewshot: usize,
}

/// Docs that a preview shows.
const SHOWN_DOCS: usize = 3;

fn chat_template(tokenizer: &Tokenizer) -> Option<ChatTemplate> {
    let text = |id: Option<u32>| id.and_then(|id| tokenizer.token(id)).unwrap_or_default();
    tokenizer.chat_template().map(|source| ChatTemplate {
        source: source.to_owned(),
        bos_token: text(tokenizer.bos_id()),
        eos_token: text(tokenizer.eos_id()),
    })
}

fn task_set(files: &Files, spec: &RunSpec, model: Option<&Model>) -> Result<TaskSet> {
    let tokenizer = model.map(Model::tokenizer);
    let chat = tokenizer.as_deref().and_then(chat_template);
    if spec.chat != ChatMode::Off && model.is_some() && chat.is_none() {
        return Err(EvalError::new(ErrorKind::RunSpec, "the model's file has no chat template").at("setting \"chat\""));
    }
    if spec.choice_shift == 0 {
        return task::build(files, spec, chat.as_ref());
    }
    let files = Files { data: task::rotate::rotated(&files.data, spec.choice_shift)?, ..files.clone() };
    task::build(&files, spec, chat.as_ref())
}

/// What a task is under some settings. Without a model, a chat template cannot be applied; the examples then have none.
///
/// # Errors
/// As [`task::build`].
pub fn task_info(files: &Files, spec: &RunSpec, model: Option<&Model>) -> Result<TaskInfo> {
    let without_chat = RunSpec { chat: ChatMode::Off, ..spec.clone() };
    let set = task_set(files, if model.is_some() { spec } else { &without_chat }, model)?;
    let mut categories = BTreeMap::new();
    for category in set.docs.iter().filter_map(|d| d.category.clone()) {
        *categories.entry(category).or_default() += 1;
    }
    Ok(TaskInfo {
        file_name: files.data.name.clone(),
        data_sha256: files.data.sha256.clone(),
        n_rows: files.data.rows.len(),
        n_docs: set.docs.len(),
        name: set.name().to_owned(),
        preset: set.preset.clone(),
        yaml: set.config.yaml(),
        categories,
        unscored: set.unscored,
        warnings: set.warnings,
        num_fewshot: set.num_fewshot,
        examples: set.docs.into_iter().take(SHOWN_DOCS).collect(),
    })
}

/// The task as another harness takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harness {
    /// A YAML and the rows, for `lm_eval --include_path`.
    LmEval,
    /// A Python file and the rows, for `inspect eval`.
    Inspect,
}

/// Files that make another harness run the same prompts.
///
/// # Errors
/// As [`task::build`]; and where the harness cannot express the task.
pub fn exports(files: &Files, spec: &RunSpec, model: Option<&Model>, harness: Harness) -> Result<Vec<ExportFile>> {
    let set = task_set(files, spec, model)?;
    match harness {
        Harness::LmEval => Ok(task::lm_eval(&set, files, spec)),
        Harness::Inspect => task::inspect(&set),
    }
}

/// An evaluation under way.
pub struct Evaluation {
    /// Provenance. Clocks, hashes and machine are the caller's to fill in.
    pub meta: RunMeta,
    run: Run,
    unscored: Vec<Unscored>,
}

impl Evaluation {
    /// Builds the docs and a run over them; `only` restricts it to some positions among the docs.
    ///
    /// # Errors
    /// `TaskConfig`, `Template`, `RunSpec`: as [`task::build`] and [`Run::new`]; `RunSpec` also where the settings ask for
    /// another engine than the one that the model was loaded for.
    pub fn new(model: &Model, files: &Files, spec: RunSpec, only: Option<&[usize]>) -> Result<Self> {
        let wanted = match spec.engine {
            EnginePath::Auto => None,
            EnginePath::Own => Some("own"),
            EnginePath::Stock => Some("stock"),
        };
        if wanted.is_some_and(|w| w != model.info.engine) {
            return Err(
                EvalError::new(ErrorKind::RunSpec, format!("the model is loaded for the {} engine", model.info.engine)).at("setting \"engine\"")
            );
        }
        let mut set = task_set(files, &spec, Some(model))?;
        if let Some(only) = only {
            let mut position = 0;
            set.docs.retain(|_| {
                position += 1;
                only.contains(&(position - 1))
            });
        }
        let mut meta = meta(model, files, &set, &spec);
        let docs = std::mem::take(&mut set.docs);
        let run = Run::new(model, docs, spec)?;
        let prepared = run.prepared()?;
        if let Some(tokenizer) = &mut meta.tokenizer {
            tokenizer.prefix = Some(TokenMeta { id: prepared.prefix_token.id, text: prepared.prefix_token.text });
            tokenizer.adds_bos = prepared.adds_bos;
        }
        meta.max_length = prepared.max_length;
        // Said from the first step on: a run that breaks off is kept, and must not be taken for a later version's.
        meta.engine_version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self { meta, run, unscored: set.unscored })
    }

    /// The stepper.
    pub fn run(&mut self) -> &mut Run {
        &mut self.run
    }

    /// Does the next piece of work, see [`Run::step`].
    ///
    /// # Errors
    /// As [`Run::step`].
    pub fn step(&mut self, model: &mut Model) -> Result<Step> {
        let step = self.run.step(model)?;
        self.meta.n_tokens = step.n_tokens_done;
        Ok(step)
    }

    /// One doc as it is fed, by its index among the rows; `None` where it is no doc of this run.
    ///
    /// # Errors
    /// As [`crate::prompt::Encoder::doc`].
    pub fn doc_view(&self, index: usize) -> Result<Option<DocView>> {
        self.run.doc_view(index)
    }

    /// Scores a changed prompt in place of a doc's own, in float32; nothing of it is kept.
    ///
    /// # Errors
    /// `RunSpec` where there is no such doc or the number of continuations is another; else as [`Run::step`].
    pub fn rescore(&mut self, model: &mut Model, index: usize, context: &str, continuations: &[String]) -> Result<ItemScore> {
        self.run.rescore(model, index, context, continuations)
    }

    /// The boundary report.
    ///
    /// # Errors
    /// As [`Run::prepared`].
    pub fn prepared(&self) -> Result<Prepared> {
        self.run.prepared()
    }

    /// Rows that cannot be scored.
    pub fn unscored(&self) -> &[Unscored] {
        &self.unscored
    }

    /// Everything there is to show by now.
    pub fn report(&self, options: &ReportOptions) -> Report {
        report(&self.meta, &self.run.items(), &self.unscored, &self.run.failed(), options)
    }

    /// The text of `results.json`.
    pub fn results_json(&self, options: &ReportOptions) -> String {
        let value = results_json(&self.meta, &self.run.items(), &self.unscored, &self.run.failed(), self.run.docs(), options);
        serde_json::to_string_pretty(&value).expect("a JSON value has a text")
    }

    /// The text of `samples.jsonl`.
    pub fn samples_jsonl(&self) -> String {
        samples_jsonl(&self.meta, &self.run.items(), self.run.docs())
    }
}

fn meta(model: &Model, files: &Files, set: &TaskSet, spec: &RunSpec) -> RunMeta {
    let info = &model.info;
    let tokenizer = model.tokenizer();
    let token = |id: Option<u32>| id.map(|id| TokenMeta { id, text: tokenizer.token(id).unwrap_or_default() });
    let file = |rows: &task::Rows| FileMeta {
        name: rows.name.clone(),
        n_bytes: rows.n_bytes as u64,
        sha256: Some(rows.sha256.clone()),
        n_rows: Some(rows.rows.len()),
        source_url: None,
    };
    RunMeta {
        spec: spec.clone(),
        model: Some(ModelMeta {
            file: FileMeta { name: info.file_name.clone(), n_bytes: info.n_bytes, ..FileMeta::default() },
            architecture: info.architecture.clone(),
            name: info.name.clone(),
            n_params: info.n_params,
            quantisation: info.quantisation.clone(),
            n_params_by_type: info.n_params_by_type.clone(),
            n_ctx: info.n_ctx,
            is_instruct: info.is_instruct,
        }),
        tokenizer: Some(TokenizerMeta {
            sha256: info.tokenizer_sha256.clone(),
            description: info.tokenizer.clone(),
            bos: token(tokenizer.bos_id()),
            eos: token(tokenizer.eos_id()),
            prefix: None,
            adds_bos: tokenizer.adds_bos(),
        }),
        data: file(&files.data),
        fewshot_data: files.fewshot.as_ref().map(file),
        task: TaskMeta {
            name: set.name().to_owned(),
            preset: set.preset.clone(),
            version: set.version.clone(),
            yaml: set.config.yaml(),
            config: serde_json::to_value(&set.config).unwrap_or_default(),
            num_fewshot: set.num_fewshot,
            target_delimiter: if spec.chat == ChatMode::Off { set.config.target_delimiter.clone() } else { String::new() },
            fewshot_delimiter: set.config.fewshot_delimiter.clone(),
            prompt_style: spec.prompt_style.clone(),
            metrics: set.metrics.iter().map(|(metric, higher)| MetricMeta { metric: metric.clone(), higher_is_better: *higher }).collect(),
            acc_is_gold_probability: set.acc_is_gold_probability,
        },
        groups: set.groups.clone(),
        n_docs: set.docs.len(),
        chat_template: (spec.chat != ChatMode::Off).then(|| tokenizer.chat_template().map(str::to_owned)).flatten(),
        engine_path: info.engine.clone(),
        n_threads: model.n_threads(),
        ..RunMeta::default()
    }
}
