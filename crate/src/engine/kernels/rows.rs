//! Activations, packed for the microkernels: four rows to a tile, quantised to 16 bits for integer panels, as they are for
//! float ones.
//!
//! Quantised: 32 neighbours share a float32 scale, largest magnitude / 32767, and are rounded to nearest, ties to even.
//! One value that stands out from its neighbours would cost them their precision (language models have such channels): it is
//! taken out and multiplied as a float ([`Outlier`]). Rows that fill up the last tile are zero.

use super::lanes::{F32x4, Float32, I32x4, Int16, Int32};
use super::pool::{Disjoint, Pool};
use super::tile::{interleave, IntRows, ROWS};

/// Elements that share an activation scale.
pub const RUN: usize = 32;

/// A value is taken out of its run when it is this many times the next one: then the others gain two bits, and it is rare
/// enough (a few runs in a hundred) to cost nothing.
pub const OUTLIER_RATIO: f32 = 4.0;

/// A value that is multiplied as a float; in the integers there is a zero in its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// Row of the tile.
    pub row: usize,
    /// Place in the row.
    pub k: usize,
    /// The value.
    pub value: f32,
}

/// What the matrices that follow will read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forms {
    /// Integer panels: quantised kinds in default precision.
    pub int: bool,
    /// Float panels: float32 precision, and the float kinds.
    pub float: bool,
}

/// Packed rows. Reused from call to call, so that the buffers are allocated once.
#[derive(Default)]
pub struct Rows {
    n_rows: usize,
    k: usize,
    values: Vec<i16>,
    scales: [Vec<f32>; 2],
    sums: [Vec<f32>; 2],
    outliers: Vec<Vec<Outlier>>,
    floats: Vec<f32>,
}

impl Rows {
    /// Rows, padding not counted.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Elements of a row.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Tiles of four rows.
    pub fn n_tiles(&self) -> usize {
        self.n_rows.div_ceil(ROWS)
    }

    /// Fills the buffers: `row(i, out)` writes row `i`, `k` floats, and is called once for each.
    ///
    /// With `forms.int`, `k` is a multiple of [`RUN`].
    pub fn fill(&mut self, pool: &Pool, n_rows: usize, k: usize, forms: Forms, row: impl Fn(usize, &mut [f32]) + Sync) {
        (self.n_rows, self.k) = (n_rows, k);
        let n_tiles = self.n_tiles();
        let n_runs = k / RUN;
        let (n_int, n_float) = (if forms.int { n_tiles } else { 0 }, if forms.float { n_tiles } else { 0 });
        debug_assert!(!forms.int || k.is_multiple_of(RUN));
        self.values.resize(n_int * ROWS * k, 0);
        for (i, per_run) in [1, 2].into_iter().enumerate() {
            self.scales[i].resize(n_int * ROWS * n_runs * per_run, 0.0);
            self.sums[i].resize(n_int * ROWS * n_runs * per_run, 0.0);
        }
        self.outliers.resize_with(n_int.max(self.outliers.len()), Vec::new);
        self.floats.resize(n_float * ROWS * k, 0.0);
        let outliers = Disjoint::new(&mut self.outliers);
        let values = Disjoint::new(&mut self.values);
        let scales = self.scales.each_mut().map(|s| Disjoint::new(s));
        let sums = self.sums.each_mut().map(|s| Disjoint::new(s));
        let floats = Disjoint::new(&mut self.floats);
        pool.run(n_tiles, |tile| {
            let mut buffer = vec![0f32; k];
            let n_int = if forms.int { ROWS * k } else { 0 };
            let n_float = if forms.float { ROWS * k } else { 0 };
            let mut quantised = vec![0i16; n_int];
            // SAFETY: each tile has ranges of its own in every buffer.
            let (values, floats) = unsafe { (values.slice(tile * n_int, n_int), floats.slice(tile * n_float, n_float)) };
            let grains = [(0, RUN), (1, RUN / 2)];
            // SAFETY: as above.
            let [s32, s16] = grains.map(|(i, run)| unsafe { scales[i].slice(tile * n_int / run, n_int / run) });
            // SAFETY: as above.
            let outliers = unsafe { outliers.slice(tile * usize::from(forms.int), usize::from(forms.int)) };
            outliers.iter_mut().for_each(Vec::clear);
            // SAFETY: as above.
            let [m32, m16] = grains.map(|(i, run)| unsafe { sums[i].slice(tile * n_int / run, n_int / run) });
            for r in 0..ROWS {
                let index = tile * ROWS + r;
                if index < n_rows {
                    row(index, &mut buffer);
                } else {
                    buffer.fill(0.0);
                }
                if forms.float {
                    for (out, &v) in floats.chunks_exact_mut(ROWS).zip(&buffer) {
                        out[r] = v;
                    }
                }
                if let [outliers] = outliers {
                    quantise(&mut buffer, r, &mut quantised[r * k..][..k], [s32, m32], [s16, m16], outliers);
                }
            }
            interleave(std::array::from_fn(|r| &quantised[r * n_int / ROWS..][..n_int / ROWS]), ROWS, 0, values);
        });
    }

