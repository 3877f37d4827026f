// errors: 1

use spate::prelude::*;

#[derive(AvroUnion)]
#[avro(schema = "files/shipment.avsc", field = "Shipment.origin")]
pub enum Origin {
    None,
    Text(&str),
    Number(i32),
}
