// errors: 1

pub mod schema {
    spate::avro_schema!("files/nested_union.avsc");
}
