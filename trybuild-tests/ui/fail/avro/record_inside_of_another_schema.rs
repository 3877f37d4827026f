// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/refund.avsc", record = "Line")]
pub struct Line<'a> {
    pub sku: &'a str,
}

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub lines: Vec<Line<'a>>,
}
