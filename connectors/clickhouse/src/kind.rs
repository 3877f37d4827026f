//! The `clickhouse` stage as the pipeline language names it.

use spate_runtime::error::RowError;
use spate_runtime::sink::{RowEncoder, RowInfo};

use crate::row::Row;

/// The `clickhouse` sink: rows with `#[derive(Row)]` into a table.
#[derive(Debug)]
pub struct ClickHouse;

impl<R: Row> RowEncoder<R> for ClickHouse {
    fn row() -> RowInfo {
        RowInfo {
            row: R::NAME,
            columns: R::COLUMNS,
        }
    }

    #[inline(always)]
    fn encode(row: &R, out: &mut Vec<u8>) -> Result<(), RowError> {
        row.encode(out)
    }
}
