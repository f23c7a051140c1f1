//! Text ⇄ token ids, from the vocabulary that a GGUF carries.
//!
//! In: a [`TokenizerSpec`], the `tokenizer.ggml.*` metadata. Out: a [`Tokenizer`]. The splitting and merging is done by the
//! `tokenizers` crate with the features a browser can have (fancy-regex), on every target, so that ids are equal everywhere.
//!
//! How text is split before merging is not in a GGUF, only its name (`tokenizer.ggml.pre`); the patterns are those of the
//! models' own `tokenizer.json`.

use crate::error::{ErrorKind, EvalError, Result};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use tokenizers::decoders::byte_level::ByteLevel as ByteLevelDecoder;
use tokenizers::models::bpe::{Vocab, BPE};
use tokenizers::normalizers::unicode::NFC;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{AddedToken, PreTokenizerWrapper, SplitDelimiterBehavior};

/// A GGUF's tokenizer, as its metadata have it.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct TokenizerSpec {
    /// `gpt2` for byte-level BPE.
    pub model: String,
    /// How text is split before merging.
    pub pre: Option<String>,
    pub tokens: Vec<String>,
    /// Two pieces with a space between.
    pub merges: Vec<String>,
    /// 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte.
    pub token_types: Vec<i32>,
    pub bos_id: Option<u32>,
    pub eos_id: Option<u32>,
    pub add_bos: Option<bool>,
    pub chat_template: Option<String>,
}

/// Whether the tokenizer's own BOS comes in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddSpecial {
    /// As the tokenizer itself does for a text.
    Yes,
    /// The text alone.
    No,
}

/// A token for a person to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its id.
    pub id: u32,
    /// Its text; bytes that are no UTF-8 of their own are shown as U+FFFD.
    pub text: String,
}

/// A ready tokenizer.
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    description: String,
    sha256: String,
    n_vocab: usize,
    bos_id: Option<u32>,
    eos_id: Option<u32>,
    adds_bos: bool,
    chat_template: Option<String>,
    /// Byte symbols that the vocabulary lacks: such bytes vanish in encoding.
    missing_bytes: HashSet<char>,
}

/// How text is cut before merging.
struct PreTokenizer {
    normalise: bool,
    steps: Vec<PreTokenizerWrapper>,
    /// A piece that is a token is taken whole even where no chain of merges makes it.
    ignore_merges: bool,
}

