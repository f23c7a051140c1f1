//! Our own decoder: a token tree in, log-probabilities of the scored tokens out.
//!
//! In: [`Weights`] and a batch of [`Sequence`]s. Out: one [`TokenScore`] per target. The tree's new nodes run through the
//! layers in stretches of [`STRETCH_NODES`]; linear layers see all rows of a stretch at once, attention sees paths.
//! The chain that the next batch begins with stays in the cache.

use super::attention::{attend, HeadShape, LayerCache};
use super::head::{self, TokenScore};
use super::kernels::gemm::{dequantize_row, matmul, Into, Matrix, Output};
use super::kernels::math::{rms_norm, silu_mul, RopeTable};
use super::kernels::pool::{Disjoint, Pool};
use super::kernels::rows::{Forms, Rows};
use super::tree::{common_prefix, Sequence, Tree};
use super::Engine;
use crate::error::{ErrorKind, EvalError, Result};
use crate::model::config::DecoderConfig;
use crate::model::weights::{Layer, Weights};
use crate::spec::Precision;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows that go through a layer at once: bounds the activations' memory for long prompts.
const STRETCH_NODES: usize = 512;
/// Rows of the output layer at once: bounds the memory of one task's logits.
const HEAD_ROWS: usize = 128;
/// A kept chain is cut at this many bytes of keys and values.
const KEPT_BYTES: usize = 160 << 20;

/// The decoder with its cache.
pub struct Decoder {
    config: DecoderConfig,
    weights: Arc<Weights>,
    pool: Pool,
    rope: RopeTable,
    cache: Vec<LayerCache>,
    /// Tokens whose keys and values are in the first slots, and the arithmetic they were made in.
    kept: Vec<u32>,
    kept_precision: Precision,
    buffers: Buffers,
}

/// Activations of one stretch, kept from call to call.
#[derive(Default)]
struct Buffers {
    residual: Vec<f32>,
    packed: Rows,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    attended: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
}

/// Forms that these matrices read their rows in.
fn forms(precision: Precision, matrices: &[&Matrix]) -> Forms {
    let n_int = matrices.iter().filter(|m| m.is_int(precision)).count();
    Forms { int: n_int > 0, float: n_int < matrices.len() }
}

/// Packs RMS-normalised rows; as many as `rows` has of `weight`'s length.
fn pack_normalised(packed: &mut Rows, pool: &Pool, rows: &[f32], weight: &[f32], eps: f32, forms: Forms) {
    let d = weight.len();
    packed.fill(pool, rows.len() / d, d, forms, |row, out| rms_norm(&rows[row * d..][..d], weight, eps, out));
}

impl Decoder {
    /// A decoder with an empty cache.
    pub fn new(config: DecoderConfig, weights: Arc<Weights>, pool: Pool) -> Self {
        let rope = RopeTable::new(config.head_dim, config.rope_theta, &weights.rope_factors);
        let cache = (0..config.n_layers).map(|_| LayerCache::default()).collect();
        Self { config, weights, pool, rope, cache, kept: Vec::new(), kept_precision: Precision::Default, buffers: Buffers::default() }
    }

    /// Threads that share its work.
    pub fn n_threads(&self) -> usize {
        self.pool.n_threads()
    }

    fn shape(&self) -> HeadShape {
        HeadShape { n_heads: self.config.n_heads, n_kv_heads: self.config.n_kv_heads, head_dim: self.config.head_dim }
    }

    /// Cuts the kept chain to what every scored position of the batch allows: a scored token's hidden state has to be computed.
    fn trim_kept(&mut self, sequences: &[Sequence], precision: Precision) {
        if self.kept_precision != precision {
            self.kept.clear();
        }
        for s in sequences {
            let shared = common_prefix(&self.kept, &s.tokens);
            if let Some(first) = s.targets.first().filter(|t| t.position < shared) {
                self.kept.truncate(first.position);
            }
        }
        self.kept_precision = precision;
    }

    /// Keeps the keys and values of the chain that `next` begins with, in the first slots.
    fn keep(&mut self, tree: &Tree, next: &[u32]) {
        let width = self.config.n_kv_heads * self.config.head_dim;
        let per_token = 2 * width * self.config.n_layers * size_of::<f32>();
        let chain = tree.find(next);
        let chain = &chain[..chain.len().min(KEPT_BYTES / per_token)];
        for layer in &mut self.cache {
            for side in [&mut layer.keys, &mut layer.values] {
                // A chain's slots ascend, so slot `to` was read before it is overwritten.
                for (to, &from) in chain.iter().enumerate() {
                    side.copy_within(from as usize * width..(from as usize + 1) * width, to * width);
                }
            }
        }
        self.kept = next[..chain.len()].to_vec();
    }

