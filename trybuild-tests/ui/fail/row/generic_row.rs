// errors: 1

use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/orders.sql")]
pub struct OrderRow<T> {
    pub order_id: T,
}
