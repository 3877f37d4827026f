// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/shipment.avsc")]
pub struct Shipment {
    pub digest: [u8; 8],
}
