//! What is resolved is compared with what apache-avro makes of the same bytes and schemas.

mod collected;
mod depth;
mod deviations;
mod random;
mod rules;

use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::types::Value;
use apache_avro::writer::datum::GenericDatumWriter;

use spate_avro_schema::{Differences, parse, parse_reader};

use super::{Resolver, Runner};
use crate::error::AvroError;
use crate::wire::Reader;

fn resolver(writer: &str, reader: &str) -> Result<Resolver, Differences> {
    let writer = parse(writer).expect("the writer's schema");
    let (reader, extras) = parse_reader(reader).expect("the reader's schema");
    Resolver::new(&writer, &reader, &extras)
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

/// What we resolve them to, read by the reader's schema: a record as the compiled decoder reads it, seam by seam; any other value, which
/// is never at the top of a payload, as what is in a field.
fn ours(writer: &str, reader: &str, bytes: &[u8]) -> Result<Value, String> {
    let resolver = resolver(writer, reader).map_err(|error| error.to_string())?;
    let made = made(&resolver, bytes);
    let read = match collected::collect(&resolver, reader, bytes) {
        None => made,
        Some(collected) => {
            let said = |result: &Result<Vec<u8>, AvroError>| {
                result.as_ref().err().map(ToString::to_string)
            };
            match (&collected, &made) {
                (Ok(collected), Ok(made)) => assert_eq!(
                    decoded(reader, collected),
                    decoded(reader, made),
                    "{writer} -> {reader}: at once and seam by seam"
                ),
                _ => assert_eq!(said(&collected).is_some(), said(&made).is_some()),
            }
            collected
        }
    };
    decoded(reader, &read.map_err(|error| error.to_string())?)
}

/// All of a value made, as that of a field is.
fn made(resolver: &Resolver, bytes: &[u8]) -> Result<Vec<u8>, AvroError> {
    let mut out = Vec::new();
    let runner = Runner::new(&resolver.program, bytes.len());
    let mut reader = Reader::new(bytes, bytes.len());
    runner.value(resolver.program.root, &mut reader, &mut out)?;
    reader.finish()?;
    Ok(out)
}
