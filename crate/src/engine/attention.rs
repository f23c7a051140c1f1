//! Causal grouped-query attention over a token tree, in float32.
//!
//! In: rotated queries of some nodes, and the cache with the keys and values of them and all their ancestors.
//! Out: the weighted values, head by head. Each node sees its ancestors and itself, in order of position; scores, softmax
//! and weighted sum run in that order, in lanes and runs fixed by position, so what a node gets does not depend on which
//! other sequences are in the tree or how the work was cut.

use super::kernels::math::softmax_tile;
use super::kernels::pool::{Disjoint, Pool};
use super::kernels::tile::{float_sums, COLS, ROWS};
use super::tree::Tree;

/// Keys and values of one layer, `[slot][n_kv_heads · head_dim]` each.
#[derive(Default)]
pub struct LayerCache {
    /// Rotated keys.
    pub keys: Vec<f32>,
    /// Values.
    pub values: Vec<f32>,
}

/// Shapes of the attention of one model.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct HeadShape {
    pub n_heads: usize,
    pub n_kv_heads: usize,
    pub head_dim: usize,
}

/// Nodes that one task covers at least, where there are that many: enough to pay for packing their common path.
const TASK_NODES: usize = 32;

/// Cuts rows, by their nodes in ascending order, into chains of at most `TASK_NODES` rows whose nodes follow one another, and
/// those into tasks.
fn tasks(tree: &Tree, nodes: &[usize]) -> Vec<Vec<std::ops::Range<usize>>> {
    let mut tasks: Vec<Vec<std::ops::Range<usize>>> = Vec::new();
    let mut n_in_task = TASK_NODES;
    let mut start = 0;
    while start < nodes.len() {
        let follows = |row: usize| nodes[row] == nodes[row - 1] + 1 && tree.continues(nodes[row]);
        let mut end = start + 1;
        while end < nodes.len() && end - start < TASK_NODES && follows(end) {
            end += 1;
        }
        if n_in_task >= TASK_NODES {
            tasks.push(Vec::new());
            n_in_task = 0;
        }
        n_in_task += end - start;
        tasks.last_mut().expect("pushed at the first turn").push(start..end);
        start = end;
    }
    tasks
}

/// The keys and values of one path and one head, packed for the float microkernel.
#[derive(Default)]
struct Packed {
    /// The slots that are packed, in order.
    slots: Vec<u32>,
    /// `[block of 8 positions][head_dim][8]`
    keys: Vec<f32>,
    /// `[block of 8 dimensions][position][8]`, positions up to `capacity`.
    values: Vec<f32>,
    capacity: usize,
}

impl Packed {
    fn set_path(&mut self, path: &[std::ops::Range<usize>], cache: &LayerCache, kv_head: usize, shape: HeadShape) {
        let d = shape.head_dim;
        let stride = shape.n_kv_heads * d;
        let slots = || path.iter().cloned().flatten();
        let n = path.iter().map(ExactSizeIterator::len).sum::<usize>();
        if n > self.capacity {
            self.capacity = n.next_multiple_of(256);
            self.keys = vec![0.0; self.capacity * d];
            self.values = vec![0.0; self.capacity * d];
            self.slots.clear();
        }
        let unchanged = slots().zip(&self.slots).take_while(|(a, &b)| *a as u32 == b).count();
        self.slots.truncate(unchanged);
        for (position, slot) in slots().enumerate().skip(unchanged) {
            self.slots.push(slot as u32);
            let key = &cache.keys[slot * stride + kv_head * d..][..d];
            let block = &mut self.keys[position / COLS * COLS * d..][..COLS * d];
            for (out, &k) in block.chunks_exact_mut(COLS).zip(key) {
                out[position % COLS] = k;
            }
            let value = &cache.values[slot * stride + kv_head * d..][..d];
            for (block, v) in value.chunks_exact(COLS).enumerate() {
                self.values[(block * self.capacity + position) * COLS..][..COLS].copy_from_slice(v);
            }
        }
    }
}

/// Attention of `nodes`, in ascending order; `queries` and `out` are `(nodes, n_heads · head_dim)`.
pub fn attend(pool: &Pool, tree: &Tree, nodes: &[usize], cache: &LayerCache, shape: HeadShape, queries: &[f32], out: &mut [f32]) {
    let tasks = tasks(tree, nodes);
    let HeadShape { n_heads, n_kv_heads, head_dim: d } = shape;
    let group = n_heads / n_kv_heads;
    let width = n_heads * d;
    let scale = 1.0 / libm::sqrtf(d as f32);
    let out = Disjoint::new(out);
    pool.run(tasks.len() * n_kv_heads, |index| {
        // The last nodes see the most: they come first, so that no thread is left alone with one of them.
        let (task, kv_head) = (&tasks[tasks.len() - 1 - index / n_kv_heads], index % n_kv_heads);
        let mut packed = Packed::default();
        let mut query = vec![0f32; d * ROWS];
        let (mut scores, mut weights) = (Vec::new(), Vec::new());
        for chain in task {
            packed.set_path(&tree.path(nodes[chain.end - 1]), cache, kv_head, shape);
            // (row, head) pairs, four at a time.
            let n_pairs = chain.len() * group;
            for first in (0..n_pairs).step_by(ROWS) {
                let pairs = first..n_pairs.min(first + ROWS);
                let row_of = |pair: usize| chain.start + pair / group;
                let n_seen = |pair: usize| tree.position(nodes[row_of(pair)]) + 1;
                let column_of = |pair: usize| (kv_head * group + pair % group) * d;
                for (r, pair) in pairs.clone().enumerate() {
                    let q = &queries[row_of(pair) * width + column_of(pair)..][..d];
                    for (out, &q) in query.chunks_exact_mut(ROWS).zip(q) {
                        out[r] = q * scale;
                    }
                }
                let n_visible = n_seen(pairs.end - 1);
                let padded = n_visible.next_multiple_of(COLS);
                scores.resize(padded * ROWS, 0.0);
                for block in 0..padded / COLS {
                    let sums = float_sums(&query, &packed.keys[block * COLS * d..][..COLS * d]);
                    for (r, sums) in sums.chunks_exact(COLS).enumerate() {
                        scores[r * padded + block * COLS..][..COLS].copy_from_slice(sums);
                    }
                }
                weights.resize(padded * ROWS, 0.0);
                // Rows that no pair fills repeat the last one; they are not written out.
                let n_valid = std::array::from_fn(|r| n_seen((first + r).min(pairs.end - 1)));
                softmax_tile(&mut scores, n_valid, &mut weights);
                for block in 0..d / COLS {
                    let values = &packed.values[block * packed.capacity * COLS..][..n_visible * COLS];
                    let sums = float_sums(&weights[..n_visible * ROWS], values);
                    for (pair, sums) in pairs.clone().zip(sums.chunks_exact(COLS)) {
                        let at = row_of(pair) * width + column_of(pair) + block * COLS;
                        // SAFETY: a (row, head) pair belongs to one task.
                        unsafe { out.slice(at, COLS) }.copy_from_slice(sums);
                    }
                }
            }
        }
    });
}
