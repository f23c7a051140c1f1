//! Bodies of the benchmarks that run inside the page's own module: the machine's peak and one matrix product.
//!
//! A caller times a call; nothing here reads a clock.

use super::kernels::gemm::{matmul, Into, Matrix, Output};
use super::kernels::kind::TensorKind;
use super::kernels::lanes::{I16x8, I32x4, Int16, Int32};
use super::kernels::pool::Pool;
use super::kernels::rows::{Forms, Rows};
use crate::spec::Precision;

/// Multiply-adds of one turn of [`peak`]: 64 products of vectors of eight.
pub const PEAK_MACS: usize = 64 * 8;

/// The most integer multiply-adds that the machine does: products and sums in eight chains, as the microkernel has, with one
/// load to four products. `n` turns of [`PEAK_MACS`].
pub fn peak(n: usize) -> i32 {
    let buffer: Vec<i16> = std::hint::black_box((0..128).collect());
    let y = [3, 5, 7, 9].map(|v| I16x8::load(&std::hint::black_box([v; 8])));
    let mut acc = [I32x4::splat(0); 8];
    for _ in 0..n {
        for x in buffer.chunks_exact(16) {
            let x = [I16x8::load(&x[..8]), I16x8::load(&x[8..])];
            for (i, acc) in acc.iter_mut().enumerate() {
                *acc = acc.add(x[i % 2].dot(y[i / 2]));
            }
        }
    }
    acc.iter().flat_map(|a| a.to_array()).fold(0, i32::wrapping_add)
}

/// A product to be repeated: packed rows and a matrix of some kind, filled with small numbers.
pub struct Product {
    pool: Pool,
    rows: Rows,
    matrix: Matrix,
    precision: Precision,
    out: Vec<f32>,
}

impl Product {
    /// `None` where `n_in` is not whole blocks of `kind`.
    pub fn new(kind: TensorKind, n_rows: usize, n_in: usize, n_out: usize, precision: Precision) -> Option<Self> {
        let n_bytes = n_in.checked_div(kind.block_len())? * kind.block_bytes() * n_out;
        let bytes = (0..n_bytes).map(|i| (i % 61) as u8).collect();
        let matrix = Matrix::new(kind, n_out, n_in, bytes)?;
        let pool = Pool::new(1);
        let mut rows = Rows::default();
        let int = matrix.is_int(precision);
        rows.fill(&pool, n_rows, n_in, Forms { int, float: !int }, |row, out| {
            out.iter_mut().enumerate().for_each(|(k, v)| *v = ((row * 31 + k * 17) % 101) as f32 - 50.0);
        });
        Some(Self { pool, rows, matrix, precision, out: vec![0.0; n_rows * n_out] })
    }

    /// Multiplies once.
    pub fn run(&mut self) -> f32 {
        matmul(&self.pool, &self.rows, [Output { w: &self.matrix, into: Into::Set, out: &mut self.out }], self.precision);
        self.out[0]
    }
}
