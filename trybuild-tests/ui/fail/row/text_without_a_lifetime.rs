// errors: 1

//! A row borrows and does not say for how long: rustc asks for the lifetime, once.

use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/lines.sql")]
pub struct LineRow {
    pub order_id: u64,
    pub sku: Option<&str>,
    pub qty: u32,
}
