// errors: 1

use spate::prelude::*;

pub enum Status {
    New,
    Paid,
}

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order {
    pub status: Status,
}