    /// One tile for panels whose weights have a scale every `run` (32 or 16) values.
    #[inline]
    pub fn int_tile(&self, tile: usize, run: usize) -> IntRows<'_> {
        let which = usize::from(run != RUN);
        let n = ROWS * self.k / run;
        IntRows {
            values: &self.values[tile * ROWS * self.k..][..ROWS * self.k],
            scales: &self.scales[which][tile * n..][..n],
            sums: &self.sums[which][tile * n..][..n],
        }
    }

    /// The outliers of one tile, in order of row and place.
    #[inline]
    pub fn outliers(&self, tile: usize) -> &[Outlier] {
        &self.outliers[tile]
    }

    /// One tile for float panels, `[k][row]`.
    #[inline]
    pub fn float_tile(&self, tile: usize) -> &[f32] {
        &self.floats[tile * ROWS * self.k..][..ROWS * self.k]
    }
}

/// The two largest magnitudes of a run.
#[inline(always)]
fn two_largest(run: &[f32]) -> (f32, f32) {
    let (mut first, mut second) = (F32x4::splat(0.0), F32x4::splat(0.0));
    for v in run.chunks_exact(4) {
        let v = F32x4::load(v).abs();
        second = second.max(first.min(v));
        first = first.max(v);
    }
    let (mut a, mut b) = (0f32, 0f32);
    for v in first.to_array() {
        (a, b) = if v > a { (v, a) } else { (a, b.max(v)) };
    }
    // Each lane's second is not above its first.
    (a, second.to_array().into_iter().fold(b, f32::max))
}

/// Quantises row `r` of a tile; outliers are set to zero in `row`. `per_32` and `per_16` are the tile's scales and sums.
fn quantise(row: &mut [f32], r: usize, values: &mut [i16], per_32: [&mut [f32]; 2], per_16: [&mut [f32]; 2], outliers: &mut Vec<Outlier>) {
    // Adding 1.5·2^23 rounds to an integer, ties to even, and leaves it in the low bits.
    const MAGIC: f32 = 12_582_912.0;
    for (run, (x, out)) in row.chunks_exact_mut(RUN).zip(values.chunks_exact_mut(RUN)).enumerate() {
        let (mut largest, second) = two_largest(x);
        if largest > OUTLIER_RATIO * second {
            if let Some(i) = x.iter().position(|v| v.abs() == largest) {
                outliers.push(Outlier { row: r, k: run * RUN + i, value: x[i] });
                x[i] = 0.0;
                largest = second;
            }
        }
        let scale = largest / 32767.0;
        // Below the smallest normal the quotient would overflow; such a run counts as zero.
        let inverse = F32x4::splat(if largest > f32::MIN_POSITIVE { 32767.0 / largest } else { 0.0 });
        let magic = F32x4::splat(MAGIC);
        let round = |v: &[f32]| F32x4::load(v).mul(inverse).add(magic).as_int_bits().sub(magic.as_int_bits());
        let mut halves = [0i32; 2];
        for (half, (x, out)) in halves.iter_mut().zip(x.chunks_exact(RUN / 2).zip(out.chunks_exact_mut(RUN / 2))) {
            let mut sums = I32x4::splat(0);
            for (x, out) in x.chunks_exact(8).zip(out.chunks_exact_mut(8)) {
                let (low, high) = (round(&x[..4]), round(&x[4..]));
                I32x4::narrow(low, high).store(out);
                sums = sums.add(low).add(high);
            }
            *half = sums.to_array().iter().sum();
        }
        per_32[0][run * ROWS + r] = scale;
        per_32[1][run * ROWS + r] = scale * (halves[0] + halves[1]) as f32;
        for (half, &sum) in halves.iter().enumerate() {
            per_16[0][(2 * run + half) * ROWS + r] = scale;
            per_16[1][(2 * run + half) * ROWS + r] = scale * sum as f32;
        }
    }
}
