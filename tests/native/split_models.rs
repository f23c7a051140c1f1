//! A model in several files: the bits of the model in one, and an error that names the part where one is missing or wrong.
//!
//! `tiny-llama-split-*.gguf` has the weights of `tiny-llama.gguf`; gguf-py wrote both.

mod common;

use common::{fixture, json, root};
use evaltab::error::{EvalError, Result};
use evaltab::evaluation::Evaluation;
use evaltab::model::source::{model_sha256, part_paths, Parts, Source};
use evaltab::model::{Model, ModelLoader};
use evaltab::report::ReportOptions;
use evaltab::run::Phase;
use evaltab::spec::{EnginePath, RunSpec};
use evaltab::task::{read_rows, Files};
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;

const N_PARTS: usize = 3;

type InMemory = Parts<Cursor<Vec<u8>>>;

fn part(i: usize) -> Vec<u8> {
    fs::read(fixture(&format!("models/tiny-llama-split-{i:05}-of-{N_PARTS:05}.gguf"))).expect("a committed file")
}

fn parts(which: &[usize]) -> InMemory {
    Parts(which.iter().map(|&i| Cursor::new(part(i))).collect())
}

fn whole() -> Vec<u8> {
    fs::read(fixture("models/tiny-llama.gguf")).expect("a committed file")
}

fn load(source: &mut dyn Source, path: EnginePath) -> Result<Model> {
    let mut loader = ModelLoader::open(source, "tiny-llama.gguf", path, 1)?;
    while !loader.step(source)?.done {}
    loader.finish()
}

fn digest(mut model: Model) -> String {
    let rows = fs::read(root().join("tests/wasm/rows.jsonl")).expect("a committed file");
    let files = Files { data: read_rows("rows.jsonl", &rows).expect("rows"), fewshot: None, includes: Default::default() };
    let mut evaluation = Evaluation::new(&model, &files, RunSpec::default(), None).expect("a task");
    while evaluation.step(&mut model).expect("a step").phase != Phase::Done {}
    evaluation.report(&ReportOptions::default()).loglikelihood_digest
}

#[test]
fn parts_score_what_the_whole_file_scores_on_both_engine_paths() {
    for path in [EnginePath::Own, EnginePath::Stock] {
        let one = load(&mut Cursor::new(whole()), path).expect("a model");
        let split = load(&mut parts(&[1, 2, 3]), path).expect("a model");
        assert_eq!((one.info.n_params, &one.info.tokenizer_sha256), (split.info.n_params, &split.info.tokenizer_sha256));
        assert_eq!(split.info.n_bytes, (1..=N_PARTS).map(|i| part(i).len() as u64).sum::<u64>());
        assert_eq!(digest(one), digest(split), "{path:?}");
    }
}

fn refusal(mut source: impl Source) -> EvalError {
    load(&mut source, EnginePath::Auto).map(|_| ()).expect_err("it was loaded")
}

#[test]
fn a_missing_or_wrong_part_is_named() {
    let mut foreign = parts(&[1, 2, 3]);
    foreign.0[2] = Cursor::new(whole());
    let mut other_count = parts(&[1, 2, 3]);
    // The value follows the key and the type of its value, u16.
    let bytes = other_count.0[1].get_mut();
    let at = bytes.windows(11).position(|w| w == b"split.count").expect("the key") + 11 + 4;
    bytes[at] = 4;
    let mut cut = parts(&[1, 2, 3]);
    cut.0[2].get_mut().truncate(30_000);
    let mut no_gguf = parts(&[1, 2, 3]);
    no_gguf.0[1] = Cursor::new(b"<!doctype html><title>Not found</title>".to_vec());

    let cases: [(&str, InMemory, &[&str]); 9] = [
        ("the first alone", parts(&[1]), &["part 1 of 3", "missing"]),
        ("the second alone", parts(&[2]), &["part 2 of 3", "missing"]),
        ("two of three", parts(&[1, 2]), &["part 1 of 3", "2 files were given"]),
        ("two that are swapped", parts(&[1, 3, 2]), &["part 2 of 3", "this file is part 3, expected part 2"]),
        ("one twice", parts(&[1, 2, 2]), &["part 3 of 3", "this file is part 2, expected part 3"]),
        ("a whole model for a part", foreign, &["part 3 of 3", "split.no", "is missing"]),
        ("a part of another model", other_count, &["part 2 of 3", "part 2 of 4"]),
        ("a part that was cut off", cut, &["part 3 of 3", "tensor \"", "file ends at 30000"]),
        ("a page for a part", no_gguf, &["part 2 of 3", "not a GGUF"]),
    ];
    for (what, source, expected) in cases {
        let error = refusal(source);
        assert_eq!(error.kind.as_str(), "weights_format", "{what}: {error}");
        for words in expected {
            assert!(error.to_string().contains(words), "{what}: expected \"{words}\" in \"{error}\"");
        }
    }
}

