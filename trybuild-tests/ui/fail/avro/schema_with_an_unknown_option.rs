// errors: 1

pub mod schema {
    spate::avro_schema!("files/order.avsc", ownd);
}
