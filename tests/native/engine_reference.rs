//! Both real models against the float32 reference: logits, and the log-likelihood of every choice of every task.

mod common;

use common::{decoder, ids, json, json_lines, real_model, shared, QWEN, SMOLLM2};
use evaltab::engine::{Engine, Sequence};
use evaltab::spec::Precision;

/// Largest differences in nats that a precision may show.
struct Bounds {
    worst: fn(n_tokens: usize, is_f64_softmax: bool) -> f64,
    mean: f64,
}

/// 16-bit activations.
const DEFAULT: Bounds = Bounds { worst: |_, _| 1e-2, mean: 2e-3 };
/// float32. The reference's own log-softmax is off by up to 1e-4 a token where it was taken in float32.
const FLOAT32: Bounds = Bounds { worst: |n, is_f64| 2e-4 + n as f64 * if is_f64 { 2e-5 } else { 1e-4 }, mean: 2e-3 };

/// Top-20 logits and the log-sum-exp of every position of the reference's prompts.
fn compare_logits(model: &str, folder: &str, bound: f64) {
    let (Some(model), Some(reference)) = (real_model(model), shared(&format!("reference/{folder}/logits.json"))) else { return };
    let mut decoder = decoder(&model, 2);
    for case in json(&reference).as_array().expect("a list") {
        let tokens = ids(&case["ids"]);
        let logits = decoder.logits(&tokens, Precision::Float32).expect("finite logits");
        let n_vocab = logits.len() / tokens.len();
        for position in 0..tokens.len() {
            let row = &logits[position * n_vocab..][..n_vocab];
            let max = f64::from(row.iter().fold(f32::MIN, |m, &l| m.max(l)));
            let log_sum = max + row.iter().map(|&l| (f64::from(l) - max).exp()).sum::<f64>().ln();
            let expected = case["logsumexp"][position].as_f64().expect("a number");
            assert!((log_sum - expected).abs() < bound, "{}: log-sum-exp at {position}: {log_sum}, expected {expected}", case["text"]);
            for (id, expected) in ids(&case["top20_ids"][position]).into_iter().zip(case["top20_logits"][position].as_array().expect("a list")) {
                let (got, expected) = (f64::from(row[id as usize]), expected.as_f64().expect("a number"));
                assert!((got - expected).abs() < bound, "{}: logit of {id} at {position}: {got}, expected {expected}", case["text"]);
            }
        }
    }
}

/// Log-likelihood and greediness of the choices of a task's first rows, from the reference's own token ids.
fn compare_task(model: &str, folder: &str, task: &str, n_rows: usize, precision: Precision, bounds: &Bounds) {
    let (Some(model), Some(reference)) = (real_model(model), shared(&format!("reference/{folder}/{task}.jsonl"))) else { return };
    let mut decoder = decoder(&model, 2);
    let (mut worst, mut total, mut n) = (0f64, 0f64, 0usize);
    for row in json_lines(&reference).iter().take(n_rows) {
        let is_f64 = row["loglikelihood_f64_softmax"].is_array();
        let expected = if is_f64 { &row["loglikelihood_f64_softmax"] } else { &row["loglikelihood"] };
        let contexts = &row["context_ids"];
        let continuations: Vec<Vec<u32>> = row["continuation_ids"].as_array().expect("a list").iter().map(ids).collect();
        let sequences: Vec<_> = continuations
            .iter()
            .enumerate()
            .map(|(i, c)| Sequence::of_pair(&if contexts[0].is_array() { ids(&contexts[i]) } else { ids(contexts) }, c))
            .collect();
        for (i, scores) in decoder.score(&sequences, &[], precision).expect("finite scores").iter().enumerate() {
            let got: f64 = scores.iter().map(|s| s.logprob).sum();
            let expected = expected[i].as_f64().expect("a number");
            let difference = (got - expected).abs();
            let bound = (bounds.worst)(scores.len(), is_f64);
            assert!(difference <= bound, "{task} {precision:?} doc {} choice {i}: {got}, expected {expected} within {bound}", row["doc_id"]);
            (worst, total, n) = (worst.max(difference), total + difference, n + 1);
        }
    }
    let mean = total / n as f64;
    println!("{folder} {task} {precision:?}: {n} choices, worst {worst:.2e}, mean {mean:.2e} nats");
    assert!(mean <= bounds.mean, "{task} {precision:?}: {mean} nats on average");
}

#[test]
fn smollm2_logits_agree_with_the_reference() {
    compare_logits(SMOLLM2, "smollm2", 5e-4);
}

#[test]
fn qwen_logits_agree_with_the_reference() {
    compare_logits(QWEN, "qwen25-coder", 5e-4);
}

#[test]
fn smollm2_choices_agree_with_the_reference_in_both_precisions() {
    for task in ["arc_easy", "arc_challenge", "hellaswag", "piqa", "mmlu"] {
        compare_task(SMOLLM2, "smollm2", task, 12, Precision::Default, &DEFAULT);
        compare_task(SMOLLM2, "smollm2", task, 12, Precision::Float32, &FLOAT32);
    }
}

#[test]
fn qwen_choices_agree_with_the_reference_in_both_precisions() {
    for task in ["arc_easy", "hellaswag", "piqa", "mmlu"] {
        compare_task(QWEN, "qwen25-coder", task, 3, Precision::Default, &DEFAULT);
        compare_task(QWEN, "qwen25-coder", task, 3, Precision::Float32, &FLOAT32);
    }
}
