// errors: 1

use spate::prelude::*;

pub struct Line;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order {
    pub lines: Vec<Line>,
}
