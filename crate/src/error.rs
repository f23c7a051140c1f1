//! The one error type: a kind to branch on, the place to go to, a sentence to read.
//!
//! Kinds are few and stable; TypeScript sees them as a union. Messages are lower case, without a full stop, with the
//! numbers and names that matter.

use serde::{Deserialize, Serialize};
use std::fmt;
use ts_rs::TS;

/// What sort of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The model file is not a GGUF, is cut short, or a tensor or key in it is wrong.
    WeightsFormat,
    /// A well-formed model that this build cannot run: architecture, tensor type, tokenizer.
    UnsupportedModel,
    /// A line of the task file is wrong.
    TaskFormat,
    /// The task's YAML is wrong or asks for something that is not supported.
    TaskConfig,
    /// A Jinja template failed on a row.
    Template,
    /// Context and continuation do not fit into the model's window.
    ContextTooLong,
    /// A setting of the run is wrong.
    RunSpec,
    /// Bytes could not be read or written.
    Io,
    /// A bug of ours.
    Internal,
}

impl ErrorKind {
    /// The name in JSON and TypeScript.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WeightsFormat => "weights_format",
            Self::UnsupportedModel => "unsupported_model",
            Self::TaskFormat => "task_format",
            Self::TaskConfig => "task_config",
            Self::Template => "template",
            Self::ContextTooLong => "context_too_long",
            Self::RunSpec => "run_spec",
            Self::Io => "io",
            Self::Internal => "internal",
        }
    }
}

/// An error with its place, such as `line 17, key "gold"` or `tensor "blk.3.ffn_up.weight"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EvalError {
    /// What to branch on.
    pub kind: ErrorKind,
    /// Where: a line, field, tensor or setting.
    pub place: Option<String>,
    /// One sentence for a person.
    pub message: String,
}

impl EvalError {
    /// An error without a place.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, place: None, message: message.into() }
    }

    /// The same error at a place.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.kind.as_str())?;
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for EvalError {}

impl From<std::io::Error> for EvalError {
    fn from(e: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, e.to_string())
    }
}

/// Shorthand used across the crate.
pub type Result<T, E = EvalError> = std::result::Result<T, E>;
