//! The output layer at scored positions: log-softmax over the whole vocabulary without ever holding a row of logits.
//!
//! In: packed, normalised hidden states and the tokens asked for at each. Out: a [`TokenScore`] for each.
//! The vocabulary is cut at fixed columns; each stretch gives a maximum and a sum, which are joined in order of columns.

use super::kernels::gemm::{matmul_columns, Matrix};
use super::kernels::math::sum_exp;
use super::kernels::pool::{Disjoint, Pool};
use super::kernels::rows::Rows;
use crate::spec::Precision;

/// What the model says of one token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenScore {
    /// ln p, nats.
    pub logprob: f64,
    /// No token had a larger logit, and none before it in the vocabulary as large a one.
    pub is_argmax: bool,
    /// Its logit minus the largest one of all other tokens.
    pub margin: f32,
}

/// The two largest of some logits.
pub struct TwoBest {
    /// The largest.
    pub max: f32,
    /// The first place where it stands.
    pub argmax: usize,
    /// The largest at any other place.
    pub second: f32,
}

/// Finds them; −∞ where there are too few.
pub fn two_best(logits: &[f32]) -> TwoBest {
    let mut best = TwoBest { max: f32::NEG_INFINITY, argmax: 0, second: f32::NEG_INFINITY };
    for (i, &l) in logits.iter().enumerate() {
        if l > best.max {
            best = TwoBest { max: l, argmax: i, second: best.max };
        } else if l > best.second {
            best.second = l;
        }
    }
    best
}

/// Columns of a stretch. Part of the result's definition: it decides in which order the sum is made.
const STRETCH: usize = 512;

#[derive(Clone, Copy)]
struct Stretch {
    max: f32,
    argmax: usize,
    second: f32,
    sum: f64,
}

/// Scores `targets`, pairs of (row, token id).
pub fn score(pool: &Pool, rows: &Rows, output: &Matrix, precision: Precision, targets: &[(usize, u32)]) -> Vec<TokenScore> {
    let (n_rows, n_vocab) = (rows.n_rows(), output.n_out);
    let n_stretches = n_vocab.div_ceil(STRETCH);
    let mut stretches = vec![Stretch { max: 0.0, argmax: 0, second: 0.0, sum: 0.0 }; n_stretches * n_rows];
    let mut target_logits = vec![0f32; targets.len()];
    let (all_stretches, all_target_logits) = (Disjoint::new(&mut stretches), Disjoint::new(&mut target_logits));
    pool.run(n_stretches, |index| {
        let columns = index * STRETCH..n_vocab.min(index * STRETCH + STRETCH);
        let width = columns.len();
        let mut logits = vec![0f32; n_rows * width];
        matmul_columns(rows, output, precision, columns.clone(), |row, column, sums| {
            logits[row * width + column - columns.start..][..sums.len()].copy_from_slice(sums);
        });
        // SAFETY: a stretch is computed by one task, and a target lies in one stretch.
        let out = unsafe { all_stretches.slice(index * n_rows, n_rows) };
        for (out, logits) in out.iter_mut().zip(logits.chunks_exact(width)) {
            let best = two_best(logits);
            *out = Stretch { max: best.max, argmax: columns.start + best.argmax, second: best.second, sum: sum_exp(logits, best.max) };
        }
        for (i, &(row, id)) in targets.iter().enumerate().filter(|(_, (_, id))| columns.contains(&(*id as usize))) {
            // SAFETY: as above.
            let out = unsafe { all_target_logits.slice(i, 1) };
            out[0] = logits[row * width + id as usize - columns.start];
        }
    });
    let joined: Vec<Stretch> = (0..n_rows)
        .map(|row| {
            let mut all = (0..n_stretches).map(|s| stretches[s * n_rows + row]);
            let first = all.next().expect("a vocabulary is not empty");
            all.fold(first, |a, b| {
                let max = a.max.max(b.max);
                let sum = a.sum * libm::exp(f64::from(a.max) - f64::from(max)) + b.sum * libm::exp(f64::from(b.max) - f64::from(max));
                let second = if b.max > a.max { a.max.max(b.second) } else { a.second.max(b.max) };
                Stretch { max, argmax: if b.max > a.max { b.argmax } else { a.argmax }, second, sum }
            })
        })
        .collect();
    let pairs = targets.iter().zip(&target_logits);
    pairs
        .map(|(&(row, id), &logit)| {
            let all = joined[row];
            let is_argmax = all.argmax == id as usize;
            let rival = if is_argmax { all.second } else { all.max };
            TokenScore { logprob: f64::from(logit) - f64::from(all.max) - libm::log(all.sum), is_argmax, margin: logit - rival }
        })
        .collect()
}
