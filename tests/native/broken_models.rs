//! Broken model files: each recipe of `broken.json` is refused with its kind, at the name it is about.

mod common;

use common::{fixture, json};
use evaltab::error::EvalError;
use evaltab::model::ModelLoader;
use evaltab::spec::EnginePath;
use serde_json::Value;
use std::io::Cursor;

fn broken(recipe: &Value) -> Vec<u8> {
    let base = recipe["base"].as_str().expect("a file name");
    let mut bytes = std::fs::read(fixture("models").join(base)).expect("a committed file");
    for change in recipe["set"].as_array().expect("a list") {
        let at = change[0].as_u64().expect("an offset") as usize;
        let hex = change[1].as_str().expect("hex");
        for (i, byte) in bytes[at..at + hex.len() / 2].iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex");
        }
    }
    let kept = recipe["keep_bytes"].as_u64().map_or(bytes.len(), |n| n as usize);
    bytes.truncate(kept);
    bytes
}

fn load(bytes: Vec<u8>) -> Result<(), EvalError> {
    let mut source = Cursor::new(bytes);
    let mut loader = ModelLoader::open(&mut source, "broken.gguf", EnginePath::Auto, 1)?;
    while !loader.step(&mut source)?.done {}
    loader.finish().map(|_| ())
}

#[test]
fn every_broken_file_is_refused_by_kind_and_name() {
    let recipes = json(&fixture("models/broken.json"));
    for recipe in recipes.as_array().expect("a list") {
        let name = &recipe["name"];
        let error = load(broken(recipe)).expect_err(&format!("{name} was loaded"));
        assert_eq!(error.kind.as_str(), recipe["kind"], "{name}: {error}");
        let names = recipe["names"].as_str().expect("a text");
        assert!(error.to_string().contains(names), "{name}: expected \"{names}\" in \"{error}\"");
    }
}
