//! One line of the task after templates, few-shot examples and chat template were applied: text only, no token yet.
//!
//! Types without a way to be wrong: a `Doc` of output type `multiple_choice` has at least two choices and every gold index
//! is inside them. Rows that cannot become a `Doc` are `Unscored`: counted, shown, excluded from metrics.

use crate::error::EvalError;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// lm-eval's `output_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum OutputType {
    /// Several continuations, one or more of them gold.
    MultipleChoice,
    /// One continuation, scored for its log-likelihood and greediness.
    Loglikelihood,
    /// A whole document in disjoint windows.
    LoglikelihoodRolling,
}

/// A pair whose continuation is scored given its context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Request {
    /// Text that is conditioned on, few-shot part included; the requests of a doc share it where it is the same.
    #[ts(type = "string")]
    pub context: std::sync::Arc<str>,
    /// Text that is scored, the target delimiter in front of it included.
    pub continuation: String,
}

/// One doc, ready to be tokenised.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
pub struct Doc {
    /// Position among the rows of its task, from 0: lm-eval's `doc_id`.
    pub doc_id: usize,
    /// Position among all rows of the data file, from 0.
    pub index: usize,
    /// Line of the data file, from 1.
    pub line: usize,
    /// The task's name; where a config is a group (MMLU), the subject's task, such as `mmlu_anatomy`.
    pub task: String,
    /// The row as templates saw it.
    #[ts(type = "unknown")]
    pub row: serde_json::Value,
    /// Subject or category, where the rows have one.
    pub category: Option<String>,
    /// What a table shows for this doc: the question alone.
    pub question: String,
    /// How it is scored.
    pub output_type: OutputType,
    /// One per choice, in order; exactly one for the other output types (rolling: empty context, the text as continuation).
    pub requests: Vec<Request>,
    /// The answer texts, delimiter not included; lengths for `acc_norm` and `acc_bytes` are taken from these.
    pub choices: Vec<String>,
    /// Indices of the right choices, never empty for multiple choice.
    pub gold: Vec<usize>,
    /// lm-eval's `target`, as it stands in its samples file.
    #[ts(type = "unknown")]
    pub target: serde_json::Value,
    /// SHA-256 as lm-eval computes it.
    pub doc_hash: String,
    /// SHA-256 as lm-eval computes it.
    pub prompt_hash: String,
    /// SHA-256 as lm-eval computes it.
    pub target_hash: String,
}

/// A row that is counted but not scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Unscored {
    /// Position among all rows of the data file, from 0, where the line was a row at all.
    pub index: Option<usize>,
    /// Line of the data file, from 1.
    pub line: usize,
    /// Why.
    pub error: EvalError,
}
