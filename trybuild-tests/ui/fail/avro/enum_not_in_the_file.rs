// errors: 1

use spate::prelude::*;

#[derive(AvroEnum)]
#[avro(schema = "files/order.avsc", name = "Statis")]
pub enum Status {
    New,
    Paid,
}
