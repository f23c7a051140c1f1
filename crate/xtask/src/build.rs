//! The static site: wasm for one thread, wasm for several, their bindings, the page.
//!
//! The module for several threads needs a standard library built with atomics and a memory that workers can share, so it
//! has a target folder of its own; a page that is not cross-origin isolated loads the other.

use crate::bindings;
use crate::process::{cargo, command, run};
use crate::project::{is_current, path};
use crate::steps::{Done, Steps};
use crate::tools;
use anyhow::{ensure, Result};
use std::fs;
use std::process::ExitCode;

#[derive(clap::Args)]
#[group(skip)]
pub struct Options {
    /// Leave out the module for several threads, whose first build takes minutes
    #[arg(long)]
    pub no_threads: bool,
}

/// One wasm module: the base name of its files, cargo's target folder, and what it is for.
struct Module {
    name: &'static str,
    target_dir: &'static str,
}

const ONE_THREAD: Module = Module { name: "evaltab", target_dir: "target" };
const THREADS: Module = Module { name: "evaltab_threads", target_dir: "target/threads" };

const CARGO_BUILD: [&str; 9] = ["build", "--package", "evaltab", "--lib", "--target", "wasm32-unknown-unknown", "--profile", "wasm", "--target-dir"];

/// Replaces the flags of `.cargo/config.toml` for this target, so these are here again.
const THREADS_RUSTFLAGS: [&str; 9] = [
    "-Ctarget-feature=+simd128,+atomics,+bulk-memory",
    "--cfg=getrandom_backend=\"wasm_js\"",
    "-Clink-arg=--shared-memory",
    "-Clink-arg=--import-memory",
    "-Clink-arg=--max-memory=4294967296",
    "-Clink-arg=--export=__wasm_init_tls",
    "-Clink-arg=--export=__tls_size",
    "-Clink-arg=--export=__tls_align",
    "-Clink-arg=--export=__tls_base",
];

pub fn build_alone(options: &Options) -> Result<ExitCode> {
    let mut steps = Steps::new();
    build(&mut steps, options)?;
    steps.summary();
    println!("\nweb/dist is a static site: it works from any folder of any host.");
    Ok(ExitCode::SUCCESS)
}

/// All steps from sources to `web/dist`.
pub fn build(steps: &mut Steps, options: &Options) -> Result<()> {
    steps.step("tools: rust", tools::rust)?;
    steps.step("tools: node", tools::node)?;
    steps.step("wasm", || compile(&ONE_THREAD))?;
    steps.step("bindings", || bind(&ONE_THREAD))?;
    if !options.no_threads {
        steps.step("wasm for several threads", || compile(&THREADS))?;
        steps.step("bindings for several threads", || bind(&THREADS).and_then(threads_are_possible))?;
    }
    steps.step("packages of the page", install_packages)?;
    steps.step("page", bundle)
}

fn compile(module: &Module) -> Result<Done> {
    let mut build = cargo(&CARGO_BUILD);
    build.arg(path(module.target_dir));
    if module.name == THREADS.name {
        // The standard library is built with the stable compiler's own sources; cargo calls that unstable.
        build.args(["-Z", "build-std=std,panic_abort"]).env("RUSTC_BOOTSTRAP", "1");
        build.env("CARGO_ENCODED_RUSTFLAGS", THREADS_RUSTFLAGS.join("\u{1f}"));
    }
    run(&mut build)?;
    Ok(Done::Did)
}

fn bind(module: &Module) -> Result<Done> {
    bindings::generate(&path(module.target_dir).join("wasm32-unknown-unknown/wasm/evaltab.wasm"), module.name)
}

/// Checks what a worker needs to join: a shared memory that is imported, and `initSync` that takes it.
fn threads_are_possible(done: Done) -> Result<Done> {
    let js = fs::read_to_string(bindings::module(THREADS.name).with_file_name(format!("{}.js", THREADS.name)))?;
    ensure!(js.contains("shared:true"), "the module's memory is not shared");
    ensure!(js.contains("thread_stack_size"), "initSync takes no stack size for a thread");
    Ok(done)
}

/// Installs what `package-lock.json` names, unless that was done.
pub fn install_packages() -> Result<Done> {
    if is_current(&path("web/node_modules/.package-lock.json"), &[path("web/package-lock.json")]) {
        return Ok(Done::Skipped("unchanged".into()));
    }
    run(&mut command("npm", &["ci", "--no-audit", "--no-fund"], "web"))?;
    Ok(Done::Did)
}

fn bundle() -> Result<Done> {
    let inputs = ["web/src", "web/index.html", "web/package-lock.json", "web/vite.config.ts", "web/vite-sw-manifest.ts", "static"];
    if is_current(&path("web/dist/index.html"), &inputs.map(path)) {
        return Ok(Done::Skipped("unchanged".into()));
    }
    run(&mut command("npx", &["vite", "build"], "web"))?;
    Ok(Done::Did)
}
