//! Steps that say what they do, how long it took, and what was done in the end.

use anyhow::{Context, Result};
use std::time::Instant;

/// How a step that did not fail ended.
pub enum Done {
    Did,
    /// Nothing to do, with the reason.
    Skipped(String),
}

/// The steps of one command, in order.
pub struct Steps {
    started: Instant,
    lines: Vec<String>,
}

impl Steps {
    pub fn new() -> Self {
        Self { started: Instant::now(), lines: Vec::new() }
    }

    /// Announces a step, does it and notes its time.
    ///
    /// # Errors
    /// The step's own, with the step's name in front.
    pub fn step(&mut self, name: &str, work: impl FnOnce() -> Result<Done>) -> Result<()> {
        println!("── {name}");
        let started = Instant::now();
        let line = match work().with_context(|| name.to_string())? {
            Done::Did => format!("{:>8.1} s  {name}", started.elapsed().as_secs_f64()),
            Done::Skipped(why) => format!("         –  {name}: {why}"),
        };
        println!("{line}");
        self.lines.push(line);
        Ok(())
    }

    /// Prints all steps with their times.
    pub fn summary(&self) {
        println!("\n── summary");
        for line in &self.lines {
            println!("{line}");
        }
        println!("{:>8.1} s  in all", self.started.elapsed().as_secs_f64());
    }
}
