// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc", record = "Line", compat = "files/old/lines_by_another_name.avsc")]
pub struct Line {
    pub qty: i32,
}
