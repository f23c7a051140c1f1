//! Task: rows and config → docs.
pub mod doc;
