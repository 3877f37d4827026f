// errors: 1

use spate::prelude::*;

use spate::avro::Decimal;

#[derive(AvroRecord)]
#[avro(schema = "files/shipment.avsc")]
pub struct Shipment {
    pub price: Decimal<3>,
}
