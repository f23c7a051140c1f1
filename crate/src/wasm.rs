//! The border to JavaScript: the only Rust file that knows it.
//!
//! Values cross as plain JSON-like objects; errors are thrown as `{kind, place, message}`. Classes hold what is large.

use crate::engine::bench;
use crate::engine::kernels::kind::TensorKind;
use crate::engine::kernels::pool;
use crate::error::{ErrorKind, EvalError};
use crate::evaluation::{exports, task_info, Evaluation, Harness};
use crate::metrics::compare::{compare, rotations as core_rotations, RotatedRun};
use crate::metrics::synthetic::{synthetic_profile as core_synthetic_profile, SyntheticProfile};
use crate::model::source::{past_end, Source};
use crate::model::{Model as CoreModel, ModelLoader as CoreLoader};
use crate::prompt::TokenView;
use crate::report::files::{items_csv, results_json, samples_jsonl};
use crate::report::items::{item_columns, item_detail};
use crate::report::{report, report_bootstrap, report_calibration, ReportOptions, RunMeta};
use crate::score::{FailedItem, ItemScore, Rule};
use crate::spec::{EnginePath, Precision, RunSpec};
use crate::task::doc::Unscored;
use crate::task::{self, read_rows, Files};
use serde::de::DeserializeOwned;
use serde::Serialize;
use sha2::Digest;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

fn throw(e: EvalError) -> JsValue {
    to_js(&e).unwrap_or_else(|_| JsValue::from_str(&e.to_string()))
}

fn to_js<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    value.serialize(&serde_wasm_bindgen::Serializer::json_compatible()).map_err(JsValue::from)
}

fn from_js<T: DeserializeOwned>(value: JsValue, what: &str) -> Result<T, JsValue> {
    serde_wasm_bindgen::from_value(value).map_err(|e| throw(EvalError::new(ErrorKind::RunSpec, e.to_string()).at(what.to_owned())))
}

fn options(value: JsValue) -> Result<ReportOptions, JsValue> {
    if value.is_undefined() || value.is_null() {
        return Ok(ReportOptions::default());
    }
    from_js(value, "report options")
}

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Random access to a model's bytes; reads are synchronous. `part_sizes`: of a split model's files, one behind the other. */
export interface ByteSource { readonly size: number; readonly part_sizes?: readonly number[]; read(offset: number, length: number): Uint8Array; }
"#;

#[wasm_bindgen]
extern "C" {
    /// An object of type `ByteSource`.
    #[wasm_bindgen(typescript_type = "ByteSource")]
    pub type ByteSource;
    #[wasm_bindgen(method, getter)]
    fn size(this: &ByteSource) -> f64;
    #[wasm_bindgen(method, getter)]
    fn part_sizes(this: &ByteSource) -> Option<Vec<f64>>;
    #[wasm_bindgen(method, catch)]
    fn read(this: &ByteSource, offset: f64, length: f64) -> Result<js_sys::Uint8Array, JsValue>;
}

/// A [`ByteSource`] read in whole windows: a model has hundreds of small tensors, and a read costs a browser more than its bytes.
struct Windows {
    source: ByteSource,
    /// The last one that was read, and where it starts.
    window: Option<(u64, js_sys::Uint8Array)>,
}

/// Bytes of a window. Larger ones would be memory for nothing, smaller ones reads for nothing.
const WINDOW: u64 = 4 << 20;

impl Windows {
    fn new(source: ByteSource) -> Self {
        Self { source, window: None }
    }

    /// The window that holds `at`.
    fn window(&mut self, at: u64) -> Result<(u64, &js_sys::Uint8Array), EvalError> {
        let start = at / WINDOW * WINDOW;
        if self.window.as_ref().is_none_or(|(known, _)| *known != start) {
            let n = WINDOW.min(self.size().saturating_sub(start));
            // The old one is let go first: two would be held otherwise.
            self.window = None;
            let failed = |e| EvalError::new(ErrorKind::Io, format!("reading {n} bytes at {start} failed: {e:?}"));
            self.window = Some((start, self.source.read(start as f64, n as f64).map_err(failed)?));
        }
        let (start, bytes) = self.window.as_ref().expect("read above");
        Ok((*start, bytes))
    }
}

