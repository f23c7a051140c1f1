//! The fast kernels against their plain twins, to the bit, and the unpackers against gguf-py.

use evaltab::engine::kernels::gemm::{matmul, Into, Matrix, Output};
use evaltab::engine::kernels::kind::TensorKind;
use evaltab::engine::kernels::lanes::{self, plain, Float32, Int16, Int32};
use evaltab::engine::kernels::pool::Pool;
use evaltab::engine::kernels::rows::{Forms, Rows};
use evaltab::engine::kernels::unpack::{bf16_to_f32, dequantize, f16_to_f32};
use evaltab::engine::kernels::{math, twin};
use evaltab::spec::Precision;
use proptest::prelude::*;

/// A small generator of our own, so that a failure can be repeated from its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 ^ self.0 >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
    }

    fn float(&mut self) -> f32 {
        (self.next() as f32 / u32::MAX as f32 - 0.5) * 4.0
    }

    /// Bytes of `n` blocks; scales are kept in the range of real files, everything else is any byte.
    fn blocks(&mut self, kind: TensorKind, n: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..n * kind.block_bytes()).map(|_| self.next() as u8).collect();
        let halves: &[usize] = match kind {
            TensorKind::Q4_0 | TensorKind::Q5_0 | TensorKind::Q8_0 | TensorKind::Iq4Nl => &[0],
            TensorKind::Q4_1 | TensorKind::Q5_1 | TensorKind::Q4K | TensorKind::Q5K => &[0, 2],
            TensorKind::Q2K => &[80, 82],
            TensorKind::Q3K => &[108],
            TensorKind::Q6K => &[208],
            TensorKind::F16 => &[0],
            TensorKind::F32 | TensorKind::Bf16 => &[],
        };
        for block in bytes.chunks_exact_mut(kind.block_bytes()) {
            for &at in halves {
                // Exponent field 8 to 15: magnitudes from 2^-7 to 2.
                block[at + 1] = block[at + 1] & 0x83 | (8 + self.next() as u8 % 8) << 2;
            }
            match kind {
                TensorKind::F32 => block.copy_from_slice(&self.float().to_le_bytes()),
                TensorKind::Bf16 => block.copy_from_slice(&((self.float().to_bits() >> 16) as u16).to_le_bytes()),
                _ => {}
            }
        }
        bytes
    }
}

#[test]
fn every_unpacker_gives_the_bits_of_gguf_py() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("../fixtures/models/blocks.json")).expect("the fixture is JSON");
    let mut seen = std::collections::BTreeSet::new();
    for case in cases.as_array().expect("a list") {
        let kind = TensorKind::from_ggml(case["ggml_type"].as_u64().expect("a number") as u32).expect("a known kind");
        seen.insert(kind);
        let hex = case["bytes"].as_str().expect("text");
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hexadecimal")).collect();
        let expected: Vec<f32> = case["values"].as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number") as f32).collect();
        let mut got = vec![0f32; expected.len()];
        dequantize(kind, &bytes, &mut got);
        for (i, (g, e)) in got.iter().zip(&expected).enumerate() {
            assert!(g == e, "{} {}: value {i} is {g:e}, expected {e:e}", kind.name(), case["name"]);
        }
    }
    assert_eq!(seen.len(), TensorKind::ALL.len(), "kinds with a case: {seen:?}");
}

