//! The stepper: docs in, scored items out, a batch a call. Pausing, cancelling and showing belong to the caller.
//!
//! A run goes through three phases: *encode* (texts to ids; after it the boundary report is complete and nothing has been
//! scored), *score* (one pass over every doc, in the order of `plan`), *settle* (docs whose two best choices are nearly tied by
//! some rule, or whose greediness hangs by a hair, once more in float32; the later item replaces the earlier).
//! A doc that fails is counted with its reason, and the run goes on.

use crate::engine::{Sequence, TokenScore};
use crate::error::{ErrorKind, EvalError, Result};
use crate::model::Model;
use crate::plan::{self, BATCH_ROWS};
use crate::prompt::{join_view, EncodedDoc, EncodedRequest, Encoder, JoinView, TokenView};
use crate::score::{item_score, near_ties, BoundaryFlag, FailedItem, ItemScore, ScoredContinuation, ScoredDoc, TokenScores};
use crate::spec::{Precision, RunSpec};
use crate::task::doc::{Doc, OutputType, Request};
use crate::tokenizer::Tokenizer;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use ts_rs::TS;

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Texts become token ids.
    Encode,
    /// Docs are scored.
    Score,
    /// Near ties are scored again in float32.
    Settle,
    /// Nothing is left to do.
    Done,
}

/// What one call did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Step {
    /// The phase that the next call is in.
    pub phase: Phase,
    /// Items that this call scored; one with the index of an earlier one replaces it.
    pub items: Vec<ItemScore>,
    /// Docs that failed in this call.
    pub failed: Vec<FailedItem>,
    /// Docs done in this phase.
    pub n_done: usize,
    /// Docs of this phase.
    pub n_total: usize,
    /// Tokens fed to the model by this call.
    pub n_tokens: usize,
    /// Tokens fed by now, in all phases.
    #[ts(type = "number")]
    pub n_tokens_done: u64,
    /// Tokens that all docs of this phase need, as far as is known; what docs share counts once.
    #[ts(type = "number")]
    pub n_tokens_total: u64,
}

/// One doc as it is fed.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
pub struct DocView {
    /// Its texts.
    pub doc: Doc,
    /// The whole context of its first request.
    pub context: Vec<TokenView>,
    /// The scored tokens of each request.
    pub continuations: Vec<Vec<TokenView>>,
}

/// How many docs have a flag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FlaggedDocs {
    /// The flag.
    pub flag: BoundaryFlag,
    /// Docs that have it.
    pub n_docs: usize,
    /// Lines of the first of them.
    pub lines: Vec<usize>,
}

/// The boundary report: what is known before anything is scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Prepared {
    /// Docs that will be scored.
    pub n_docs: usize,
    /// Docs that cannot be, with the reason.
    pub failed: usize,
    /// Continuations that will be scored.
    pub n_requests: usize,
    /// Tokens that will be fed; what docs share counts once.
    #[ts(type = "number")]
    pub n_tokens: u64,
    /// Longest sequence, tokens.
    pub longest: usize,
    /// Flags with at least one doc.
    pub flags: Vec<FlaggedDocs>,
    /// The first docs, and the first doc of each flag, with the join marked.
    pub examples: Vec<JoinView>,
    /// The token that stands for an empty context.
    pub prefix_token: TokenView,
    /// Contexts begin with BOS.
    pub adds_bos: bool,
    /// Window in tokens.
    pub max_length: usize,
}

/// Docs that are encoded in one call.
const ENCODE_DOCS: usize = 64;
/// A continuation is nearly (not) greedy when one of its tokens is this close to its rival, nats: three times the engine's
/// bound in default precision.
const NEARLY_GREEDY: f64 = 3e-2;

/// A null context's log-likelihoods, by the ids of context and continuation: choices recur from doc to doc.
type NullScores = HashMap<(Arc<[u32]>, Vec<u32>), f64>;