#[test]
fn tensors_that_parts_have_twice_or_lack_are_an_error() {
    let mut twice = parts(&[1, 2, 3]);
    let third = twice.0[2].get_ref().clone();
    // The second part's number on the third part's tensors.
    let at = third.windows(8).position(|w| w == b"split.no").expect("the key") + 8 + 4;
    let mut copy = third;
    copy[at] = 1;
    twice.0[1] = Cursor::new(copy);
    let error = refusal(twice);
    assert!(error.to_string().contains("part 3 of 3, tensor \"") && error.to_string().contains("earlier part"), "{error}");

    let mut more = parts(&[1, 2, 3]);
    let first = more.0[0].get_mut();
    let at = first.windows(19).position(|w| w == b"split.tensors.count").expect("the key") + 19 + 4;
    first[at] += 1;
    let error = refusal(more);
    assert!(error.to_string().contains("split.tensors.count") && error.to_string().contains("the 3 parts have 20 tensors"), "{error}");
}

#[test]
fn a_read_may_span_parts_and_not_go_past_the_last() {
    let mut source = Parts(vec![Cursor::new(vec![1, 2]), Cursor::new(vec![]), Cursor::new(vec![3]), Cursor::new(vec![4, 5])]);
    let mut out = [0; 3];
    source.read_at(1, &mut out).expect("inside");
    assert_eq!(out, [2, 3, 4]);
    source.read_at(3, &mut out[..2]).expect("inside");
    assert_eq!(out[..2], [4, 5]);
    assert!(source.read_at(3, &mut out).is_err());
    assert!(source.read_at(9, &mut out).is_err());
}

#[test]
fn parts_are_found_by_the_name_of_any_of_them() {
    let names = |path: &str| part_paths(Path::new(path));
    let expected: Vec<_> = ["m/a-b-00001-of-00002.gguf", "m/a-b-00002-of-00002.gguf"].map(PathBuf::from).into();
    assert_eq!(names("m/a-b-00001-of-00002.gguf"), expected);
    assert_eq!(names("m/a-b-00002-of-00002.gguf"), expected);
    for other in ["m/a.gguf", "m/a-1-of-2.gguf", "m/a-00003-of-00002.gguf", "m/a-00000-of-00002.gguf", "m/a-00001-of-00002.bin"] {
        assert_eq!(names(other), [PathBuf::from(other)], "{other}");
    }
}

#[test]
fn the_identity_of_a_split_model_is_the_hash_of_its_parts_hashes() {
    // SHA-256 of the 64 bytes 0x01 (32 times), 0x02 (32 times), by Python's hashlib.
    let hex = |bytes: [u8; 32]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    assert_eq!(hex(model_sha256(&[[1; 32], [2; 32]])), "f818afd37a6dc3bc92fb44731011277006db4efa6e9023cd7468c02335d22a4d");
    assert_eq!(model_sha256(&[[7; 32]]), [7; 32]);
}

#[test]
fn the_command_finds_the_other_parts_and_names_one_that_is_not_there() {
    let folder = std::env::temp_dir().join(format!("evaltab-split-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let first = folder.join("tiny-00001-of-00003.gguf");
    for i in 1..=N_PARTS {
        fs::write(folder.join(format!("tiny-{i:05}-of-00003.gguf")), part(i)).expect("a file");
    }
    let run = |model: &Path, out: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evaltab"));
        command.arg("--model").arg(model).arg("--data").arg(root().join("tests/wasm/rows.jsonl")).arg("--out").arg(folder.join(out));
        command.output().expect("it starts")
    };
    assert!(run(&first, "split").status.success());
    assert!(run(&fixture("models/tiny-llama.gguf"), "whole").status.success());
    let digest = |out: &str| json(&folder.join(out).join("results.json"))["evaltab"]["loglikelihood_digest"].clone();
    assert_eq!(digest("split"), digest("whole"));

    fs::remove_file(folder.join("tiny-00003-of-00003.gguf")).expect("it is there");
    let refused = run(&first, "refused");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    fs::remove_dir_all(&folder).expect("ours");
    assert!(!refused.status.success());
    assert!(said.contains("tiny-00003-of-00003.gguf"), "{said}");
}
