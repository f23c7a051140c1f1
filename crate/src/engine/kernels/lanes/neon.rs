//! AArch64 with NEON, which every AArch64 processor has.

use super::{Float32, Int16, Int32};
use std::arch::aarch64::*;

/// Eight 16-bit integers.
#[derive(Clone, Copy)]
pub struct I16x8(int16x8_t);
/// Four 32-bit integers.
#[derive(Clone, Copy)]
pub struct I32x4(int32x4_t);
/// Four floats.
#[derive(Clone, Copy)]
pub struct F32x4(float32x4_t);

/// Four vectors of four 32-bit lanes, rows → columns.
#[inline(always)]
fn transpose([a, b, c, d]: [int32x4_t; 4]) -> [int32x4_t; 4] {
    // SAFETY: NEON is part of the target.
    unsafe {
        let wide = |v| vreinterpretq_s64_s32(v);
        let (ab0, ab1) = (wide(vzip1q_s32(a, b)), wide(vzip2q_s32(a, b)));
        let (cd0, cd1) = (wide(vzip1q_s32(c, d)), wide(vzip2q_s32(c, d)));
        [vzip1q_s64(ab0, cd0), vzip2q_s64(ab0, cd0), vzip1q_s64(ab1, cd1), vzip2q_s64(ab1, cd1)].map(|v| vreinterpretq_s32_s64(v))
    }
}

impl Int16 for I16x8 {
    type Int32 = I32x4;
    type Float = F32x4;
    #[inline(always)]
    fn load(src: &[i16]) -> Self {
        let src = &src[..8];
        // SAFETY: the slice above has eight elements.
        Self(unsafe { vld1q_s16(src.as_ptr()) })
    }
    #[inline(always)]
    fn splat_pair(src: &[i16]) -> Self {
        let pair = u32::from(src[0] as u16) | u32::from(src[1] as u16) << 16;
        // SAFETY: NEON is part of the target.
        Self(unsafe { vreinterpretq_s16_u32(vdupq_n_u32(pair)) })
    }
    #[inline(always)]
    fn dot(self, other: Self) -> I32x4 {
        // SAFETY: NEON is part of the target.
        I32x4(unsafe {
            let low = vmull_s16(vget_low_s16(self.0), vget_low_s16(other.0));
            let high = vmull_high_s16(self.0, other.0);
            vpaddq_s32(low, high)
        })
    }
    #[inline(always)]
    fn even(self) -> I32x4 {
        // SAFETY: NEON is part of the target.
        I32x4(unsafe { vshrq_n_s32::<16>(vshlq_n_s32::<16>(vreinterpretq_s32_s16(self.0))) })
    }
    #[inline(always)]
    fn odd(self) -> I32x4 {
        // SAFETY: NEON is part of the target.
        I32x4(unsafe { vshrq_n_s32::<16>(vreinterpretq_s32_s16(self.0)) })
    }
    #[inline(always)]
    fn store(self, dst: &mut [i16]) {
        let dst = &mut dst[..8];
        // SAFETY: the slice above has eight elements.
        unsafe { vst1q_s16(dst.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn transpose_pairs(rows: [Self; 4]) -> [Self; 4] {
        // SAFETY: NEON is part of the target.
        transpose(rows.map(|r| unsafe { vreinterpretq_s32_s16(r.0) })).map(|c| Self(unsafe { vreinterpretq_s16_s32(c) }))
    }
}

impl Int32 for I32x4 {
    type Int16 = I16x8;
    type Float = F32x4;
    #[inline(always)]
    fn splat(value: i32) -> Self {
        // SAFETY: NEON is part of the target.
        Self(unsafe { vdupq_n_s32(value) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        Self(unsafe { vaddq_s32(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        Self(unsafe { vsubq_s32(self.0, other.0) })
    }
    #[inline(always)]
    fn shl23(self) -> Self {
        // SAFETY: NEON is part of the target.
        Self(unsafe { vshlq_n_s32::<23>(self.0) })
    }
    #[inline(always)]
    fn narrow(low: Self, high: Self) -> I16x8 {
        // SAFETY: NEON is part of the target.
        I16x8(unsafe { vcombine_s16(vmovn_s32(low.0), vmovn_s32(high.0)) })
    }
    #[inline(always)]
    fn to_float(self) -> F32x4 {
        // SAFETY: NEON is part of the target; the rounding mode is the default, to nearest even.
        F32x4(unsafe { vcvtq_f32_s32(self.0) })
    }
    #[inline(always)]
    fn as_float_bits(self) -> F32x4 {
        // SAFETY: NEON is part of the target.
        F32x4(unsafe { vreinterpretq_f32_s32(self.0) })
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
        // SAFETY: NEON is part of the target.
        Self(unsafe { vdupq_n_f32(value) })
    }
    #[inline(always)]
    fn load(src: &[f32]) -> Self {
        let src = &src[..4];
        // SAFETY: the slice above has four elements.
        Self(unsafe { vld1q_f32(src.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, dst: &mut [f32]) {
        let dst = &mut dst[..4];
        // SAFETY: the slice above has four elements.
        unsafe { vst1q_f32(dst.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        Self(unsafe { vaddq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        Self(unsafe { vsubq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        Self(unsafe { vmulq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        Self(unsafe { vdivq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        Self(unsafe { vbslq_f32(vcltq_f32(self.0, other.0), other.0, self.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        Self(unsafe { vbslq_f32(vcltq_f32(other.0, self.0), other.0, self.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: NEON is part of the target.
        Self(unsafe { vabsq_f32(self.0) })
    }
    #[inline(always)]
    fn as_int_bits(self) -> I32x4 {
        // SAFETY: NEON is part of the target.
        I32x4(unsafe { vreinterpretq_s32_f32(self.0) })
    }
    #[inline(always)]
    fn transpose(rows: [Self; 4]) -> [Self; 4] {
        // SAFETY: NEON is part of the target.
        transpose(rows.map(|r| unsafe { vreinterpretq_s32_f32(r.0) })).map(|c| Self(unsafe { vreinterpretq_f32_s32(c) }))
    }
    #[inline(always)]
    fn to_array(self) -> [f32; 4] {
        // SAFETY: both types are sixteen bytes of plain data.
        unsafe { std::mem::transmute(self.0) }
    }
}
