//! The procedural macros of Spate: a shell that hands tokens to `spate-lang` and its answer back to rustc.

use proc_macro::TokenStream;

/// What `spate::pipeline!` calls, with `[$crate] [features]` in front of the user's tokens.
#[doc(hidden)]
#[proc_macro]
pub fn pipeline_impl(input: TokenStream) -> TokenStream {
    spate_lang::pipeline::expand(input.into()).into()
}

/// What `spate::avro_schema!` calls, with `[$crate]` in front of the user's tokens.
#[doc(hidden)]
#[proc_macro]
pub fn avro_schema_impl(input: TokenStream) -> TokenStream {
    spate_lang::derive::avro_schema(input.into(), &spate_lang::files::manifest_dir()).into()
}

/// Reads a struct from an Avro record: `#[avro(schema = "schemas/order.avsc")]`.
///
/// The struct declares the fields that it wants, in any order; the decoder passes over the others. Every field is
/// compared with the schema when the crate is built.
///
/// - `schema = ".."`: the schema file, relative to the crate's `Cargo.toml`.
/// - `with = ["..", ..]`: schema files whose types that file uses, in an order in which each comes before its users.
/// - `compat = ".."`, or a list: schema files of other versions. The build fails where a record of one could not be read. In place of a
///   path stands `("..", with = ["..", ..])` for one that uses types of other files.
/// - `record = ".."`: a record inside the file, by name; the one at the top if it is left out.
/// - `crate = path`: where the `spate` crate is found; `::spate` if it is left out.
/// - on a field, `rename = ".."`: the field's name in the schema.
#[proc_macro_derive(AvroRecord, attributes(avro))]
pub fn avro_record(input: TokenStream) -> TokenStream {
    spate_lang::derive::avro_record(input.into(), &spate_lang::files::manifest_dir()).into()
}

/// Reads an enum from an Avro enum: `#[avro(schema = "schemas/order.avsc", name = "Status")]`.
///
/// Every symbol has its variant, by name: a variant stands for the symbol that it spells, underscores and case aside (`InTransit` is
/// `IN_TRANSIT`).
///
/// - `schema = ".."`, `with = [..]`, `crate = path`: as for `AvroRecord`.
/// - `name = ".."`: the enum in the file; the one at the top, or the one of the same name, if it is left out.
/// - on a variant, `rename = ".."`: its symbol in the schema.
#[proc_macro_derive(AvroEnum, attributes(avro))]
pub fn avro_enum(input: TokenStream) -> TokenStream {
    spate_lang::derive::avro_enum(input.into(), &spate_lang::files::manifest_dir()).into()
}

/// Reads an enum from an Avro union of several types: `#[avro(schema = "schemas/order.avsc", field = "Order.origin")]`.
///
/// Every branch has its variant, by the type that the variant holds; one that holds nothing is null. A union of null and one
/// other type needs no enum: it is read into an `Option`.
///
/// - `schema = ".."`, `with = [..]`, `crate = path`: as for `AvroRecord`.
/// - `field = ".."`: the field that has the union, with its record; in a list or a map too. The union at the top of the file if it is left
///   out.
/// - on a variant, `branch = ".."`: its branch by name (`string`, `array`, `Line`), where the type alone does not tell.
#[proc_macro_derive(AvroUnion, attributes(avro))]
pub fn avro_union(input: TokenStream) -> TokenStream {
    spate_lang::derive::avro_union(input.into(), &spate_lang::files::manifest_dir()).into()
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

/// `avro_schema!` where the feature `avro` is off.
#[doc(hidden)]
#[proc_macro]
pub fn avro_schema_off(_: TokenStream) -> TokenStream {
    spate_lang::derive::feature_off("avro_schema!", "avro").into()
}

/// `AvroEnum` where the feature `avro` is off.
#[doc(hidden)]
#[proc_macro_derive(AvroEnumOff, attributes(avro))]
pub fn avro_enum_off(_: TokenStream) -> TokenStream {
    spate_lang::derive::feature_off("AvroEnum", "avro").into()
}

/// `AvroUnion` where the feature `avro` is off.
#[doc(hidden)]
#[proc_macro_derive(AvroUnionOff, attributes(avro))]
pub fn avro_union_off(_: TokenStream) -> TokenStream {
    spate_lang::derive::feature_off("AvroUnion", "avro").into()
}

/// `Row` where the feature `clickhouse` is off.
#[doc(hidden)]
#[proc_macro_derive(RowOff, attributes(row))]
pub fn row_off(_: TokenStream) -> TokenStream {
    spate_lang::derive::feature_off("Row", "clickhouse").into()
}
