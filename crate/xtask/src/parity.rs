//! `cargo xtask parity`: every run of the lm-eval reference, item by item; the comparison is `crate/examples/parity.rs`.

use crate::process::{cargo, run};
use anyhow::Result;
use std::process::ExitCode;

/// Options of `parity`.
#[derive(clap::Args)]
pub struct Options {
    /// Passed on, such as `--model smollm2 --task arc_easy --float32`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Runs the comparison.
///
/// # Errors
/// Where anything differs.
pub fn parity(options: &Options) -> Result<ExitCode> {
    run(cargo(&["run", "--package", "evaltab", "--example", "parity", "--"]).args(&options.rest))?;
    Ok(ExitCode::SUCCESS)
}
