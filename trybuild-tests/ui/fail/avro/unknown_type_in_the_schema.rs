// errors: 1

use spate::prelude::*;

pub struct Address;

#[derive(AvroRecord)]
#[avro(schema = "files/unknown_type.avsc")]
pub struct Order {
    pub ship_to: Address,
}