/// One run over the docs of a task.
pub struct Run {
    spec: RunSpec,
    tokenizer: Arc<Tokenizer>,
    max_length: usize,
    docs: Vec<Doc>,
    /// By position of the doc; `None` where encoding failed or has not come to it.
    encoded: Vec<Option<EncodedDoc>>,
    phase: Phase,
    /// Positions of docs, in the order of this phase.
    queue: Vec<usize>,
    cursor: usize,
    items: BTreeMap<usize, ItemScore>,
    failed: BTreeMap<usize, FailedItem>,
    null_scores: [NullScores; 2],
    /// New tokens of each doc in the order of the queue.
    costs: Vec<usize>,
    n_tokens_done: u64,
    can_settle: bool,
}

impl Run {
    /// A run at its first doc.
    ///
    /// # Errors
    /// `RunSpec` for settings that the model contradicts, see [`Encoder::new`].
    pub fn new(model: &Model, docs: Vec<Doc>, spec: RunSpec) -> Result<Self> {
        let tokenizer = model.tokenizer();
        let n_ctx = model.info.n_ctx;
        Encoder::new(&tokenizer, &spec, n_ctx)?;
        let phase = if docs.is_empty() { Phase::Done } else { Phase::Encode };
        Ok(Self {
            max_length: spec.max_length.unwrap_or(n_ctx),
            can_settle: spec.precision == Precision::Default && model.info.engine == "own",
            encoded: vec![None; docs.len()],
            spec,
            tokenizer,
            docs,
            phase,
            queue: Vec::new(),
            cursor: 0,
            items: BTreeMap::new(),
            failed: BTreeMap::new(),
            null_scores: Default::default(),
            costs: Vec::new(),
            n_tokens_done: 0,
        })
    }

    /// Takes over items of an earlier run with the same settings: they are not scored again.
    ///
    /// Call it before the first step.
    pub fn restore(&mut self, items: Vec<ItemScore>) {
        let known: std::collections::BTreeSet<usize> = self.docs.iter().map(|d| d.index).collect();
        self.items.extend(items.into_iter().filter(|i| known.contains(&i.index)).map(|i| (i.index, i)));
    }

    /// The docs of the run, in the order of the data.
    pub fn docs(&self) -> &[Doc] {
        &self.docs
    }

    /// Items scored by now, in the order of the data.
    pub fn items(&self) -> Vec<ItemScore> {
        self.items.values().cloned().collect()
    }

    /// Docs that failed by now, in the order of the data.
    pub fn failed(&self) -> Vec<FailedItem> {
        self.failed.values().cloned().collect()
    }

    /// Tokens fed by now.
    pub fn n_tokens_done(&self) -> u64 {
        self.n_tokens_done
    }

