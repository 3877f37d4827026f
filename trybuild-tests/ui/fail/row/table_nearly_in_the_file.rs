// errors: 2

use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/two_tables.sql", name = "order")]
pub struct OrderRow {
    pub order_id: u64,
}

#[derive(Row)]
#[row(table = "files/two_tables.sql", name = "refund")]
pub struct RefundRow {
    pub refund_id: u64,
}
