//! Rows: a struct per table, encoded as RowBinary in the table's column order.
//!
//! Hot path. `#[derive(Row)]` emits one reservation for the whole row and one [`store`] per column; what a column type
//! accepts, and its bytes, is said by [`StoredAs`]. Names and types of the columns go to the server with every insert
//! (the sink writes them), so a table that was altered since is refused and never misread.

mod stored;
pub mod types;
mod values;

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
    note = "derive it: `#[derive(Row)] #[row(table = \"sql/orders.sql\")] struct {Self} {{ .. }}`"
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
    /// A value that its column cannot hold; what was appended before is taken back by the caller.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), RowError>;
}

/// How many bytes a field needs at most.
#[doc(hidden)]
#[inline(always)]
pub fn size<M, T: StoredAs<M>>(field: &T) -> usize {
    field.size()
}

/// Appends a field; an error is told with the column's name.
///
/// # Errors
/// The column cannot hold the value.
#[doc(hidden)]
#[inline(always)]
pub fn store<M, T: StoredAs<M>>(
    column: &'static str,
    field: &T,
    out: &mut Vec<u8>,
) -> Result<(), RowError> {
    match field.store(out) {
        Ok(()) => Ok(()),
        Err(error) => Err(in_column(column, error)),
    }
}

#[cold]
fn in_column(column: &'static str, error: StoreError) -> RowError {
    RowError::new(format!("column `{column}`: {error}"))
}
