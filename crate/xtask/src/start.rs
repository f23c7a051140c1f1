//! `start`: from a fresh clone to a page with a model, in one command.

use crate::build;
use crate::model;
use crate::serve::{Server, Site};
use crate::steps::{Done, Steps};
use anyhow::Result;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Options {
    /// Port of the local address; 0 takes any free one
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Serve no default model
    #[arg(long)]
    no_model: bool,
    /// Send no cross-origin isolation headers, as a host that sets none
    #[arg(long)]
    no_isolation: bool,
    /// Serve web/dist as it is
    #[arg(long)]
    no_build: bool,
    #[command(flatten)]
    build: build::Options,
}

pub fn start(options: &Options) -> Result<ExitCode> {
    let mut steps = Steps::new();
    if !options.no_build {
        build::build(&mut steps, &options.build)?;
    }
    if options.no_model {
        steps.step("default model", || Ok(Done::Skipped("not asked for".into())))?;
    } else {
        steps.step("default model", model::bring)?;
    }
    let site = Site { is_isolated: !options.no_isolation, has_models: !options.no_model };
    let server = Server::bind(options.port, site)?;
    steps.summary();
    println!("\nevaltab is at {}   (Ctrl-C ends it)", server.address());
    server.run()
}
