//! What the macros say to their users: one catalogue of codes, one collector, one way out.
//!
//! A check never returns at its first finding: it pushes a [`Diagnostic`] into [`Errors`] and goes on, so three mistakes
//! give three errors. [`Errors::finish`] turns them into `compile_error!` calls at the user's tokens, in source order.
//! [`suggest`] finds the name that was probably meant.

mod catalogue;
mod errors;
mod suggest;

pub use catalogue::{Code, Entry, RETIRED};
pub use errors::{Diagnostic, Errors, LIMIT};
pub use suggest::{list, suggest};
