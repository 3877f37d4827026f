//! What the macros say to users, case by case: `ui/pass/**.rs` must compile without a word, `ui/fail/**.rs` must say what
//! the file of the same name with `.stderr` says.
//!
//! A case is a library of its own, checked (never built) against the real facade; only `kafka` is a stand-in, so that no C
//! code is compiled. `ui/TOOLCHAIN` names the compiler that the `.stderr` files were made on. On another one the cases must
//! still fail or pass and the lines that are ours (`error: [SP017] ..`) must be the same; the wording of rustc's own errors
//! may differ.
//!
//! - `cargo test -p trybuild-tests` compares; words after `--` choose cases whose path contains one of them.
//! - `SPATE_UI=write` writes the `.stderr` files and `ui/TOOLCHAIN`: read the diff before it is committed.
//! - `SPATE_UI=codes` compares as on another toolchain.
//!
//! A case begins with directives: `// errors: N` (required in `ui/fail`; the number of mistakes in the file, each of which
//! has one error), and `// package: renamed` (the facade is called `etl`), `// package: bare` (its features are off),
//! `// package: reexported` (it is reached through a crate `kit`) or `// package: edition_2021`. Files that a case names are
//! in `ui/files`, and written `files/..`.

mod case;
mod census;
mod judge;
mod lint;
mod project;
mod report;
mod rules;

pub use case::{Case, CaseError, Outcome, Package, all};
pub use census::Census;
pub use judge::{Mode, judge, ours};
pub use lint::Lint;
pub use project::{Answer, Project, ProjectError};
pub use report::normalize;
pub use rules::broken;

use std::path::Path;

/// The directory of the cases.
pub fn ui() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/ui"))
}
