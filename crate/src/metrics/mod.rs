//! `ItemScore`s → aggregates, intervals, calibration, comparisons.
//!
//! In: scored items only; `report` has counted the unscored and failed ones. Out: plain numbers, each with its n.
//! Nothing here knows the model, the page or a clock. Exponentials, logarithms and roots come from `libm`, sums run in the
//! order of the items, and every random number comes from a seed, so equal items give equal bits on every machine.

pub mod bias;
pub mod bootstrap;
pub mod calibration;
pub mod compare;
pub mod estimate;
pub mod groups;
pub mod perplexity;
pub mod random;
pub mod rules;
pub mod synthetic;

#[cfg(test)]
pub(crate) mod cases;
