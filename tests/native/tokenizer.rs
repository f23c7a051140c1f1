//! Tokenizers built from GGUF metadata against the Python library's ids.

mod common;

use common::{fixture, ids, json, real_model, shared, QWEN, SMOLLM2};
use evaltab::model::gguf::Gguf;
use evaltab::tokenizer::{Tokenizer, TokenizerSpec};
use std::path::Path;

fn tokenizer_of(path: &Path) -> Tokenizer {
    let mut file = std::fs::File::open(path).expect("the file is there");
    Tokenizer::from_spec(Gguf::read(&mut file).expect("a GGUF").take_tokenizer_spec()).expect("a known tokenizer")
}

fn compare_cases(tokenizer: &Tokenizer, cases: &[serde_json::Value]) {
    for case in cases {
        let text = case["text"].as_str().expect("text");
        let got = tokenizer.encode(text).expect("ids");
        assert_eq!(got, ids(&case["ids"]), "{text:?}");
        // The reference gives the decoded text only where it is another.
        let decoded = case["decoded"].as_str().unwrap_or(text);
        assert_eq!(tokenizer.decode(&got).expect("text"), decoded, "{text:?}");
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
fn sentencepiece_vocabularies_give_the_ids_of_sentencepiece() {
    let kinds = json(&fixture("models/sentencepiece_cases.json"));
    for kind in kinds.as_array().expect("a list") {
        let list = |key: &str| kind[key].as_array().expect("a list");
        let id = |key: &str| Some(kind[key].as_u64().expect("an id") as u32);
        let tokenizer = Tokenizer::from_spec(TokenizerSpec {
            model: "llama".into(),
            tokens: list("tokens").iter().map(|t| t.as_str().expect("text").to_owned()).collect(),
            scores: list("scores").iter().map(|s| s.as_f64().expect("a number") as f32).collect(),
            token_types: list("token_types").iter().map(|t| t.as_i64().expect("a type") as i32).collect(),
            bos_id: id("bos_id"),
            eos_id: id("eos_id"),
            unk_id: id("unk_id"),
            add_space_prefix: kind["add_space_prefix"].as_bool(),
            ..TokenizerSpec::default()
        });
        compare_cases(&tokenizer.expect("a sound vocabulary"), list("cases"));
    }
}

#[test]
fn smollm2_loses_bytes_in_just_the_texts_that_do_not_decode_to_themselves() {
    let (Some(model), Some(cases)) = (real_model(SMOLLM2), shared("reference/smollm2/tokenizer_cases.json")) else { return };
    let tokenizer = tokenizer_of(&model);
    for case in json(&cases).as_array().expect("a list") {
        let text = case["text"].as_str().expect("text");
        assert_eq!(tokenizer.drops_bytes(text), case["decodes_to_text"] == false, "{text:?}");
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
