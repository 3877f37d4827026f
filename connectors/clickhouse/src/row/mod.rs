//! Rows: a struct per table, encoded as RowBinary in the table's column order.
//!
//! Hot path. `#[derive(Row)]` emits one reservation for the whole row ([`Slots`]) and one call of
//! [`StoredAs::store`] per column; what a column type
//! accepts, and its bytes, is said by [`StoredAs`]. Names and types of the columns go to the server with every insert
//! (the sink writes them), so a table that was altered since is refused and never misread.

mod meanings;
mod slots;
mod stored;
pub mod types;
mod values;

pub use slots::Slots;
pub use stored::{StoreError, StoredAs};
pub use values::{Date, DateTime, DateTime64Millis};

use spate_runtime::error::RowError;
use spate_runtime::sink::Column;

/// A struct that is written to a table.
///
/// Implemented by `#[derive(Row)]`, which checks every column against the table's definition.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a row of a ClickHouse table",
    label = "not a row",
    note = "a row is a struct with `#[derive(Row)]` and `#[row(table = \"sql/orders.sql\")]`",
    note = "if a closure returns a `Result`, use `try_map(.., on_error = ..)` in place of `map`"
)]
pub trait Row {
    /// The struct's name.
    const NAME: &'static str;

    /// The table's name in its definition, with its database if one is written.
    const TABLE: &'static str;

    /// The columns that are written, in the order in which they are encoded.
    const COLUMNS: &'static [Column];

    /// Appends the row's values in RowBinary.
    ///
    /// # Errors
    /// A value that its column cannot hold; nothing was appended then.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), RowError>;
}

/// Adds the column's name to an error.
///
/// # Errors
/// The given one.
#[doc(hidden)]
#[inline(always)]
pub fn column(name: &'static str, result: Result<(), StoreError>) -> Result<(), RowError> {
    match result {
        Ok(()) => Ok(()),
        Err(error) => Err(in_column(name, error)),
    }
}

#[cold]
fn in_column(name: &'static str, error: StoreError) -> RowError {
    RowError::new(format!("column `{name}`: {error}"))
}
