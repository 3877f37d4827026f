// errors: 1

use spate::prelude::*;

type Number = u32;

#[derive(AvroRecord)]
#[avro(schema = "files/all_types.avsc")]
pub struct All {
    pub numbers: Vec<Number>,
}
