// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
pub struct Order {
    pub order_id: i64,
}
