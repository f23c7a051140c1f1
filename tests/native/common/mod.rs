//! What native tests share: where things are, and models by path. A test that cannot run says `skipped: why`.
#![allow(dead_code)]

use evaltab::engine::decoder::Decoder;
use evaltab::engine::kernels::pool::Pool;
use evaltab::model::{config::DecoderConfig, gguf::Gguf, weights::Loader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The project's top folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is a folder of the project").to_owned()
}

/// A committed fixture.
pub fn fixture(path: &str) -> PathBuf {
    root().join("tests/fixtures").join(path)
}

/// A file of the shared reference material: `EVALTAB_SHARED`, else `../shared`; `None` (said) where it is absent.
pub fn shared(path: &str) -> Option<PathBuf> {
    let base = std::env::var_os("EVALTAB_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    present(base.join(path))
}

/// SmolLM2's or Qwen's file: `EVALTAB_MODELS`, else `.models`; `None` (said) where it is absent.
pub fn real_model(name: &str) -> Option<PathBuf> {
    let base = std::env::var_os("EVALTAB_MODELS").map_or_else(|| root().join(".models"), PathBuf::from);
    present(base.join(name))
}

fn present(path: PathBuf) -> Option<PathBuf> {
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not here", path.file_name().unwrap_or_default().to_string_lossy());
    None
}

/// The default model of the page.
pub const SMOLLM2: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
/// The larger model of the tests.
pub const QWEN: &str = "Qwen2.5-Coder-0.5B-Instruct.Q4_K_M.gguf";

/// Reads JSON.
pub fn json(path: &Path) -> serde_json::Value {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Reads JSON lines.
pub fn json_lines(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.split('\n').filter(|l| !l.is_empty()).map(|l| serde_json::from_str(l).expect("a JSON line")).collect()
}

/// A JSON list of token ids.
pub fn ids(value: &serde_json::Value) -> Vec<u32> {
    value.as_array().expect("a list").iter().map(|v| v.as_u64().expect("an id") as u32).collect()
}

/// Our decoder of a GGUF file.
pub fn decoder(path: &Path, n_threads: usize) -> Decoder {
    let mut file = std::fs::File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let gguf = Arc::new(Gguf::read(&mut file).expect("a GGUF"));
    let config = DecoderConfig::from_gguf(&gguf).expect("a known architecture");
    let mut loader = Loader::new(gguf);
    while loader.step(&mut file).expect("a tensor").is_some() {}
    Decoder::new(config.clone(), Arc::new(loader.finish(&config).expect("all tensors")), Pool::new(n_threads))
}
