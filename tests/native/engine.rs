//! The decoder on the tiny models: against an independent float64 pass, and against itself under every change that must not matter.

mod common;

use common::{decoder, fixture, ids, json};
use evaltab::engine::{Engine, Sequence, TokenScore};
use evaltab::spec::Precision;

const MODELS: [&str; 4] = ["tiny-llama", "tiny-llama-floats", "tiny-qwen2", "tiny-qwen2-k"];
const PRECISIONS: [Precision; 2] = [Precision::Default, Precision::Float32];

/// Pairs with shared contexts, shared beginnings, equal continuations, and one on its own.
fn sequences(n_vocab: u32) -> Vec<Sequence> {
    let token = |i: u32| (i * 7919 + 13) % n_vocab;
    let context = |doc: u32, len: u32| -> Vec<u32> { (0..20).map(token).chain((0..len).map(|i| token(100 * doc + i))).collect() };
    let mut all = Vec::new();
    for doc in 0..6 {
        let context = context(doc, 3 + 11 * doc);
        for choice in 0..4u32 {
            let continuation: Vec<u32> = (0..=choice).map(|i| token(7 * doc + i * (1 + choice % 2))).collect();
            all.push(Sequence::of_pair(&context, &continuation));
        }
    }
    all.push(Sequence::of_pair(&[token(5)], &[token(6)]));
    all
}

fn bits(scores: &[TokenScore]) -> Vec<(u64, bool)> {
    scores.iter().map(|s| (s.logprob.to_bits(), s.is_argmax)).collect()
}

#[test]
fn log_probabilities_agree_with_an_independent_float64_pass() {
    for name in MODELS {
        let golden = json(&fixture(&format!("models/{name}.json")));
        let mut decoder = decoder(&fixture(&format!("models/{name}.gguf")), 1);
        for sequence in golden["sequences"].as_array().expect("a list") {
            let tokens = ids(&sequence["ids"]);
            // float32: its rounding over two layers. Default: 16-bit activations; the tiny models' random weights make logits
            // of ±10, where float32 itself is off by 1e-5.
            for (precision, bound) in [(Precision::Float32, 1e-4), (Precision::Default, 1e-2)] {
                let logits = decoder.logits(&tokens, precision).expect("finite logits");
                let n_vocab = logits.len() / tokens.len();
                for row in sequence["log_softmax"].as_array().expect("a list") {
                    let position = row["position"].as_u64().expect("a number") as usize;
                    let got = &logits[position * n_vocab..][..n_vocab];
                    let max = got.iter().fold(f32::MIN, |m, &l| m.max(l));
                    let log_sum = f64::from(max) + got.iter().map(|&l| f64::from(l - max).exp()).sum::<f64>().ln();
                    for (token, expected) in row["values"].as_array().expect("a list").iter().enumerate() {
                        let (got, expected) = (f64::from(got[token]) - log_sum, expected.as_f64().expect("a number"));
                        assert!(
                            (got - expected).abs() < bound,
                            "{name} {} {precision:?} position {position} token {token}: {got}, expected {expected}",
                            sequence["name"]
                        );
                    }
                }
                let next = sequence["next_token_logprobs"].as_array().expect("a list");
                if tokens.len() > 1 {
                    let pair = Sequence::of_pair(&tokens[..1], &tokens[1..]);
                    let scores = decoder.score(&[pair], &[], precision).expect("finite scores");
                    assert_eq!(scores[0].len(), next.len());
                    for (i, (score, expected)) in scores[0].iter().zip(next).enumerate() {
                        let expected = expected.as_f64().expect("a number");
                        assert!((score.logprob - expected).abs() < bound, "{name} {precision:?} token {i}: {}, expected {expected}", score.logprob);
                    }
                }
            }
        }
    }
}

#[test]
fn threads_batches_order_and_shared_prefixes_change_no_bit() {
    for name in MODELS {
        let path = fixture(&format!("models/{name}.gguf"));
        let sequences = sequences(300);
        for precision in PRECISIONS {
            // One sequence at a time and nothing kept: no sharing of any sort.
            let mut alone = decoder(&path, 1);
            let expected: Vec<_> =
                sequences.iter().map(|s| bits(&alone.score(std::slice::from_ref(s), &[], precision).expect("scores")[0])).collect();
            for n_threads in [1, 2, 4] {
                let mut decoder = decoder(&path, n_threads);
                let together: Vec<_> = decoder.score(&sequences, &[], precision).expect("scores").iter().map(|s| bits(s)).collect();
                assert_eq!(together, expected, "{name}: one batch, {n_threads} threads");
                let reversed: Vec<_> = sequences.iter().rev().cloned().collect();
                let mut backwards: Vec<_> = decoder.score(&reversed, &[], precision).expect("scores").iter().map(|s| bits(s)).collect();
                backwards.reverse();
                assert_eq!(backwards, expected, "{name}: reversed, {n_threads} threads");
                // Batches of three, each keeping what it shares with the next.
                let mut kept = Vec::new();
                for (i, batch) in sequences.chunks(3).enumerate() {
                    let next = sequences.get(3 * (i + 1)).map_or(&[][..], |s| &s.tokens);
                    kept.extend(decoder.score(batch, next, precision).expect("scores").iter().map(|s| bits(s)));
                }
                assert_eq!(kept, expected, "{name}: kept prefixes, {n_threads} threads");
            }
        }
    }
}

#[test]
fn a_prompt_longer_than_one_stretch_scores_as_its_two_halves_do() {
    let path = fixture("models/tiny-llama.gguf");
    let tokens: Vec<u32> = (0..700u32).map(|i| (i * 31 + 7) % 300).collect();
    let whole = Sequence::of_pair(&tokens, &[5, 6]);
    let mut alone = decoder(&path, 1);
    let expected = bits(&alone.score(std::slice::from_ref(&whole), &[], Precision::Default).expect("scores")[0]);
    // The first half alone, its keys and values kept, then the whole.
    let first = Sequence::of_pair(&tokens[..350], &[1]);
    alone.score(&[first], &whole.tokens, Precision::Default).expect("scores");
    assert_eq!(bits(&alone.score(&[whole], &[], Precision::Default).expect("scores")[0]), expected);
}

#[test]
fn precisions_do_not_mix_in_what_is_kept() {
    let path = fixture("models/tiny-qwen2.gguf");
    let sequence = &sequences(300)[9];
    let mut d = decoder(&path, 1);
    let expected = bits(&d.score(std::slice::from_ref(sequence), &[], Precision::Float32).expect("scores")[0]);
    d.score(std::slice::from_ref(sequence), &sequence.tokens, Precision::Default).expect("scores");
    assert_eq!(bits(&d.score(std::slice::from_ref(sequence), &[], Precision::Float32).expect("scores")[0]), expected);
}

#[test]
fn a_token_outside_the_vocabulary_is_an_error_that_names_it() {
    let mut d = decoder(&fixture("models/tiny-llama.gguf"), 1);
    let e = d.score(&[Sequence::of_pair(&[1, 99_999], &[2])], &[], Precision::Default).expect_err("an id that no row has");
    assert!(e.message.contains("99999"), "{e}");
}
