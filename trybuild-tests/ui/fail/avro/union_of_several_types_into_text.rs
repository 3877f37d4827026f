// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/shipment.avsc")]
pub struct Shipment<'a> {
    pub origin: &'a str,
}
