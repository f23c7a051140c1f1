//! Text ⇄ token ids, from the vocabulary that a GGUF carries.
//!
//! In: a [`TokenizerSpec`], the `tokenizer.ggml.*` metadata. Out: a [`Tokenizer`]. The splitting and merging is done by the
//! `tokenizers` crate with the features a browser can have (fancy-regex), on every target, so that ids are equal everywhere.
//! Two kinds: byte-level BPE (`gpt2`; how text is cut is in `split`) and SentencePiece's BPE (`llama`; its merges are made in
//! `sentencepiece`).
//!
//! Source: what the models' own `tokenizer.json` does, not llama.cpp, where the two part: composed forms are normalised, and
//! only what the file marks as a special token is one.

mod sentencepiece;
mod split;

use crate::error::{ErrorKind, EvalError, Result};
use crate::hash::hex;
use sha2::{Digest, Sha256};
use tokenizers::decoders::byte_fallback::ByteFallback;
use tokenizers::decoders::byte_level::ByteLevel as ByteLevelDecoder;
use tokenizers::decoders::fuse::Fuse;
use tokenizers::decoders::sequence::Sequence as DecoderSequence;
use tokenizers::models::bpe::{Vocab, BPE};
use tokenizers::normalizers::prepend::Prepend;
use tokenizers::normalizers::replace::Replace;
use tokenizers::normalizers::unicode::NFC;
use tokenizers::normalizers::utils::Sequence as NormalizerSequence;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::{AddedToken, DecoderWrapper, NormalizerWrapper, PreTokenizerWrapper};

/// A GGUF's tokenizer, as its metadata have it.
#[derive(Debug, Clone, Default)]
pub struct TokenizerSpec {
    /// `gpt2` for byte-level BPE, `llama` for SentencePiece's BPE.
    pub model: String,
    /// How text is cut before merging; for `gpt2` only.
    pub pre: Option<String>,
    /// Text of each id.
    pub tokens: Vec<String>,
    /// Two pieces with a space between; for `gpt2` only.
    pub merges: Vec<String>,
    /// One per token, the highest is merged first; for `llama` only.
    pub scores: Vec<f32>,
    /// 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte; empty: all are normal.
    pub token_types: Vec<i32>,
    /// Beginning of sequence.
    pub bos_id: Option<u32>,
    /// End of sequence.
    pub eos_id: Option<u32>,
    /// What stands for a character that the vocabulary cannot express.
    pub unk_id: Option<u32>,
    /// BOS comes in front of every text; `None`: as is usual for this kind.
    pub add_bos: Option<bool>,
    /// A space comes in front of every text; for `llama` only, where `None` means yes.
    pub add_space_prefix: Option<bool>,
    /// Jinja.
    pub chat_template: Option<String>,
}

/// What a token is there for. Control tokens, and the one for what is unknown, are found where their text stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenType {
    Normal,
    Unknown,
    Control,
    UserDefined,
    Unused,
    Byte,
}

impl TokenizerSpec {
    fn token_type(&self, id: u32) -> TokenType {
        match self.token_types.get(id as usize) {
            Some(2) => TokenType::Unknown,
            Some(3) => TokenType::Control,
            Some(4) => TokenType::UserDefined,
            Some(5) => TokenType::Unused,
            Some(6) => TokenType::Byte,
            _ => TokenType::Normal,
        }
    }
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
    /// By byte: the vocabulary has no symbol for it, it vanishes in encoding.
    missing_bytes: [bool; 256],
    /// A space is put in front of text, which decoding takes off again.
    space_prefix: bool,
    /// Lines can be encoded one by one, see [`Tokenizer::stretches`].
    by_line: bool,
}

/// What the two kinds of vocabulary decide differently.
struct Kind {
    description: String,
    bpe: BPE,
    normalizer: Option<NormalizerWrapper>,
    pre_tokenizer: Option<PreTokenizerWrapper>,
    decoder: DecoderWrapper,
    missing_bytes: [bool; 256],
    space_prefix: bool,
    by_line: bool,
    adds_bos: bool,
}

fn bad_key(key: &str, message: String) -> EvalError {
    EvalError::new(ErrorKind::WeightsFormat, message).at(format!("key \"tokenizer.ggml.{key}\""))
}

fn internal(e: tokenizers::Error) -> EvalError {
    EvalError::new(ErrorKind::Internal, format!("tokenizer: {e}"))
}

