// errors: 1

use spate::prelude::*;

#[derive(AvroEnum)]
#[avro(schema = "files/order.avsc")]
pub enum Status {
    New,
    Paid,
}

#[derive(AvroRecord)]
#[avro(schema = "files/shipment.avsc")]
pub struct Shipment {
    pub mode: Status,
}
