// errors: 1

use spate::prelude::*;

#[derive(AvroUnion)]
#[avro(schema = "files/shipment.avsc", field = "Shipment.origin")]
pub enum Origin<'a> {
    Text(&'a str),
    Unknown,
}
