//! The procedural macros of Spate: a shell that hands tokens to `spate-lang` and its answer back to rustc.

use proc_macro::TokenStream;

/// What `spate::pipeline!` calls, with `[$crate] [features]` in front of the user's tokens.
#[doc(hidden)]
#[proc_macro]
pub fn pipeline_impl(input: TokenStream) -> TokenStream {
    spate_lang::pipeline::expand(input.into()).into()
}

/// Reads a struct from an Avro record: `#[avro(schema = "schemas/order.avsc")]`.
///
/// The struct declares the fields that it wants, in any order; the decoder passes over the others. Every field is
/// compared with the schema when the crate is built.
///
/// - `schema = ".."`: the schema file, relative to the crate's `Cargo.toml`.
/// - `record = ".."`: a record inside the file, by name; the one at the top if it is left out.
/// - `crate = path`: where the `spate` crate is found; `::spate` if it is left out.
/// - on a field, `rename = ".."`: the field's name in the schema.
#[proc_macro_derive(AvroRecord, attributes(avro))]
pub fn avro_record(input: TokenStream) -> TokenStream {
    spate_lang::derive::avro_record(input.into(), &spate_lang::files::manifest_dir()).into()
}

/// Writes a struct into a ClickHouse table: `#[row(table = "sql/orders.sql")]`.
///
/// Fields are matched with the columns of the `CREATE TABLE` by name, and every type is compared when the crate is
/// built. A column that has a default may be left out.
///
/// - `table = ".."`: the file with the `CREATE TABLE`, relative to the crate's `Cargo.toml`.
/// - `name = ".."`: the table, if the file creates several.
/// - `crate = path`: where the `spate` crate is found; `::spate` if it is left out.
/// - on a field, `rename = ".."`: the column's name.
#[proc_macro_derive(Row, attributes(row))]
pub fn row(input: TokenStream) -> TokenStream {
    spate_lang::derive::row(input.into(), &spate_lang::files::manifest_dir()).into()
}

/// `AvroRecord` where the feature `avro` is off.
#[doc(hidden)]
#[proc_macro_derive(AvroRecordOff, attributes(avro))]
pub fn avro_record_off(_: TokenStream) -> TokenStream {
    spate_lang::derive::feature_off("AvroRecord", "avro").into()
}

/// `Row` where the feature `clickhouse` is off.
#[doc(hidden)]
#[proc_macro_derive(RowOff, attributes(row))]
pub fn row_off(_: TokenStream) -> TokenStream {
    spate_lang::derive::feature_off("Row", "clickhouse").into()
}
