//! Everything that decides the numbers of a run, and nothing else: the part of a link that is not the outcome.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Arithmetic of the linear layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, Default)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 16-bit activations, integer products; docs that are nearly tied are scored again in float32.
    #[default]
    Default,
    /// float32 throughout.
    Float32,
}

/// Which implementation runs the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, Default)]
#[serde(rename_all = "snake_case")]
pub enum EnginePath {
    /// Our decoder where it knows the architecture, else the stock path.
    #[default]
    Auto,
    /// Our decoder.
    Own,
    /// candle-transformers' own quantised model.
    Stock,
}

/// How few-shot examples and the question are put into a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, Default)]
#[serde(rename_all = "snake_case")]
pub enum ChatMode {
    /// No chat template.
    #[default]
    Off,
    /// Few-shot examples and question in one user message (lm-eval's `--apply_chat_template --fewshot_as_multiturn false`).
    OneMessage,
    /// One turn an example (lm-eval's `--fewshot_as_multiturn`).
    Turns,
}

/// Which docs of the file are run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subset {
    /// Every row.
    All,
    /// The first `n` rows.
    First {
        /// How many.
        n: usize,
    },
    /// `n` rows in all, drawn by the seed, kept in file order.
    Random {
        /// How many.
        n: usize,
        /// Seed of the draw.
        seed: u32,
    },
    /// `n` rows of each category, drawn by the seed, kept in file order.
    PerCategory {
        /// How many of each.
        n: usize,
        /// Seed of the draw.
        seed: u32,
    },
}

/// Whether the tokenizer's BOS is put in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, Default)]
#[serde(rename_all = "snake_case")]
pub enum AddBos {
    /// As the tokenizer itself does.
    #[default]
    Auto,
    /// Always, never twice.
    Yes,
    /// Never.
    No,
}

/// The settings of a run. `Default` is what the page starts with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct RunSpec {
    /// Preset by name (see `task::presets`); `None`: recognised from the rows. Ignored where `task_yaml` is given.
    pub preset: Option<String>,
    /// lm-eval YAML, as text.
    pub task_yaml: Option<String>,
    /// Prompt style for letter tasks : `mmlu`, `question`, `parenthesized`, `no_labels`, `verbose`, `qa_pairs`, `chat`, `continuation`.
    pub prompt_style: Option<String>,
    /// Overrides the config's `num_fewshot`.
    pub num_fewshot: Option<usize>,
    /// Seed of the few-shot sampler; lm-eval's default is 1234.
    pub fewshot_seed: u32,
    /// Which rows.
    pub subset: Subset,
    /// Chat template use.
    pub chat: ChatMode,
    /// System turn or text in front of everything.
    pub system_instruction: Option<String>,
    /// Overrides the config's `target_delimiter`.
    pub target_delimiter: Option<String>,
    /// Arithmetic.
    pub precision: Precision,
    /// Implementation.
    pub engine: EnginePath,
    /// BOS rule.
    pub add_bos: AddBos,
    /// Token id used where a context is empty; `None`: BOS, else EOS.
    pub prefix_token_id: Option<u32>,
    /// Window in tokens; `None`: the model's context length.
    pub max_length: Option<usize>,
    /// The choice at position `j` is the row's choice `(j + choice_shift) mod K`: a probe for letter bias. 0: as in the file.
    pub choice_shift: usize,
    /// Also score each distinct choice without its context, for PMI.
    pub mutual_info: bool,
}

impl Default for RunSpec {
    fn default() -> Self {
        Self {
            preset: None,
            task_yaml: None,
            prompt_style: None,
            num_fewshot: None,
            fewshot_seed: 1234,
            subset: Subset::All,
            chat: ChatMode::Off,
            system_instruction: None,
            target_delimiter: None,
            precision: Precision::Default,
            engine: EnginePath::Auto,
            add_bos: AddBos::Auto,
            prefix_token_id: None,
            max_length: None,
            choice_shift: 0,
            mutual_info: false,
        }
    }
}
