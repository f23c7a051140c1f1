//! A model file: header → configuration, tokenizer, weights.

pub mod config;
pub mod gguf;
pub mod source;
pub mod weights;
