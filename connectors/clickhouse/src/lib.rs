//! The ClickHouse sink of Spate.
//!
//! `#[derive(Row)]` compares a struct with a `CREATE TABLE` and emits its RowBinary encoder ([`Row`]); the sink behind
//! [`ClickHouse`] sends blocks of rows over HTTP, with the names and types of the columns in every insert.

mod config;
mod error;
mod http;
mod kind;
mod row;
mod sink;

pub use kind::ClickHouse;
#[doc(hidden)]
pub use row::column;
pub use row::{Date, DateTime, DateTime64Millis, Row, Slots, StoreError, StoredAs, types};
pub use spate_runtime::error::RowError;
pub use spate_runtime::sink::Column;
pub use spate_runtime::value::{Decimal, TimestampMicros, TimestampMillis, TimestampNanos, Uuid};
