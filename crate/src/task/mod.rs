//! Task: rows and config → docs.
//!
//! In: the bytes of a task file, lm-eval's YAML or a preset, the settings of a run. Out: docs, each the text of its requests.
//! Nothing here knows a tokenizer or a model; `prompt` turns the text into ids.

pub mod build;
pub mod builtin;
pub mod chat;
pub mod config;
pub mod context;
pub mod doc;
pub mod export;
pub mod fewshot;
pub mod group;
pub mod presets;
mod python;
pub mod rotate;
pub mod rows;
pub mod subset;
pub mod template;
mod yaml;

pub use build::{build, Files, TaskSet};
pub use chat::ChatTemplate;
pub use config::TaskConfig;
pub use export::{inspect, lm_eval, ExportFile};
pub use presets::{presets, PresetInfo, STYLES};
pub use rows::{read_rows, Row, Rows};
