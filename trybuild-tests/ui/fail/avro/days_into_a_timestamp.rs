// errors: 1

use spate::prelude::*;

use spate::avro::TimestampMicros;

#[derive(AvroRecord)]
#[avro(schema = "files/shipment.avsc")]
pub struct Shipment {
    pub day: TimestampMicros,
}