#[test]
fn half_precision_widens_exactly_at_every_one_of_its_65536_values() {
    for bits in 0..=u16::MAX {
        let (sign, exponent, mantissa) = (bits >> 15, i32::from(bits >> 10 & 31), f64::from(bits & 1023));
        let magnitude = match exponent {
            31 if mantissa == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            0 => mantissa * 2f64.powi(-24),
            e => (1024.0 + mantissa) * 2f64.powi(e - 25),
        };
        let expected = if sign == 1 { -magnitude } else { magnitude } as f32;
        let got = f16_to_f32(bits);
        assert!(got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(), "{bits:#06x}: {got:e}, expected {expected:e}");
    }
    assert_eq!(bf16_to_f32(0x3fc0), 1.5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_product_has_the_bits_of_its_plain_twin(seed: u64, kind in 0usize..14, n_rows in 1usize..12, n_out in 1usize..45, blocks in 1usize..5, threads in 1usize..4, float32: bool) {
        let kind = TensorKind::ALL[kind];
        // Float kinds take any length, block kinds whole blocks; 37 is no multiple of anything.
        let n_in = if kind.is_quantised() { kind.block_len() * blocks } else { 37 * blocks };
        let precision = if float32 { Precision::Float32 } else { Precision::Default };
        let mut random = Random(seed);
        let bytes = random.blocks(kind, n_out * n_in / kind.block_len());
        let w = Matrix::new(kind, n_out, n_in, bytes).expect("the sizes fit");
        // One value in twenty stands out, as some channels of real models do.
        let x: Vec<f32> = (0..n_rows * n_in).map(|i| random.float() * if i % 20 == 3 { 40.0 } else { 1.0 }).collect();
        let pool = Pool::new(threads);
        let mut rows = Rows::default();
        let is_int = w.is_int(precision);
        rows.fill(&pool, n_rows, n_in, Forms { int: is_int, float: !is_int }, |row, out| out.copy_from_slice(&x[row * n_in..][..n_in]));
        let mut out = vec![f32::NAN; n_rows * n_out];
        matmul(&pool, &rows, [Output { w: &w, into: Into::Set, out: &mut out }], precision);
        for row in 0..n_rows {
            for column in 0..n_out {
                let expected = twin::dot(&x[row * n_in..][..n_in], &w, column, precision);
                let got = out[row * n_out + column];
                prop_assert!(got.to_bits() == expected.to_bits() || got == expected && got == 0.0, "{} {n_rows}x{n_in}x{n_out} at {row},{column}: {got:e}, expected {expected:e}", kind.name());
            }
        }
    }

    #[test]
    fn a_quantised_row_is_within_half_a_step_of_the_row(seed: u64, scale in -20i32..20) {
        let mut random = Random(seed);
        let mut row: Vec<f32> = (0..64).map(|_| random.float() * 2f32.powi(scale)).collect();
        row[40] = 1000.0 * 2f32.powi(scale);
        let (values, scales, outliers) = twin::quantise(&row);
        prop_assert_eq!(&outliers, &[(40, row[40])]);
        for (i, (&v, &x)) in values.iter().zip(&row).enumerate().filter(|(i, _)| *i != 40) {
            let step = scales[i / 32];
            // Half a step, and two float32 roundings of a value of up to 32767 steps.
            prop_assert!((f32::from(v) * step - x).abs() <= step * 0.51, "{x} became {v} of {step}");
        }
    }

    #[test]
    fn this_machines_lanes_mean_what_the_plain_ones_say(a in prop::array::uniform8(-32767i16..=32767), b in prop::array::uniform8(-128i16..=128), f in prop::array::uniform4(any::<f32>()), g in prop::array::uniform4(any::<f32>())) {
        fn ints<I: Int16>(a: &[i16], b: &[i16]) -> Vec<i32> {
            let (a8, b8) = (I::load(a), I::load(b));
            let mut all = a8.dot(b8).to_array().to_vec();
            all.extend(I::splat_pair(&a[3..]).dot(b8).to_array());
            all.extend(a8.dot(b8).add(b8.dot(b8)).sub(I::Int32::splat(77)).to_array());
            all.extend(a8.even().to_array());
            all.extend(a8.odd().to_array());
            let mut out = [0i16; 8];
            for v in I::transpose_pairs([a8, b8, I::splat_pair(b), I::splat_pair(a)]) {
                v.store(&mut out);
                all.extend(out.map(i32::from));
            }
            let bytes = |at: usize| I::splat_pair(&b[at..]).dot(I::splat_pair(&[1, 0]));
            I::Int32::narrow(bytes(1), bytes(6)).store(&mut out);
            all.extend(out.map(i32::from));
            all
        }
        fn floats<F: Float32>(f: &[f32], g: &[f32]) -> Vec<u32> {
            let (x, y) = (F::load(f), F::load(g));
            let mut all = Vec::new();
            let columns = F::transpose([x, y, x.abs(), F::splat(f[1])]);
            for v in columns.into_iter().chain([x.add(y), x.sub(y), x.mul(y), x.div(y), x.max(y), x.min(y), x.abs(), F::splat(f[2]), y.as_int_bits().to_float(), F::Int32::splat(130).shl23().as_float_bits()]) {
                let mut out = [0f32; 4];
                v.store(&mut out);
                // Which NaN an operation gives is the one thing that IEEE leaves open; nothing reads its bits.
                all.extend(out.map(|v| if v.is_nan() { f32::NAN.to_bits() } else { v.to_bits() }));
            }
            all
        }
        prop_assert_eq!(ints::<lanes::I16x8>(&a, &b), ints::<plain::I16x8>(&a, &b));
        prop_assert_eq!(floats::<lanes::F32x4>(&f, &g), floats::<plain::F32x4>(&f, &g));
    }

    #[test]
    fn the_exponential_is_within_two_units_of_the_last_place(x in -86f32..87f32) {
        let got = f64::from(math::exp4(lanes::F32x4::splat(x)).to_array()[1]);
        let expected = f64::from(x).exp();
        prop_assert!((got / expected - 1.0).abs() < 2.4e-7, "e^{x}: {got:e}, expected {expected:e}");
    }

    #[test]
    fn softmax_sums_to_one_ignores_what_follows_and_does_not_know_the_other_rows(seed: u64, n_valid in prop::array::uniform4(1usize..70), extra in 0usize..3) {
        let mut random = Random(seed);
        let rows = n_valid.map(|n| (0..n).map(|_| random.float() * 10.0).collect::<Vec<f32>>());
        let run = |order: [usize; 4], padded: usize| -> Vec<Vec<f32>> {
            let mut scores = vec![f32::NAN; 4 * padded];
            for (out, i) in scores.chunks_exact_mut(padded).zip(order) {
                out[..n_valid[i]].copy_from_slice(&rows[i]);
            }
            let mut probabilities = vec![f32::NAN; 4 * padded];
            math::softmax_tile(&mut scores, order.map(|i| n_valid[i]), &mut probabilities);
            (0..4).map(|r| probabilities.iter().skip(r).step_by(4).copied().collect()).collect()
        };
        let longest = n_valid.into_iter().max().expect("four").next_multiple_of(8);
        let (all, others) = (run([0, 1, 2, 3], longest), run([2, 2, 0, 2], longest + 8 * extra));
        prop_assert_eq!(&all[0], &others[2][..longest]);
        prop_assert_eq!(&all[2], &others[1][..longest]);
        for ((p, scores), n) in all.iter().zip(&rows).zip(n_valid) {
            prop_assert!(p[n..].iter().all(|&p| p == 0.0));
            let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let exact: Vec<f64> = scores.iter().map(|&s| f64::from(s - max).exp()).collect();
            let total: f64 = exact.iter().sum();
            for (&p, e) in p.iter().zip(&exact) {
                prop_assert!((f64::from(p) - e / total).abs() < 1e-6, "{p}, expected {}", e / total);
            }
        }
    }

    #[test]
    fn matrices_that_share_their_rows_get_what_each_gets_alone(seed: u64, n_rows in 1usize..9, widths in prop::array::uniform3(1usize..50), threads in 1usize..4) {
        let mut random = Random(seed);
        let n_in = 64;
        let matrices = widths.map(|n_out| Matrix::new(TensorKind::Q5_1, n_out, n_in, random.blocks(TensorKind::Q5_1, n_out * n_in / 32)).expect("the sizes fit"));
        let x: Vec<f32> = (0..n_rows * n_in).map(|_| random.float()).collect();
        let pool = Pool::new(threads);
        let mut rows = Rows::default();
        rows.fill(&pool, n_rows, n_in, Forms { int: true, float: false }, |row, out| out.copy_from_slice(&x[row * n_in..][..n_in]));
        let mut together = widths.map(|n_out| vec![1f32; n_rows * n_out]);
        let bias: Vec<f32> = (0..widths[1]).map(|i| i as f32).collect();
        let intos = [Into::Set, Into::Biased(&bias), Into::Add];
        let mut outs = together.iter_mut();
        let outputs = [0, 1, 2].map(|i| Output { w: &matrices[i], into: intos[i], out: outs.next().expect("three") });
        matmul(&pool, &rows, outputs, Precision::Default);
        for (i, together) in together.iter().enumerate() {
            let mut alone = vec![1f32; together.len()];
            matmul(&pool, &rows, [Output { w: &matrices[i], into: intos[i], out: &mut alone }], Precision::Default);
            prop_assert_eq!(&alone, together);
        }
    }
}
