//! The pipeline language of Spate as a plain library: parser, checks and code generation.
//!
//! It works on `proc_macro2` tokens and needs no compiler, so tests, fuzzers and documentation call what the procedural
//! macros call. It emits paths into the runtime and depends on none of it.

pub mod avro;
pub mod derive;
pub mod diagnostic;
pub mod files;
mod nesting;
pub mod pipeline;
pub mod sql;
