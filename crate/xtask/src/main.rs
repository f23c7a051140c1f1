//! The project's commands: `cargo xtask VERB`. A module a verb; what they share is in `project`, `process` and `steps`.

mod bench;
mod bindings;
mod build;
mod fixtures;
mod model;
mod parity;
mod process;
mod project;
mod serve;
mod start;
mod steps;
mod tally;
mod test;
mod tools;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Builds, serves and tests evaltab")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Check tools, build, bring the default model, serve the page and print its address
    Start(start::Options),
    /// Build, then run everything that has to pass
    Test(test::Options),
    /// Build the wasm modules and the page into web/dist, a static site
    Build(build::Options),
    /// Bring the default model into .models/
    Model,
    /// Measure the module in headless Chromium against its peers
    Bench(bench::Options),
    /// Compare every run of the lm-eval reference, item by item
    Parity(parity::Options),
    /// Write the test fixtures anew with the Python programs in tests/generate
    Fixtures,
    /// Write web/src/types.ts anew from the Rust structs
    Types,
}

fn main() -> ExitCode {
    let done = match Cli::parse().verb {
        Verb::Start(options) => start::start(&options),
        Verb::Test(options) => test::test(&options),
        Verb::Build(options) => build::build_alone(&options),
        Verb::Model => model::bring_alone(),
        Verb::Bench(options) => bench::bench(&options),
        Verb::Parity(options) => parity::parity(&options),
        Verb::Fixtures => fixtures::fixtures(),
        Verb::Types => fixtures::types(),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        <super::Cli as clap::CommandFactory>::command().debug_assert();
    }
}