impl Source for Windows {
    fn size(&self) -> u64 {
        self.source.size() as u64
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<(), EvalError> {
        let size = self.size();
        let mut n_filled = 0;
        while n_filled < out.len() {
            let at = offset + n_filled as u64;
            let (start, bytes) = self.window(at)?;
            let from = (at - start) as u32;
            let n = (out.len() - n_filled).min(bytes.length().saturating_sub(from) as usize);
            if n == 0 {
                return Err(past_end(offset, out.len(), size));
            }
            bytes.subarray(from, from + n as u32).copy_to(&mut out[n_filled..n_filled + n]);
            n_filled += n;
        }
        Ok(())
    }

    fn part_sizes(&self) -> Vec<u64> {
        self.source.part_sizes().map_or_else(|| vec![self.size()], |sizes| sizes.into_iter().map(|size| size as u64).collect())
    }
}

/// Sets up readable panics. Called by the module itself.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
}

/// Reads a model tensor by tensor.
#[wasm_bindgen]
pub struct ModelLoader {
    inner: CoreLoader,
    source: Windows,
}

#[wasm_bindgen]
impl ModelLoader {
    /// Parses the header. `engine` is `"auto"`, `"own"` or `"stock"`.
    #[wasm_bindgen(constructor)]
    pub fn new(source: ByteSource, name: &str, engine: Option<String>, n_threads: Option<usize>) -> Result<ModelLoader, JsValue> {
        let path = match engine.as_deref() {
            Some("own") => EnginePath::Own,
            Some("stock") => EnginePath::Stock,
            _ => EnginePath::Auto,
        };
        let mut source = Windows::new(source);
        let inner = CoreLoader::open(&mut source, name, path, n_threads.unwrap_or(1)).map_err(throw)?;
        Ok(Self { inner, source })
    }

    /// Reads the next tensor: `{bytes_loaded, total_bytes, tensor, done}`.
    pub fn step(&mut self) -> Result<JsValue, JsValue> {
        to_js(&self.inner.step(&mut self.source).map_err(throw)?)
    }

    /// The model, when `step` said that it is done.
    pub fn finish(self) -> Result<Model, JsValue> {
        Ok(Model { inner: Rc::new(RefCell::new(self.inner.finish().map_err(throw)?)) })
    }
}

/// A loaded model.
#[wasm_bindgen]
pub struct Model {
    inner: Rc<RefCell<CoreModel>>,
}

#[wasm_bindgen]
impl Model {
    /// What the page shows of it (`ModelInfo`).
    pub fn info(&self) -> Result<JsValue, JsValue> {
        to_js(&self.inner.borrow().info)
    }

    /// Where the threads of this model's engine meet: pass it to `serve_thread` in each helper worker. A share is handed over.
    pub fn thread_pool(&self) -> Option<usize> {
        self.inner.borrow().pool_shared().map(|shared| Arc::into_raw(shared) as usize)
    }

    /// Tokens of a text, without special tokens in front: `{id, text}[]`.
    pub fn tokenize(&self, text: &str) -> Result<JsValue, JsValue> {
        let tokenizer = self.inner.borrow().tokenizer();
        let ids = tokenizer.encode(text).map_err(throw)?;
        to_js(&ids.into_iter().map(|id| TokenView::from(tokenizer.piece(id))).collect::<Vec<_>>())
    }

    /// Body of the prefill benchmark: made-up tokens, `n_sequences` of `n_tokens` each, in one batch.
    pub fn bench_prefill(&self, n_tokens: usize, n_sequences: usize, float32: bool) -> Result<f64, JsValue> {
        self.inner.borrow_mut().bench_prefill(n_tokens, n_sequences, float32).map_err(throw)
    }
}

/// The files of a task.
#[wasm_bindgen]
pub struct Task {
    files: Rc<Files>,
}

#[wasm_bindgen]
impl Task {
    /// Reads the rows; those of the few-shot examples may be a file of their own.
    #[wasm_bindgen(constructor)]
    pub fn new(data_name: &str, data: &[u8], fewshot_name: Option<String>, fewshot: Option<Vec<u8>>) -> Result<Task, JsValue> {
        let data = read_rows(data_name, data).map_err(throw)?;
        let fewshot = match (fewshot_name, fewshot) {
            (Some(name), Some(bytes)) => Some(read_rows(&name, &bytes).map_err(throw)?),
            _ => None,
        };
        Ok(Self { files: Rc::new(Files { data, fewshot, includes: Default::default() }) })
    }

    /// Another YAML file that the task's config may include, by name.
    pub fn add_include(&mut self, name: &str, text: &str) {
        if let Some(files) = Rc::get_mut(&mut self.files) {
            files.includes.insert(name.to_owned(), text.to_owned());
        }
    }

