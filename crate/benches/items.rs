//! Whole items through the engine: a context of growing length with four choices. Throughput in tokens fed.
//!
//! `cargo bench --package evaltab --bench items`; with SmolLM2 in `.models` or `EVALTAB_MODELS`, else with the tiny fixture.

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
use evaltab::engine::tree::Sequence;
use evaltab::model::{Model, ModelLoader};
use evaltab::spec::{EnginePath, Precision};
use std::hint::black_box;
use std::path::{Path, PathBuf};

fn model() -> (String, Model) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let models = std::env::var_os("EVALTAB_MODELS").map_or_else(|| root.join(".models"), PathBuf::from);
    let real = models.join("SmolLM2-135M-Instruct.Q4_1.gguf");
    let path = if real.exists() { real } else { root.join("tests/fixtures/models/tiny-llama.gguf") };
    let mut file = std::fs::File::open(&path).expect("the file is there");
    let mut loader = ModelLoader::open(&mut file, "model", EnginePath::Own, 1).expect("a model of ours");
    while !loader.step(&mut file).expect("a tensor").done {}
    (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), loader.finish().expect("all tensors"))
}

fn items(c: &mut Criterion) {
    const CHOICE: usize = 8;
    let (name, mut model) = model();
    let n_vocab = model.info.n_vocab as u32;
    let longest = model.info.n_ctx.saturating_sub(CHOICE + 1);
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    for n in [16usize, 64, 128, 256, 512, 1024].into_iter().filter(|&n| n <= longest) {
        let token = |i: usize| (i as u32).wrapping_mul(2_654_435_761) % n_vocab;
        let context: Vec<u32> = (0..n).map(token).collect();
        let choice = |j: usize| -> Vec<u32> { (0..CHOICE).map(|i| token(n + CHOICE * j + i)).collect() };
        let item: Vec<Sequence> = (0..4).map(|j| Sequence::of_pair(&context, &choice(j))).collect();
        for precision in [Precision::Default, Precision::Float32] {
            // The last token of a choice is asked for, never fed.
            group.throughput(Throughput::Elements((n + 4 * (CHOICE - 1)) as u64));
            group.bench_function(BenchmarkId::new(format!("{precision:?}"), n), |b| {
                b.iter(|| black_box(model.engine().score(&item, &[], precision).expect("scores")));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, items);
criterion_main!(benches);
