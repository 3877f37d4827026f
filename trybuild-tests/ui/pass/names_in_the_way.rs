//! What the user calls like something of ours is the user's, in closures as well as beside them.

use spate::prelude::{AvroRecord as AvroRecordOf, Row as RowOf};

/// In the way of crates.
pub mod core {
    /// In the way of a type.
    pub mod result {}
}
/// In the way of a crate.
pub mod std {}
/// In the way of a crate.
pub mod alloc {}
/// In the way of a module of the facade.
pub mod stage {}
/// In the way of a module of the facade.
pub mod avro {}
/// In the way of a module of the facade.
pub mod clickhouse {}

/// In the way of types.
pub struct Option;
/// In the way of types.
pub struct Result;
/// In the way of types.
pub struct Pipeline;
/// In the way of types.
pub struct Graph;
/// In the way of types.
pub struct Batch;
/// In the way of types.
pub struct Output;
/// In the way of types.
pub struct Thread;
/// In the way of types.
pub struct Memory;

/// In the way of variants.
#[allow(non_snake_case)]
pub fn Ok() {}
/// In the way of variants.
#[allow(non_snake_case)]
pub fn Err() {}
/// In the way of variants.
#[allow(non_snake_case)]
pub fn Some() {}
/// In the way of stages.
pub fn map() {}
/// In the way of stages.
pub fn filter() {}
/// In the way of variables.
pub fn r() {}
/// In the way of variables.
pub fn out() {}
/// In the way of variables.
pub fn decode() {}
/// In the way of variables.
pub fn record() {}

macro_rules! in_the_way {
    ($($name:ident)*) => { $(
        #[allow(unused_macros)]
        macro_rules! $name { ($d:tt) => {}; }
    )* };
}
in_the_way!(vec matches unreachable assert panic include_bytes concat stringify compile_error format_args const_format pipeline);

#[derive(AvroRecordOf)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub order_id: i64,
    pub region: &'a str,
    pub lines: spate::avro::Seq<'a, Line<'a>>,
}

#[derive(AvroRecordOf, Clone, Copy)]
#[avro(schema = "files/order.avsc", record = "Line")]
pub struct Line<'a> {
    pub sku: &'a str,
    pub qty: i32,
}

#[derive(RowOf)]
#[row(table = "files/lines.sql")]
pub struct LineRow<'a> {
    pub order_id: ::core::primitive::u64,
    pub sku: &'a str,
    pub qty: u32,
}

spate::pipeline! {
    /// Parameters, states and closures' parameters called like variables of generated code.
    pub lines(batch: i64, thread: ::std::string::String, decoder: i64, sink0: i64, value: i64, graph: i64) {
        let mut out = 0_i64;
        let mut record = 0_i64;
        let mut decode = ::core::option::Option::Some(1_i64);
        let r = 7_i64;
        let arm = 8_i64;
        kafka(topic = "orders")
        -> avro::<Order<'_>>(on_error = skip)
        -> filter(|r| r.order_id > batch + decoder + value)
        -> inspect(|record| out += record.order_id)
        -> map(|value, batch| (value, batch.offset(), r, graph))
        -> filter(|(order, ..)| order.region != thread && out > arm + sink0)
        -> filter(|_| { record += 1; decode.take().is_none() && record > 0 })
        -> flat_map(|(order, ..)| order.lines)
        -> try_map(|e| ::core::result::Result::Ok(LineRow { order_id: ::core::primitive::u64::try_from(out)?, sku: e.sku, qty: 1 }), on_error = skip)
        -> clickhouse::<LineRow<'_>>
    }

    /// Labels called like them.
    pub by_size {
        let children = 0;
        memory
        -> bytes
        -> thread: flat_map(|line| line.chunks(2))
        -> limit: route(|chunk| chunk.len() + children) {
            0 => record: drop,
            arm if arm > 1 => out: filter_map(|ok| ok.first()) -> children: map(|value| [*value].to_vec()) -> value: capture,
            _ => decode: tee {
                arm3_0: capture,
                r: discard,
            },
        }
    }
}

/// Locals around a bare chain.
pub fn around() -> spate::Pipeline {
    let (r, out, record, batch, value, thread, decode, decoder, e, ok, arm, children) =
        (1_i64, 2_i64, 3_i64, 4_i64, 5_i64, 6_i64, 7_i64, 8_i64, 9_i64, 10_i64, 11_i64, 12_i64);
    #[allow(unused_labels)]
    'arm3_0: loop {
        break 'arm3_0 spate::pipeline! {
            memory
            -> bytes
            -> try_map(|line| ::core::result::Result::Ok(line.first().copied().map_or(r + out + record, i64::from)))
            -> filter_map(|n| (n > batch + value + thread).then_some(n))
            -> flat_map(|n| [n, decode, decoder, e, ok])
            -> tee {
                a: map(|n| (n + arm).to_string()) -> capture,
                b: map(|n| (n + children).to_string()) -> capture,
            }
        };
    }
}