    /// What the task is under some settings (`TaskInfo`); chat templates need [`Task::info_with`].
    pub fn info(&self, spec: JsValue) -> Result<JsValue, JsValue> {
        to_js(&task_info(&self.files, &from_js(spec, "run spec")?, None).map_err(throw)?)
    }

    /// Files for another harness, `"lm_eval"` or `"inspect"`: `{name, text}[]`.
    pub fn export_for(&self, harness: &str, spec: JsValue, model: &Model) -> Result<JsValue, JsValue> {
        let harness = if harness == "inspect" { Harness::Inspect } else { Harness::LmEval };
        to_js(&exports(&self.files, &from_js(spec, "run spec")?, Some(&model.inner.borrow()), harness).map_err(throw)?)
    }

    /// What the task is under some settings with a model (`TaskInfo`).
    pub fn info_with(&self, spec: JsValue, model: &Model) -> Result<JsValue, JsValue> {
        to_js(&task_info(&self.files, &from_js(spec, "run spec")?, Some(&model.inner.borrow())).map_err(throw)?)
    }
}

/// A run under way.
#[wasm_bindgen]
pub struct Run {
    model: Rc<RefCell<CoreModel>>,
    inner: Evaluation,
}

#[wasm_bindgen]
impl Run {
    /// Builds the docs. `only`: positions among the docs, for a run over some of them.
    #[wasm_bindgen(constructor)]
    /// `rotation`, where it is not 0, takes the place of the settings' `choice_shift`.
    pub fn new(model: &Model, task: &Task, spec: JsValue, only: Option<Vec<usize>>, rotation: Option<usize>) -> Result<Run, JsValue> {
        let mut spec: RunSpec = from_js(spec, "run spec")?;
        spec.choice_shift = rotation.filter(|&r| r > 0).unwrap_or(spec.choice_shift);
        let inner = Evaluation::new(&model.inner.borrow(), &task.files, spec, only.as_deref()).map_err(throw)?;
        Ok(Self { model: Rc::clone(&model.inner), inner })
    }

    /// Does the next piece of work (`Step`).
    pub fn step(&mut self) -> Result<JsValue, JsValue> {
        to_js(&self.inner.step(&mut self.model.borrow_mut()).map_err(throw)?)
    }

    /// The boundary report (`Prepared`), complete once a step says that its phase is past `encode`.
    pub fn prepared(&self) -> Result<JsValue, JsValue> {
        to_js(&self.inner.prepared().map_err(throw)?)
    }

    /// Takes over items of an earlier run (`ItemScore[]`); call it before the first step.
    pub fn restore(&mut self, items: JsValue) -> Result<(), JsValue> {
        self.inner.run().restore(from_js(items, "items")?);
        Ok(())
    }

    /// One doc as it is fed (`DocView`, or null), by its index among the rows.
    pub fn doc_view(&self, index: usize) -> Result<JsValue, JsValue> {
        to_js(&self.inner.doc_view(index).map_err(throw)?)
    }

    /// Scores a changed prompt in place of a doc's own (`ItemScore`), in float32; nothing of it is kept.
    pub fn rescore(&mut self, index: usize, context: &str, continuations: Vec<String>) -> Result<JsValue, JsValue> {
        let model = Rc::clone(&self.model);
        let item = self.inner.rescore(&mut model.borrow_mut(), index, context, &continuations).map_err(throw)?;
        to_js(&item)
    }

    /// Provenance (`RunMeta`).
    pub fn meta(&self) -> Result<JsValue, JsValue> {
        to_js(&self.inner.meta)
    }

    /// Fills in what only the page knows: `{model_sha256?, model_url?, data_url?, fewshot_url?, started_at?, seconds?,
    /// machine?, n_threads?}`.
    pub fn set_provenance(&mut self, known: JsValue) -> Result<(), JsValue> {
        #[derive(serde::Deserialize, Default)]
        #[serde(default, deny_unknown_fields)]
        struct Known {
            model_sha256: Option<String>,
            model_url: Option<String>,
            data_url: Option<String>,
            fewshot_url: Option<String>,
            started_at: Option<f64>,
            seconds: Option<f64>,
            machine: Option<String>,
            n_threads: Option<usize>,
        }
        let known: Known = from_js(known, "provenance")?;
        let meta = &mut self.inner.meta;
        if let Some(model) = &mut meta.model {
            model.file.sha256 = known.model_sha256.or(model.file.sha256.take());
            model.file.source_url = known.model_url.or(model.file.source_url.take());
        }
        meta.data.source_url = known.data_url.or(meta.data.source_url.take());
        if let Some(fewshot) = &mut meta.fewshot_data {
            fewshot.source_url = known.fewshot_url.or(fewshot.source_url.take());
        }
        meta.started_at = known.started_at.or(meta.started_at);
        meta.seconds = known.seconds.or(meta.seconds);
        meta.machine = known.machine.or(meta.machine.take());
        meta.n_threads = known.n_threads.unwrap_or(meta.n_threads);
        Ok(())
    }

