//! What is resolved is compared with what apache-avro makes of the same bytes and schemas.

mod random;
mod rules;

use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::types::Value;
use apache_avro::writer::datum::GenericDatumWriter;

use super::Plan;
use spate_avro_schema::{Incompatible, parse, parse_reader};

fn plan(writer: &str, reader: &str) -> Result<Plan, Incompatible> {
    let writer = parse(writer).expect("the writer's schema");
    let (reader, extras) = parse_reader(reader).expect("the reader's schema");
    Plan::new(&writer, &reader, &extras)
}

/// The bytes of a value.
fn encoded(schema: &str, value: Value) -> Vec<u8> {
    let schema = Schema::parse_str(schema).expect("a schema");
    let writer = GenericDatumWriter::builder(&schema)
        .build()
        .expect("a writer");
    writer
        .write_value_to_vec(value)
        .expect("a value of the schema")
}

/// The value of all bytes.
fn decoded(schema: &str, bytes: &[u8]) -> Result<Value, String> {
    let schema = Schema::parse_str(schema).expect("a schema");
    let reader = GenericDatumReader::builder(&schema)
        .build()
        .expect("a reader");
    let mut rest = bytes;
    let value = reader
        .read_value(&mut rest)
        .map_err(|error| error.to_string())?;
    match rest.len() {
        0 => Ok(value),
        left => Err(format!("{left} bytes are left")),
    }
}

/// What apache-avro resolves the bytes to.
fn theirs(writer: &str, reader: &str, mut bytes: &[u8]) -> Result<Value, String> {
    let writer = Schema::parse_str(writer).expect("the writer's schema");
    let reader = Schema::parse_str(reader).expect("the reader's schema");
    let reader = GenericDatumReader::builder(&writer)
        .reader_schema(&reader)
        .build()
        .expect("a reader");
    reader
        .read_value(&mut bytes)
        .map_err(|error| error.to_string())
}

/// What we resolve them to, read by the reader's schema.
fn ours(writer: &str, reader: &str, bytes: &[u8]) -> Result<Value, String> {
    let plan = plan(writer, reader).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    plan.run(bytes, bytes.len(), &mut out)
        .map_err(|error| error.to_string())?;
    decoded(reader, &out)
}
