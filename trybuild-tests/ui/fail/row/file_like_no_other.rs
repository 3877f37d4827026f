// errors: 1

use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/invoices.sql")]
pub struct OrderRow {
    pub order_id: u64,
}
