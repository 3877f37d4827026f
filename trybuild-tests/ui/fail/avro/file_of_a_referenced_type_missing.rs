// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/with_reference.avsc", with = ["files/lines.avsc"])]
pub struct Basket {
    pub id: i64,
}
