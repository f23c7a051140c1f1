//! The two microkernels: a tile of 4 rows of activations by 8 output columns, one for integers and one for floats.
//!
//! In: packed rows and a packed panel (layouts below). Out: the tile's 32 sums, added to what was there.
//! Which weights the panel came from, who packed it and how tiles are shared out is not known here.
//!
//! Layout. `k` is cut into blocks of two times `pairs` (32, or 16 where the weights have a scale every 16); inside a block two
//! neighbours in `k` stand together, because the integer product takes pairs:
//! rows `[block][pair][row 0..4][2]`, panel `[block][pair][column 0..8][2]`, scales `[block][row or column]`.
//! So one pair of an activation, repeated four times, meets four columns in one instruction and no sum is ever horizontal.
//! The 8 integer accumulators of a tile fill half of the 16 registers that baseline SIMD has; the float ones live in memory.
//!
//! The order of every float addition is fixed by the position in `k`: a result does not depend on the tile it was in.

use super::lanes::{F32x4, Float32, I16x8, Int16, Int32};

/// Rows of a tile.
pub const ROWS: usize = 4;
/// Columns of a tile.
pub const COLS: usize = 8;

/// Packed integer rows of one tile.
#[derive(Clone, Copy)]
pub struct IntRows<'a> {
    /// `[block][pair][row][2]`, each within ±32767.
    pub values: &'a [i16],
    /// `[block][row]`: what one unit of `values` is worth.
    pub scales: &'a [f32],
    /// `[block][row]`: scale times the sum of the block's values; read only where the panel has minima.
    pub sums: &'a [f32],
}

/// One packed panel of weights.
#[derive(Clone, Copy)]
pub struct IntPanel<'a> {
    /// `[block][pair][column][2]`, each within ±128.
    pub values: &'a [i16],
    /// `[block][column]`.
    pub scales: &'a [f32],
    /// `[block][column]`, what is added to each scaled weight of the block; empty where the format has none.
    pub mins: &'a [f32],
}

/// Adds the products of `rows` and `panel` to `out`, `[row][column]`.
///
/// Per block: the integer products are summed exactly (at most 32·32767·128 < 2³¹), turned into a float once, scaled by
/// (column scale · row scale) and added; then, where there are minima, min · row sum is added.
#[inline(always)]
///
/// `pairs` is half the length of a block, 16 or 8. It is no constant on purpose: a compiler that knows it unrolls the inner
/// loop whole and spills half of the accumulators, in a browser at a third of the speed.
pub fn int_tile<I: Int16>(rows: IntRows, panel: IntPanel, pairs: usize, out: &mut [f32; ROWS * COLS]) {
    let n_blocks = panel.scales.len() / COLS;
    let blocks = rows
        .values
        .chunks_exact(pairs * 2 * ROWS)
        .zip(panel.values.chunks_exact(pairs * 2 * COLS))
        .zip(rows.scales.chunks_exact(ROWS).zip(panel.scales.chunks_exact(COLS)));
    debug_assert_eq!(rows.values.len(), n_blocks * pairs * 2 * ROWS);
    debug_assert_eq!(panel.values.len(), n_blocks * pairs * 2 * COLS);
    debug_assert_eq!(rows.scales.len(), n_blocks * ROWS);
    for (block, ((a, w), (row_scales, col_scales))) in blocks.enumerate() {
        let mut acc = [[I::Int32::splat(0); 2]; ROWS];
        for (a, w) in a.chunks_exact(2 * ROWS).zip(w.chunks_exact(2 * COLS)) {
            let w0 = I::load(&w[..8]);
            let w1 = I::load(&w[8..]);
            for (r, acc) in acc.iter_mut().enumerate() {
                let pair = I::splat_pair(&a[r * 2..r * 2 + 2]);
                acc[0] = acc[0].add(pair.dot(w0));
                acc[1] = acc[1].add(pair.dot(w1));
            }
        }
        let s0 = I::Float::load(&col_scales[..4]);
        let s1 = I::Float::load(&col_scales[4..8]);
        for r in 0..ROWS {
            let row_scale = I::Float::splat(row_scales[r]);
            let c = &mut out[r * COLS..r * COLS + COLS];
            I::Float::load(&c[..4]).add(acc[r][0].to_float().mul(s0.mul(row_scale))).store(&mut c[..4]);
            I::Float::load(&c[4..]).add(acc[r][1].to_float().mul(s1.mul(row_scale))).store(&mut c[4..]);
        }
        if !panel.mins.is_empty() {
            let mins = &panel.mins[block * COLS..block * COLS + COLS];
            let sums = &rows.sums[block * ROWS..block * ROWS + ROWS];
            let m0 = I::Float::load(&mins[..4]);
            let m1 = I::Float::load(&mins[4..8]);
            for r in 0..ROWS {
                let sum = I::Float::splat(sums[r]);
                let c = &mut out[r * COLS..r * COLS + COLS];
                I::Float::load(&c[..4]).add(m0.mul(sum)).store(&mut c[..4]);
                I::Float::load(&c[4..]).add(m1.mul(sum)).store(&mut c[4..]);
            }
        }
    }
}

