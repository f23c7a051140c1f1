//! evaltab: evaluate a language model in a browser tab.
//!
//! Data flows one way, and a stage uses only stages above it:
//! model file → `model` → `tokenizer`; rows → `task` → `prompt` → `plan` → `engine` → `score` → `metrics` → `report`;
//! `run` is the stepper, `wasm` the only file that knows JavaScript.

pub mod engine;
pub mod error;
pub mod evaluation;
pub mod hash;
pub mod metrics;
pub mod model;
pub mod plan;
pub mod prompt;
pub mod report;
pub mod run;
pub mod score;
pub mod spec;
pub mod task;
pub mod tokenizer;
#[cfg(target_arch = "wasm32")]
pub mod wasm;

pub use error::{ErrorKind, EvalError, Result};
