// errors: 3

use spate::prelude::*;

#[derive(AvroUnion)]
#[avro(schema = "files/nested_union.avsc", field = "value/arry")]
pub enum Misspelt<'a> {
    Number(i32),
    Text(&'a str),
}

#[derive(AvroUnion)]
#[avro(schema = "files/nested_union.avsc", field = "Reading.value/string")]
pub enum Text<'a> {
    Number(i32),
    Text(&'a str),
}

#[derive(AvroUnion)]
#[avro(schema = "files/nested_union.avsc", field = "value/array/int")]
pub enum Deeper<'a> {
    Number(i32),
    Text(&'a str),
}
