//! Pair encoding against the ids that lm-eval fed, for every row of every reference run.

mod common;

use common::{ids, json_lines, real_model, shared, QWEN, SMOLLM2};
use evaltab::model::gguf::Gguf;
use evaltab::prompt::Encoder;
use evaltab::spec::RunSpec;
use evaltab::task::doc::{Doc, OutputType, Request};
use evaltab::tokenizer::Tokenizer;
use serde_json::Value;

/// A doc with the texts of a reference row; what does not matter to encoding is left empty.
fn doc(context: &Value, continuations: &Value) -> Doc {
    let text = |v: &Value| v.as_str().expect("text").to_owned();
    let continuations: Vec<String> = continuations.as_array().expect("a list").iter().map(text).collect();
    let requests = continuations
        .iter()
        .enumerate()
        .map(|(i, continuation)| Request {
            context: text(if context.is_array() { &context[i] } else { context }).into(),
            continuation: continuation.clone(),
        })
        .collect();
    Doc {
        doc_id: 0,
        index: 0,
        line: 1,
        task: String::new(),
        row: Value::Null,
        category: None,
        question: String::new(),
        output_type: OutputType::MultipleChoice,
        requests,
        choices: continuations,
        gold: vec![0],
        target: Value::Null,
        doc_hash: String::new(),
        prompt_hash: String::new(),
        target_hash: String::new(),
    }
}

fn compare(model: &str, folder: &str, prefix_token_id: u32) {
    let (Some(model), Some(reference)) = (real_model(model), shared(&format!("reference/{folder}"))) else { return };
    let mut file = std::fs::File::open(model).expect("the file is there");
    let mut gguf = Gguf::read(&mut file).expect("a GGUF");
    let tokenizer = Tokenizer::from_spec(gguf.take_tokenizer_spec()).expect("a known tokenizer");
    let spec = RunSpec { prefix_token_id: Some(prefix_token_id), ..RunSpec::default() };
    let encoder = Encoder::new(&tokenizer, &spec, 8192).expect("sound settings");
    let mut n = 0;
    let mut files: Vec<_> = std::fs::read_dir(reference).expect("a folder").map(|f| f.expect("an entry").path()).collect();
    files.sort();
    for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "jsonl")) {
        for row in json_lines(path) {
            // gsm8k generates and has no pairs.
            let Some(continuations) = row["continuation_ids"].as_array() else { continue };
            let parts = [(&row, continuations.clone())]
                .into_iter()
                .chain(row["unconditional"]["continuation_ids"].as_array().map(|c| (&row["unconditional"], c.clone())));
            for (part, continuation_ids) in parts {
                let encoded = encoder.doc(&doc(&part["context"], &part["continuations"])).expect("it fits");
                for (i, (request, expected)) in encoded.requests.iter().zip(&continuation_ids).enumerate() {
                    let context = if part["context_ids"][0].is_array() { ids(&part["context_ids"][i]) } else { ids(&part["context_ids"]) };
                    assert_eq!(
                        (&request.context[..], &request.continuation),
                        (&context[..], &ids(expected)),
                        "{} doc {} choice {i}",
                        path.display(),
                        row["doc_id"]
                    );
                    n += 1;
                }
            }
        }
    }
    println!("{folder}: {n} pairs have lm-eval's ids");
    assert!(n > 500);
}

#[test]
fn smollm2_pairs_have_the_ids_that_lm_eval_fed() {
    compare(SMOLLM2, "smollm2", 1);
}

#[test]
fn qwen_pairs_have_the_ids_that_lm_eval_fed() {
    compare(QWEN, "qwen25-coder", 151_645);
}
