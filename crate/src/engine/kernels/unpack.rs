//! One unpacker per GGUF number kind: bytes of one block → small integers, a scale per run and, where the kind has one, a minimum.
//!
//! In: the bytes of one block. Out: `values` (each within ±128), `scales` and `mins`, one per [`Unpack::RUN`] values, so that
//! weight = scale · value + min, evaluated in that order in float32, is exactly what ggml de-quantises to.
//! F32, F16 and BF16 have no integers; they are widened by [`widen`].
//!
//! Source of the layouts: ggml's `ggml-common.h` and the de-quantisers of `ggml-quants.c`; checked against gguf-py's in
//! `tests/fixtures/models/blocks.json`.

use super::kind::TensorKind;

/// A block format.
pub trait Unpack {
    /// Values of a block.
    const LEN: usize;
    /// Bytes of a block.
    const BYTES: usize;
    /// Values that share a scale: 32 or 16.
    const RUN: usize;
    /// Whether weights have a minimum.
    const HAS_MIN: bool;
    /// Unpacks one block. `src` has `BYTES` bytes, `values` `LEN` elements, `scales` and `mins` `LEN / RUN`; `mins` is left alone
    /// where `HAS_MIN` is false.
    fn unpack(src: &[u8], values: &mut [i16], scales: &mut [f32], mins: &mut [f32]);
}

/// A half-precision number at `at`.
#[inline(always)]
fn half(src: &[u8], at: usize) -> f32 {
    f16_to_f32(u16::from_le_bytes([src[at], src[at + 1]]))
}

/// IEEE half → single, exact, subnormals and infinities included.
#[inline]
pub fn f16_to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let magnitude = u32::from(bits & 0x7fff);
    if magnitude >= 0x7c00 {
        return f32::from_bits(sign | 0x7f80_0000 | (magnitude & 0x3ff) << 13);
    }
    // Moving the fields gives 2^-112 times the value (half's bias is 15, single's 127), subnormals included; the product is exact.
    let scaled = f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000);
    f32::from_bits(scaled.to_bits() | sign)
}

/// bfloat16 → single, exact.
#[inline]
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Low nibbles first, then high nibbles: 16 bytes → 32 values.
#[inline(always)]
fn nibbles(qs: &[u8], values: &mut [i16], offset: i16) {
    let (low, high) = values.split_at_mut(16);
    for ((&q, l), h) in qs[..16].iter().zip(low).zip(high) {
        *l = i16::from(q & 15) - offset;
        *h = i16::from(q >> 4) - offset;
    }
}

/// Eight bits → eight bytes, 16 where the bit is set, the lowest bit first.
const FIFTH_BITS: [[u8; 8]; 256] = {
    let mut table = [[0u8; 8]; 256];
    let mut i = 0;
    while i < 8 * 256 {
        table[i / 8][i % 8] = (i / 8 >> (i % 8) & 1) as u8 * 16;
        i += 1;
    }
    table
};

/// As [`nibbles`] with a fifth bit for each value from four bytes of `bits`, the first value's bit lowest.
#[inline(always)]
fn nibbles_and_bit(qs: &[u8], bits: &[u8], values: &mut [i16], offset: i16) {
    let fifth = |at: usize| -> [u8; 16] {
        let mut sixteen = [0u8; 16];
        sixteen[..8].copy_from_slice(&FIFTH_BITS[usize::from(bits[at])]);
        sixteen[8..].copy_from_slice(&FIFTH_BITS[usize::from(bits[at + 1])]);
        sixteen
    };
    let (low_bits, high_bits) = (fifth(0), fifth(2));
    let (low, high) = values.split_at_mut(16);
    for i in 0..16 {
        low[i] = i16::from(qs[i] & 15 | low_bits[i]) - offset;
        high[i] = i16::from(qs[i] >> 4 | high_bits[i]) - offset;
    }
}

