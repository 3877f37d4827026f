// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/all_types.avsc")]
pub struct All<'a> {
    pub origin: Origin<'a>,
}

#[derive(AvroUnion)]
#[avro(schema = "files/all_types.avsc", field = "All.origin")]
pub enum Origin<'a> {
    Text(&'a str),
    Number(i32),
    Inner(Inner<'a>),
}

#[derive(AvroRecord)]
#[avro(schema = "files/all_types.avsc", record = "Inner")]
pub struct Inner<'a> {
    pub name: &'a str,
}
