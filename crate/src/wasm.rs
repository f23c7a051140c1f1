//! The border to JavaScript: the only Rust file that knows it.
//!
//! Values cross as plain JSON-like objects; errors are thrown as `{kind, place, message}`. Classes hold what is large.

use crate::engine::kernels::pool;
use crate::error::{ErrorKind, EvalError};
use crate::model::source::{past_end, Source};
use crate::model::{Model as CoreModel, ModelLoader as CoreLoader};
use crate::spec::EnginePath;
use serde::Serialize;
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

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Random access to a model's bytes; reads are synchronous. */
export interface ByteSource { readonly size: number; read(offset: number, length: number): Uint8Array; }
"#;

#[wasm_bindgen]
extern "C" {
    /// An object of type `ByteSource`.
    #[wasm_bindgen(typescript_type = "ByteSource")]
    pub type ByteSource;
    #[wasm_bindgen(method, getter)]
    fn size(this: &ByteSource) -> f64;
    #[wasm_bindgen(method, catch)]
    fn read(this: &ByteSource, offset: f64, length: f64) -> Result<js_sys::Uint8Array, JsValue>;
}

impl Source for ByteSource {
    fn size(&self) -> u64 {
        ByteSource::size(self) as u64
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<(), EvalError> {
        // A chunk at a time: an ArrayBuffer of a whole tensor would double its memory.
        const CHUNK: usize = 4 << 20;
        for (i, out) in out.chunks_mut(CHUNK).enumerate() {
            let at = offset + (i * CHUNK) as u64;
            let bytes = self
                .read(at as f64, out.len() as f64)
                .map_err(|e| EvalError::new(ErrorKind::Io, format!("reading {} bytes at {at} failed: {e:?}", out.len())))?;
            if bytes.length() as usize != out.len() {
                return Err(past_end(at, out.len(), Source::size(self)));
            }
            bytes.copy_to(out);
        }
        Ok(())
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
    source: ByteSource,
}

#[wasm_bindgen]
impl ModelLoader {
    /// Parses the header. `engine` is `"auto"`, `"own"` or `"stock"`.
    #[wasm_bindgen(constructor)]
    pub fn new(mut source: ByteSource, name: &str, engine: Option<String>, n_threads: Option<usize>) -> Result<ModelLoader, JsValue> {
        let path = match engine.as_deref() {
            Some("own") => EnginePath::Own,
            Some("stock") => EnginePath::Stock,
            _ => EnginePath::Auto,
        };
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

    /// Milliseconds-free benchmark body: scores the last of `n_tokens` pseudo-random tokens in `n_sequences` sequences.
    pub fn bench_prefill(&self, n_tokens: usize, n_sequences: usize, float32: bool) -> Result<f64, JsValue> {
        self.inner.borrow_mut().bench_prefill(n_tokens, n_sequences, float32).map_err(throw)
    }
}

/// Works for a model's engine until the model is gone; `pool` comes from `Model.thread_pool`. Call it in a worker that
/// shares the module's memory; it does not return before.
#[wasm_bindgen]
pub fn serve_thread(pool: usize) {
    // SAFETY: the address is of an `Arc` that `thread_pool` turned into a raw pointer for this one call.
    let shared = unsafe { Arc::from_raw(pool as *const pool::Shared) };
    pool::serve(&shared);
}
