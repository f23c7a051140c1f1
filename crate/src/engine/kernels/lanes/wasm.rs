//! WebAssembly `simd128`, without the relaxed instructions: those may differ from one processor to the next.

use super::{Float32, Int16, Int32};
use std::arch::wasm32::*;

/// Eight 16-bit integers.
#[derive(Clone, Copy)]
pub struct I16x8(v128);
/// Four 32-bit integers.
#[derive(Clone, Copy)]
pub struct I32x4(v128);
/// Four floats.
#[derive(Clone, Copy)]
pub struct F32x4(v128);

/// Four vectors of four 32-bit lanes, rows → columns.
#[inline(always)]
fn transpose([a, b, c, d]: [v128; 4]) -> [v128; 4] {
    let (ab0, ab1) = (i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<2, 6, 3, 7>(a, b));
    let (cd0, cd1) = (i32x4_shuffle::<0, 4, 1, 5>(c, d), i32x4_shuffle::<2, 6, 3, 7>(c, d));
    [i64x2_shuffle::<0, 2>(ab0, cd0), i64x2_shuffle::<1, 3>(ab0, cd0), i64x2_shuffle::<0, 2>(ab1, cd1), i64x2_shuffle::<1, 3>(ab1, cd1)]
}

impl Int16 for I16x8 {
    type Int32 = I32x4;
    type Float = F32x4;
    #[inline(always)]
    fn load(src: &[i16]) -> Self {
        let src = &src[..8];
        // SAFETY: the slice above has eight elements; v128 loads need no alignment.
        Self(unsafe { v128_load(src.as_ptr().cast()) })
    }
    #[inline(always)]
    fn splat_pair(src: &[i16]) -> Self {
        let src = &src[..2];
        // SAFETY: the slice above has two elements, four bytes; the load needs no alignment.
        Self(unsafe { v128_load32_splat(src.as_ptr().cast()) })
    }
    #[inline(always)]
    fn dot(self, other: Self) -> I32x4 {
        I32x4(i32x4_dot_i16x8(self.0, other.0))
    }
    #[inline(always)]
    fn even(self) -> I32x4 {
        I32x4(i32x4_shr(i32x4_shl(self.0, 16), 16))
    }
    #[inline(always)]
    fn odd(self) -> I32x4 {
        I32x4(i32x4_shr(self.0, 16))
    }
    #[inline(always)]
    fn store(self, dst: &mut [i16]) {
        let dst = &mut dst[..8];
        // SAFETY: the slice above has eight elements; v128 stores need no alignment.
        unsafe { v128_store(dst.as_mut_ptr().cast(), self.0) }
    }
    #[inline(always)]
    fn transpose_pairs(rows: [Self; 4]) -> [Self; 4] {
        transpose(rows.map(|r| r.0)).map(Self)
    }
}

impl Int32 for I32x4 {
    type Int16 = I16x8;
    type Float = F32x4;
    #[inline(always)]
    fn splat(value: i32) -> Self {
        Self(i32x4_splat(value))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(i32x4_add(self.0, other.0))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(i32x4_sub(self.0, other.0))
    }
    #[inline(always)]
    fn shl23(self) -> Self {
        Self(i32x4_shl(self.0, 23))
    }
    #[inline(always)]
    fn narrow(low: Self, high: Self) -> I16x8 {
        I16x8(i16x8_narrow_i32x4(low.0, high.0))
    }
    #[inline(always)]
    fn to_float(self) -> F32x4 {
        F32x4(f32x4_convert_i32x4(self.0))
    }
    #[inline(always)]
    fn as_float_bits(self) -> F32x4 {
        F32x4(self.0)
    }
    #[inline(always)]
    fn to_array(self) -> [i32; 4] {
        [i32x4_extract_lane::<0>(self.0), i32x4_extract_lane::<1>(self.0), i32x4_extract_lane::<2>(self.0), i32x4_extract_lane::<3>(self.0)]
    }
}

impl Float32 for F32x4 {
    type Int32 = I32x4;
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(f32x4_splat(value))
    }
    #[inline(always)]
    fn load(src: &[f32]) -> Self {
        let src = &src[..4];
        // SAFETY: the slice above has four elements; v128 loads need no alignment.
        Self(unsafe { v128_load(src.as_ptr().cast()) })
    }
    #[inline(always)]
    fn store(self, dst: &mut [f32]) {
        let dst = &mut dst[..4];
        // SAFETY: the slice above has four elements; v128 stores need no alignment.
        unsafe { v128_store(dst.as_mut_ptr().cast(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(f32x4_add(self.0, other.0))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(f32x4_sub(self.0, other.0))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(f32x4_mul(self.0, other.0))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(f32x4_div(self.0, other.0))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(f32x4_pmax(self.0, other.0))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(f32x4_pmin(self.0, other.0))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(f32x4_abs(self.0))
    }
    #[inline(always)]
    fn as_int_bits(self) -> I32x4 {
        I32x4(self.0)
    }
    #[inline(always)]
    fn transpose(rows: [Self; 4]) -> [Self; 4] {
        transpose(rows.map(|r| r.0)).map(Self)
    }
    #[inline(always)]
    fn to_array(self) -> [f32; 4] {
        [f32x4_extract_lane::<0>(self.0), f32x4_extract_lane::<1>(self.0), f32x4_extract_lane::<2>(self.0), f32x4_extract_lane::<3>(self.0)]
    }
}