    /// The phase that the next step is in.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    fn encoder(&self) -> Result<Encoder<'_>> {
        Encoder::new(&self.tokenizer, &self.spec, self.max_length)
    }

    /// One doc as it is fed; `None` where it is no doc of this run.
    ///
    /// # Errors
    /// As [`Encoder::doc`].
    pub fn doc_view(&self, index: usize) -> Result<Option<DocView>> {
        let Some(doc) = self.docs.iter().find(|d| d.index == index) else { return Ok(None) };
        let encoded = self.encoder()?.doc(doc)?;
        let view = |ids: &[u32]| ids.iter().map(|&id| TokenView::from(self.tokenizer.piece(id))).collect();
        Ok(Some(DocView {
            doc: doc.clone(),
            context: view(encoded.requests.first().map_or(&[][..], |r| &r.context)),
            continuations: encoded.requests.iter().map(|r| view(&r.continuation)).collect(),
        }))
    }

    /// Scores a changed prompt in place of a doc's own, in float32; nothing of it is kept.
    ///
    /// # Errors
    /// `RunSpec` where there is no such doc or the number of continuations is another; else what the engine says.
    pub fn rescore(&mut self, model: &mut Model, index: usize, context: &str, continuations: &[String]) -> Result<ItemScore> {
        let bad = |message: String| EvalError::new(ErrorKind::RunSpec, message);
        let doc = self.docs.iter().find(|d| d.index == index).ok_or_else(|| bad(format!("the run has no doc with index {index}")))?;
        if continuations.len() != doc.requests.len() {
            return Err(bad(format!("{} continuations for a doc that has {}", continuations.len(), doc.requests.len())));
        }
        let context: Arc<str> = context.into();
        let requests = continuations.iter().map(|c| Request { context: Arc::clone(&context), continuation: c.clone() }).collect();
        let doc = Doc { requests, ..doc.clone() };
        let encoded = self.encoder()?.doc(&doc)?;
        self.score_encoded(model, &[&doc], &[&encoded], &[], Precision::Float32).map(|mut items| items.remove(0))
    }

    /// The boundary report. Complete once the phase is past `encode`.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn prepared(&self) -> Result<Prepared> {
        const SHOWN_LINES: usize = 5;
        const SHOWN_DOCS: usize = 3;
        let encoder = self.encoder()?;
        let mut flags: BTreeMap<BoundaryFlag, FlaggedDocs> = BTreeMap::new();
        let (mut examples, mut longest, mut n_docs, mut n_requests) = (Vec::new(), 0, 0, 0);
        for (doc, encoded) in self.docs.iter().zip(&self.encoded).filter_map(|(d, e)| Some((d, e.as_ref()?))) {
            let mut is_example = n_docs < SHOWN_DOCS;
            n_docs += 1;
            n_requests += encoded.requests.len();
            longest = encoded.requests.iter().map(|r| r.context.len() + r.continuation.len()).fold(longest, usize::max);
            for &flag in &encoded.flags {
                let entry = flags.entry(flag).or_insert_with(|| FlaggedDocs { flag, n_docs: 0, lines: Vec::new() });
                is_example |= entry.n_docs == 0;
                entry.n_docs += 1;
                if entry.lines.len() < SHOWN_LINES {
                    entry.lines.push(doc.line);
                }
            }
            if is_example {
                examples.push(join_view(&self.tokenizer, doc, encoded));
            }
        }
        Ok(Prepared {
            n_docs,
            failed: self.failed.len(),
            n_requests,
            n_tokens: self.costs.iter().map(|&c| c as u64).sum(),
            longest,
            flags: flags.into_values().collect(),
            examples,
            prefix_token: self.tokenizer.piece(encoder.prefix_id()).into(),
            adds_bos: encoder.adds_bos(),
            max_length: self.max_length,
        })
    }

    /// Does the next piece of work.
    ///
    /// # Errors
    /// Only what stops the whole run; a doc that fails is in [`Step::failed`].
    pub fn step(&mut self, model: &mut Model) -> Result<Step> {
        match self.phase {
            Phase::Encode => self.encode(),
            Phase::Score => Ok(self.score(model, self.spec.precision)),
            Phase::Settle => Ok(self.score(model, Precision::Float32)),
            Phase::Done => Ok(self.report(Vec::new(), Vec::new(), 0)),
        }
    }

    fn report(&self, items: Vec<ItemScore>, failed: Vec<FailedItem>, n_tokens: usize) -> Step {
        Step {
            phase: self.phase,
            items,
            failed,
            n_done: self.cursor,
            n_total: if self.phase == Phase::Encode { self.docs.len() } else { self.queue.len() },
            n_tokens,
            n_tokens_done: self.n_tokens_done,
            n_tokens_total: self.costs.iter().map(|&c| c as u64).sum(),
        }
    }

    fn encode(&mut self) -> Result<Step> {
        let end = self.docs.len().min(self.cursor + ENCODE_DOCS);
        let mut failed = Vec::new();
        let encoded: Vec<_> = {
            let encoder = self.encoder()?;
            (self.cursor..end).map(|i| encoder.doc(&self.docs[i])).collect()
        };
        for (i, encoded) in (self.cursor..end).zip(encoded) {
            match encoded {
                Ok(encoded) => self.encoded[i] = Some(encoded),
                Err(error) => failed.push(FailedItem { index: self.docs[i].index, line: self.docs[i].line, error }),
            }
        }
        self.failed.extend(failed.iter().map(|f| (f.index, f.clone())));
        self.cursor = end;
        if end == self.docs.len() {
            let todo = (0..end).filter(|&i| self.encoded[i].is_some() && !self.items.contains_key(&self.docs[i].index)).collect();
            self.enter(Phase::Score, todo);
        }
        Ok(self.report(Vec::new(), failed, 0))
    }

    /// Starts a phase over some docs; an empty one is over at once.
    fn enter(&mut self, phase: Phase, docs: Vec<usize>) {
        let first_sequences: Vec<Vec<u32>> = docs.iter().map(|&i| first_tokens(self.encoded[i].as_ref())).collect();
        let beginnings: Vec<&[u32]> = first_sequences.iter().map(Vec::as_slice).collect();
        self.queue = plan::order(&beginnings).into_iter().map(|i| docs[i]).collect();
        self.costs = new_tokens(self.queue.iter().map(|&i| self.encoded[i].as_ref()));
        (self.phase, self.cursor) = (phase, 0);
        self.leave_if_over();
    }

    fn leave_if_over(&mut self) {
        if self.cursor < self.queue.len() {
            return;
        }
        if self.phase == Phase::Score && self.can_settle {
            let position: HashMap<usize, usize> = self.docs.iter().enumerate().map(|(i, d)| (d.index, i)).collect();
            let unsettled =
                self.items.values().filter(|item| item.precision == Precision::Default && (near_ties(item) || self.is_nearly_greedy(item)));
            let unsettled: Vec<usize> = unsettled.map(|item| position[&item.index]).collect();
            if !unsettled.is_empty() {
                return self.enter(Phase::Settle, unsettled);
            }
        }
        self.phase = Phase::Done;
    }

    fn is_nearly_greedy(&self, item: &ItemScore) -> bool {
        item.choices.iter().any(|c| c.least_margin.is_some_and(|m| m.abs() < NEARLY_GREEDY))
    }

    /// Scores the next batch of the queue.
    fn score(&mut self, model: &mut Model, precision: Precision) -> Step {
        let mut end = self.cursor;
        let mut n_tokens = 0;
        while end < self.queue.len() && (end == self.cursor || n_tokens + self.costs[end] <= BATCH_ROWS) {
            n_tokens += self.costs[end];
            end += 1;
        }
        let batch: Vec<usize> = self.queue[self.cursor..end].to_vec();
        let next = self.queue.get(end).map(|&i| first_tokens(self.encoded[i].as_ref())).unwrap_or_default();
        let (mut items, mut failed) = (Vec::new(), Vec::new());
        match self.score_docs(model, &batch, &next, precision) {
            Ok(scored) => items = scored,
            // One doc at a time, so that only the guilty ones fail.
            Err(_) => {
                for &doc in &batch {
                    match self.score_docs(model, &[doc], &[], precision) {
                        Ok(scored) => items.extend(scored),
                        Err(error) => {
                            let (index, line) = (self.docs[doc].index, self.docs[doc].line);
                            failed.push(FailedItem { index, line, error: error.at(format!("line {line}")) });
                        }
                    }
                }
            }
        }
        self.items.extend(items.iter().map(|i| (i.index, i.clone())));
        self.failed.extend(failed.iter().map(|f| (f.index, f.clone())));
        for f in &failed {
            self.items.remove(&f.index);
        }
        self.cursor = end;
        self.n_tokens_done += n_tokens as u64;
        let step = self.report(items, failed, n_tokens);
        self.leave_if_over();
        Step { phase: self.phase, ..step }
    }

    /// One engine call for some docs, by their positions.
    fn score_docs(&mut self, model: &mut Model, positions: &[usize], next: &[u32], precision: Precision) -> Result<Vec<ItemScore>> {
        let docs = std::mem::take(&mut self.docs);
        let encoded = std::mem::take(&mut self.encoded);
        let pairs: Vec<(&Doc, &EncodedDoc)> = positions.iter().filter_map(|&i| Some((&docs[i], encoded[i].as_ref()?))).collect();
        let (some_docs, some_encoded): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let scored = self.score_encoded(model, &some_docs, &some_encoded, next, precision);
        (self.docs, self.encoded) = (docs, encoded);
        scored
    }

    /// One engine call for some docs.
    fn score_encoded(
        &mut self,
        model: &mut Model,
        docs: &[&Doc],
        encoded: &[&EncodedDoc],
        next: &[u32],
        precision: Precision,
    ) -> Result<Vec<ItemScore>> {
        let null_scores = &mut self.null_scores[usize::from(precision == Precision::Float32)];
        let mut sequences: Vec<Sequence> = encoded.iter().flat_map(|e| e.requests.iter().map(EncodedRequest::sequence)).collect();
        let n_own = sequences.len();
        // Null contexts: one more pass per distinct continuation.
        let mut missing: Vec<&EncodedRequest> = Vec::new();
        let mut asked = HashSet::new();
        for request in encoded.iter().flat_map(|e| e.unconditional.iter().chain(&e.answer)) {
            if !null_scores.contains_key(&null_key(request)) && asked.insert(null_key(request)) {
                missing.push(request);
            }
        }
        sequences.extend(missing.iter().map(|r| r.sequence()));
        let scores = model.engine().score(&sequences, next, precision)?;
        null_scores.extend(missing.iter().zip(&scores[n_own..]).map(|(r, s)| (null_key(r), token_scores(s).loglikelihood())));
        let null = |requests: &[EncodedRequest], i: usize| requests.get(i).and_then(|r| null_scores.get(&null_key(r))).copied();
        let mut scores = scores[..n_own].iter();
        let items = docs.iter().zip(encoded).map(|(doc, encoded)| {
            let parts: Vec<(&EncodedRequest, &Vec<TokenScore>)> = encoded.requests.iter().zip(scores.by_ref().take(encoded.requests.len())).collect();
            let continuation = |i: usize, parts: &[(&EncodedRequest, &Vec<TokenScore>)]| {
                let all: Vec<TokenScore> = parts.iter().flat_map(|(_, s)| s.iter().copied()).collect();
                ScoredContinuation {
                    token_ids: parts.iter().flat_map(|(r, _)| r.continuation.iter().copied()).collect(),
                    scores: token_scores(&all),
                    loglikelihood_unconditional: null(&encoded.unconditional, i),
                    loglikelihood_answer: null(&encoded.answer, i),
                }
            };
            let continuations = match doc.output_type {
                OutputType::LoglikelihoodRolling => vec![continuation(0, &parts)],
                OutputType::MultipleChoice | OutputType::Loglikelihood => {
                    parts.iter().enumerate().map(|(i, part)| continuation(i, std::slice::from_ref(part))).collect()
                }
            };
            let n_context_tokens = encoded.requests.first().map_or(0, |r| r.context.len());
            item_score(doc, ScoredDoc { continuations, n_context_tokens, flags: encoded.flags.clone(), precision })
        });
        Ok(items.collect())
    }
}

