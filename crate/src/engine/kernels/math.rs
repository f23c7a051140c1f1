//! The element-wise parts of a decoder layer, in float32 with a lane pattern fixed by absolute position.
//!
//! Exponentials are a polynomial of our own and the slow functions come from `libm`: a platform's own would differ in the last
//! bit from one machine to the next.

use super::lanes::{F32x4, Float32, Int32};

/// e^x for four values; relative error below 2e-7 in [-87, 88]; outside, the value at the nearer end.
///
/// x = n·ln 2 + r with |r| ≤ ln 2 / 2, e^r by a polynomial (coefficients of Cephes' `expf`), 2^n by moving n to the exponent.
#[inline(always)]
pub fn exp4(x: F32x4) -> F32x4 {
    // Adding 1.5·2^23 rounds to an integer, ties to even, and leaves it in the low bits.
    const MAGIC: f32 = 12_582_912.0;
    let x = F32x4::splat(-87.0).max(x);
    let x = F32x4::splat(0.0).sub(F32x4::splat(-88.0).max(F32x4::splat(0.0).sub(x)));
    let shifted = x.mul(F32x4::splat(std::f32::consts::LOG2_E)).add(F32x4::splat(MAGIC));
    let n = shifted.sub(F32x4::splat(MAGIC));
    let r = x.sub(n.mul(F32x4::splat(0.693_359_4))).sub(n.mul(F32x4::splat(-2.121_944_4e-4)));
    let mut p = F32x4::splat(1.987_569_1e-4);
    for c in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5.000_000_3e-1] {
        p = p.mul(r).add(F32x4::splat(c));
    }
    let p = p.mul(r.mul(r)).add(r).add(F32x4::splat(1.0));
    let exponent = shifted.as_int_bits().sub(F32x4::splat(MAGIC).as_int_bits()).add(<F32x4 as Float32>::Int32::splat(127));
    p.mul(exponent.shl23().as_float_bits())
}

/// x / rms(x) · weight, row length `x.len()`; a length that is no multiple of four is finished element by element.
///
/// The mean square is summed in float64 per lane, which costs nothing here and frees the norm from the length of the row.
pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let mut lanes = [0f64; 4];
    for (i, &v) in x.iter().enumerate() {
        lanes[i & 3] += f64::from(v) * f64::from(v);
    }
    let mean = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) / x.len() as f64;
    let scale = (1.0 / libm::sqrt(mean + f64::from(eps))) as f32;
    for ((o, &v), &w) in out.iter_mut().zip(x).zip(weight) {
        *o = v * scale * w;
    }
}

/// silu(gate) · up, written to `gate`; both have the same length.
pub fn silu_mul(gate: &mut [f32], up: &[f32]) {
    let one = F32x4::splat(1.0);
    let silu = |g: F32x4| g.div(one.add(exp4(F32x4::splat(0.0).sub(g))));
    let whole = gate.len() / 4 * 4;
    for (g, u) in gate[..whole].chunks_exact_mut(4).zip(up.chunks_exact(4)) {
        silu(F32x4::load(g)).mul(F32x4::load(u)).store(g);
    }
    for (g, u) in gate[whole..].iter_mut().zip(&up[whole..]) {
        *g = silu(F32x4::splat(*g)).mul(F32x4::splat(*u)).to_array()[0];
    }
}

/// Softmax of four rows of scores, `[row][n]`, into `[n][row]`, the layout in which probabilities are multiplied with values.
///
/// Of row `r` the first `n_valid[r]` scores count, at least one; what follows gets probability 0. `n` is a multiple of four.
/// `scores` is overwritten.
pub fn softmax_tile(scores: &mut [f32], n_valid: [usize; 4], probabilities: &mut [f32]) {
    let n = scores.len() / 4;
    let mut inverses = [F32x4::splat(0.0); 4];
    for ((row, n_valid), inverse) in scores.chunks_exact_mut(n).zip(n_valid).zip(&mut inverses) {
        *inverse = F32x4::splat(1.0 / exponentials(row, n_valid));
    }
    let rows: [&[f32]; 4] = std::array::from_fn(|r| &scores[r * n..][..n]);
    for (i, out) in probabilities.chunks_exact_mut(16).enumerate() {
        let columns = F32x4::transpose(std::array::from_fn(|r| F32x4::load(&rows[r][4 * i..]).mul(inverses[r])));
        for (column, out) in columns.into_iter().zip(out.chunks_exact_mut(4)) {
            column.store(out);
        }
    }
}

