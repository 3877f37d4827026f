// errors: 1

use spate::prelude::*;

#[derive(AvroEnum)]
#[avro(schema = "files/order.avsc")]
pub struct Status;