    /// Rows that cannot be scored (`Unscored[]`).
    pub fn unscored(&self) -> Result<JsValue, JsValue> {
        to_js(&self.inner.unscored())
    }

    /// Everything there is to show by now (`Report`).
    pub fn report(&self, report_options: JsValue) -> Result<JsValue, JsValue> {
        to_js(&self.inner.report(&options(report_options)?))
    }

    /// The text of `results.json`.
    pub fn results_json(&self, report_options: JsValue) -> Result<String, JsValue> {
        Ok(self.inner.results_json(&options(report_options)?))
    }

    /// The text of `samples.jsonl`.
    pub fn samples_jsonl(&self) -> String {
        self.inner.samples_jsonl()
    }
}

/// Scored items and what is made of them, without a model.
#[wasm_bindgen]
pub struct Items {
    meta: RunMeta,
    items: Vec<ItemScore>,
    unscored: Vec<Unscored>,
    failed: Vec<FailedItem>,
}

#[wasm_bindgen]
impl Items {
    /// From `RunMeta`, `ItemScore[]`, `Unscored[]`, `FailedItem[]`.
    #[wasm_bindgen(constructor)]
    pub fn new(meta: JsValue, items: JsValue, unscored: JsValue, failed: JsValue) -> Result<Items, JsValue> {
        let mut all = Self { meta: from_js(meta, "meta")?, items: Vec::new(), unscored: from_js(unscored, "unscored")?, failed: Vec::new() };
        all.add(items, failed)?;
        Ok(all)
    }

    /// Takes in more items and failures; one with the index of an earlier one replaces it.
    pub fn add(&mut self, items: JsValue, failed: JsValue) -> Result<(), JsValue> {
        let items: Vec<ItemScore> = from_js(items, "items")?;
        for item in items {
            match self.items.binary_search_by_key(&item.index, |i| i.index) {
                Ok(at) => self.items[at] = item,
                Err(at) => self.items.insert(at, item),
            }
        }
        self.failed.extend(from_js::<Vec<FailedItem>>(failed, "failed")?);
        Ok(())
    }

    /// Replaces the provenance.
    pub fn set_meta(&mut self, meta: JsValue) -> Result<(), JsValue> {
        self.meta = from_js(meta, "meta")?;
        Ok(())
    }

    /// Everything there is to show (`Report`).
    pub fn report(&self, report_options: JsValue) -> Result<JsValue, JsValue> {
        to_js(&report(&self.meta, &self.items, &self.unscored, &self.failed, &options(report_options)?))
    }

    /// One row per item, as parallel arrays (`ItemColumns`).
    pub fn columns(&self, report_options: JsValue) -> Result<JsValue, JsValue> {
        to_js(&item_columns(&self.items, &options(report_options)?))
    }

    /// One item, by its index among the rows (`ItemDetail`, or null).
    pub fn detail(&self, index: usize, report_options: JsValue) -> Result<JsValue, JsValue> {
        let options = options(report_options)?;
        to_js(&self.items.iter().find(|i| i.index == index).map(|i| item_detail(i, &options)))
    }

    /// One item as it is kept (`ItemScore`, or null).
    pub fn item(&self, index: usize) -> Result<JsValue, JsValue> {
        to_js(&self.items.iter().find(|i| i.index == index))
    }

    /// Calibration alone, for sliders (`Calibration`, or null).
    pub fn calibration(&self, report_options: JsValue) -> Result<JsValue, JsValue> {
        to_js(&report_calibration(&self.items, &options(report_options)?))
    }

    /// Intervals by resampling (`CalibrationBootstrap`, or null): slower, so a call of its own.
    pub fn bootstrap(&self, report_options: JsValue) -> Result<JsValue, JsValue> {
        to_js(&report_bootstrap(&self.items, &options(report_options)?))
    }

    /// Paired comparison with another run's items (`Comparison`, or null).
    pub fn compare(&self, others: JsValue, rule: JsValue) -> Result<JsValue, JsValue> {
        let others: Vec<ItemScore> = from_js(others, "items")?;
        let rule: Rule = from_js(rule, "rule")?;
        to_js(&compare(&self.items, &others, rule))
    }

