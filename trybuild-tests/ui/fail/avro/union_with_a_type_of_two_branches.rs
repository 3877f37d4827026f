// errors: 2

use spate::prelude::*;

pub type Name<'a> = &'a str;
pub type Number = i32;

#[derive(AvroUnion)]
#[avro(schema = "files/shipment.avsc", field = "Shipment.origin")]
pub enum Origin<'a> {
    None,
    Text(Name<'a>),
    Number(Number),
}
