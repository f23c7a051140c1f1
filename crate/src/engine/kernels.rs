//! Arithmetic: lanes, microkernels, unpackers, and what is built from them.

pub mod gemm;
pub mod kind;
pub mod lanes;
pub mod math;
pub mod pool;
pub mod rows;
pub mod tile;
pub mod twin;
pub mod unpack;
