//! Doc → token ids: lm-eval's pair encoding, truncation, rolling windows, and what is odd about where the join falls.
//!
//! In: a [`Doc`] (text) and the tokenizer. Out: [`EncodedDoc`]: ids, and the flags of the boundary report.
//! Nothing is dropped in silence: a continuation that comes out empty is encoded alone and flagged.
//!
//! Source: lm-evaluation-harness 0.4.13, `api/model.py` (`loglikelihood`, `_encode_pair`), `models/huggingface.py` (BOS,
//! truncation), `utils.py` (rolling windows); the rules are in evaluation order in [`Encoder::pair`].

use crate::engine::Sequence;
use crate::error::{ErrorKind, EvalError, Result};
use crate::score::BoundaryFlag;
use crate::spec::{AddBos, RunSpec};
use crate::task::doc::{Doc, OutputType};
use crate::tokenizer::{Piece, Tokenizer};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use ts_rs::TS;

/// What is fed for one request: `context ++ continuation`, less the last token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedRequest {
    /// Conditioned on; never empty. Shared by the requests of a doc where it is the same.
    pub context: Arc<[u32]>,
    /// Scored.
    pub continuation: Vec<u32>,
}

impl EncodedRequest {
    /// The sequence that scores it.
    pub fn sequence(&self) -> Sequence {
        Sequence::of_pair(&self.context, &self.continuation)
    }
}

/// A doc, ready for the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedDoc {
    /// One per request of the doc; for a rolling log-likelihood one per window.
    pub requests: Vec<EncodedRequest>,
    /// Each continuation after the prefix token alone, where `mutual_info` asks for it.
    pub unconditional: Vec<EncodedRequest>,
    /// Each continuation after "Answer:", where `mutual_info` asks for it.
    pub answer: Vec<EncodedRequest>,
    /// Sorted, each once.
    pub flags: Vec<BoundaryFlag>,
}

/// Encodes docs under the settings of one run.
///
/// It remembers the ids of every stretch of text that it met: choices share their context, docs their few-shot examples. Make a
/// new one now and then to forget.
pub struct Encoder<'a> {
    tokenizer: &'a Tokenizer,
    add_bos: AddBos,
    prefix_id: u32,
    /// Tokens that fit into the model at once.
    max_length: usize,
    mutual_info: bool,
    known: RefCell<HashMap<String, Vec<u32>>>,
}

/// Whitespace that Python's `str.rstrip()` takes: Unicode's White_Space and the four separators U+001C to U+001F.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// HELM's and GPT-3's null context.
const ANSWER_CONTEXT: &str = "Answer:";

impl<'a> Encoder<'a> {
    /// Settles prefix token and window.
    ///
    /// # Errors
    /// `RunSpec` where there is no token for an empty context or for the BOS that is asked for, where the chosen prefix token is
    /// outside the vocabulary, or where the window does not fit the model.
    pub fn new(tokenizer: &'a Tokenizer, spec: &RunSpec, n_ctx: usize) -> Result<Self> {
        let bad = |key: &str, message: String| EvalError::new(ErrorKind::RunSpec, message).at(format!("setting \"{key}\""));
        let prefix_id =
            spec.prefix_token_id.or(tokenizer.bos_id()).or(tokenizer.eos_id()).ok_or_else(|| {
                bad("prefix_token_id", "the model has neither BOS nor EOS, so the token for an empty context has to be chosen".into())
            })?;
        if prefix_id as usize >= tokenizer.n_vocab() {
            return Err(bad("prefix_token_id", format!("token {prefix_id} is outside the vocabulary of {}", tokenizer.n_vocab())));
        }
        if spec.add_bos == AddBos::Yes && tokenizer.bos_id().is_none() {
            return Err(bad("add_bos", "the model has no BOS".into()));
        }
        let max_length = spec.max_length.unwrap_or(n_ctx);
        if max_length < 2 || max_length > n_ctx {
            return Err(bad("max_length", format!("is {max_length}, the model takes 2 to {n_ctx} tokens")));
        }
        Ok(Self { tokenizer, add_bos: spec.add_bos, prefix_id, max_length, mutual_info: spec.mutual_info, known: RefCell::default() })
    }

    /// The token that stands for an empty context.
    pub fn prefix_id(&self) -> u32 {
        self.prefix_id
    }

    /// Whether contexts begin with BOS.
    pub fn adds_bos(&self) -> bool {
        match self.add_bos {
            AddBos::Auto => self.tokenizer.adds_bos(),
            AddBos::Yes => true,
            AddBos::No => false,
        }
    }

