// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/no_record.avsc")]
pub struct Order {
    pub order_id: i64,
}
