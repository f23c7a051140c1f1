//! The tools the build needs: found, or installed if rustup does it, or an error that says which, why and how to get it.

use crate::process::{command, output, run};
use crate::steps::Done;
use anyhow::{bail, Result};

const NODE: &str = "apt-get install -y nodejs npm (or https://nodejs.org, version 20 or later)";
const PYTHON: &str = "apt-get install -y python3 python3-pip (or https://www.python.org)";

/// What Rust needs for wasm; `rust-src` is for the module with shared memory, whose standard library is built here.
pub fn rust() -> Result<Done> {
    if output("rustup", &["--version"]).is_none() {
        bail!("rustup is missing: it brings the wasm target of Rust; install it from https://rustup.rs");
    }
    let mut did = Done::Skipped("all there".into());
    let targets = output("rustup", &["target", "list", "--installed"]).unwrap_or_default();
    if !targets.lines().any(|line| line == "wasm32-unknown-unknown") {
        run(&mut command("rustup", &["target", "add", "wasm32-unknown-unknown"], ""))?;
        did = Done::Did;
    }
    let components = output("rustup", &["component", "list", "--installed"]).unwrap_or_default();
    if !components.lines().any(|line| line == "rust-src") {
        run(&mut command("rustup", &["component", "add", "rust-src"], ""))?;
        did = Done::Did;
    }
    Ok(did)
}

/// Node and npm, for the page.
pub fn node() -> Result<Done> {
    let Some(version) = output("node", &["--version"]) else {
        bail!("node is missing: it builds the page; install it with: {NODE}");
    };
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < 20) {
        bail!("node is {version}, but the page's tools need 20 or later; install it with: {NODE}");
    }
    if output("npm", &["--version"]).is_none() {
        bail!("npm is missing: it brings the page's packages; install it with: {NODE}");
    }
    Ok(Done::Skipped(format!("node {version} is there")))
}

/// Python with pip, for the default model.
pub fn pip() -> Result<()> {
    if output("python3", &["-m", "pip", "--version"]).is_none() {
        bail!("python3 with pip is missing: it brings the default model (start with --no-model to do without); install it with: {PYTHON}");
    }
    Ok(())
}
