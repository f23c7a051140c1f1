//! Rows times a weight matrix: panels of eight output columns are unpacked once each and meet every tile of rows.
//!
//! In: packed rows and a matrix as it lies in the GGUF file. Out: `n_rows × n_out` floats, row by row.
//! Work is shared out over columns; a panel is unpacked by whoever computes it, so a matrix is never held twice.

use super::lanes::{F32x4, I16x8};
use super::pool::{Disjoint, Pool};
use super::rows::Rows;
use super::tile::{float_tile, int_tile, IntPanel, COLS, ROWS};
use super::unpack::{widen, with_format, Unpack};
use super::kind::TensorKind;
use crate::spec::Precision;

/// A weight matrix in its file's own bytes: `n_out` rows of `n_in` numbers.
pub struct Matrix {
    /// How the numbers are stored.
    pub kind: TensorKind,
    /// Rows: outputs of the layer.
    pub n_out: usize,
    /// Columns: inputs of the layer.
    pub n_in: usize,
    bytes: Vec<u8>,
}

impl Matrix {
    /// Wraps the bytes. `None` if `n_in` is not whole blocks or the length is wrong.
    pub fn new(kind: TensorKind, n_out: usize, n_in: usize, bytes: Vec<u8>) -> Option<Self> {
        let row = (n_in % kind.block_len() == 0).then(|| n_in / kind.block_len() * kind.block_bytes())?;
        (row.checked_mul(n_out)? == bytes.len()).then_some(Self { kind, n_out, n_in, bytes })
    }

    /// Bytes of one row.
    pub fn row_bytes(&self) -> usize {
        self.n_in / self.kind.block_len() * self.kind.block_bytes()
    }

    /// The stored bytes of row `i`.
    pub fn row(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.row_bytes()..][..self.row_bytes()]
    }

    /// Size in memory.
    pub fn n_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Whether `precision` multiplies it as integers.
    pub fn is_int(&self, precision: Precision) -> bool {
        precision == Precision::Default && self.kind.is_quantised()
    }
}

/// Columns that one task computes: small enough to share out evenly, large enough that taking a task costs nothing.
const TASK_COLS: usize = 4 * COLS;

/// What becomes of a product.
#[derive(Clone, Copy)]
pub enum Into<'a> {
    /// Overwrites the output.
    Set,
    /// Overwrites the output with product + bias.
    Biased(&'a [f32]),
    /// Is added to the output: the residual stream.
    Add,
}

/// `out[r][c] ← Σ_k rows[r][k] · w[c][k]`, `out` being `n_rows × n_out`; `into` says how it arrives.
///
/// # Panics
/// If the lengths do not fit one another, or `rows` was not filled in the form that `w.is_int(precision)` asks for.
pub fn matmul(pool: &Pool, rows: &Rows, w: &Matrix, into: Into<'_>, precision: Precision, out: &mut [f32]) {
    assert_eq!(rows.k(), w.n_in);
    assert_eq!(out.len(), rows.n_rows() * w.n_out);
    let n_out = w.n_out;
    let out = Disjoint::new(out);
    pool.run(n_out.div_ceil(TASK_COLS), |task| {
        let columns = task * TASK_COLS..(task * TASK_COLS + TASK_COLS).min(n_out);
        matmul_columns(rows, w, precision, columns, |row, column, sums| {
            // SAFETY: every (row, column range) is written by one task only.
            let out = unsafe { out.slice(row * n_out + column, sums.len()) };
            match into {
                Into::Set => out.copy_from_slice(sums),
                Into::Biased(bias) => out.iter_mut().zip(sums).zip(&bias[column..]).for_each(|((o, s), b)| *o = s + b),
                Into::Add => out.iter_mut().zip(sums).for_each(|(o, s)| *o += s),
            }
        });
    });
}

/// Computes some output columns for all rows: `emit(row, first column, up to eight sums)`.
pub fn matmul_columns(
    rows: &Rows,
    w: &Matrix,
    precision: Precision,
    columns: std::ops::Range<usize>,
    emit: impl FnMut(usize, usize, &[f32]),
) {
    if w.is_int(precision) {
        with_format!(w.kind, F => int_columns::<F>(rows, w, columns, emit), else unreachable!("float kinds are not int"))
    } else {
        float_columns(rows, w, columns, emit)
    }
}