/// Ids by text. The first of two tokens with the same text is the one that encoding gives.
fn vocabulary(tokens: &[String]) -> Vocab {
    let mut vocab = Vocab::with_capacity(tokens.len());
    for (id, token) in tokens.iter().enumerate() {
        vocab.entry(token.clone()).or_insert(id as u32);
    }
    vocab
}

fn byte_level(spec: &TokenizerSpec) -> Result<Kind> {
    let name = spec.pre.as_deref().unwrap_or("default");
    let splitting = split::splitting(name)?;
    let merges = spec.merges.iter().enumerate().map(|(i, merge)| {
        // A space is a symbol of its own in byte-level vocabularies, so the only one separates.
        let (left, right) = merge.split_once(' ').ok_or_else(|| bad_key("merges", format!("merge {i} is {merge:?}, not two pieces")))?;
        Ok((left.to_owned(), right.to_owned()))
    });
    let merges = merges.collect::<Result<Vec<_>>>()?;
    let vocab = vocabulary(&spec.tokens);
    let missing_bytes = std::array::from_fn(|byte| !vocab.contains_key(byte_symbol(byte as u8).to_string().as_str()));
    let bpe = BPE::builder().vocab_and_merges(vocab, merges).ignore_merges(splitting.ignore_merges).build();
    // Files that name none were written before there were names, mostly for GPT-2's splitting.
    let said = if name == "default" { "not named, GPT-2's is used" } else { name };
    Ok(Kind {
        description: format!("byte-level BPE, {} tokens, pre-tokenizer {said}", spec.tokens.len()),
        bpe: bpe.map_err(|e| bad_key("merges", e.to_string()))?,
        normalizer: splitting.nfc.then(|| NFC.into()),
        pre_tokenizer: Some(Sequence::new(splitting.steps).into()),
        decoder: ByteLevelDecoder::default().into(),
        missing_bytes,
        space_prefix: false,
        by_line: true,
        adds_bos: splitting.adds_bos,
    })
}

/// What SentencePiece writes for a space.
const SPACE: &str = "▁";

fn sentencepiece(spec: &TokenizerSpec) -> Result<Kind> {
    if spec.scores.len() != spec.tokens.len() {
        return Err(bad_key("scores", format!("there are {} for {} tokens", spec.scores.len(), spec.tokens.len())));
    }
    let vocab = vocabulary(&spec.tokens);
    let merges = sentencepiece::merges(spec, &vocab);
    let mut builder = BPE::builder().byte_fallback(true).fuse_unk(true);
    let unknown = spec.unk_id.or_else(|| (0..spec.tokens.len() as u32).find(|&id| spec.token_type(id) == TokenType::Unknown));
    if let Some(token) = unknown.and_then(|id| spec.tokens.get(id as usize)) {
        builder = builder.unk_token(token.clone());
    }
    let space_prefix = spec.add_space_prefix.unwrap_or(true);
    let spaces = Replace::new(" ", SPACE).map_err(internal)?;
    let normalizer =
        if space_prefix { NormalizerSequence::new(vec![Prepend::new(SPACE.into()).into(), spaces.into()]).into() } else { spaces.into() };
    let decoder =
        DecoderSequence::new(vec![Replace::new(SPACE, " ").map_err(internal)?.into(), ByteFallback::default().into(), Fuse::default().into()]);
    Ok(Kind {
        description: format!("SentencePiece BPE, {} tokens", spec.tokens.len()),
        bpe: builder.vocab_and_merges(vocab, merges).build().map_err(|e| bad_key("tokens", e.to_string()))?,
        normalizer: Some(normalizer),
        pre_tokenizer: None,
        decoder: decoder.into(),
        // What has no piece becomes byte tokens or the unknown token: nothing vanishes.
        missing_bytes: [false; 256],
        space_prefix,
        // Merges run across lines.
        by_line: false,
        adds_bos: true,
    })
}

