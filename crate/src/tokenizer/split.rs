//! How a byte-level tokenizer cuts text before merging.
//!
//! In: the name in `tokenizer.ggml.pre`. Out: normaliser and pre-tokenizers. A GGUF has only the name; the patterns are those
//! of the models' own `tokenizer.json`. Two models with one name share the pattern; where their normalisers might differ, the
//! model that the name comes from decides.
//!
//! Sources: transformers 5.24 (`tokenization_gpt2`, `_gpt_neox`, `_cohere`, `_qwen2`, `_qwen3_5`, the tiktoken converter) for
//! patterns and normalisers; llama.cpp's `llama-vocab.cpp` for what a name means, and for the patterns of tekken, gpt-4o and
//! the DeepSeek models.

use crate::error::{ErrorKind, EvalError, Result};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{PreTokenizerWrapper, SplitDelimiterBehavior};

/// How text is cut before merging.
#[derive(Default)]
pub(super) struct Splitting {
    /// Composed forms first.
    pub nfc: bool,
    /// One after the other; the last makes bytes into symbols.
    pub steps: Vec<PreTokenizerWrapper>,
    /// A piece that is a token is taken whole even where no chain of merges makes it.
    pub ignore_merges: bool,
    /// BOS comes in front where the file does not say.
    pub adds_bos: bool,
}

/// Contractions, words with one leading character, numbers, punctuation, line breaks, spaces: the shape that tiktoken's cl100k
/// pattern gave to most tokenizers since.
fn cl100k_like(number: &str) -> String {
    format!(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{number}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
}

/// The shape of o200k: words are cut where capitals follow small letters, and keep `suffix`, their contraction.
fn o200k_like(suffix: &str, number: &str) -> String {
    let (upper, lower) = (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]");
    format!(
        r"[^\r\n\p{{L}}\p{{N}}]?{upper}*{lower}+{suffix}|[^\r\n\p{{L}}\p{{N}}]?{upper}+{lower}*{suffix}|{number}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
}

/// Qwen 3.5: as Qwen 2, but combining marks belong to words.
const QWEN35: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const DEEPSEEK_CODER: [&str; 4] = [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥\u{800}-一가-\u{d7ff}]+"];

const DEEPSEEK_V3: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥\u{3040}-ゟ゠-ヿ]+",
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
];

/// What `tokenizer.ggml.pre` means.
///
/// # Errors
/// `UnsupportedModel` with the name for one that is not known: another splitting would give other ids without a sign of it.
pub(super) fn splitting(pre: &str) -> Result<Splitting> {
    let internal = |e: tokenizers::Error| EvalError::new(ErrorKind::Internal, format!("pre-tokenizer \"{pre}\": {e}"));
    let split = |pattern: &str| -> Result<PreTokenizerWrapper> {
        Ok(Split::new(SplitPattern::Regex(pattern.to_owned()), SplitDelimiterBehavior::Isolated, false).map_err(internal)?.into())
    };
    // GPT-2's own pattern is part of `ByteLevel`; the others bring theirs.
    let bytes = || PreTokenizerWrapper::from(ByteLevel::new(false, true, false));
    let gpt2 = || PreTokenizerWrapper::from(ByteLevel::new(false, true, true));
    let digits = || PreTokenizerWrapper::from(Digits::new(true));
    let by = |pattern: &str| Ok::<_, EvalError>(vec![split(pattern)?, bytes()]);
    Ok(match pre {
        "default" | "gpt-2" | "gpt2" | "phi-2" => Splitting { steps: vec![gpt2()], ..Splitting::default() },
        // GPT-NeoX's tokenizer and its heirs.
        "mpt" | "olmo" => Splitting { nfc: true, steps: vec![gpt2()], ..Splitting::default() },
        "smollm" | "starcoder" | "refact" | "codeshell" => Splitting { steps: vec![digits(), gpt2()], ..Splitting::default() },
        "command-r" => Splitting { nfc: true, steps: vec![digits(), gpt2()], ..Splitting::default() },
        "qwen2" | "deepseek-r1-qwen" => Splitting { nfc: true, steps: by(&cl100k_like(r"\p{N}"))?, ..Splitting::default() },
        "qwen35" => Splitting { nfc: true, steps: by(QWEN35)?, ..Splitting::default() },
        "llama-bpe" | "llama3" | "llama-v3" | "lfm2" => {
            Splitting { steps: by(&cl100k_like(r"\p{N}{1,3}"))?, ignore_merges: true, adds_bos: true, ..Splitting::default() }
        }
        "dbrx" | "smaug-bpe" | "chatglm-bpe" | "glm4" => Splitting { steps: by(&cl100k_like(r"\p{N}{1,3}"))?, ..Splitting::default() },
        "gpt-4o" | "llama4" => Splitting { steps: by(&o200k_like("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", r"\p{N}{1,3}"))?, ..Splitting::default() },
        "tekken" => Splitting { steps: by(&o200k_like("", r"\p{N}"))?, ignore_merges: true, adds_bos: true, ..Splitting::default() },
        "deepseek-coder" => {
            let mut steps = DEEPSEEK_CODER.into_iter().map(split).collect::<Result<Vec<_>>>()?;
            steps.extend([digits(), bytes()]);
            Splitting { steps, ..Splitting::default() }
        }
        "deepseek-v3" => {
            let mut steps = DEEPSEEK_V3.into_iter().map(split).collect::<Result<Vec<_>>>()?;
            steps.push(bytes());
            Splitting { steps, ..Splitting::default() }
        }
        other => {
            return Err(
                EvalError::new(ErrorKind::UnsupportedModel, format!("pre-tokenizer \"{other}\" is not known")).at("key \"tokenizer.ggml.pre\"")
            )
        }
    })
}

/// One name of each way to cut.
#[cfg(test)]
pub(super) const NAMES: [&str; 11] =
    ["gpt-2", "olmo", "smollm", "command-r", "qwen2", "qwen35", "llama-bpe", "gpt-4o", "tekken", "deepseek-coder", "deepseek-v3"];
