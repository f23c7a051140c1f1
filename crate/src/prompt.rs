//! Doc → token ids: lm-eval's pair encoding, truncation, rolling windows, and what is odd about where the join falls.
//!
//! In: a [`Doc`] (text) and the tokenizer. Out: [`EncodedDoc`]: ids, and the flags of the boundary report.
//! Nothing is dropped in silence: a continuation that comes out empty is encoded alone and flagged.
//!
//! Source: lm-evaluation-harness 0.4.13, `api/model.py` (`_encode_pair`), `models/huggingface.py` (truncation), `utils.py`
//! (rolling windows); the rules are in evaluation order in [`Encoder::pair`].

use crate::engine::Sequence;
use crate::error::{ErrorKind, EvalError, Result};
use crate::score::BoundaryFlag;
use crate::spec::{AddBos, RunSpec};
use crate::task::doc::{Doc, OutputType};
use crate::tokenizer::{AddSpecial, Piece, Tokenizer};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
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
pub struct Encoder<'a> {
    tokenizer: &'a Tokenizer,
    add_bos: AddBos,
    prefix_id: u32,
    /// Tokens that fit into the model at once.
    max_length: usize,
    mutual_info: bool,
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
    /// `RunSpec` where there is no token for an empty context, the chosen one is outside the vocabulary, or the window is empty.
    pub fn new(tokenizer: &'a Tokenizer, spec: &RunSpec, n_ctx: usize) -> Result<Self> {
        let bad = |key: &str, message: String| EvalError::new(ErrorKind::RunSpec, message).at(format!("setting \"{key}\""));
        let prefix_id = spec
            .prefix_token_id
            .or(tokenizer.bos_id())
            .or(tokenizer.eos_id())
            .ok_or_else(|| bad("prefix_token_id", "the model has neither BOS nor EOS, so the token for an empty context has to be chosen".into()))?;
        if prefix_id as usize >= tokenizer.n_vocab() {
            return Err(bad("prefix_token_id", format!("token {prefix_id} is outside the vocabulary of {}", tokenizer.n_vocab())));
        }
        let max_length = spec.max_length.unwrap_or(n_ctx);
        if max_length < 2 || max_length > n_ctx {
            return Err(bad("max_length", format!("is {max_length}, the model takes 2 to {n_ctx} tokens")));
        }
        Ok(Self { tokenizer, add_bos: spec.add_bos, prefix_id, max_length, mutual_info: spec.mutual_info })
    }

    /// The token that stands for an empty context.
    pub fn prefix_id(&self) -> u32 {
        self.prefix_id
    }

    /// Whether contexts begin with BOS.
    pub fn adds_bos(&self) -> bool {
        match self.add_bos {
            AddBos::Auto => self.tokenizer.adds_bos(),
            AddBos::Yes => self.tokenizer.bos_id().is_some(),
            AddBos::No => false,
        }
    }

    /// Ids of a text that starts a sequence: BOS in front where the settings say so, never twice.
    fn start(&self, text: &str) -> Result<Vec<u32>> {
        let ids = self.tokenizer.encode(text, AddSpecial::No)?;
        match self.tokenizer.bos_id().filter(|_| self.adds_bos()) {
            Some(bos) if ids.first() != Some(&bos) => Ok(std::iter::once(bos).chain(ids).collect()),
            _ => Ok(ids),
        }
    }

    /// Encodes one pair; `encoded_context` gives the ids of a context, from memory where it was met before.
    fn pair(&self, context: &str, continuation: &str, contexts: &mut Contexts, flags: &mut BTreeSet<BoundaryFlag>) -> Result<EncodedRequest> {
        if context.is_empty() {
            let continuation = self.tokenizer.encode(continuation, AddSpecial::No)?;
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
            continuation_ids = self.tokenizer.encode(&format!("{moved}{continuation}"), AddSpecial::No)?;
        }
        // A context of whitespace alone leaves nothing to condition on.
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
