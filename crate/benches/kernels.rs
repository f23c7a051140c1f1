//! Kernels of the engine: products of every number kind, output layer, softmax. Throughput in multiply-adds or elements.
//!
//! `cargo bench --package evaltab --bench kernels`; what a browser makes of the same is `cargo xtask bench`.

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
use evaltab::engine::bench::{peak, Product, PEAK_MACS};
use evaltab::engine::kernels::kind::TensorKind;
use evaltab::engine::kernels::math::{softmax_tile, sum_exp};
use evaltab::spec::Precision;
use std::hint::black_box;

/// Rows of a batch, and the widths of Qwen2.5-0.5B's `ffn_down`, which are whole blocks of every kind.
const SHAPE: (usize, usize, usize) = (256, 4864, 896);

fn products(c: &mut Criterion) {
    let (n_rows, n_in, n_out) = SHAPE;
    let mut group = c.benchmark_group("product");
    group.throughput(Throughput::Elements((n_rows * n_in * n_out) as u64)).sample_size(10);
    for precision in [Precision::Default, Precision::Float32] {
        for kind in TensorKind::ALL {
            let mut product = Product::new(kind, n_rows, n_in, n_out, precision).expect("whole blocks");
            group.bench_function(BenchmarkId::new(kind.name(), format!("{precision:?}")), |b| b.iter(|| black_box(product.run())));
        }
    }
    group.finish();
    let mut group = c.benchmark_group("machine");
    group.throughput(Throughput::Elements((1000 * PEAK_MACS) as u64));
    group.bench_function("peak of dot + add", |b| b.iter(|| black_box(peak(black_box(1000)))));
    group.finish();
}

fn functions(c: &mut Criterion) {
    let logits: Vec<f32> = (0..151_936).map(|i| ((i * 37) % 1000) as f32 / 50.0 - 10.0).collect();
    let mut group = c.benchmark_group("function");
    group.throughput(Throughput::Elements(logits.len() as u64));
    group.bench_function("sum of exp", |b| b.iter(|| black_box(sum_exp(black_box(&logits), 10.0))));
    let mut scores = logits[..4 * 512].to_vec();
    let mut probabilities = vec![0f32; 4 * 512];
    group.throughput(Throughput::Elements(4 * 512));
    group.bench_function("softmax", |b| {
        b.iter(|| {
            scores.copy_from_slice(&logits[..4 * 512]);
            softmax_tile(black_box(&mut scores), [512; 4], &mut probabilities);
        });
    });
    group.finish();
}

criterion_group!(benches, products, functions);
criterion_main!(benches);
