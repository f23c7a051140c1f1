//! The kernels' plain twins: one element at a time, no lanes, no tiles, no packing. Slow, short, and the oracle of the tests.
//!
//! They define the order of every float operation; the fast ones give the same bits.

use super::gemm::{dequantize_row, Matrix};
use super::rows::{OUTLIER_RATIO, RUN};
use super::tile::FLOAT_RUN;
use super::unpack::{with_format, Unpack};
use crate::spec::Precision;

/// One row quantised: values, a scale for each [`RUN`] of them, and the outliers as (place, value).
pub fn quantise(row: &[f32]) -> (Vec<i16>, Vec<f32>, Vec<(usize, f32)>) {
    let (mut values, mut scales, mut outliers) = (Vec::new(), Vec::new(), Vec::new());
    for (r, run) in row.chunks_exact(RUN).enumerate() {
        let mut run = run.to_vec();
        let mut magnitudes: Vec<f32> = run.iter().map(|v| v.abs()).collect();
        magnitudes.sort_by(f32::total_cmp);
        let (mut largest, second) = (magnitudes[RUN - 1], magnitudes[RUN - 2]);
        if largest > OUTLIER_RATIO * second {
            let i = run.iter().position(|v| v.abs() == largest).expect("it is one of them");
            outliers.push((r * RUN + i, run[i]));
            run[i] = 0.0;
            largest = second;
        }
        let inverse = if largest > f32::MIN_POSITIVE { 32767.0 / largest } else { 0.0 };
        values.extend(run.iter().map(|v| (v * inverse).round_ties_even() as i16));
        scales.push(largest / 32767.0);
    }
    (values, scales, outliers)
}

/// One output of `matmul`: row `x` times row `column` of `w`.
pub fn dot(x: &[f32], w: &Matrix, column: usize, precision: Precision) -> f32 {
    if w.is_int(precision) {
        with_format!(w.kind, F => int_dot::<F>(x, w.row(column)), else unreachable!("float kinds are not int"))
    } else {
        let mut row = vec![0f32; w.n_in];
        dequantize_row(w, column, &mut row);
        let runs = x.chunks(FLOAT_RUN).zip(row.chunks(FLOAT_RUN));
        runs.fold(0f32, |total, (x, w)| total + x.iter().zip(w).fold(0f32, |sum, (x, w)| sum + x * w))
    }
}

fn int_dot<F: Unpack>(x: &[f32], row: &[u8]) -> f32 {
    let (values, scales, outliers) = quantise(x);
    let mut total = 0f32;
    let mut weights_of_row = Vec::new();
    let (mut block, mut block_scales, mut block_mins) = ([0i16; 256], [0f32; 16], [0f32; 16]);
    for (b, src) in row.chunks_exact(F::BYTES).enumerate() {
        F::unpack(src, &mut block, &mut block_scales, &mut block_mins);
        for (r, weights) in block[..F::LEN].chunks_exact(F::RUN).enumerate() {
            let min = if F::HAS_MIN { block_mins[r] } else { 0.0 };
            weights_of_row.extend(weights.iter().map(|&w| block_scales[r] * f32::from(w) + min));
            let start = b * F::LEN + r * F::RUN;
            let scale = scales[start / RUN];
            let values = &values[start..start + F::RUN];
            let product: i32 = values.iter().zip(weights).map(|(&v, &w)| i32::from(v) * i32::from(w)).sum();
            total += product as f32 * (block_scales[r] * scale);
            if F::HAS_MIN {
                let sum: i32 = values.iter().map(|&v| i32::from(v)).sum();
                total += block_mins[r] * (scale * sum as f32);
            }
        }
    }
    outliers.iter().fold(total, |total, &(k, value)| total + value * weights_of_row[k])
}