    /// Runs nodes through all layers; leaves the hidden states of `asked` of them, by their rows in order, in `buffers.residual`.
    ///
    /// Of what is not asked for, the last layer computes keys and values alone: nobody reads more.
    fn forward(&mut self, tree: &Tree, nodes: std::ops::Range<usize>, asked: &[usize], precision: Precision) {
        let n = nodes.len();
        let shape = self.shape();
        let c = &self.config;
        let (d_model, d_q, d_kv) = (c.d_model, c.n_heads * c.head_dim, c.n_kv_heads * c.head_dim);
        let weights = Arc::clone(&self.weights);
        let pool = &self.pool;
        let b = &mut self.buffers;
        b.residual.resize(n * d_model, 0.0);
        for (row, node) in b.residual.chunks_exact_mut(d_model).zip(nodes.clone()) {
            dequantize_row(&weights.embedding, tree.token(node) as usize, row);
        }
        b.k.resize(n * d_kv, 0.0);
        b.v.resize(n * d_kv, 0.0);
        let all: Vec<usize> = nodes.clone().collect();
        let of_last: Vec<usize> = asked.iter().map(|row| nodes.start + row).collect();
        for (i, (layer, cache)) in weights.layers.iter().zip(&mut self.cache).enumerate() {
            let Layer { wq, wk, wv, wo, w_gate, w_up, w_down, .. } = layer;
            let is_cut = i + 1 == weights.layers.len() && asked.len() < n;
            // The nodes that go through the whole layer.
            let whole = if is_cut { &of_last } else { &all };
            let n_whole = whole.len();
            b.q.resize(n_whole * d_q, 0.0);
            b.attended.resize(n_whole * d_q, 0.0);
            b.gate.resize(n_whole * c.d_ff, 0.0);
            b.up.resize(n_whole * c.d_ff, 0.0);
            let q = Output { w: wq, into: Into::bias(&layer.bq), out: &mut b.q };
            let k = Output { w: wk, into: Into::bias(&layer.bk), out: &mut b.k };
            let v = Output { w: wv, into: Into::bias(&layer.bv), out: &mut b.v };
            pack_normalised(&mut b.packed, pool, &b.residual, &layer.attn_norm, c.rms_eps, forms(precision, &[wq, wk, wv]));
            if is_cut {
                matmul(pool, &b.packed, [k, v], precision);
                for (to, &from) in asked.iter().enumerate() {
                    b.residual.copy_within(from * d_model..(from + 1) * d_model, to * d_model);
                }
                b.residual.truncate(n_whole * d_model);
                pack_normalised(&mut b.packed, pool, &b.residual, &layer.attn_norm, c.rms_eps, forms(precision, &[wq]));
                matmul(pool, &b.packed, [q], precision);
            } else {
                matmul(pool, &b.packed, [q, k, v], precision);
            }
            for (side, nodes, norm) in [(&mut b.q, whole, &layer.q_norm), (&mut b.k, &all, &layer.k_norm)] {
                let width = side.len() / nodes.len().max(1);
                let side = Disjoint::new(side);
                pool.run(nodes.len(), |row| {
                    // SAFETY: each row is one task's.
                    for head in unsafe { side.slice(row * width, width) }.chunks_exact_mut(c.head_dim) {
                        if let Some(norm) = norm {
                            rms_norm(&head.to_vec(), norm, c.rms_eps, head);
                        }
                        self.rope.rotate(head, tree.position(nodes[row]), c.rope_layout);
                    }
                });
            }
            cache.keys[nodes.start * d_kv..nodes.end * d_kv].copy_from_slice(&b.k);
            cache.values[nodes.start * d_kv..nodes.end * d_kv].copy_from_slice(&b.v);
            attend(pool, tree, whole, cache, shape, &b.q, &mut b.attended);
            let attended = &b.attended;
            b.packed.fill(pool, n_whole, d_q, forms(precision, &[wo]), |row, out| out.copy_from_slice(&attended[row * d_q..][..d_q]));
            matmul(pool, &b.packed, [Output { w: wo, into: Into::Add, out: &mut b.residual }], precision);
            pack_normalised(&mut b.packed, pool, &b.residual, &layer.ffn_norm, c.rms_eps, forms(precision, &[w_gate, w_up]));
            let gated = [(w_gate, &mut b.gate), (w_up, &mut b.up)].map(|(w, out)| Output { w, into: Into::Set, out });
            matmul(pool, &b.packed, gated, precision);
            let (gate, up) = (&b.gate, &b.up);
            b.packed.fill(pool, n_whole, c.d_ff, forms(precision, &[w_down]), |row, out| {
                out.copy_from_slice(&gate[row * c.d_ff..][..c.d_ff]);
                silu_mul(out, &up[row * c.d_ff..][..c.d_ff]);
            });
            matmul(pool, &b.packed, [Output { w: w_down, into: Into::Add, out: &mut b.residual }], precision);
        }
    }

