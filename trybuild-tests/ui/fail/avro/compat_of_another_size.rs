// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/shipment.avsc", compat = "files/old/short_digest.avsc")]
pub struct Shipment {
    pub digest: [u8; 16],
}
