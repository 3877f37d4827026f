//! The model of a ClickHouse table definition: its columns, their types as the server spells them, and their places.
//!
//! The text is split into tokens by `sqlparser` (comments, quotes, escapes of the ClickHouse dialect). Statements are
//! read here, because that crate's grammar refuses what real definitions are full of: `CODEC(..)`, column TTLs,
//! `INDEX .. TYPE ..`, `DateTime64(3, 'UTC')`. Only names, types and the kind of default matter; everything else is
//! skipped.

mod cursor;
mod names;
mod table;
#[cfg(test)]
mod tests;
mod types;

pub use table::{Column, Computed, Table, parse};
pub use types::ColumnType;
