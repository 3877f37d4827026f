// errors: 1

use spate::prelude::*;

pub enum Origin {
    None,
    Number(i32),
}

#[derive(AvroRecord)]
#[avro(schema = "files/shipment.avsc")]
pub struct Shipment {
    pub origin: Origin,
}
