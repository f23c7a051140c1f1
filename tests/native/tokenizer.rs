//! Tokenizers built from GGUF metadata against the Python library's ids.

mod common;

use common::{fixture, ids, json, real_model, shared, QWEN, SMOLLM2};
use evaltab::model::gguf::Gguf;
use evaltab::tokenizer::Tokenizer;
use std::path::Path;

fn tokenizer_of(path: &Path) -> Tokenizer {
    let mut file = std::fs::File::open(path).expect("the file is there");
    Tokenizer::from_spec(Gguf::read(&mut file).expect("a GGUF").tokenizer_spec()).expect("a known tokenizer")
}

fn compare_cases(tokenizer: &Tokenizer, cases: &[serde_json::Value]) {
    for case in cases {
        let text = case["text"].as_str().expect("text");
        let got = tokenizer.encode(text).expect("ids");
        assert_eq!(got, ids(&case["ids"]), "{text:?}");
        if let Some(decoded) = case["decoded"].as_str() {
            assert_eq!(tokenizer.decode(&got).expect("text"), decoded, "{text:?}");
        }
    }
}

#[test]
fn the_tiny_models_tokenizers_give_the_ids_of_the_python_library() {
    let cases = json(&fixture("models/tokenizer_cases.json"));
    for (pre, file) in [("smollm", "models/tiny-llama.gguf"), ("qwen2", "models/tiny-qwen2.gguf")] {
        let of_pre: Vec<_> = cases.as_array().expect("a list").iter().filter(|c| c["pre"] == pre).cloned().collect();
        assert!(!of_pre.is_empty());
        compare_cases(&tokenizer_of(&fixture(file)), &of_pre);
    }
}

#[test]
fn awkward_texts_give_the_reference_ids_with_both_real_models() {
    for (file, folder) in [(SMOLLM2, "smollm2"), (QWEN, "qwen25-coder")] {
        let (Some(model), Some(cases)) = (real_model(file), shared(&format!("reference/{folder}/tokenizer_cases.json"))) else { continue };
        let start = std::time::Instant::now();
        let tokenizer = tokenizer_of(&model);
        println!("{file}: header and tokenizer in {:?}", start.elapsed());
        let cases = json(&cases);
        compare_cases(&tokenizer, cases.as_array().expect("a list"));
    }
}
