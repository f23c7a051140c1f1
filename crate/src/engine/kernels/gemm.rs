//! Rows times a weight matrix: panels of eight output columns are unpacked once each and meet every tile of rows.
//!
//! In: packed rows and a matrix as it lies in the GGUF file. Out: `n_rows × n_out` floats, row by row.
//! Work is shared out over columns; a panel is unpacked by whoever computes it, so a matrix is never held twice.

use super::kind::TensorKind;
use super::lanes::{F32x4, Float32, I16x8, Int16, Int32};
use super::pool::{Disjoint, Pool};
use super::rows::{Outlier, Rows};
use super::tile::{float_sums, int_sums, interleave, IntPanel, COLS, ROWS};
use super::unpack::{widen, with_format, Unpack};
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
        let row = (n_in.is_multiple_of(kind.block_len())).then(|| n_in / kind.block_len() * kind.block_bytes())?;
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
const TASK_COLS: usize = 2 * COLS;

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

impl<'a> Into<'a> {
    /// With a bias where there is one.
    pub fn bias(bias: &'a Option<Vec<f32>>) -> Self {
        bias.as_ref().map_or(Self::Set, |bias| Self::Biased(bias))
    }
}

/// One matrix that rows are multiplied with, and where the products go.
pub struct Output<'a> {
    /// The weights.
    pub w: &'a Matrix,
    /// How the products arrive.
    pub into: Into<'a>,
    /// `n_rows × n_out` floats.
    pub out: &'a mut [f32],
}

/// `out[r][c] ← Σ_k rows[r][k] · w[c][k]` for each of `outputs`; their columns are shared out together, so that threads meet
/// once and not after every matrix.
///
/// # Panics
/// If the lengths do not fit one another, or `rows` was not filled in the form that `w.is_int(precision)` asks for.
pub fn matmul<const N: usize>(pool: &Pool, rows: &Rows, outputs: [Output<'_>; N], precision: Precision) {
    let outputs = outputs.map(|Output { w, into, out }| {
        assert_eq!(rows.k(), w.n_in);
        assert_eq!(out.len(), rows.n_rows() * w.n_out);
        (w, into, Disjoint::new(out))
    });
    let tasks: Vec<(usize, usize)> =
        outputs.iter().enumerate().flat_map(|(i, (w, ..))| (0..w.n_out).step_by(TASK_COLS).map(move |first| (i, first))).collect();
    pool.run(tasks.len(), |task| {
        let (i, first) = tasks[task];
        let (w, into, out) = &outputs[i];
        matmul_columns(rows, w, precision, first..(first + TASK_COLS).min(w.n_out), |row, column, sums| {
            // SAFETY: every (row, column range) of an output is written by one task only.
            let out = unsafe { out.slice(row * w.n_out + column, sums.len()) };
            match into {
                Into::Set => out.copy_from_slice(sums),
                Into::Biased(bias) => out.iter_mut().zip(sums).zip(&bias[column..]).for_each(|((o, s), b)| *o = s + b),
                Into::Add => out.iter_mut().zip(sums).for_each(|(o, s)| *o += s),
            }
        });
    });
}

/// Computes some output columns for all rows: `emit(row, first column, up to eight sums)`.
pub fn matmul_columns(rows: &Rows, w: &Matrix, precision: Precision, columns: std::ops::Range<usize>, emit: impl FnMut(usize, usize, &[f32])) {
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
        for half in 0..2 {
            // Columns past the end repeat the last one; they are not handed out.
            let quad = std::array::from_fn(|c| w.row((column + 4 * half + c).min(columns.end - 1)));
            unpack_quad::<F>(quad, half, &mut values, &mut scales, &mut mins);
        }
        let panel = IntPanel { values: &values, scales: &scales, mins: &mins };
        for tile in 0..rows.n_tiles() {
            let mut sums = int_sums(rows.int_tile(tile, F::RUN), panel, F::RUN / 2);
            add_outliers(rows.outliers(tile), panel, F::RUN, &mut sums);
            emit_tile(rows.n_rows(), tile, column, n_cols, &sums, &mut emit);
        }
    }
}

/// Adds what the tile's outliers contribute: value · (scale · weight + min), each in float32.
#[inline(never)]
fn add_outliers(outliers: &[Outlier], panel: IntPanel, run: usize, sums: &mut [f32; ROWS * COLS]) {
    // A power of two, which the compiler does not know.
    let run_bits = run.trailing_zeros();
    for o in outliers {
        let pairs = &panel.values[o.k / 2 * 2 * COLS..][..2 * COLS];
        let at = (o.k >> run_bits) * COLS;
        let out = &mut sums[o.row * COLS..][..COLS];
        for c in [0, 4] {
            let pair = I16x8::load(&pairs[2 * c..]);
            let weight = if o.k % 2 == 0 { pair.even() } else { pair.odd() };
            let mut weight = F32x4::load(&panel.scales[at + c..]).mul(weight.to_float());
            if !panel.mins.is_empty() {
                weight = weight.add(F32x4::load(&panel.mins[at + c..]));
            }
            F32x4::load(&out[c..]).add(F32x4::splat(o.value).mul(weight)).store(&mut out[c..]);
        }
    }
}

/// Writes four matrix rows to the first or second `half` of a panel's columns (layout in `tile`).
#[inline(never)]
fn unpack_quad<F: Unpack>(quad: [&[u8]; 4], half: usize, values: &mut [i16], scales: &mut [f32], mins: &mut [f32]) {
    let mut blocks = [[0i16; 256]; 4];
    let mut quad_scales = [[0f32; 16]; 4];
    let mut quad_mins = [[0f32; 16]; 4];
    let runs = F::LEN / F::RUN;
    let n_blocks = quad[0].len() / F::BYTES;
    for block in 0..n_blocks {
        for c in 0..4 {
            F::unpack(&quad[c][block * F::BYTES..][..F::BYTES], &mut blocks[c], &mut quad_scales[c], &mut quad_mins[c]);
        }
        let out = &mut values[block * F::LEN * COLS..][..F::LEN * COLS];
        interleave(blocks.each_ref().map(|block| &block[..F::LEN]), COLS, 4 * half, out);
        for run in 0..runs {
            let at = (block * runs + run) * COLS + 4 * half;
            for c in 0..4 {
                scales[at + c] = quad_scales[c][run];
                if F::HAS_MIN {
                    mins[at + c] = quad_mins[c][run];
                }
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
            let sums = float_sums(rows.float_tile(tile), &panel);
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
