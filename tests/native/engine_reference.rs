use evaltab::engine::{decoder::Decoder, kernels::pool::Pool, Engine, Sequence};
use evaltab::model::{config::DecoderConfig, gguf::Gguf, weights::Loader};
use evaltab::spec::Precision;
use std::sync::Arc;

fn main_one(path: &str, reference: &str) {
    let mut file = std::fs::File::open(path).unwrap();
    let t = std::time::Instant::now();
    let gguf = Arc::new(Gguf::read(&mut file).unwrap());
    println!("header {:?}", t.elapsed());
    let config = DecoderConfig::from_gguf(&gguf).unwrap();
    println!("{config:?}");
    let mut loader = Loader::new(gguf.clone());
    while loader.step(&mut file).unwrap().is_some() {}
    let weights = Arc::new(loader.finish(&config).unwrap());
    println!("loaded {:?}", t.elapsed());
    let mut d = Decoder::new(config, weights, Pool::new(1));
    let cases: serde_json::Value = serde_json::from_slice(&std::fs::read(format!("{reference}/logits.json")).unwrap()).unwrap();
    for precision in [Precision::Float32, Precision::Default] {
        let mut worst = 0f64;
        let mut worst_lse = 0f64;
        for case in cases.as_array().unwrap() {
            let ids: Vec<u32> = case["ids"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect();
            let n = case["vocab_size"].as_u64().unwrap() as usize;
            let logits = d.logits(&ids, precision).unwrap();
            for p in 0..ids.len() {
                let row = &logits[p * n..(p + 1) * n];
                let top = case["top20_ids"][p].as_array().unwrap();
                let values = case["top20_logits"][p].as_array().unwrap_or_else(|| panic!("{:?}", case.as_object().unwrap().keys().collect::<Vec<_>>()));
                for (i, v) in top.iter().zip(values) {
                    worst = worst.max((f64::from(row[i.as_u64().unwrap() as usize]) - v.as_f64().unwrap()).abs());
                }
                let m = row.iter().fold(f32::MIN, |a, &b| a.max(b)) as f64;
                let lse = row.iter().map(|&x| (x as f64 - m).exp()).sum::<f64>().ln() + m;
                worst_lse = worst_lse.max((lse - case["logsumexp"][p].as_f64().unwrap()).abs());
            }
        }
        println!("{precision:?}: worst logit {worst:e} lse {worst_lse:e}");
    }
    for (name, precision) in [("arc_easy", Precision::Default), ("arc_easy", Precision::Float32)] {
        let text = std::fs::read_to_string(format!("{reference}/{name}.jsonl")).unwrap();
        let t = std::time::Instant::now();
        let (mut worst, mut total, mut n, mut tokens) = (0f64, 0f64, 0, 0);
        let mut seqs = vec![]; let mut want = vec![];
        for line in text.lines().take(20) {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let ids = |v: &serde_json::Value| -> Vec<u32> { v.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect() };
            let ctx = ids(&row["context_ids"]);
            for (i, c) in row["continuation_ids"].as_array().unwrap().iter().enumerate() {
                let s = Sequence::of_pair(&ctx, &ids(c));
                tokens += s.tokens.len();
                seqs.push(s);
                let key = if row["loglikelihood_f64_softmax"].is_array() { "loglikelihood_f64_softmax" } else { "loglikelihood" };
                want.push(row[key][i].as_f64().unwrap());
            }
            if seqs.len() > 30 {
                let scores = d.score(&seqs, &[], precision).unwrap();
                for (s, w) in scores.iter().zip(&want) {
                    let ll: f64 = s.iter().map(|t| t.logprob).sum();
                    worst = worst.max((ll - w).abs()); total += (ll - w).abs(); n += 1;
                }
                seqs.clear(); want.clear();
            }
        }
        println!("{name} {precision:?}: worst {worst:e} mean {:e} over {n}; {tokens} tokens as pairs in {:?}", total / n as f64, t.elapsed());
    }
}

#[test]
fn log_likelihoods_agree_with_the_reference() {
    main_one("/work/models/SmolLM2-135M-Instruct.Q4_1.gguf", "/work/shared/reference/smollm2");
    main_one("/work/models/Qwen2.5-Coder-0.5B-Instruct.Q4_K_M.gguf", "/work/shared/reference/qwen25-coder");
}
