// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/duplicate_field.avsc")]
pub struct Order {
    pub order_id: i64,
}
