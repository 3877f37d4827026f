//! The documentation under test: every fenced block of Rust in `README.md` and in `docs` is a doctest of this crate, under the name of
//! its page; `tests/pages` loads the YAML, reads the schemas and tables and compares the errors that the pages show.
//! `cargo test -p docs-tests`
//!
//! A block stands in the page as a reader needs it. What it takes for granted, types and imports, is put before it unseen: a comment
//! in the line before the block, `<!-- prelude: orders -->`, names files of `preludes`. Schemas and tables are those of this crate, and
//! a page that shows one shows it as it is here. `docs/errors.md` runs its examples itself (`spate-macros/lang/tests/errors`),
//! because most of them are mistakes.

pub mod markdown;

#[cfg(doctest)]
include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The files whose blocks are compiled.
pub const PAGES: &[&str] = include!(concat!(env!("OUT_DIR"), "/names.rs"));
