// errors: 1

pub mod types {
    spate::avro_schema!("files/order.avsc", compat = ["files/order.avsc", "files/old/long_quantities.avsc"]);
}
