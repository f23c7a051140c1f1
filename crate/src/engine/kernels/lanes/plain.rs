//! Lanes as arrays: what the instructions mean, spelled out.

use super::{Float32, Int16, Int32};

/// Eight 16-bit integers.
#[derive(Clone, Copy)]
pub struct I16x8([i16; 8]);
/// Four 32-bit integers.
#[derive(Clone, Copy)]
pub struct I32x4([i32; 4]);
/// Four floats.
#[derive(Clone, Copy)]
pub struct F32x4([f32; 4]);

impl Int16 for I16x8 {
    type Int32 = I32x4;
    type Float = F32x4;
    #[inline(always)]
    fn load(src: &[i16]) -> Self {
        Self(std::array::from_fn(|i| src[i]))
    }
    #[inline(always)]
    fn splat_pair(src: &[i16]) -> Self {
        Self(std::array::from_fn(|i| src[i & 1]))
    }
    #[inline(always)]
    fn dot(self, other: Self) -> I32x4 {
        let product = |i: usize| i32::from(self.0[i]) * i32::from(other.0[i]);
        I32x4(std::array::from_fn(|i| product(2 * i).wrapping_add(product(2 * i + 1))))
    }
    #[inline(always)]
    fn even(self) -> I32x4 {
        I32x4(std::array::from_fn(|i| i32::from(self.0[2 * i])))
    }
    #[inline(always)]
    fn odd(self) -> I32x4 {
        I32x4(std::array::from_fn(|i| i32::from(self.0[2 * i + 1])))
    }
    #[inline(always)]
    fn store(self, dst: &mut [i16]) {
        dst[..8].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn transpose_pairs(rows: [Self; 4]) -> [Self; 4] {
        std::array::from_fn(|pair| Self(std::array::from_fn(|i| rows[i / 2].0[2 * pair + i % 2])))
    }
}

impl Int32 for I32x4 {
    type Int16 = I16x8;
    type Float = F32x4;
    #[inline(always)]
    fn splat(value: i32) -> Self {
        Self([value; 4])
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].wrapping_add(other.0[i])))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].wrapping_sub(other.0[i])))
    }
    #[inline(always)]
    fn shl23(self) -> Self {
        Self(self.0.map(|v| v << 23))
    }
    #[inline(always)]
    fn narrow(low: Self, high: Self) -> I16x8 {
        I16x8(std::array::from_fn(|i| if i < 4 { low.0[i] as i16 } else { high.0[i - 4] as i16 }))
    }
    #[inline(always)]
    fn to_float(self) -> F32x4 {
        F32x4(self.0.map(|v| v as f32))
    }
    #[inline(always)]
    fn as_float_bits(self) -> F32x4 {
        F32x4(self.0.map(|v| f32::from_bits(v as u32)))
    }
    #[inline(always)]
    fn to_array(self) -> [i32; 4] {
        self.0
    }
}

impl Float32 for F32x4 {
    type Int32 = I32x4;
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; 4])
    }
    #[inline(always)]
    fn load(src: &[f32]) -> Self {
        Self(std::array::from_fn(|i| src[i]))
    }
    #[inline(always)]
    fn store(self, dst: &mut [f32]) {
        dst[..4].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] - other.0[i]))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] * other.0[i]))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] / other.0[i]))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| if self.0[i] < other.0[i] { other.0[i] } else { self.0[i] }))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| if other.0[i] < self.0[i] { other.0[i] } else { self.0[i] }))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.map(f32::abs))
    }
    #[inline(always)]
    fn as_int_bits(self) -> I32x4 {
        I32x4(self.0.map(|v| v.to_bits() as i32))
    }
    #[inline(always)]
    fn transpose(rows: [Self; 4]) -> [Self; 4] {
        std::array::from_fn(|column| Self(std::array::from_fn(|row| rows[row].0[column])))
    }
    #[inline(always)]
    fn to_array(self) -> [f32; 4] {
        self.0
    }
}
