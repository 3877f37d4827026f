// errors: 2

use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/orders.sql")]
pub struct OrderRow {
    pub order_id: u64,
    pub total_cents: i64,
}
