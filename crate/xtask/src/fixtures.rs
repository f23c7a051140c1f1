//! What is generated and kept in the repository: test fixtures from Python, TypeScript types from Rust structs.

use crate::process::{cargo, command, run};
use crate::project::path;
use crate::steps::{Done, Steps};
use crate::tools;
use anyhow::Result;
use std::fs;
use std::process::ExitCode;

/// Runs the programs in `tests/generate`, in alphabetical order, in an environment of their own.
pub fn fixtures() -> Result<ExitCode> {
    let mut steps = Steps::new();
    let python = path("target/venv/bin/python").to_string_lossy().into_owned();
    steps.step("packages of the generators", || {
        tools::pip()?;
        run(&mut command("python3", &["-m", "venv", "target/venv"], ""))?;
        run(&mut command(&python, &["-m", "pip", "install", "--quiet", "--requirement", "tests/generate/requirements.txt"], ""))?;
        Ok(Done::Did)
    })?;
    let mut programs = Vec::new();
    for entry in fs::read_dir(path("tests/generate"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".py") {
            programs.push(name);
        }
    }
    programs.sort();
    for program in programs {
        steps.step(&program, || {
            run(&mut command(&python, &[&program], "tests/generate"))?;
            Ok(Done::Did)
        })?;
    }
    steps.summary();
    Ok(ExitCode::SUCCESS)
}

/// Lets the test that guards `web/src/types.ts` write it.
pub fn types() -> Result<ExitCode> {
    run(cargo(&["test", "--package", "evaltab", "--test", "types"]).env("EVALTAB_UPDATE_TYPES", "1"))?;
    Ok(ExitCode::SUCCESS)
}