impl Tokenizer {
    /// Builds a tokenizer.
    ///
    /// # Errors
    /// `UnsupportedModel` for a model or pre-tokenizer that is not known, at its key; `WeightsFormat` for a vocabulary that
    /// contradicts itself.
    pub fn from_spec(spec: TokenizerSpec) -> Result<Self> {
        let kind = match spec.model.as_str() {
            "gpt2" => byte_level(&spec)?,
            "llama" => sentencepiece(&spec)?,
            other => {
                let message = format!("tokenizer model \"{other}\" is not supported, only \"gpt2\" (byte-level BPE) and \"llama\" (SentencePiece)");
                return Err(EvalError::new(ErrorKind::UnsupportedModel, message).at("key \"tokenizer.ggml.model\""));
            }
        };
        let n_vocab = spec.tokens.len();
        let mut inner = tokenizers::Tokenizer::new(kind.bpe);
        inner.with_normalizer(kind.normalizer).map_err(internal)?;
        inner.with_pre_tokenizer(kind.pre_tokenizer);
        inner.with_decoder(Some(kind.decoder));
        let (mut control, mut user_defined) = (Vec::new(), Vec::new());
        for (id, text) in spec.tokens.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            match spec.token_type(id as u32) {
                TokenType::Control | TokenType::Unknown => control.push(AddedToken::from(text.as_str(), true)),
                // Older files of Gemma write runs of spaces as SentencePiece does: these are found after spaces have become that.
                TokenType::UserDefined => {
                    user_defined.push(AddedToken::from(text.as_str(), false).normalized(text.contains(SPACE) && !kind.space_prefix))
                }
                _ => {}
            }
        }
        let by_line = kind.by_line && !control.iter().chain(&user_defined).any(|token| token.content.contains('\n'));
        inner.add_special_tokens(control).map_err(internal)?;
        inner.add_tokens(user_defined).map_err(internal)?;
        let in_vocab = |id: Option<u32>| id.filter(|&id| (id as usize) < n_vocab);
        Ok(Self {
            inner,
            description: kind.description,
            sha256: hash(&spec),
            n_vocab,
            bos_id: in_vocab(spec.bos_id),
            eos_id: in_vocab(spec.eos_id),
            adds_bos: spec.add_bos.unwrap_or(kind.adds_bos) && in_vocab(spec.bos_id).is_some(),
            chat_template: spec.chat_template,
            missing_bytes: kind.missing_bytes,
            space_prefix: kind.space_prefix,
            by_line,
        })
    }

    /// Ids of a text alone, without BOS. Control tokens that stand in the text are taken as such.
    ///
    /// # Errors
    /// `Internal` where the library fails, which it does for no text that is known.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        Ok(self.inner.encode_fast(text, false).map_err(internal)?.get_ids().to_vec())
    }

    /// The text in stretches whose ids, one after the other, are the ids of the whole: what is encoded once need not be again.
    ///
    /// A cut is made after a line break that stands between something that is not whitespace and an ASCII letter or digit. All
    /// patterns of byte-level tokenizers end a piece there: none lets a letter or digit follow a line break within a piece, and
    /// what they say of whitespace before whitespace does not apply. No normaliser composes across it.
    pub fn stretches<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let bytes = text.as_bytes();
        let is_cut = |&at: &usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) && text[..at - 1].ends_with(|c: char| !c.is_whitespace());
        let ends: Vec<usize> = if self.by_line { text.match_indices('\n').map(|(at, _)| at + 1).filter(is_cut).collect() } else { Vec::new() };
        let starts = std::iter::once(0).chain(ends.clone());
        starts.zip(ends.into_iter().chain([text.len()])).map(|(start, end)| &text[start..end])
    }

    /// The text of ids, control tokens included.
    ///
    /// # Errors
    /// As `encode`.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        let text = self.inner.decode(ids, false).map_err(internal)?;
        Ok(match text.strip_prefix(' ') {
            Some(rest) if self.space_prefix => rest.to_owned(),
            _ => text,
        })
    }

    /// A token for a person to look at.
    pub fn piece(&self, id: u32) -> Piece {
        Piece { id, text: self.inner.decode(&[id], false).unwrap_or_default() }
    }

    /// The token as it stands in the vocabulary.
    pub fn token(&self, id: u32) -> Option<String> {
        self.inner.id_to_token(id)
    }

    /// Whether encoding drops a byte of `text` because the vocabulary has no symbol for it.
    pub fn drops_bytes(&self, text: &str) -> bool {
        text.bytes().any(|byte| self.missing_bytes[usize::from(byte)])
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

    /// Whether BOS comes in front of a text where nobody says otherwise.
    pub fn adds_bos(&self) -> bool {
        self.adds_bos
    }

    /// The file's own chat template.
    pub fn chat_template(&self) -> Option<&str> {
        self.chat_template.as_deref()
    }
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
    let scores: Vec<u8> = spec.scores.iter().flat_map(|s| s.to_le_bytes()).collect();
    field("scores", &mut [scores.as_slice()].into_iter());
    let types: Vec<u8> = spec.token_types.iter().map(|&t| t as u8).collect();
    field("types", &mut [types.as_slice()].into_iter());
    let flags = [spec.add_bos, spec.add_space_prefix].map(|flag| flag.map_or(2, u8::from));
    field("flags", &mut [flags.as_slice()].into_iter());
    hex(&hasher.finalize())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prop_assert_eq;

    /// A byte-level vocabulary of BOS, EOS, every byte but 0x04, and a few merges: `ab`, ` A`, ` b`, two line breaks.
    pub(crate) fn small(pre: &str) -> TokenizerSpec {
        let merges: Vec<String> = ["a b", "Ġ A", "Ġ b", "Ċ Ċ"].map(String::from).to_vec();
        let mut tokens = vec!["<s>".to_owned(), "</s>".to_owned()];
        tokens.extend((0..=255).filter(|&b| b != 4).map(|b| byte_symbol(b).to_string()));
        tokens.extend(merges.iter().map(|m| m.replace(' ', "")));
        let token_types = (0..tokens.len()).map(|id| if id < 2 { 3 } else { 1 }).collect();
        TokenizerSpec {
            model: "gpt2".into(),
            pre: Some(pre.into()),
            tokens,
            merges,
            token_types,
            bos_id: Some(0),
            eos_id: Some(1),
            ..TokenizerSpec::default()
        }
    }

    /// SentencePiece with byte tokens for `é` only, and `ab` made before ` a`.
    fn small_sentencepiece() -> TokenizerSpec {
        let pieces = [
            ("<unk>", 2, 0.0),
            ("<s>", 3, 0.0),
            ("</s>", 3, 0.0),
            ("<0xC3>", 6, 0.0),
            ("<0xA9>", 6, 0.0),
            ("ab", 1, -1.0),
            ("▁a", 1, -2.0),
            ("▁", 1, -3.0),
            ("a", 1, -4.0),
            ("b", 1, -5.0),
        ];
        TokenizerSpec {
            model: "llama".into(),
            tokens: pieces.iter().map(|p| p.0.to_owned()).collect(),
            token_types: pieces.iter().map(|p| p.1).collect(),
            scores: pieces.iter().map(|p| p.2).collect(),
            bos_id: Some(1),
            eos_id: Some(2),
            ..TokenizerSpec::default()
        }
    }

    fn pieces(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
        tokenizer.encode(text).expect("ids").into_iter().map(|id| tokenizer.token(id).expect("an id of the vocabulary")).collect()
    }

    fn tokenizer(spec: TokenizerSpec) -> Tokenizer {
        Tokenizer::from_spec(spec).expect("a sound vocabulary")
    }

    #[test]
    fn merges_apply_within_pieces_and_control_tokens_are_found_in_text() {
        let t = tokenizer(small("gpt-2"));
        assert_eq!(pieces(&t, "ab A<s>a b"), ["ab", "ĠA", "<s>", "a", "Ġb"]);
        // GPT-2's pattern leaves the last of several whitespace characters to what follows it.
        assert_eq!(pieces(&t, "a\n\nb"), ["a", "Ċ", "Ċ", "b"]);
        assert_eq!(pieces(&t, "a\n\n"), ["a", "ĊĊ"]);
        assert_eq!(t.decode(&t.encode("ab A<s>\n\nb é").expect("ids")).expect("text"), "ab A<s>\n\nb é");
    }

    #[test]
    fn a_byte_without_a_symbol_vanishes_and_is_noticed() {
        let t = tokenizer(small("gpt-2"));
        assert_eq!(pieces(&t, "a\u{4}b"), ["a", "b"]);
        assert!(t.drops_bytes("a\u{4}b"));
        assert!(!t.drops_bytes("a\u{5}é b"));
    }

    #[test]
    fn an_unknown_pre_tokenizer_or_model_is_an_error_that_names_it() {
        let error = Tokenizer::from_spec(small("viking")).err().expect("not known");
        assert_eq!((error.kind, error.place.as_deref()), (ErrorKind::UnsupportedModel, Some("key \"tokenizer.ggml.pre\"")));
        assert!(error.message.contains("viking"), "{error}");
        let error = Tokenizer::from_spec(TokenizerSpec { model: "rwkv".into(), ..small("gpt-2") }).err().expect("not known");
        assert!(error.message.contains("rwkv"), "{error}");
    }

    #[test]
    fn a_merge_without_its_tokens_is_an_error_of_the_file() {
        let error = Tokenizer::from_spec(TokenizerSpec { merges: vec!["a zz".into()], ..small("gpt-2") }).err().expect("zz is no token");
        assert_eq!(error.kind, ErrorKind::WeightsFormat);
    }

    #[test]
    fn bos_comes_by_itself_where_the_file_says_so_or_its_kind_is_known_to() {
        assert!(!tokenizer(small("gpt-2")).adds_bos());
        assert!(tokenizer(small("llama-bpe")).adds_bos());
        assert!(!tokenizer(TokenizerSpec { add_bos: Some(false), ..small("llama-bpe") }).adds_bos());
        assert!(!tokenizer(TokenizerSpec { bos_id: None, ..small("llama-bpe") }).adds_bos());
        assert!(tokenizer(small_sentencepiece()).adds_bos());
    }

    #[test]
    fn sentencepiece_merges_the_best_score_first_and_falls_back_to_bytes() {
        let t = tokenizer(small_sentencepiece());
        // "ab" scores higher than "▁a", so it is made first.
        assert_eq!(pieces(&t, "ab a"), ["▁", "ab", "▁a"]);
        assert_eq!(pieces(&t, "é"), ["▁", "<0xC3>", "<0xA9>"]);
        assert_eq!(pieces(&t, "x"), ["▁", "<unk>"]);
        assert_eq!(t.decode(&t.encode(" ab é").expect("ids")).expect("text"), " ab é");
        let without = tokenizer(TokenizerSpec { add_space_prefix: Some(false), ..small_sentencepiece() });
        assert_eq!(pieces(&without, "ab a"), ["ab", "▁a"]);
    }

    #[test]
    fn the_hash_is_another_where_the_ids_are() {
        let hash = |spec: TokenizerSpec| tokenizer(spec).sha256().to_owned();
        assert_eq!(hash(small("gpt-2")), hash(small("gpt-2")));
        assert_ne!(hash(small("gpt-2")), hash(small("smollm")));
        assert_ne!(hash(small("gpt-2")), hash(TokenizerSpec { merges: small("gpt-2").merges[1..].to_vec(), ..small("gpt-2") }));
    }

    #[test]
    fn stretches_give_the_ids_of_the_whole() {
        // Any two of these symbols merge, so that ids tell where pieces end.
        let symbols = ["a", "A", "1", "s", ".", "'", "/", "Ġ", "ĉ", "Ċ", "č"];
        let tokenizers = split::NAMES.map(|pre| {
            let mut spec = small(pre);
            let pairs: Vec<(&str, &str)> = symbols.iter().flat_map(|a| symbols.iter().map(move |b| (*a, *b))).collect();
            spec.merges = pairs.iter().map(|(a, b)| format!("{a} {b}")).collect();
            spec.tokens.extend(pairs.iter().map(|(a, b)| format!("{a}{b}")));
            tokenizer(spec)
        });
        let texts = "([aA1s.'/ \t\n\r\u{85}é\u{301}]|<s>){0,30}";
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let outcome = runner.run(&texts, |text| {
            for (t, pre) in tokenizers.iter().zip(split::NAMES) {
                let stretches: Vec<&str> = t.stretches(&text).collect();
                prop_assert_eq!(stretches.concat(), text.as_str());
                let ids: Vec<u32> = stretches.iter().flat_map(|s| t.encode(s).expect("ids")).collect();
                prop_assert_eq!(ids, t.encode(&text).expect("ids"), "{} cuts {:?}", pre, stretches);
            }
            Ok(())
        });
        outcome.unwrap_or_else(|e| panic!("{e}"));
    }

    #[test]
    fn a_cut_needs_a_line_break_between_text_and_a_letter_or_digit() {
        let t = tokenizer(small("gpt-2"));
        let stretches = |text| t.stretches(text).collect::<Vec<_>>();
        assert_eq!(stretches("a?\nb\n\nc \nd\n e\n1"), ["a?\n", "b\n\nc \nd\n e\n", "1"]);
        assert_eq!(stretches(""), [""]);
        // SentencePiece merges across lines.
        assert_eq!(tokenizer(small_sentencepiece()).stretches("a\nb").count(), 1);
    }
}
