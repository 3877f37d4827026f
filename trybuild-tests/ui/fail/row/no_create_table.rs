// errors: 1

use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/broken.sql")]
pub struct OrderRow {
    pub order_id: u64,
}