    /// Packs the normalised hidden states of some rows of `buffers.residual` for the output layer.
    fn pack_head(&mut self, rows: std::ops::Range<usize>, precision: Precision) -> Result<()> {
        let d = self.config.d_model;
        let b = &mut self.buffers;
        let residual = &b.residual[rows.start * d..rows.end * d];
        if residual.iter().any(|v| !v.is_finite()) {
            return Err(EvalError::new(ErrorKind::WeightsFormat, "the model's hidden state is not finite; the file may be damaged"));
        }
        let forms = forms(precision, &[self.weights.output()]);
        pack_normalised(&mut b.packed, &self.pool, residual, &self.weights.output_norm, self.config.rms_eps, forms);
        Ok(())
    }

    fn reserve(&mut self, tree: &Tree) {
        let width = self.config.n_kv_heads * self.config.head_dim;
        for layer in &mut self.cache {
            // `resize` alone would double the capacity.
            let needed = tree.len() * width;
            for side in [&mut layer.keys, &mut layer.values] {
                side.reserve_exact(needed.saturating_sub(side.len()));
                side.resize(needed, 0.0);
            }
        }
        let n_positions = (0..tree.len()).map(|n| tree.position(n) + 1).max().unwrap_or(0);
        self.rope.grow(n_positions);
    }

    fn check(&self, sequences: &[Sequence]) -> Result<()> {
        let n_vocab = self.config.n_vocab as u32;
        let ids = sequences.iter().flat_map(|s| s.tokens.iter().copied().chain(s.targets.iter().map(|t| t.id)));
        match ids.into_iter().find(|&id| id >= n_vocab) {
            Some(id) => Err(EvalError::new(ErrorKind::UnsupportedModel, format!("token {id} is outside the embedding table of {n_vocab} rows"))),
            None => Ok(()),
        }
    }

    /// All logits of every position of one sequence, `(tokens, n_vocab)`: for tests and for showing what comes next.
    ///
    /// # Errors
    /// As [`Engine::score`].
    pub fn logits(&mut self, tokens: &[u32], precision: Precision) -> Result<Vec<f32>> {
        self.check(&[Sequence { tokens: tokens.to_vec(), targets: Vec::new() }])?;
        self.kept.clear();
        let tree = {
            let mut tree = Tree::new(&[]);
            tree.insert(tokens);
            tree
        };
        self.reserve(&tree);
        let n_vocab = self.config.n_vocab;
        let mut all = vec![0f32; tokens.len() * n_vocab];
        let mut start = 0;
        while start < tokens.len() {
            let end = tokens.len().min(start + STRETCH_NODES);
            self.forward(&tree, start..end, &(0..end - start).collect::<Vec<_>>(), precision);
            self.pack_head(0..end - start, precision)?;
            let logits = Output { w: self.weights.output(), into: Into::Set, out: &mut all[start * n_vocab..end * n_vocab] };
            matmul(&self.pool, &self.buffers.packed, [logits], precision);
            start = end;
        }
        Ok(all)
    }
}

impl Engine for Decoder {
    fn score(&mut self, sequences: &[Sequence], next: &[u32], precision: Precision) -> Result<Vec<Vec<TokenScore>>> {
        self.check(sequences)?;
        self.trim_kept(sequences, precision);
        let mut tree = Tree::new(&self.kept);
        // Targets by node: several sequences may ask at the same one.
        let mut wanted: BTreeMap<usize, Vec<(usize, usize, u32)>> = BTreeMap::new();
        for (s, sequence) in sequences.iter().enumerate() {
            let nodes = tree.insert(&sequence.tokens);
            for (t, target) in sequence.targets.iter().enumerate() {
                wanted.entry(nodes[target.position] as usize).or_default().push((s, t, target.id));
            }
        }
        // Whatever goes wrong from here on, the first slots no longer hold what `kept` says.
        self.kept.clear();
        self.reserve(&tree);
        let nothing = TokenScore { logprob: 0.0, is_argmax: true, margin: 0.0 };
        let mut scores: Vec<Vec<TokenScore>> = sequences.iter().map(|s| vec![nothing; s.targets.len()]).collect();
        let mut start = tree.n_kept();
        while start < tree.len() {
            let end = tree.len().min(start + STRETCH_NODES);
            let (rows, asked): (Vec<usize>, Vec<_>) = wanted.range(start..end).map(|(node, asked)| (node - start, asked)).unzip();
            self.forward(&tree, start..end, &rows, precision);
            for (i, asked) in asked.chunks(HEAD_ROWS).enumerate() {
                self.pack_head(i * HEAD_ROWS..i * HEAD_ROWS + asked.len(), precision)?;
                let targets: Vec<(usize, u32)> = asked.iter().enumerate().flat_map(|(row, t)| t.iter().map(move |t| (row, t.2))).collect();
                let found = head::score(&self.pool, &self.buffers.packed, self.weights.output(), precision, &targets);
                for ((s, t, _), score) in asked.iter().flat_map(|t| t.iter()).zip(found) {
                    scores[*s][*t] = score;
                }
            }
            start = end;
        }
        self.keep(&tree, next);
        Ok(scores)
    }

    fn name(&self) -> &'static str {
        "own"
    }
}
