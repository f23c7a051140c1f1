//! The stock path, candle-transformers' own models, as a second opinion on our decoder: another implementation, 8-bit activations.

mod common;

use common::{fixture, ids, json, real_model, shared, SMOLLM2};
use evaltab::engine::stock::Stock;
use evaltab::engine::{Engine, Sequence};
use evaltab::model::ModelLoader;
use evaltab::spec::{EnginePath, Precision};
use std::fs::File;

/// Rounding activations to 8 bits was simulated at 0.33 nats a token at worst on the tiny models.
const EIGHT_BITS: f64 = 0.7;

#[test]
fn the_stock_path_agrees_with_the_golden_pass_within_what_eight_bit_activations_allow() {
    // The other tiny models have rows of an odd number of blocks, which candle's Q5_0 kernel refuses.
    let mut file = File::open(fixture("models/tiny-llama.gguf")).expect("a fixture");
    let mut stock = Stock::load(&mut file, "llama", 377).expect("candle reads it");
    let golden = json(&fixture("models/tiny-llama.json"));
    let sequence = golden["sequences"].as_array().expect("a list").iter().find(|s| s["name"] == "short").expect("it is there");
    let tokens = ids(&sequence["ids"]);
    let pair = Sequence::of_pair(&tokens[..1], &tokens[1..]);
    let scores = stock.score(&[pair], &[], Precision::Default).expect("scores").remove(0);
    for (i, (score, expected)) in scores.iter().zip(sequence["next_token_logprobs"].as_array().expect("a list")).enumerate() {
        let expected = expected.as_f64().expect("a number");
        assert!((score.logprob - expected).abs() < EIGHT_BITS, "token {i}: {}, expected {expected}", score.logprob);
    }
}

#[test]
fn a_model_can_be_asked_for_by_engine_and_says_which_it_has() {
    for (path, engine) in [(EnginePath::Auto, "own"), (EnginePath::Own, "own"), (EnginePath::Stock, "stock")] {
        let mut file = File::open(fixture("models/tiny-llama.gguf")).expect("a fixture");
        let mut loader = ModelLoader::open(&mut file, "tiny-llama.gguf", path, 1).expect("a sound model");
        while !loader.step(&mut file).expect("a tensor").done {}
        let mut model = loader.finish().expect("all tensors");
        assert_eq!(model.engine().name(), engine);
        assert_eq!(model.info.engine, engine);
    }
}

#[test]
fn smollm2_on_the_stock_path_is_near_the_reference_but_not_as_near_as_ours() {
    let (Some(model), Some(reference)) = (real_model(SMOLLM2), shared("reference/smollm2/logits.json")) else { return };
    let mut stock = Stock::load(&mut File::open(model).expect("the file is there"), "llama", 49_152).expect("candle reads it");
    let mut worst = 0f64;
    for case in json(&reference).as_array().expect("a list").iter().take(1) {
        let tokens = ids(&case["ids"]);
        let logits = stock.logits(&tokens).expect("logits");
        for position in 0..tokens.len() {
            let row = &logits[position * 49_152..][..49_152];
            let max = f64::from(row.iter().fold(f32::MIN, |m, &l| m.max(l)));
            let log_sum = max + row.iter().map(|&l| (f64::from(l) - max).exp()).sum::<f64>().ln();
            worst = worst.max((log_sum - case["logsumexp"][position].as_f64().expect("a number")).abs());
        }
    }
    println!("worst log-sum-exp of the stock path: {worst:.2} nats");
    // 8-bit activations move a logit by some tenths of a nat in this model (0.47 at worst when this bound was set).
    assert!(worst < 1.0, "{worst}");
}
