//! The engine: a batch of sequences × model → log-probability of every scored token.
//!
//! Two implementations behind one trait: [`decoder::Decoder`], ours, exact and bit-reproducible; and [`stock::Stock`], whatever
//! candle-transformers has for the architecture, which is the fallback and the tests' second opinion.

pub mod attention;
pub mod bench;
pub mod decoder;
pub mod head;
pub mod kernels;
pub mod stock;
pub mod tree;

use crate::error::Result;
use crate::spec::Precision;
pub use head::TokenScore;
pub use tree::{Sequence, Target};

/// Something that scores sequences.
pub trait Engine {
    /// Scores the targets of each sequence. `next` is what the following batch's first sequence will begin with, empty if there
    /// is none: an engine may keep what both share.
    ///
    /// # Errors
    /// `WeightsFormat` where the model gives numbers that are not finite.
    fn score(&mut self, sequences: &[Sequence], next: &[u32], precision: Precision) -> Result<Vec<Vec<TokenScore>>>;

    /// `"own"` or `"stock"`.
    fn name(&self) -> &'static str;
}
