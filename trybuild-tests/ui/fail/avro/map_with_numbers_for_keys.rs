// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/shipment.avsc")]
pub struct Shipment {
    pub weights: Vec<(i64, f64)>,
}