/// Hands the valid part of a tile to `emit`.
#[inline(always)]
fn emit_tile(n_rows: usize, tile: usize, column: usize, n_cols: usize, sums: &[f32; ROWS * COLS], emit: &mut impl FnMut(usize, usize, &[f32])) {
    for (row, sums) in (tile * ROWS..n_rows.min(tile * ROWS + ROWS)).zip(sums.chunks_exact(COLS)) {
        emit(row, column, &sums[..n_cols]);
    }
}

fn int_columns<F: Unpack>(rows: &Rows, w: &Matrix, columns: std::ops::Range<usize>, mut emit: impl FnMut(usize, usize, &[f32])) {
    let n_runs = w.n_in / F::RUN;
    let mut values = vec![0i16; w.n_in * COLS];
    let mut scales = vec![0f32; n_runs * COLS];
    let mut mins = vec![0f32; if F::HAS_MIN { n_runs * COLS } else { 0 }];
    for column in columns.clone().step_by(COLS) {
        let n_cols = COLS.min(columns.end - column);
        for c in 0..n_cols {
            unpack_column::<F>(w.row(column + c), c, &mut values, &mut scales, &mut mins);
        }
        let panel = IntPanel { values: &values, scales: &scales, mins: &mins };
        for tile in 0..rows.n_tiles() {
            let mut sums = [0f32; ROWS * COLS];
            let tile_rows = rows.int_tile(tile, F::RUN);
            if F::RUN == 32 {
                int_tile::<I16x8, 16>(tile_rows, panel, &mut sums);
            } else {
                int_tile::<I16x8, 8>(tile_rows, panel, &mut sums);
            }
            emit_tile(rows.n_rows(), tile, column, n_cols, &sums, &mut emit);
        }
    }
}

/// Writes one matrix row to column `c` of a panel (layout in `tile`).
#[inline(always)]
fn unpack_column<F: Unpack>(row: &[u8], c: usize, values: &mut [i16], scales: &mut [f32], mins: &mut [f32]) {
    let mut block = [0i16; 256];
    let (mut block_scales, mut block_mins) = ([0f32; 16], [0f32; 16]);
    let runs = F::LEN / F::RUN;
    for (i, (src, out)) in row.chunks_exact(F::BYTES).zip(values.chunks_exact_mut(F::LEN * COLS)).enumerate() {
        F::unpack(src, &mut block, &mut block_scales, &mut block_mins);
        for (pair, out) in block[..F::LEN].chunks_exact(2).zip(out.chunks_exact_mut(2 * COLS)) {
            out[2 * c..2 * c + 2].copy_from_slice(pair);
        }
        for run in 0..runs {
            scales[(i * runs + run) * COLS + c] = block_scales[run];
            if F::HAS_MIN {
                mins[(i * runs + run) * COLS + c] = block_mins[run];
            }
        }
    }
}

fn float_columns(rows: &Rows, w: &Matrix, columns: std::ops::Range<usize>, mut emit: impl FnMut(usize, usize, &[f32])) {
    let mut row = vec![0f32; w.n_in];
    let mut panel = vec![0f32; w.n_in * COLS];
    for column in columns.clone().step_by(COLS) {
        let n_cols = COLS.min(columns.end - column);
        for c in 0..n_cols {
            dequantize_row(w, column + c, &mut row);
            for (out, &v) in panel.chunks_exact_mut(COLS).zip(&row) {
                out[c] = v;
            }
        }
        for tile in 0..rows.n_tiles() {
            let mut sums = [0f32; ROWS * COLS];
            float_tile::<F32x4>(rows.float_tile(tile), &panel, &mut sums);
            emit_tile(rows.n_rows(), tile, column, n_cols, &sums, &mut emit);
        }
    }
}

/// Row `i` of a matrix as floats.
pub fn dequantize_row(w: &Matrix, i: usize, out: &mut [f32]) {
    if w.kind.is_quantised() {
        super::unpack::dequantize(w.kind, w.row(i), out);
    } else {
        widen(w.kind, w.row(i), out);
    }
}
