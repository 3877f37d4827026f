// errors: 1

use spate::prelude::*;

#[derive(AvroEnum)]
#[avro(schema = "files/order.avsc", compat = "files/old/lost_orders.avsc")]
pub enum Status {
    New,
    Paid,
}