macro_rules! format {
    ($(#[$doc:meta])* $name:ident, len $len:literal, bytes $bytes:literal, run $run:literal, min $min:literal, |$src:ident, $values:ident, $scales:ident, $mins:ident| $body:block) => {
        $(#[$doc])*
        pub struct $name;
        impl Unpack for $name {
            const LEN: usize = $len;
            const BYTES: usize = $bytes;
            const RUN: usize = $run;
            const HAS_MIN: bool = $min;
            #[inline(always)]
            fn unpack($src: &[u8], $values: &mut [i16], $scales: &mut [f32], $mins: &mut [f32]) {
                let $src = &$src[..$bytes];
                let $values = &mut $values[..$len];
                let $scales = &mut $scales[..$len / $run];
                $body
            }
        }
    };
}

format!(
    /// f16 scale; 4 bits, offset 8.
    Q4_0, len 32, bytes 18, run 32, min false, |src, values, scales, _mins| {
        scales[0] = half(src, 0);
        nibbles(&src[2..], values, 8);
    }
);
format!(
    /// f16 scale, f16 minimum; 4 bits.
    Q4_1, len 32, bytes 20, run 32, min true, |src, values, scales, mins| {
        scales[0] = half(src, 0);
        mins[0] = half(src, 2);
        nibbles(&src[4..], values, 0);
    }
);
format!(
    /// f16 scale; fifth bits in a word of their own; offset 16.
    Q5_0, len 32, bytes 22, run 32, min false, |src, values, scales, _mins| {
        scales[0] = half(src, 0);
        nibbles_and_bit(&src[6..22], &src[2..6], values, 16);
    }
);
format!(
    /// f16 scale, f16 minimum; fifth bits in a word of their own.
    Q5_1, len 32, bytes 24, run 32, min true, |src, values, scales, mins| {
        scales[0] = half(src, 0);
        mins[0] = half(src, 2);
        nibbles_and_bit(&src[8..24], &src[4..8], values, 0);
    }
);
format!(
    /// f16 scale; signed bytes.
    Q8_0, len 32, bytes 34, run 32, min false, |src, values, scales, _mins| {
        scales[0] = half(src, 0);
        for (v, &q) in values.iter_mut().zip(&src[2..34]) {
            *v = i16::from(q as i8);
        }
    }
);
format!(
    /// 4 bits, each an index into a fixed table of sixteen levels; f16 scale.
    Iq4Nl, len 32, bytes 18, run 32, min false, |src, values, scales, _mins| {
        const LEVELS: [i16; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];
        scales[0] = half(src, 0);
        let (low, high) = values.split_at_mut(16);
        for ((&q, l), h) in src[2..18].iter().zip(low).zip(high) {
            *l = LEVELS[usize::from(q & 15)];
            *h = LEVELS[usize::from(q >> 4)];
        }
    }
);
format!(
    /// Sixteen runs of 16, 2 bits; a byte per run holds a 4-bit scale and a 4-bit minimum, in units of two f16 numbers.
    Q2K, len 256, bytes 84, run 16, min true, |src, values, scales, mins| {
        let (d, dmin) = (half(src, 80), half(src, 82));
        for (i, &sc) in src[..16].iter().enumerate() {
            scales[i] = d * f32::from(sc & 15);
            mins[i] = -(dmin * f32::from(sc >> 4));
        }
        for (qs, out) in src[16..80].chunks_exact(32).zip(values.chunks_exact_mut(128)) {
            for (shift, out) in out.chunks_exact_mut(32).enumerate() {
                for (v, &q) in out.iter_mut().zip(qs) {
                    *v = i16::from(q >> (2 * shift) & 3);
                }
            }
        }
    }
);
format!(
    /// Sixteen runs of 16, 3 bits (the high bit kept apart, inverted), offset 4; 6-bit scales, offset 32, packed in 12 bytes.
    Q3K, len 256, bytes 110, run 16, min false, |src, values, scales, _mins| {
        let d = half(src, 108);
        let packed = &src[96..108];
        for (i, scale) in scales.iter_mut().enumerate() {
            let low = if i < 8 { packed[i] & 15 } else { packed[i - 8] >> 4 };
            let high = packed[8 + i % 4] >> (2 * (i / 4)) & 3;
            *scale = d * (f32::from(low | high << 4) - 32.0);
        }
        let high_bits = &src[..32];
        for (half_index, (qs, out)) in src[32..96].chunks_exact(32).zip(values.chunks_exact_mut(128)).enumerate() {
            for (shift, out) in out.chunks_exact_mut(32).enumerate() {
                let bit = 4 * half_index + shift;
                for ((v, &q), &h) in out.iter_mut().zip(qs).zip(high_bits) {
                    *v = i16::from(q >> (2 * shift) & 3) + i16::from(h >> bit & 1) * 4 - 4;
                }
            }
        }
    }
);

/// The eight 6-bit scales and eight 6-bit minima that Q4_K and Q5_K pack into twelve bytes.
#[inline(always)]
fn scales_and_mins(packed: &[u8], i: usize) -> (f32, f32) {
    let (scale, min) = if i < 4 {
        (packed[i] & 63, packed[i + 4] & 63)
    } else {
        (packed[i + 4] & 15 | packed[i - 4] >> 6 << 4, packed[i + 4] >> 4 | packed[i] >> 6 << 4)
    };
    (f32::from(scale), f32::from(min))
}

format!(
    /// Eight runs of 32, 4 bits; 6-bit scales and minima in units of two f16 numbers.
    Q4K, len 256, bytes 144, run 32, min true, |src, values, scales, mins| {
        let (d, dmin) = (half(src, 0), half(src, 2));
        for i in 0..8 {
            let (scale, min) = scales_and_mins(&src[4..16], i);
            scales[i] = d * scale;
            mins[i] = -(dmin * min);
        }
        for (qs, out) in src[16..144].chunks_exact(32).zip(values.chunks_exact_mut(64)) {
            let (low, high) = out.split_at_mut(32);
            for ((&q, l), h) in qs.iter().zip(low).zip(high) {
                *l = i16::from(q & 15);
                *h = i16::from(q >> 4);
            }
        }
    }
);
format!(
    /// As Q4_K with a fifth bit.
    Q5K, len 256, bytes 176, run 32, min true, |src, values, scales, mins| {
        let (d, dmin) = (half(src, 0), half(src, 2));
        for i in 0..8 {
            let (scale, min) = scales_and_mins(&src[4..16], i);
            scales[i] = d * scale;
            mins[i] = -(dmin * min);
        }
        let fifth = &src[16..48];
        for (j, (qs, out)) in src[48..176].chunks_exact(32).zip(values.chunks_exact_mut(64)).enumerate() {
            let (low, high) = out.split_at_mut(32);
            for (((&q, &bits), l), h) in qs.iter().zip(fifth).zip(low).zip(high) {
                *l = i16::from(q & 15 | (bits >> (2 * j) & 1) << 4);
                *h = i16::from(q >> 4 | (bits >> (2 * j + 1) & 1) << 4);
            }
        }
    }
);
format!(
    /// Sixteen runs of 16, 6 bits in two parts, offset 32; signed byte scales in units of one f16 number.
    Q6K, len 256, bytes 210, run 16, min false, |src, values, scales, _mins| {
        let d = half(src, 208);
        for (scale, &sc) in scales.iter_mut().zip(&src[192..208]) {
            *scale = d * f32::from(sc as i8);
        }
        let halves = src[..128].chunks_exact(64).zip(src[128..192].chunks_exact(32)).zip(values.chunks_exact_mut(128));
        for ((low, high), out) in halves {
            for l in 0..32 {
                let (a, b, h) = (low[l], low[l + 32], high[l]);
                out[l] = i16::from(a & 15 | (h & 3) << 4) - 32;
                out[l + 32] = i16::from(b & 15 | (h >> 2 & 3) << 4) - 32;
                out[l + 64] = i16::from(a >> 4 | (h >> 4 & 3) << 4) - 32;
                out[l + 96] = i16::from(b >> 4 | (h >> 6) << 4) - 32;
            }
        }
    }
);

/// Calls `$body` with `$Format` naming the unpacker of a block-quantised kind, or gives `$otherwise` for the float kinds.
macro_rules! with_format {
    ($kind:expr, $Format:ident => $body:expr, else $otherwise:expr) => {{
        use $crate::engine::kernels::{kind::TensorKind as K, unpack as u};
        macro_rules! with {
            ($T:ty) => {{
                type $Format = $T;
                $body
            }};
        }
        match $kind {
            K::Q4_0 => with!(u::Q4_0),
            K::Q4_1 => with!(u::Q4_1),
            K::Q5_0 => with!(u::Q5_0),
            K::Q5_1 => with!(u::Q5_1),
            K::Q8_0 => with!(u::Q8_0),
            K::Iq4Nl => with!(u::Iq4Nl),
            K::Q2K => with!(u::Q2K),
            K::Q3K => with!(u::Q3K),
            K::Q4K => with!(u::Q4K),
            K::Q5K => with!(u::Q5K),
            K::Q6K => with!(u::Q6K),
            K::F32 | K::F16 | K::Bf16 => $otherwise,
        }
    }};
}
pub(crate) use with_format;

/// Widens `out.len()` values of a float kind, from the start of `src`.
pub fn widen(kind: TensorKind, src: &[u8], out: &mut [f32]) {
    match kind {
        TensorKind::F32 => {
            for (v, b) in out.iter_mut().zip(src.chunks_exact(4)) {
                *v = f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            }
        }
        TensorKind::F16 => {
            for (v, b) in out.iter_mut().zip(src.chunks_exact(2)) {
                *v = f16_to_f32(u16::from_le_bytes([b[0], b[1]]));
            }
        }
        TensorKind::Bf16 => {
            for (v, b) in out.iter_mut().zip(src.chunks_exact(2)) {
                *v = bf16_to_f32(u16::from_le_bytes([b[0], b[1]]));
            }
        }
        _ => unreachable!("block formats go through Unpack"),
    }
}

/// De-quantises `out.len()` values, whole blocks, from the start of `src`: what ggml's `to_float` gives, to the bit.
pub fn dequantize(kind: TensorKind, src: &[u8], out: &mut [f32]) {
    with_format!(kind, F => dequantize_blocks::<F>(src, out), else widen(kind, src, out))
}

fn dequantize_blocks<F: Unpack>(src: &[u8], out: &mut [f32]) {
    let (mut values, mut scales, mut mins) = ([0i16; 256], [0f32; 16], [0f32; 16]);
    for (src, out) in src.chunks_exact(F::BYTES).zip(out.chunks_exact_mut(F::LEN)) {
        F::unpack(src, &mut values, &mut scales, &mut mins);
        for (run, out) in out.chunks_exact_mut(F::RUN).enumerate() {
            for (o, &v) in out.iter_mut().zip(&values[run * F::RUN..]) {
                let product = scales[run] * f32::from(v);
                *o = if F::HAS_MIN { product + mins[run] } else { product };
            }
        }
    }
}
