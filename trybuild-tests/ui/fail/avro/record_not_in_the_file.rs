// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc", record = "Lines")]
pub struct Line<'a> {
    pub sku: &'a str,
}