    /// Ids of a text alone.
    fn ids(&self, text: &str) -> Result<Vec<u32>> {
        let mut known = self.known.borrow_mut();
        let mut ids = Vec::new();
        for stretch in self.tokenizer.stretches(text) {
            if let Some(known) = known.get(stretch) {
                ids.extend_from_slice(known);
            } else {
                let new = self.tokenizer.encode(stretch)?;
                ids.extend_from_slice(&new);
                known.insert(stretch.to_owned(), new);
            }
        }
        Ok(ids)
    }

    /// Ids of a text that starts a sequence: BOS in front where the settings say so, never twice.
    fn start(&self, text: &str) -> Result<Vec<u32>> {
        let mut ids = self.ids(text)?;
        if let Some(bos) = self.tokenizer.bos_id().filter(|bos| self.adds_bos() && ids.first() != Some(bos)) {
            ids.insert(0, bos);
        }
        Ok(ids)
    }

    /// Encodes one pair. Flags say what is odd about the join.
    ///
    /// DIFFERS: where lm-eval stops with an assertion, a run goes on. An empty continuation is encoded alone; a context of
    /// whitespace alone, and a continuation that is nothing but the prefix token, follow the prefix token.
    fn pair(&self, context: &str, continuation: &str, contexts: &mut Contexts, flags: &mut BTreeSet<BoundaryFlag>) -> Result<EncodedRequest> {
        if context.is_empty() {
            let continuation = self.ids(continuation)?;
            if continuation.is_empty() {
                flags.insert(BoundaryFlag::EmptyContinuation);
            }
            // A continuation that brings the prefix token itself is not given a second one.
            return match continuation.split_first() {
                Some((&first, rest)) if first == self.prefix_id && !rest.is_empty() => self.fit(Arc::from([first]), rest.to_vec(), flags),
                _ => self.fit(Arc::from([self.prefix_id]), continuation, flags),
            };
        }
        let trimmed = context.trim_end_matches(is_python_space);
        let moved = &context[trimmed.len()..];
        if !moved.is_empty() {
            flags.insert(BoundaryFlag::WhitespaceMoved);
        }
        if context.ends_with(' ') && continuation.starts_with(' ') {
            flags.insert(BoundaryFlag::DoubleSpace);
        }
        let whole = self.start(&format!("{context}{continuation}"))?;
        let context_ids = contexts.get_or_encode(trimmed, || self.start(trimmed))?;
        if whole.get(..context_ids.len()) != Some(&context_ids[..]) {
            flags.insert(BoundaryFlag::MergeAcrossJoin);
        }
        let mut continuation_ids = whole.get(context_ids.len()..).unwrap_or_default().to_vec();
        if continuation_ids.is_empty() {
            flags.insert(BoundaryFlag::EmptyContinuation);
            continuation_ids = self.ids(&format!("{moved}{continuation}"))?;
        }
        // A context of whitespace alone has moved to the continuation.
        let context_ids = if context_ids.is_empty() { Arc::from([self.prefix_id]) } else { context_ids };
        self.fit(context_ids, continuation_ids, flags)
    }

    /// Cuts the left so that what is fed has at most `max_length` tokens.
    fn fit(&self, context: Arc<[u32]>, continuation: Vec<u32>, flags: &mut BTreeSet<BoundaryFlag>) -> Result<EncodedRequest> {
        if continuation.len() > self.max_length {
            return Err(EvalError::new(
                ErrorKind::ContextTooLong,
                format!("the continuation has {} tokens, the model takes {}", continuation.len(), self.max_length),
            ));
        }
        // The last max_length + 1 tokens of both, of which the last is not fed.
        let excess = (context.len() + continuation.len()).saturating_sub(self.max_length + 1);
        if excess == 0 {
            return Ok(EncodedRequest { context, continuation });
        }
        flags.insert(BoundaryFlag::Truncated);
        Ok(EncodedRequest { context: context[excess..].into(), continuation })
    }

    /// Encodes a doc.
    ///
    /// # Errors
    /// `ContextTooLong` where a continuation does not fit the model; the place is the doc's line.
    pub fn doc(&self, doc: &Doc) -> Result<EncodedDoc> {
        self.doc_anywhere(doc).map_err(|e| e.at(format!("line {}", doc.line)))
    }

