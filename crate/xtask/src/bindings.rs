//! The JavaScript side of a wasm module, made by wasm-bindgen's generator as a library: its version is `Cargo.lock`'s.
//!
//! In: `NAME.wasm` as cargo built it. Out: `web/src/wasm/NAME.js`, `NAME_bg.wasm`, `NAME.d.ts`.

use crate::project::{is_current, path};
use crate::steps::Done;
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};
use wasm_bindgen_cli_support::Bindgen;

const FOLDER: &str = "web/src/wasm";

/// The module as the page loads it.
pub fn module(name: &str) -> PathBuf {
    path(FOLDER).join(format!("{name}_bg.wasm"))
}

/// Makes the bindings unless the module is no newer than they are.
pub fn generate(wasm: &Path, name: &str) -> Result<Done> {
    if is_current(&module(name), &[wasm.to_path_buf()]) {
        return Ok(Done::Skipped("unchanged".into()));
    }
    Bindgen::new()
        .input_path(wasm)
        .web(true)?
        .typescript(true)
        .out_name(name)
        // Bundlers find the module by this path and ship it.
        .omit_default_module_path(false)
        // Function names: a third of the size, of use in a profiler only.
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(path(FOLDER))?;
    let n_bytes = fs::metadata(module(name))?.len();
    println!("{FOLDER}/{name}_bg.wasm: {:.1} MB", n_bytes as f64 / 1e6);
    Ok(Done::Did)
}
