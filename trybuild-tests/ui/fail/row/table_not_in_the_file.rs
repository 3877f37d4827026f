// errors: 1

use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/two_tables.sql", name = "invoices")]
pub struct RefundRow {
    pub refund_id: u64,
}
