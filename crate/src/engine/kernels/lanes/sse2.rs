//! x86-64 with SSE2, which every x86-64 processor has.

use super::{Float32, Int16, Int32};
use std::arch::x86_64::*;

/// Eight 16-bit integers.
#[derive(Clone, Copy)]
pub struct I16x8(__m128i);
/// Four 32-bit integers.
#[derive(Clone, Copy)]
pub struct I32x4(__m128i);
/// Four floats.
#[derive(Clone, Copy)]
pub struct F32x4(__m128);

/// Four vectors of four 32-bit lanes, rows → columns.
#[inline(always)]
fn transpose([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    // SAFETY: SSE2 is part of the target.
    unsafe {
        let (ab0, ab1) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
        let (cd0, cd1) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
        [_mm_unpacklo_epi64(ab0, cd0), _mm_unpackhi_epi64(ab0, cd0), _mm_unpacklo_epi64(ab1, cd1), _mm_unpackhi_epi64(ab1, cd1)]
    }
}

impl Int16 for I16x8 {
    type Int32 = I32x4;
    type Float = F32x4;
    #[inline(always)]
    fn load(src: &[i16]) -> Self {
        let src = &src[..8];
        // SAFETY: the slice above has eight elements; the load needs no alignment.
        Self(unsafe { _mm_loadu_si128(src.as_ptr().cast()) })
    }
    #[inline(always)]
    fn splat_pair(src: &[i16]) -> Self {
        let pair = u32::from(src[0] as u16) | u32::from(src[1] as u16) << 16;
        // SAFETY: SSE2 is part of the target.
        Self(unsafe { _mm_set1_epi32(pair as i32) })
    }
    #[inline(always)]
    fn dot(self, other: Self) -> I32x4 {
        // SAFETY: SSE2 is part of the target.
        I32x4(unsafe { _mm_madd_epi16(self.0, other.0) })
    }
    #[inline(always)]
    fn even(self) -> I32x4 {
        // SAFETY: SSE2 is part of the target.
        I32x4(unsafe { _mm_srai_epi32::<16>(_mm_slli_epi32::<16>(self.0)) })
    }
    #[inline(always)]
    fn odd(self) -> I32x4 {
        // SAFETY: SSE2 is part of the target.
        I32x4(unsafe { _mm_srai_epi32::<16>(self.0) })
    }
    #[inline(always)]
    fn store(self, dst: &mut [i16]) {
        let dst = &mut dst[..8];
        // SAFETY: the slice above has eight elements; the store needs no alignment.
        unsafe { _mm_storeu_si128(dst.as_mut_ptr().cast(), self.0) }
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
        // SAFETY: SSE2 is part of the target.
        Self(unsafe { _mm_set1_epi32(value) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of the target.
        Self(unsafe { _mm_add_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of the target.
        Self(unsafe { _mm_sub_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn shl23(self) -> Self {
        // SAFETY: SSE2 is part of the target.
        Self(unsafe { _mm_slli_epi32::<23>(self.0) })
    }
    #[inline(always)]
    fn narrow(low: Self, high: Self) -> I16x8 {
        // SAFETY: SSE2 is part of the target.
        I16x8(unsafe { _mm_packs_epi32(low.0, high.0) })
    }
    #[inline(always)]
    fn to_float(self) -> F32x4 {
        // SAFETY: SSE2 is part of the target; the rounding mode is the default, to nearest even.
        F32x4(unsafe { _mm_cvtepi32_ps(self.0) })
    }
    #[inline(always)]
    fn as_float_bits(self) -> F32x4 {
        // SAFETY: SSE2 is part of the target.
        F32x4(unsafe { _mm_castsi128_ps(self.0) })
    }
    #[inline(always)]
    fn to_array(self) -> [i32; 4] {
        // SAFETY: both types are sixteen bytes of plain data.
        unsafe { std::mem::transmute(self.0) }
    }
}

impl Float32 for F32x4 {
    type Int32 = I32x4;
    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: SSE is part of the target.
        Self(unsafe { _mm_set1_ps(value) })
    }
    #[inline(always)]
    fn load(src: &[f32]) -> Self {
        let src = &src[..4];
        // SAFETY: the slice above has four elements; the load needs no alignment.
        Self(unsafe { _mm_loadu_ps(src.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, dst: &mut [f32]) {
        let dst = &mut dst[..4];
        // SAFETY: the slice above has four elements; the store needs no alignment.
        unsafe { _mm_storeu_ps(dst.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: SSE is part of the target.
        Self(unsafe { _mm_add_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: SSE is part of the target.
        Self(unsafe { _mm_sub_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: SSE is part of the target.
        Self(unsafe { _mm_mul_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: SSE is part of the target.
        Self(unsafe { _mm_div_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // `maxps` gives its second operand unless the first is greater: with the operands swapped, that is this trait's max.
        // SAFETY: SSE is part of the target.
        Self(unsafe { _mm_max_ps(other.0, self.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // As with `max`: `minps` gives its second operand unless the first is smaller.
        // SAFETY: SSE is part of the target.
        Self(unsafe { _mm_min_ps(other.0, self.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: SSE is part of the target.
        Self(unsafe { _mm_andnot_ps(_mm_set1_ps(-0.0), self.0) })
    }
    #[inline(always)]
    fn as_int_bits(self) -> I32x4 {
        // SAFETY: SSE2 is part of the target.
        I32x4(unsafe { _mm_castps_si128(self.0) })
    }
    #[inline(always)]
    fn transpose(rows: [Self; 4]) -> [Self; 4] {
        // SAFETY: SSE2 is part of the target.
        transpose(rows.map(|r| unsafe { _mm_castps_si128(r.0) })).map(|c| Self(unsafe { _mm_castsi128_ps(c) }))
    }
    #[inline(always)]
    fn to_array(self) -> [f32; 4] {
        // SAFETY: both types are sixteen bytes of plain data.
        unsafe { std::mem::transmute(self.0) }
    }
}