    /// The text of `results.json`; without the rows, so without `task_hashes`.
    pub fn results_json(&self, report_options: JsValue) -> Result<String, JsValue> {
        let value = results_json(&self.meta, &self.items, &self.unscored, &self.failed, &[], &options(report_options)?);
        serde_json::to_string_pretty(&value).map_err(|e| throw(EvalError::new(ErrorKind::Internal, e.to_string())))
    }

    /// The text of `samples.jsonl`; without the rows, what comes from them is null.
    pub fn samples_jsonl(&self) -> String {
        samples_jsonl(&self.meta, &self.items, &[])
    }

    /// The items as CSV.
    pub fn csv(&self, report_options: JsValue) -> Result<String, JsValue> {
        Ok(items_csv(&self.items, &options(report_options)?))
    }
}

/// One matrix product, repeated by the benchmark.
#[wasm_bindgen]
pub struct BenchProduct {
    inner: bench::Product,
}

#[wasm_bindgen]
impl BenchProduct {
    /// `kind` is ggml's name, such as `"Q4_1"`.
    #[wasm_bindgen(constructor)]
    pub fn new(kind: &str, n_rows: usize, n_in: usize, n_out: usize, float32: bool) -> Result<BenchProduct, JsValue> {
        let bad = || throw(EvalError::new(ErrorKind::RunSpec, format!("no product of {n_in} inputs with {kind}")));
        let kind = TensorKind::ALL.into_iter().find(|k| k.name() == kind).ok_or_else(bad)?;
        let precision = if float32 { Precision::Float32 } else { Precision::Default };
        Ok(Self { inner: bench::Product::new(kind, n_rows, n_in, n_out, precision).ok_or_else(bad)? })
    }

    /// Multiplies once.
    pub fn run(&mut self) -> f32 {
        self.inner.run()
    }
}

/// The machine's peak of integer products and sums: `n` turns of `bench_peak_macs` multiply-adds.
#[wasm_bindgen]
pub fn bench_peak(n: usize) -> i32 {
    bench::peak(n)
}

/// Multiply-adds of one turn of `bench_peak`.
#[wasm_bindgen]
pub fn bench_peak_macs() -> usize {
    bench::PEAK_MACS
}

/// SHA-256 of a stream.
#[wasm_bindgen]
#[derive(Default)]
pub struct Sha256 {
    inner: sha2::Sha256,
}

#[wasm_bindgen]
impl Sha256 {
    /// Of nothing yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.inner.update(bytes);
    }

    /// The hash in hexadecimal.
    pub fn finish(self) -> String {
        crate::hash::hex(&self.inner.finalize())
    }
}

/// One of the three calibration profiles (`ItemScore[]`).
#[wasm_bindgen]
pub fn synthetic_profile(name: JsValue) -> Result<JsValue, JsValue> {
    let profile: SyntheticProfile = from_js(name, "profile")?;
    to_js(&core_synthetic_profile(profile))
}

/// What runs with rotated choices say together (`RotationReport`, or null), from `RotatedRun[]`.
#[wasm_bindgen]
pub fn rotations(runs: JsValue, rule: JsValue) -> Result<JsValue, JsValue> {
    let runs: Vec<RotatedRun> = from_js(runs, "runs")?;
    to_js(&core_rotations(&runs, from_js(rule, "rule")?))
}

/// The built-in tasks (`PresetInfo[]`).
#[wasm_bindgen]
pub fn presets() -> Result<JsValue, JsValue> {
    to_js(&task::presets())
}

/// The default settings (`RunSpec`).
#[wasm_bindgen]
pub fn default_run_spec() -> Result<JsValue, JsValue> {
    to_js(&RunSpec::default())
}

/// The default view of a report (`ReportOptions`).
#[wasm_bindgen]
pub fn default_report_options() -> Result<JsValue, JsValue> {
    to_js(&ReportOptions::default())
}

/// Version of this program.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Works for a model's engine until the model is gone; `pool` comes from `Model.thread_pool`. Call it in a worker that
/// shares the module's memory; it does not return before.
#[wasm_bindgen]
pub fn serve_thread(pool: usize) {
    // SAFETY: the address is of an `Arc` that `thread_pool` turned into a raw pointer for this one call.
    let shared = unsafe { Arc::from_raw(pool as *const pool::Shared) };
    pool::serve(&shared);
}
