//! `test`: everything that has to pass, in the order in which a mistake shows soonest, and one line at the end.
//!
//! A suite that ran nothing counts as failed: a test that is not found must not look like one that passes.

use crate::build;
use crate::process::{cargo, command, shown};
use crate::project::path;
use crate::steps::{Done, Steps};
use crate::tally::{self, Counts};
use crate::tools;
use anyhow::{Context, Result};
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, ExitCode};

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    build: build::Options,
}

/// Where the test programs leave their reports.
const REPORTS: &str = "target/test-reports";

type Suites = Vec<(String, Counts)>;

pub fn test(options: &Options) -> Result<ExitCode> {
    let mut steps = Steps::new();
    let mut suites = Suites::new();
    fs::create_dir_all(path(REPORTS))?;
    let mut suite = |steps: &mut Steps, name: &str, run: fn() -> Result<Suites>| {
        steps.step(name, || {
            suites.extend(run()?);
            Ok(Done::Did)
        })
    };
    steps.step("tools: rust", tools::rust)?;
    suite(&mut steps, "native tests", native)?;
    suite(&mut steps, "tests of xtask", xtask)?;
    build::build(&mut steps, &options.build)?;
    suite(&mut steps, "types of the page", page_types)?;
    suite(&mut steps, "tests of the page's modules", page)?;
    suite(&mut steps, "wasm in Node", || node("tests/wasm"))?;
    suite(&mut steps, "page in Chromium", || node("tests/browser"))?;
    steps.summary();
    Ok(verdict(&suites))
}

/// Prints the table and the last line.
fn verdict(suites: &Suites) -> ExitCode {
    let mut all = Counts::default();
    println!("\n  passed  failed skipped");
    for (name, counts) in suites {
        let mark = if counts.n_tests() == 0 { "  ran nothing" } else { "" };
        println!("{:>8}{:>8}{:>8}  {name}{mark}", counts.passed, counts.failed, counts.skipped);
        all += *counts;
        all.failed += u64::from(counts.n_tests() == 0);
    }
    println!("\n{} passed, {} failed, {} skipped", all.passed, all.failed, all.skipped);
    if all.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn native() -> Result<Suites> {
    let mut command = cargo(&["test", "--package", "evaltab", "--lib", "--test", "*", "--no-fail-fast", "--", "--show-output"]);
    let mut suites = rust(&mut command)?;
    suites.extend(undeclared()?.into_iter().map(|file| (format!("{file} has no [[test]] in crate/Cargo.toml"), Counts::one(false))));
    Ok(suites)
}

/// Files of `tests/native` that cargo does not know of: they would never be run.
fn undeclared() -> Result<Vec<String>> {
    let manifest = fs::read_to_string(path("crate/Cargo.toml"))?;
    let mut names = Vec::new();
    for entry in fs::read_dir(path("tests/native"))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| name.ends_with(".rs") && !manifest.contains(&format!("\"../tests/native/{name}\"")));
    Ok(names)
}

fn xtask() -> Result<Suites> {
    let suites = rust(&mut cargo(&["test", "--package", "xtask", "--", "--show-output"]))?;
    Ok(suites.into_iter().map(|(name, counts)| (format!("xtask: {name}"), counts)).collect())
}

/// Runs `cargo test`; a build that fails is one failure.
fn rust(command: &mut Command) -> Result<Suites> {
    let (succeeded, output) = shown_output(command)?;
    let mut suites = tally::rust(&output);
    if suites.is_empty() || (!succeeded && suites.iter().all(|(_, counts)| counts.failed == 0)) {
        suites.push((shown(command), Counts::one(false)));
    }
    Ok(suites)
}

/// The two projects of the page, of which each passes or fails.
fn page_types() -> Result<Suites> {
    ["tsconfig.page.json", "tsconfig.worker.json"]
        .into_iter()
        .map(|project| {
            let status = command("npx", &["tsc", "--noEmit", "--project", project], "web").status().context("npx")?;
            Ok((format!("web/{project}"), Counts::one(status.success())))
        })
        .collect()
}

fn page() -> Result<Suites> {
    let report = path(REPORTS).join("vitest.json");
    let _ = fs::remove_file(&report);
    let mut command = command("npx", &["vitest", "run", "--reporter=default", "--reporter=json"], "web");
    command.arg(format!("--outputFile={}", report.display()));
    let status = command.status().context("npx")?;
    let mut counts = fs::read_to_string(&report).map(|json| tally::vitest(&json)).unwrap_or_else(|_| Ok(Counts::default()))?;
    counts.failed += u64::from(!status.success() && counts.failed == 0);
    Ok(vec![("web/test".into(), counts)])
}

/// The files `*.test.mjs` of a folder, one after another: they share a machine and, in part, a browser.
fn node(folder: &str) -> Result<Suites> {
    let mut files = Vec::new();
    for entry in fs::read_dir(path(folder))? {
        files.push(format!("{folder}/{}", entry?.file_name().to_string_lossy()));
    }
    files.retain(|file| file.ends_with(".test.mjs"));
    files.sort();
    files.into_iter().map(|file| Ok((file.clone(), node_file(&file)?))).collect()
}

fn node_file(file: &str) -> Result<Counts> {
    let report = path(REPORTS).join("node.tap");
    let _ = fs::remove_file(&report);
    let mut command = command("node", &["--test", "--test-reporter=spec", "--test-reporter-destination=stdout", "--test-reporter=tap"], "");
    command.arg(format!("--test-reporter-destination={}", report.display())).arg(file);
    let status = command.status().context("node")?;
    let mut counts = tally::node(&fs::read_to_string(&report).unwrap_or_default());
    counts.failed += u64::from(!status.success() && counts.failed == 0);
    Ok(counts)
}

/// Runs, shows what is printed as it comes, and keeps it; standard error and output in their order.
fn shown_output(command: &mut Command) -> Result<(bool, String)> {
    let (reader, writer) = io::pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn().with_context(|| shown(command))?;
    // The command holds the ends that write; while it does, the reader waits for more.
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut reader = BufReader::new(reader);
    let mut output = String::new();
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        io::stdout().write_all(&line)?;
        output += &String::from_utf8_lossy(&line);
        line.clear();
    }
    Ok((child.wait()?.success(), output))
}
