// errors: 1
// package: renamed

#[derive(etl::AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order {
    pub order_id: i64,
}
