// errors: 1

use spate::prelude::*;

#[derive(AvroEnum)]
#[avro(schema = "files/order.avsc")]
pub enum Status {
    New,
    Paid(i64),
}
