// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/default.avsc")]
pub struct Region {
    pub code: String,
}