    fn doc_anywhere(&self, doc: &Doc) -> Result<EncodedDoc> {
        let mut flags = BTreeSet::new();
        let mut contexts = Contexts::default();
        let mut requests = Vec::with_capacity(doc.requests.len());
        for request in &doc.requests {
            if doc.output_type == OutputType::LoglikelihoodRolling {
                requests.extend(self.windows(&request.continuation)?);
            } else {
                requests.push(self.pair(&request.context, &request.continuation, &mut contexts, &mut flags)?);
            }
        }
        text_flags(self.tokenizer, doc, &requests, &mut flags);
        let (mut unconditional, mut answer) = (Vec::new(), Vec::new());
        if self.mutual_info && doc.output_type == OutputType::MultipleChoice {
            // What these do at their own joins is not the doc's: it has no flags for it.
            let mut ignored = BTreeSet::new();
            for request in &doc.requests {
                unconditional.push(self.pair("", &request.continuation, &mut contexts, &mut ignored)?);
                answer.push(self.pair(ANSWER_CONTEXT, &request.continuation, &mut contexts, &mut ignored)?);
            }
        }
        Ok(EncodedDoc { requests, unconditional, answer, flags: flags.into_iter().collect() })
    }

    /// Disjoint windows over a text, each token scored once: the first after the prefix token, the others after the one token
    /// before the window; a last, shorter window sees as much of the text before it as fits.
    fn windows(&self, text: &str) -> Result<Vec<EncodedRequest>> {
        let ids = self.start(text)?;
        let mut windows = Vec::new();
        let first = ids.len().min(self.max_length);
        if first > 0 {
            windows.push(EncodedRequest { context: Arc::from([self.prefix_id]), continuation: ids[..first].to_vec() });
        }
        let mut scored = first;
        while scored < ids.len() {
            let n = (ids.len() - scored).min(self.max_length);
            let end = scored + n;
            windows.push(EncodedRequest { context: ids[end - self.max_length - 1..scored].into(), continuation: ids[scored..end].to_vec() });
            scored = end;
        }
        Ok(windows)
    }
}

/// Flags that the texts alone give, and lengths of letters.
fn text_flags(tokenizer: &Tokenizer, doc: &Doc, requests: &[EncodedRequest], flags: &mut BTreeSet<BoundaryFlag>) {
    let choices = &doc.choices;
    if choices.iter().any(|c| c.ends_with(is_python_space)) {
        flags.insert(BoundaryFlag::TrailingWhitespace);
    }
    if choices.iter().any(|c| c.starts_with(' ')) && !choices.iter().all(|c| c.starts_with(' ')) {
        flags.insert(BoundaryFlag::UnevenLeadingSpace);
    }
    if choices.iter().collect::<BTreeSet<_>>().len() < choices.len() {
        flags.insert(BoundaryFlag::EqualChoices);
    }
    let is_letter = |c: &String| c.chars().count() == 1;
    if doc.output_type == OutputType::MultipleChoice && choices.iter().zip(requests).any(|(c, r)| is_letter(c) && r.continuation.len() > 1) {
        flags.insert(BoundaryFlag::LetterOfSeveralTokens);
    }
    if doc.requests.iter().any(|r| tokenizer.drops_bytes(&r.context) || tokenizer.drops_bytes(&r.continuation)) {
        flags.insert(BoundaryFlag::DroppedBytes);
    }
}

/// Ids of the contexts of one doc: choices mostly share theirs.
#[derive(Default)]
struct Contexts(BTreeMap<String, Arc<[u32]>>);

impl Contexts {
    fn get_or_encode(&mut self, text: &str, encode: impl FnOnce() -> Result<Vec<u32>>) -> Result<Arc<[u32]>> {
        if let Some(ids) = self.0.get(text) {
            return Ok(Arc::clone(ids));
        }
        let ids: Arc<[u32]> = encode()?.into();
        self.0.insert(text.to_owned(), Arc::clone(&ids));
        Ok(ids)
    }
}

/// A token of a preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TokenView {
    /// Its id.
    pub id: u32,
    /// Its text.
    pub text: String,
}

impl From<Piece> for TokenView {
    fn from(piece: Piece) -> Self {
        Self { id: piece.id, text: piece.text }
    }
}

/// The join of one doc, to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct JoinView {
    /// Position of the doc among the rows.
    pub index: usize,
    /// Its line.
    pub line: usize,
    /// What is odd about it.
    pub flags: Vec<BoundaryFlag>,
    /// The end of the context that is fed, the last tokens.
    pub context_end: Vec<TokenView>,
    /// Tokens of the context in all.
    pub n_context_tokens: usize,
    /// The scored tokens of each choice.
    pub continuations: Vec<Vec<TokenView>>,
}