/// Adds the products of float rows `[k][row]` and a float panel `[k][column]` to `out`, `[row][column]`.
///
/// `k` is cut into runs of [`FLOAT_RUN`]; each run is summed from zero in order of `k` and then added to `out`, which keeps
/// the rounding error of long rows near that of blocked summation.
#[inline(always)]
pub fn float_tile<F: Float32>(rows: &[f32], panel: &[f32], out: &mut [f32; ROWS * COLS]) {
    debug_assert_eq!(rows.len() / ROWS, panel.len() / COLS);
    for (a, w) in rows.chunks(FLOAT_RUN * ROWS).zip(panel.chunks(FLOAT_RUN * COLS)) {
        let mut acc = [[F::splat(0.0); 2]; ROWS];
        for (a, w) in a.chunks_exact(ROWS).zip(w.chunks_exact(COLS)) {
            let w0 = F::load(&w[..4]);
            let w1 = F::load(&w[4..8]);
            for (r, acc) in acc.iter_mut().enumerate() {
                let x = F::splat(a[r]);
                acc[0] = acc[0].add(x.mul(w0));
                acc[1] = acc[1].add(x.mul(w1));
            }
        }
        for (r, acc) in acc.iter().enumerate() {
            let c = &mut out[r * COLS..r * COLS + COLS];
            F::load(&c[..4]).add(acc[0]).store(&mut c[..4]);
            F::load(&c[4..]).add(acc[1]).store(&mut c[4..]);
        }
    }
}

/// Length in `k` of a run of [`float_tile`]: long enough that writing the tile costs little, short enough to bound the error.
pub const FLOAT_RUN: usize = 64;

/// Four rows or columns, `[k]` each, to their places in the layout above: `[pair][width][2]`, the first of them at place `at`.
///
/// Their length is a multiple of eight.
#[inline(always)]
pub fn interleave(four: [&[i16]; 4], width: usize, at: usize, out: &mut [i16]) {
    for (i, out) in out.chunks_exact_mut(8 * width).enumerate() {
        let pairs = I16x8::transpose_pairs(four.map(|values| I16x8::load(&values[8 * i..8 * i + 8])));
        for (pair, out) in pairs.into_iter().zip(out.chunks_exact_mut(2 * width)) {
            pair.store(&mut out[2 * at..2 * at + 8]);
        }
    }
}

/// One integer tile from zero. A function of its own for the sake of browsers' compilers, which allot registers per function.
#[inline(never)]
pub fn int_sums(rows: IntRows, panel: IntPanel, pairs: usize) -> [f32; ROWS * COLS] {
    let mut sums = [0f32; ROWS * COLS];
    int_tile::<I16x8>(rows, panel, pairs, &mut sums);
    sums
}

/// As [`int_sums`], for floats.
#[inline(never)]
pub fn float_sums(rows: &[f32], panel: &[f32]) -> [f32; ROWS * COLS] {
    let mut sums = [0f32; ROWS * COLS];
    float_tile::<F32x4>(rows, panel, &mut sums);
    sums
}
