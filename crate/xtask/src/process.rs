//! Other programs: run, and say which one failed.

use anyhow::{bail, Context, Result};
use std::process::Command;

/// A command in a folder of the project.
pub fn command(program: &str, args: &[&str], folder: &str) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(crate::project::path(folder));
    command
}

/// The cargo that runs this program.
pub fn cargo(args: &[&str]) -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()), args, "")
}

/// Runs to the end; what it prints goes to the terminal.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// What it prints, trimmed; `None` if it is not there or fails.
pub fn output(program: &str, args: &[&str]) -> Option<String> {
    let output = command(program, args, "").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// Program and arguments as one would type them.
pub fn shown(command: &Command) -> String {
    std::iter::once(command.get_program()).chain(command.get_args()).map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