/// `s ← e^(s − max)` for the first `n_valid` scores, 0 for the rest; returns the sum.
///
/// Lane `i` sums the positions that are `i` modulo four, in order, whatever the length of the row.
#[inline(never)]
fn exponentials(scores: &mut [f32], n_valid: usize) -> f32 {
    let whole = n_valid / 4 * 4;
    let maxima = scores[..whole].chunks_exact(4).fold(F32x4::splat(f32::NEG_INFINITY), |m, s| m.max(F32x4::load(s)));
    let last = scores[whole..n_valid].iter().copied();
    let max = maxima.to_array().into_iter().chain(last).fold(f32::NEG_INFINITY, |m, s| if m < s { s } else { m });
    let max = F32x4::splat(max);
    let mut total = F32x4::splat(0.0);
    for s in scores[..whole].chunks_exact_mut(4) {
        let e = exp4(F32x4::load(s).sub(max));
        e.store(s);
        total = total.add(e);
    }
    if whole < n_valid {
        let block = &mut scores[whole..whole + 4];
        exp4(F32x4::load(block).sub(max)).store(block);
        block[n_valid - whole..].fill(0.0);
        total = total.add(F32x4::load(block));
    }
    scores[n_valid.next_multiple_of(4)..].fill(0.0);
    total.sum()
}

/// Σ e^(x − max) over a stretch of logits, in float64: runs of 256 are summed in lanes, then the runs in order.
pub fn sum_exp(x: &[f32], max: f32) -> f64 {
    let mut total = 0f64;
    for run in x.chunks(256) {
        let whole = run.len() / 4 * 4;
        let mut lanes = F32x4::splat(0.0);
        for v in run[..whole].chunks_exact(4) {
            lanes = lanes.add(exp4(F32x4::load(v).sub(F32x4::splat(max))));
        }
        total += f64::from(lanes.sum());
        for &v in &run[whole..] {
            total += f64::from(exp4(F32x4::splat(v - max)).to_array()[0]);
        }
    }
    total
}

/// How the two numbers of a rotated pair lie in a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RopeLayout {
    /// Neighbours, 2i and 2i + 1: llama's GGUF files, whose q and k rows were reordered for it.
    Interleaved,
    /// i and i + half: GPT-NeoX and Qwen.
    Halves,
}

/// cos and sin of each position's angles, `[position][head_dim / 2]` each.
pub struct RopeTable {
    cos: Vec<f32>,
    sin: Vec<f32>,
    half: usize,
    inverse_frequencies: Vec<f32>,
}

impl RopeTable {
    /// A table without positions; `factors` divide the frequencies (Llama 3's `rope_freqs.weight`), empty: none.
    pub fn new(head_dim: usize, theta: f64, factors: &[f32]) -> Self {
        let half = head_dim / 2;
        let inverse_frequencies = (0..half)
            .map(|i| {
                let f = (1.0 / libm::pow(theta, (2 * i) as f64 / head_dim as f64)) as f32;
                factors.get(i).map_or(f, |factor| f / factor)
            })
            .collect();
        Self { cos: Vec::new(), sin: Vec::new(), half, inverse_frequencies }
    }

    /// Makes the table long enough for positions below `n`.
    pub fn grow(&mut self, n: usize) {
        for position in self.cos.len() / self.half..n {
            for &f in &self.inverse_frequencies {
                // float32 product, as the models were trained and as the reference implementations compute it.
                let angle = f64::from(position as f32 * f);
                self.cos.push(libm::cos(angle) as f32);
                self.sin.push(libm::sin(angle) as f32);
            }
        }
    }

    /// Rotates one head in place.
    #[inline]
    pub fn rotate(&self, head: &mut [f32], position: usize, layout: RopeLayout) {
        let cos = &self.cos[position * self.half..][..self.half];
        let sin = &self.sin[position * self.half..][..self.half];
        match layout {
            RopeLayout::Interleaved => {
                for ((pair, &c), &s) in head.chunks_exact_mut(2).zip(cos).zip(sin) {
                    (pair[0], pair[1]) = (pair[0] * c - pair[1] * s, pair[0] * s + pair[1] * c);
                }
            }
            RopeLayout::Halves => {
                let (first, second) = head.split_at_mut(self.half);
                for (((a, b), &c), &s) in first.iter_mut().zip(second).zip(cos).zip(sin) {
                    (*a, *b) = (*a * c - *b * s, *a * s + *b * c);
                }
            }
        }
    }
}
