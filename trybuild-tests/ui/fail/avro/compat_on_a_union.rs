// errors: 1

use spate::prelude::*;

#[derive(AvroUnion)]
#[avro(schema = "files/shipment.avsc", field = "origin", compat = "files/shipment.avsc")]
pub enum Origin {
    Null,
    Text(String),
    Number(i32),
}
