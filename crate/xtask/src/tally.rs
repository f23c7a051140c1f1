//! How many tests passed, failed and were skipped, from what the test programs print.
//!
//! A Rust test cannot say that it is skipped, so one that passes and prints a line `skipped: why` counts as skipped.

use anyhow::{Context, Result};
use serde_json::Value;
use std::ops::AddAssign;

/// Outcomes of one suite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

impl Counts {
    /// One check that passed or failed.
    pub fn one(passed: bool) -> Self {
        Self { passed: passed.into(), failed: (!passed).into(), skipped: 0 }
    }

    pub fn n_tests(&self) -> u64 {
        self.passed + self.failed + self.skipped
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// The suites in the output of `cargo test … -- --show-output`, standard error included, by the source file of each.
pub fn rust(output: &str) -> Vec<(String, Counts)> {
    let mut suites: Vec<(String, Counts)> = Vec::new();
    // Whether the lines belong to a test that passed and has said nothing of being skipped yet.
    let mut is_open = false;
    let mut is_success = false;
    let mut n_skipped = 0;
    for line in output.lines() {
        if let Some(source) = line.trim_start().strip_prefix("Running ") {
            // "Running tests/x.rs (target/…)", "Running unittests src/lib.rs (target/…)"
            let source = source.split(" (").next().unwrap_or_default().trim_start_matches("unittests ").trim_start_matches("../");
            // Until it says otherwise: a program that is ended by a signal gives no result.
            suites.push((source.to_string(), Counts::one(false)));
            n_skipped = 0;
        }
        let Some((_, counts)) = suites.last_mut() else { continue };
        match line {
            "successes:" => is_success = true,
            "failures:" => is_success = false,
            _ if line.starts_with("---- ") => is_open = is_success,
            _ if line.starts_with("skipped: ") && is_open => {
                n_skipped += 1;
                is_open = false;
            }
            _ => {}
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            *counts = Counts {
                passed: number_before(result, " passed").saturating_sub(n_skipped),
                failed: number_before(result, " failed"),
                skipped: number_before(result, " ignored") + n_skipped,
            };
            (is_open, is_success) = (false, false);
        }
    }
    suites
}

fn number_before(text: &str, word: &str) -> u64 {
    let before = text.split(word).next().unwrap_or_default();
    before.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// The closing comments of `node --test`'s TAP: `# pass 3`, `# fail 0`, `# cancelled 0`, `# skipped 1`, `# todo 0`.
pub fn node(tap: &str) -> Counts {
    let number = |name: &str| tap.lines().rev().find_map(|line| line.strip_prefix("# ")?.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0);
    Counts { passed: number("pass "), failed: number("fail ") + number("cancelled "), skipped: number("skipped ") + number("todo ") }
}

/// The file of vitest's `json` reporter.
///
/// # Errors
/// If it is not JSON.
pub fn vitest(json: &str) -> Result<Counts> {
    let report: Value = serde_json::from_str(json).context("vitest's report")?;
    let number = |name: &str| report[name].as_u64().unwrap_or(0);
    let mut counts =
        Counts { passed: number("numPassedTests"), failed: number("numFailedTests"), skipped: number("numPendingTests") + number("numTodoTests") };
    // A file that does not load has no tests that could fail.
    let files = report["testResults"].as_array().map(Vec::as_slice).unwrap_or_default();
    counts.failed +=
        files.iter().filter(|file| file["status"] == "failed" && file["assertionResults"].as_array().is_none_or(Vec::is_empty)).count() as u64;
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Written as the test programs write, by hand; the expected numbers are counted by eye.
    #[test]
    fn a_rust_test_that_says_skipped_is_not_passed() {
        let output = "
     Running unittests src/lib.rs (target/debug/deps/evaltab-1)

running 3 tests
test a ... ok
test b ... ok
test c ... FAILED

successes:

---- a stdout ----
skipped: x.gguf is not here
skipped: y.gguf is not here

---- b stdout ----
not skipped: all well

failures:

---- c stdout ----
skipped: x.gguf is not here

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running ../tests/native/metrics.rs (target/debug/deps/metrics-1)

running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running ../tests/native/engine.rs (target/debug/deps/engine-1)

running 4 tests
error: test failed, to rerun pass `-p evaltab --test engine`
";
        let expected = vec![
            ("src/lib.rs".to_string(), Counts { passed: 1, failed: 1, skipped: 1 }),
            ("tests/native/metrics.rs".to_string(), Counts::default()),
            ("tests/native/engine.rs".to_string(), Counts { passed: 0, failed: 1, skipped: 0 }),
        ];
        assert_eq!(rust(output), expected);
    }

    #[test]
    fn a_cancelled_node_test_is_failed() {
        let tap = "TAP version 13\n# a diagnostic: pass 9\n1..6\n# tests 6\n# suites 0\n# pass 3\n# fail 1\n# cancelled 1\n# skipped 1\n# todo 0\n";
        assert_eq!(node(tap), Counts { passed: 3, failed: 2, skipped: 1 });
    }

    #[test]
    fn a_vitest_file_that_does_not_load_is_failed() {
        let json = r#"{"numPassedTests": 2, "numFailedTests": 0, "numPendingTests": 1, "numTodoTests": 0,
            "testResults": [{"status": "passed", "assertionResults": [{}, {}, {}]}, {"status": "failed", "assertionResults": []}]}"#;
        assert_eq!(vitest(json).unwrap(), Counts { passed: 2, failed: 1, skipped: 1 });
    }
}
