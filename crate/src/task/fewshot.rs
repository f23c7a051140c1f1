//! Which rows are shown as examples before a doc.
//!
//! In: a pool of rows, a sampler, a seed. Out: for each doc in turn, the positions of its examples. Draws go on from doc to doc, as
//! in lm-eval, so they depend on which docs came before. How an example is written is left to `context`.
//!
//! Source: lm-eval 0.4.13, `api/samplers.py`.

use super::config::Sampler;
use crate::error::{ErrorKind, EvalError, Result};
use crate::metrics::random::PythonRandom;
use serde_json::Value;

/// Whether the row that is evaluated may be among its own examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnRow {
    /// The pool is not what is evaluated; the row is not looked for.
    Keep,
    /// One more is drawn, and rows equal to the evaluated one are left out.
    LeaveOut,
}

/// A pool that examples are drawn from.
pub struct Pool<'a> {
    rows: Vec<&'a Value>,
    sampler: Sampler,
    own_row: OwnRow,
    random: PythonRandom,
}

impl<'a> Pool<'a> {
    /// A pool at the start of its stream.
    pub fn new(rows: Vec<&'a Value>, sampler: Sampler, own_row: OwnRow, seed: u32) -> Self {
        Self { rows, sampler, own_row, random: PythonRandom::new(seed) }
    }

    /// `n` examples for a doc, in the order in which they are shown.
    ///
    /// # Errors
    /// `ErrorKind::RunSpec` if the pool is too small.
    pub fn draw(&mut self, doc: &Value, n: usize) -> Result<Vec<&'a Value>> {
        if n == 0 {
            return Ok(Vec::new());
        }
        let is_own = |row: &Value| self.own_row == OwnRow::LeaveOut && row == doc;
        let too_few = |available: usize| {
            let message = format!("{n} examples are asked for, {available} rows are there to draw them from");
            Err(EvalError::new(ErrorKind::RunSpec, message).at("setting \"num_fewshot\""))
        };
        if self.sampler == Sampler::FirstN {
            let examples: Vec<_> = self.rows.iter().copied().filter(|row| !is_own(row)).take(n).collect();
            return if examples.len() < n { too_few(examples.len()) } else { Ok(examples) };
        }
        let n_drawn = n + usize::from(self.own_row == OwnRow::LeaveOut);
        if n_drawn > self.rows.len() {
            return too_few(self.rows.len() - (n_drawn - n).min(self.rows.len()));
        }
        let drawn = self.random.sample(self.rows.len(), n_drawn);
        let mut examples: Vec<_> = drawn.into_iter().map(|i| self.rows[i]).filter(|row| !is_own(row)).collect();
        if examples.len() < n {
            // Several rows are equal to the evaluated one.
            let others: Vec<_> = self.rows.iter().copied().filter(|row| !is_own(row)).collect();
            if others.len() < n {
                return too_few(others.len());
            }
            examples = self.random.sample(others.len(), n).into_iter().map(|i| others[i]).collect();
        }
        examples.truncate(n);
        Ok(examples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn numbers(examples: &[&Value]) -> Vec<u64> {
        examples.iter().filter_map(|row| row.as_u64()).collect()
    }

    #[test]
    fn draws_are_lm_evals() {
        // lm-eval: s = ContextSampler([…], rnd=1234); [s.sample(3, eval_doc=d) for d in …].
        let rows: Vec<Value> = (0..12).map(|i| json!(i)).collect();
        let mut pool = Pool::new(rows.iter().collect(), Sampler::Default, OwnRow::LeaveOut, 1234);
        let drawn: Vec<_> = [7, 0, 1, 2].iter().map(|i| numbers(&pool.draw(&rows[*i], 3).expect("enough"))).collect();
        assert_eq!(drawn, [[1, 0, 10], [9, 1, 11], [5, 3, 0], [0, 5, 9]]);
        let mut pool = Pool::new(rows.iter().collect(), Sampler::Default, OwnRow::Keep, 1234);
        assert_eq!(numbers(&pool.draw(&rows[7], 3).expect("enough")), [7, 1, 0]);
    }

    #[test]
    fn the_first_n_pass_over_the_evaluated_row() {
        let rows: Vec<Value> = (0..4).map(|i| json!(i)).collect();
        let mut pool = Pool::new(rows.iter().collect(), Sampler::FirstN, OwnRow::LeaveOut, 0);
        assert_eq!(numbers(&pool.draw(&rows[1], 3).expect("enough")), [0, 2, 3]);
        let error = pool.draw(&rows[1], 4).expect_err("too few");
        assert_eq!(error.message, "4 examples are asked for, 3 rows are there to draw them from");
    }

    #[test]
    fn copies_of_the_evaluated_row_are_drawn_again() {
        let rows: Vec<Value> = [0, 0, 0, 0, 1, 2].iter().map(|i| json!(i)).collect();
        let mut pool = Pool::new(rows.iter().collect(), Sampler::Default, OwnRow::LeaveOut, 1);
        for _ in 0..20 {
            let mut drawn = numbers(&pool.draw(&rows[0], 2).expect("enough"));
            drawn.sort_unstable();
            assert_eq!(drawn, [1, 2]);
        }
        assert!(pool.draw(&rows[0], 3).is_err() && pool.draw(&rows[0], 6).is_err());
    }
}
