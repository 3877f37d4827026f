// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/ordr.avsc")]
pub struct Order<'a> {
    pub region: &'a str,
}
