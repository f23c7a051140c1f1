//! 128-bit lanes: the only place that knows an instruction set.
//!
//! Four bodies of one interface: wasm `simd128`, x86-64's baseline SSE2, AArch64's NEON, and plain arrays for every other
//! target (which is also the twin that tests compare the others with). All give the same bits: additions and
//! multiplications are IEEE single steps, never fused, never reassociated; the integer product is exact.
//!
//! Nothing here needs more than the target's baseline: a browser runs no AVX either, so a native test runs what a page runs.

pub mod plain;

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[path = "lanes/wasm.rs"]
mod native;
#[cfg(target_arch = "x86_64")]
#[path = "lanes/sse2.rs"]
mod native;
#[cfg(target_arch = "aarch64")]
#[path = "lanes/neon.rs"]
mod native;
#[cfg(not(any(all(target_arch = "wasm32", target_feature = "simd128"), target_arch = "x86_64", target_arch = "aarch64")))]
use plain as native;

pub use native::{F32x4, I16x8, I32x4};

/// Eight 16-bit integers.
pub trait Int16: Copy {
    /// The matching 32-bit vector.
    type Int32: Int32<Float = Self::Float, Int16 = Self>;
    /// The matching float vector.
    type Float: Float32<Int32 = Self::Int32>;
    /// Reads eight elements. Panics if the slice is shorter.
    fn load(src: &[i16]) -> Self;
    /// Reads two elements and repeats the pair four times. Panics if the slice is shorter.
    fn splat_pair(src: &[i16]) -> Self;
    /// Lane `i` is `a[2i]·b[2i] + a[2i+1]·b[2i+1]`, exact for all inputs but four times −32768, which no caller has.
    fn dot(self, other: Self) -> Self::Int32;
    /// The first of each pair, sign-extended.
    fn even(self) -> Self::Int32;
    /// The second of each pair, sign-extended.
    fn odd(self) -> Self::Int32;
    /// Writes eight elements. Panics if the slice is shorter.
    fn store(self, dst: &mut [i16]);
    /// Four vectors of four pairs → four vectors, of which the first has the first pairs, and so on.
    fn transpose_pairs(rows: [Self; 4]) -> [Self; 4];
}

/// Four 32-bit integers; arithmetic wraps.
pub trait Int32: Copy {
    /// The matching 16-bit vector.
    type Int16: Int16<Int32 = Self>;
    /// The matching float vector.
    type Float: Float32<Int32 = Self>;
    /// The same value in each lane.
    fn splat(value: i32) -> Self;
    /// Lane-wise sum.
    fn add(self, other: Self) -> Self;
    /// Lane-wise difference.
    fn sub(self, other: Self) -> Self;
    /// Each lane shifted left by 23 bits: an integer moved to a float's exponent.
    fn shl23(self) -> Self;
    /// Eight of them as 16-bit integers, in which they fit.
    fn narrow(low: Self, high: Self) -> Self::Int16;
    /// Nearest float, ties to even.
    fn to_float(self) -> Self::Float;
    /// The same bits as floats.
    fn as_float_bits(self) -> Self::Float;
    /// The four lanes.
    fn to_array(self) -> [i32; 4];
}

/// Four single-precision floats.
pub trait Float32: Copy {
    /// The matching integer vector.
    type Int32: Int32<Float = Self>;
    /// The same value in each lane.
    fn splat(value: f32) -> Self;
    /// Reads four elements. Panics if the slice is shorter.
    fn load(src: &[f32]) -> Self;
    /// Writes four elements. Panics if the slice is shorter.
    fn store(self, dst: &mut [f32]);
    /// Lane-wise sum.
    fn add(self, other: Self) -> Self;
    /// Lane-wise difference.
    fn sub(self, other: Self) -> Self;
    /// Lane-wise product.
    fn mul(self, other: Self) -> Self;
    /// Lane-wise quotient.
    fn div(self, other: Self) -> Self;
    /// `if self < other { other } else { self }`, lane by lane: defined for NaN as well, unlike most instructions called max.
    fn max(self, other: Self) -> Self;
    /// `if other < self { other } else { self }`, lane by lane.
    fn min(self, other: Self) -> Self;
    /// Sign bits cleared.
    fn abs(self) -> Self;
    /// The same bits as integers.
    fn as_int_bits(self) -> Self::Int32;
    /// Rows of a square → its columns.
    fn transpose(rows: [Self; 4]) -> [Self; 4];
    /// The four lanes.
    fn to_array(self) -> [f32; 4];
    /// `(l0 + l1) + (l2 + l3)`.
    #[inline(always)]
    fn sum(self) -> f32 {
        let l = self.to_array();
        (l[0] + l[1]) + (l[2] + l[3])
    }
}
