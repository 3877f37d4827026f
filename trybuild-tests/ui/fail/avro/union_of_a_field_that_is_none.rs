// errors: 1

use spate::prelude::*;

#[derive(AvroUnion)]
#[avro(schema = "files/shipment.avsc", field = "Shipment.price")]
pub enum Price<'a> {
    Bytes(&'a [u8]),
}
