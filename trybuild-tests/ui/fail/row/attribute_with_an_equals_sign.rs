// errors: 1

use spate::prelude::*;

#[derive(Row)]
#[row = "files/orders.sql"]
pub struct OrderRow {
    pub order_id: u64,
}