/// Tokens of a context that a preview shows.
const SHOWN_CONTEXT: usize = 12;

/// How a doc is fed, for a person to look at.
pub fn join_view(tokenizer: &Tokenizer, doc: &Doc, encoded: &EncodedDoc) -> JoinView {
    let view = |ids: &[u32]| ids.iter().map(|&id| tokenizer.piece(id).into()).collect();
    let context = encoded.requests.first().map_or(&[][..], |r| &r.context);
    JoinView {
        index: doc.index,
        line: doc.line,
        flags: encoded.flags.clone(),
        context_end: view(&context[context.len().saturating_sub(SHOWN_CONTEXT)..]),
        n_context_tokens: context.len(),
        continuations: encoded.requests.iter().map(|r| view(&r.continuation)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::doc::Request;
    use crate::tokenizer::tests::small;
    use crate::tokenizer::TokenizerSpec;

    /// A doc of pairs; the choices are the continuations without their first space.
    fn doc(output_type: OutputType, requests: &[(&str, &str)]) -> Doc {
        Doc {
            doc_id: 0,
            index: 0,
            line: 7,
            task: String::new(),
            row: serde_json::Value::Null,
            category: None,
            question: String::new(),
            output_type,
            requests: requests
                .iter()
                .map(|&(context, continuation)| Request { context: context.into(), continuation: continuation.into() })
                .collect(),
            choices: requests.iter().map(|(_, c)| c.strip_prefix(' ').unwrap_or(c).to_owned()).collect(),
            gold: vec![0],
            target: serde_json::Value::Null,
            doc_hash: String::new(),
            prompt_hash: String::new(),
            target_hash: String::new(),
        }
    }

    fn tokenizer() -> Tokenizer {
        Tokenizer::from_spec(small("gpt-2")).expect("a sound vocabulary")
    }

    fn encode_with(tokenizer: &Tokenizer, spec: &RunSpec, n_ctx: usize, doc: &Doc) -> Result<EncodedDoc> {
        Encoder::new(tokenizer, spec, n_ctx)?.doc(doc)
    }

    /// Context, continuation and flags of one pair, tokens as they stand in the vocabulary.
    fn pair(context: &str, continuation: &str) -> (String, String, Vec<BoundaryFlag>) {
        let t = tokenizer();
        let encoded = encode_with(&t, &RunSpec::default(), 100, &doc(OutputType::Loglikelihood, &[(context, continuation)])).expect("it fits");
        let shown = |ids: &[u32]| ids.iter().map(|&id| t.token(id).expect("an id of the vocabulary")).collect::<Vec<_>>().join("|");
        (shown(&encoded.requests[0].context), shown(&encoded.requests[0].continuation), encoded.flags)
    }

    fn flags_of_choices(requests: &[(&str, &str)], choices: &[&str]) -> Vec<BoundaryFlag> {
        let mut doc = doc(OutputType::MultipleChoice, requests);
        doc.choices = choices.iter().map(|&c| c.to_owned()).collect();
        encode_with(&tokenizer(), &RunSpec::default(), 100, &doc).expect("it fits").flags
    }

    #[test]
    fn context_and_continuation_meet_where_their_tokens_do() {
        assert_eq!(pair("xy", " A"), ("x|y".into(), "ĠA".into(), vec![]));
    }

    #[test]
    fn trailing_whitespace_of_the_context_moves_to_the_continuation() {
        assert_eq!(pair("x ", "b"), ("x".into(), "Ġb".into(), vec![BoundaryFlag::WhitespaceMoved]));
        assert_eq!(pair("x\n", "A"), ("x".into(), "Ċ|A".into(), vec![BoundaryFlag::WhitespaceMoved]));
    }

    #[test]
    fn whitespace_is_what_python_strips() {
        // chr(c).isspace() in Python 3.11, all code points.
        let python = [
            0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
            0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
        ];
        let ours: Vec<u32> = ('\0'..=char::MAX).filter(|&c| is_python_space(c)).map(u32::from).collect();
        assert_eq!(ours, python);
    }

    #[test]
    fn a_token_that_spans_the_join_belongs_to_the_context() {
        // "abc" is `ab|c`, "a" is `a`: the first token of the whole is not the context's.
        assert_eq!(pair("a", "bc"), ("a".into(), "c".into(), vec![BoundaryFlag::MergeAcrossJoin]));
    }

    #[test]
    fn a_continuation_that_a_merge_swallows_is_encoded_alone() {
        assert_eq!(pair("a", "b"), ("a".into(), "b".into(), vec![BoundaryFlag::MergeAcrossJoin, BoundaryFlag::EmptyContinuation]));
    }

    #[test]
    fn an_empty_continuation_has_no_tokens_and_is_flagged() {
        assert_eq!(pair("x", ""), ("x".into(), "".into(), vec![BoundaryFlag::EmptyContinuation]));
        assert_eq!(pair("", ""), ("<s>".into(), "".into(), vec![BoundaryFlag::EmptyContinuation]));
        // The whitespace that moved is all there is to score.
        assert_eq!(pair("x ", ""), ("x".into(), "Ġ".into(), vec![BoundaryFlag::WhitespaceMoved]));
    }

    #[test]
    fn an_empty_context_becomes_the_prefix_token() {
        assert_eq!(pair("", " A"), ("<s>".into(), "ĠA".into(), vec![]));
        assert_eq!(pair("", "<s>x"), ("<s>".into(), "x".into(), vec![]));
        assert_eq!(pair("", "<s>"), ("<s>".into(), "<s>".into(), vec![]));
    }

    #[test]
    fn a_context_of_whitespace_alone_becomes_the_prefix_token() {
        assert_eq!(pair("  \n", "b"), ("<s>".into(), "Ġ|Ġ|Ċ|b".into(), vec![BoundaryFlag::WhitespaceMoved]));
    }

    #[test]
    fn the_prefix_token_is_the_chosen_one_else_bos_else_eos() {
        let prefix = |spec: TokenizerSpec, chosen: Option<u32>| {
            let tokenizer = Tokenizer::from_spec(spec).expect("a sound vocabulary");
            Encoder::new(&tokenizer, &RunSpec { prefix_token_id: chosen, ..RunSpec::default() }, 100).map(|e| e.prefix_id())
        };
        assert_eq!(prefix(small("gpt-2"), Some(5)), Ok(5));
        assert_eq!(prefix(small("gpt-2"), None), Ok(0));
        assert_eq!(prefix(TokenizerSpec { bos_id: None, ..small("gpt-2") }, None), Ok(1));
        let neither = TokenizerSpec { bos_id: None, eos_id: None, ..small("gpt-2") };
        assert_eq!(prefix(neither, None).map_err(|e| e.kind), Err(ErrorKind::RunSpec));
        assert_eq!(prefix(small("gpt-2"), Some(100_000)).map_err(|e| e.kind), Err(ErrorKind::RunSpec));
    }

    #[test]
    fn bos_comes_in_front_once() {
        let spec = RunSpec { add_bos: AddBos::Yes, ..RunSpec::default() };
        for context in ["x", "<s>x"] {
            let encoded = encode_with(&tokenizer(), &spec, 100, &doc(OutputType::Loglikelihood, &[(context, " A")])).expect("it fits");
            assert_eq!(encoded.requests[0].context.iter().filter(|&&id| id == 0).count(), 1, "{context}");
            assert_eq!(encoded.requests[0].context.len(), 2, "{context}");
            assert_eq!(encoded.requests[0].continuation.len(), 1, "{context}");
        }
    }

    #[test]
    fn bos_does_not_come_twice_where_it_is_also_the_prefix_token() {
        let spec = RunSpec { add_bos: AddBos::Yes, ..RunSpec::default() };
        let encoded = encode_with(&tokenizer(), &spec, 100, &doc(OutputType::Loglikelihood, &[("", " A")])).expect("it fits");
        assert_eq!((&encoded.requests[0].context[..], encoded.requests[0].continuation.len()), (&[0][..], 1));
    }

    #[test]
    fn asking_for_a_bos_that_is_not_there_is_an_error() {
        let tokenizer = Tokenizer::from_spec(TokenizerSpec { bos_id: None, ..small("gpt-2") }).expect("a sound vocabulary");
        let spec = RunSpec { add_bos: AddBos::Yes, ..RunSpec::default() };
        assert_eq!(Encoder::new(&tokenizer, &spec, 100).map(|_| ()).map_err(|e| e.kind), Err(ErrorKind::RunSpec));
    }

    #[test]
    fn the_left_is_cut_so_that_what_is_fed_fits() {
        // 6 + 3 tokens; the last is not fed, so 8 fit as they are, and a window of 4 keeps the last 5: 2 of the context.
        let doc = doc(OutputType::Loglikelihood, &[("xyzxyz", "uvw")]);
        let lengths = |n_ctx| {
            let encoded = encode_with(&tokenizer(), &RunSpec::default(), n_ctx, &doc).expect("it fits");
            (encoded.requests[0].context.len(), encoded.requests[0].continuation.len(), encoded.flags)
        };
        assert_eq!(lengths(8), (6, 3, vec![]));
        assert_eq!(lengths(7), (5, 3, vec![BoundaryFlag::Truncated]));
        assert_eq!(lengths(4), (2, 3, vec![BoundaryFlag::Truncated]));
        assert_eq!(lengths(3), (1, 3, vec![BoundaryFlag::Truncated]));
        let error = encode_with(&tokenizer(), &RunSpec::default(), 2, &doc).expect_err("three tokens in a window of two");
        assert_eq!((error.kind, error.place.as_deref()), (ErrorKind::ContextTooLong, Some("line 7")));
    }

    #[test]
    fn rolling_windows_score_every_token_once() {
        // Seven tokens in windows of three, lm-eval's: each window's first token follows the one before it, the last window is
        // filled up from the left.
        let t = tokenizer();
        let encoded = encode_with(&t, &RunSpec::default(), 3, &doc(OutputType::LoglikelihoodRolling, &[("", "tuvwxyz")])).expect("windows");
        let shown = |ids: &[u32]| ids.iter().map(|&id| t.token(id).expect("an id of the vocabulary")).collect::<String>();
        let windows: Vec<_> = encoded.requests.iter().map(|r| (shown(&r.context), shown(&r.continuation))).collect();
        assert_eq!(windows, [("<s>", "tuv"), ("v", "wxy"), ("wxy", "z")].map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn an_empty_document_has_no_window() {
        let encoded = encode_with(&tokenizer(), &RunSpec::default(), 3, &doc(OutputType::LoglikelihoodRolling, &[("", "")])).expect("nothing to do");
        assert_eq!(encoded.requests, []);
    }

    #[test]
    fn mutual_information_asks_for_each_choice_after_nothing_and_after_answer() {
        let t = tokenizer();
        let spec = RunSpec { mutual_info: true, ..RunSpec::default() };
        let encoded = encode_with(&t, &spec, 100, &doc(OutputType::MultipleChoice, &[("x", " A"), ("x", " b")])).expect("it fits");
        let a = t.encode(" A").expect("ids");
        assert_eq!(encoded.unconditional.len(), 2);
        assert_eq!(encoded.unconditional[0], EncodedRequest { context: [0].into(), continuation: a.clone() });
        assert_eq!(encoded.answer[0], EncodedRequest { context: t.encode("Answer:").expect("ids").into(), continuation: a });
    }

    #[test]
    fn the_texts_of_choices_are_looked_at() {
        use BoundaryFlag as F;
        let pairs = [("x", " A"), ("x", " b")];
        assert_eq!(flags_of_choices(&pairs, &["A", "b"]), []);
        assert_eq!(flags_of_choices(&pairs, &["A ", "b"]), [F::TrailingWhitespace]);
        assert_eq!(flags_of_choices(&pairs, &[" A", "b"]), [F::UnevenLeadingSpace]);
        assert_eq!(flags_of_choices(&pairs, &["A", "A"]), [F::EqualChoices]);
        assert_eq!(flags_of_choices(&[("x ", " A"), ("x ", " b")], &["A", "b"]), [F::DoubleSpace, F::LetterOfSeveralTokens, F::WhitespaceMoved]);
        // " C" is no token of this vocabulary.
        assert_eq!(flags_of_choices(&[("x", " A"), ("x", " C")], &["A", "C"]), [F::LetterOfSeveralTokens]);
        assert_eq!(flags_of_choices(&[("x\u{4}", " A"), ("x", " b")], &["A", "b"]), [F::DroppedBytes]);
    }

    #[test]
    fn what_was_met_before_does_not_change_the_ids() {
        let t = tokenizer();
        let encoder = Encoder::new(&t, &RunSpec::default(), 100).expect("sound settings");
        for text in ["xy\nAb A\nb", "xy\nAb\n\nA", "xy\nAb A\nb ab"] {
            assert_eq!(encoder.ids(text).expect("ids"), t.encode(text).expect("ids"), "{text:?}");
        }
    }
}
