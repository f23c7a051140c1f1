//! `cargo xtask bench`: the module in headless Chromium against its peers. What is measured, and how, is in `tests/bench`.

use crate::build;
use crate::process::{command, run};
use crate::project::{is_current, path};
use crate::steps::{Done, Steps};
use anyhow::Result;
use std::process::ExitCode;

/// Options of `bench`.
#[derive(clap::Args)]
pub struct Options {
    /// Ours only, once each
    #[arg(long)]
    quick: bool,
    /// Only groups of measurements with this in their name, such as "load" or "prefill 128"
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Rounds of each group
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Also write the figures as JSON
    #[arg(long, value_name = "FILE")]
    out: Option<std::path::PathBuf>,
}

/// Builds, brings the peers and measures.
///
/// # Errors
/// Of the build, of npm, or of the driver.
pub fn bench(options: &Options) -> Result<ExitCode> {
    let mut steps = Steps::new();
    build::build(&mut steps, &build::Options { no_threads: false })?;
    steps.step("peers", || {
        if is_current(&path("tests/bench/node_modules/.package-lock.json"), &[path("tests/bench/package-lock.json")]) {
            return Ok(Done::Skipped("unchanged".into()));
        }
        run(&mut command("npm", &["ci", "--no-audit", "--no-fund"], "tests/bench"))?;
        Ok(Done::Did)
    })?;
    let mut driver = command("node", &["tests/bench/bench.mjs"], "");
    if options.quick {
        driver.arg("--quick");
    }
    if let Some(only) = &options.only {
        driver.arg("--only").arg(only);
    }
    if let Some(rounds) = options.rounds {
        driver.arg("--rounds").arg(rounds.to_string());
    }
    if let Some(out) = &options.out {
        driver.arg("--out").arg(std::path::absolute(out)?);
    }
    steps.step("benchmark", || run(&mut driver).map(|()| Done::Did))?;
    steps.summary();
    Ok(ExitCode::SUCCESS)
}