fn null_key(request: &EncodedRequest) -> (Arc<[u32]>, Vec<u32>) {
    (Arc::clone(&request.context), request.continuation.clone())
}

fn token_scores(scores: &[TokenScore]) -> TokenScores {
    TokenScores {
        token_logprobs: scores.iter().map(|s| s.logprob).collect(),
        is_greedy: scores.iter().all(|s| s.is_argmax),
        least_margin: scores.iter().map(|s| f64::from(s.margin)).reduce(f64::min),
    }
}

/// The tokens that a doc's first sequence feeds.
fn first_tokens(encoded: Option<&EncodedDoc>) -> Vec<u32> {
    encoded.and_then(|e| e.requests.first()).map(|r| r.sequence().tokens).unwrap_or_default()
}

/// Tokens of each doc that the sequence before it does not begin with: what the engine will compute, near enough for batches
/// and for progress.
fn new_tokens<'a>(docs: impl Iterator<Item = Option<&'a EncodedDoc>>) -> Vec<usize> {
    let mut before: Vec<u32> = Vec::new();
    docs.map(|encoded| {
        let mut n = 0;
        for request in encoded.into_iter().flat_map(|e| &e.requests) {
            let tokens = request.sequence().tokens;
            n += tokens.len() - crate::engine::tree::common_prefix(&before, &tokens);
            before = tokens;
        }
        n
    })
    .collect()
}