/// Contractions, words with one leading character, numbers (`{digits}`), punctuation, line breaks, spaces: the shape that
/// tiktoken's cl100k pattern gave to most tokenizers since.
fn cl100k_like(digits: &str) -> String {
    format!(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
}

fn pre_tokenizer(pre: &str) -> Result<PreTokenizer> {
    let internal = |e: tokenizers::Error| EvalError::new(ErrorKind::Internal, format!("pre-tokenizer \"{pre}\": {e}"));
    let bytes = |use_regex: bool| PreTokenizerWrapper::from(ByteLevel::new(false, true, use_regex));
    let split = |pattern: String| -> Result<PreTokenizerWrapper> {
        Ok(Split::new(SplitPattern::Regex(pattern), SplitDelimiterBehavior::Isolated, false).map_err(internal)?.into())
    };
    let digits = PreTokenizerWrapper::from(Digits::new(true));
    Ok(match pre {
        "default" | "gpt-2" | "gpt2" => PreTokenizer { normalise: false, steps: vec![bytes(true)], ignore_merges: false },
        "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" => PreTokenizer { normalise: false, steps: vec![digits, bytes(true)], ignore_merges: false },
        "qwen2" => PreTokenizer { normalise: true, steps: vec![split(cl100k_like(r"\p{N}"))?, bytes(false)], ignore_merges: false },
        "llama-bpe" | "llama3" | "llama-v3" => {
            PreTokenizer { normalise: false, steps: vec![split(cl100k_like(r"\p{N}{1,3}"))?, bytes(false)], ignore_merges: true }
        }
        other => {
            return Err(EvalError::new(ErrorKind::UnsupportedModel, format!("pre-tokenizer \"{other}\" is not known"))
                .at("key \"tokenizer.ggml.pre\""))
        }
    })
}

impl Tokenizer {
    /// Builds a tokenizer.
    ///
    /// # Errors
    /// `UnsupportedModel` for a model or pre-tokenizer that is not known, at its key; `WeightsFormat` for a vocabulary that
    /// contradicts itself.
    pub fn from_spec(spec: TokenizerSpec) -> Result<Self> {
        if spec.model != "gpt2" {
            return Err(EvalError::new(ErrorKind::UnsupportedModel, format!("tokenizer model \"{}\" is not supported, only byte-level BPE (\"gpt2\")", spec.model))
                .at("key \"tokenizer.ggml.model\""));
        }
        let bad = |message: String, key: &str| EvalError::new(ErrorKind::WeightsFormat, message).at(format!("key \"tokenizer.ggml.{key}\""));
        let sha256 = hash(&spec);
        let pre_name = spec.pre.as_deref().unwrap_or("default");
        let pre = pre_tokenizer(pre_name)?;
        let n_vocab = spec.tokens.len();
        let special = |kind: i32| matches!(kind, 3 | 4);
        let added: Vec<AddedToken> = spec
            .tokens
            .iter()
            .zip(&spec.token_types)
            .filter(|(text, &kind)| special(kind) && !text.is_empty())
            .map(|(text, &kind)| AddedToken::from(text.as_str(), kind == 3).normalized(false))
            .collect();
        let merges = spec
            .merges
            .iter()
            .enumerate()
            .map(|(i, merge)| {
                // A piece may itself begin with a space in no byte-level vocabulary, so the first space separates.
                let (a, b) = merge.split_once(' ').ok_or_else(|| bad(format!("merge {i} is {merge:?}, not two pieces"), "merges"))?;
                Ok((a.to_owned(), b.to_owned()))
            })
            .collect::<Result<Vec<_>>>()?;
        let single: HashSet<char> = spec.tokens.iter().filter_map(|t| one_char(t)).collect();
        let missing_bytes = ByteLevel::alphabet().into_iter().filter(|c| !single.contains(c)).collect();
        // The first of two tokens with the same text is the one that encoding gives.
        let mut vocab = Vocab::default();
        for (id, token) in spec.tokens.into_iter().enumerate() {
            vocab.entry(token).or_insert(id as u32);
        }
        let bpe = BPE::builder()
            .vocab_and_merges(vocab, merges)
            .ignore_merges(pre.ignore_merges)
            .build()
            .map_err(|e| bad(e.to_string(), "merges"))?;
        let mut inner = tokenizers::Tokenizer::new(bpe);
        let internal = |e: tokenizers::Error| EvalError::new(ErrorKind::Internal, e.to_string());
        if pre.normalise {
            inner.with_normalizer(Some(NFC)).map_err(internal)?;
        }
        inner.with_pre_tokenizer(Some(Sequence::new(pre.steps)));
        inner.with_decoder(Some(ByteLevelDecoder::default()));
        let (control, user): (Vec<_>, Vec<_>) = added.into_iter().partition(|t| t.special);
        inner.add_special_tokens(control).map_err(internal)?;
        inner.add_tokens(user).map_err(internal)?;
        let in_vocab = |id: Option<u32>| id.filter(|&id| (id as usize) < n_vocab);
        Ok(Self {
            inner,
            description: format!("byte-level BPE, {n_vocab} tokens, pre-tokenizer {pre_name}"),
            sha256,
            n_vocab,
            bos_id: in_vocab(spec.bos_id),
            eos_id: in_vocab(spec.eos_id),
            adds_bos: spec.add_bos == Some(true) && in_vocab(spec.bos_id).is_some(),
            chat_template: spec.chat_template,
            missing_bytes,
        })
    }

    /// Ids of a text. Control tokens that stand in the text are taken as such.
    ///
    /// # Errors
    /// `Internal` where the library fails, which it does for no text that is known.
    pub fn encode(&self, text: &str, special: AddSpecial) -> Result<Vec<u32>> {
        let encoding = self.inner.encode_fast(text, false).map_err(|e| EvalError::new(ErrorKind::Internal, format!("tokenizer: {e}")))?;
        let bos = self.bos_id.filter(|_| special == AddSpecial::Yes && self.adds_bos);
        let ids = encoding.get_ids();
        Ok(match bos {
            Some(bos) if ids.first() != Some(&bos) => std::iter::once(bos).chain(ids.iter().copied()).collect(),
            _ => ids.to_vec(),
        })
    }

    /// The text of ids, control tokens included.
    ///
    /// # Errors
    /// As `encode`.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        self.inner.decode(ids, false).map_err(|e| EvalError::new(ErrorKind::Internal, format!("tokenizer: {e}")))
    }

    /// A token for a person to look at.
    pub fn piece(&self, id: u32) -> Piece {
        Piece { id, text: self.decode(&[id]).unwrap_or_default() }
    }

    /// The token as it stands in the vocabulary.
    pub fn token(&self, id: u32) -> Option<String> {
        self.inner.id_to_token(id)
    }

    /// Whether encoding drops a byte of `text` because the vocabulary has no symbol for it.
    pub fn drops_bytes(&self, text: &str) -> bool {
        if self.missing_bytes.is_empty() {
            return false;
        }
        text.bytes().any(|b| self.missing_bytes.contains(&byte_symbol(b)))
    }

    /// In words.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Hash over everything that decides the ids.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Entries.
    pub fn n_vocab(&self) -> usize {
        self.n_vocab
    }

    /// Beginning of sequence.
    pub fn bos_id(&self) -> Option<u32> {
        self.bos_id
    }

    /// End of sequence.
    pub fn eos_id(&self) -> Option<u32> {
        self.eos_id
    }

    /// Whether the tokenizer puts BOS in front by itself.
    pub fn adds_bos(&self) -> bool {
        self.adds_bos
    }

    /// The file's own chat template.
    pub fn chat_template(&self) -> Option<&str> {
        self.chat_template.as_deref()
    }
}

fn one_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

/// The character that stands for a byte in byte-level vocabularies: itself where it is printable Latin-1, else one from U+0100 on.
fn byte_symbol(byte: u8) -> char {
    let printable = |b: u8| matches!(b, 33..=126 | 161..=172 | 174..=255);
    if printable(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|&b| !printable(b)).count() as u32;
    char::from_u32(256 + before).expect("at most 256 + 68")
}

fn hash(spec: &TokenizerSpec) -> String {
    let mut hasher = Sha256::new();
    let mut field = |name: &str, values: &mut dyn Iterator<Item = &[u8]>| {
        hasher.update(name);
        for v in values {
            hasher.update((v.len() as u64).to_le_bytes());
            hasher.update(v);
        }
    };
    field("model", &mut [spec.model.as_bytes()].into_iter());
    field("pre", &mut spec.pre.iter().map(String::as_bytes));
    field("tokens", &mut spec.tokens.iter().map(String::as_bytes));
    field("merges", &mut spec.merges.iter().map(String::as_bytes));
    let types: Vec<u8> = spec.token_types.iter().map(|&t| t as u8).collect();
    field("types", &mut [types.as_slice()].into_iter());
    let adds_bos = [u8::from(spec.add_bos == Some(true))];
    field("add_bos", &mut [adds_bos.as_slice()].into_iter());
    hex(&hasher.finalize())
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
