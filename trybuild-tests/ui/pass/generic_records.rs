//! Records that are generic or borrow, behind the decoder, as rows, and in functions that are generic themselves.

use std::fmt::Display;
use std::marker::PhantomData;

use spate::prelude::*;

#[derive(AvroRecord, Clone)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub order_id: i64,
    pub region: &'a str,
}

/// A record around another.
#[derive(Clone)]
pub struct Wrapper<T> {
    pub inner: T,
}

/// One with a lifetime, a type and a number.
#[derive(Clone)]
pub struct Pair<'a, T, const N: usize> {
    pub name: &'a str,
    pub values: [T; N],
    pub unit: PhantomData<fn() -> T>,
}

#[derive(Row)]
#[row(table = "files/lines.sql")]
pub struct LineRow<'a> {
    pub order_id: u64,
    pub sku: &'a str,
    pub qty: u32,
}

fn wrap<T>(inner: T) -> Wrapper<T> {
    Wrapper { inner }
}

fn double<'a, T: Copy>(name: &'a str, value: T) -> Pair<'a, T, 2> {
    Pair { name, values: [value, value], unit: PhantomData }
}

spate::pipeline! {
    pub orders {
        kafka
        -> avro::<Order<'_>>
        -> map(|order| Wrapper { inner: order })
        -> filter(|wrapped| wrapped.inner.order_id > 0)
        -> map(wrap)
        -> map(wrap::<Wrapper<Wrapper<Order<'_>>>>)
        -> map(|wrapped: Wrapper<Wrapper<Wrapper<Order<'_>>>>| wrapped.inner.inner.inner)
        -> map(|order| double(order.region, order.order_id))
        -> tee {
            rows: try_map(|Pair { name, values: [id, _], .. }| Ok(LineRow { order_id: u64::try_from(id)?, sku: name, qty: 1 }))
                -> map(wrap)
                -> map(|row| row.inner)
                -> clickhouse,
            names: flat_map(|pair| pair.values.map(|value| wrap((pair.name, value))))
                -> filter_map(|wrapped| (wrapped.inner.1 > 1).then_some(wrapped.inner.0))
                -> capture,
        }
    }
}

/// What decides in a generic function.
pub trait Keep: Clone + Send + Sync + 'static {
    /// Whether the line stays.
    fn keep(&self, line: &[u8]) -> bool;
}

/// A bare chain whose closures use the function's types and lifetimes.
pub fn kept<T: Keep, const LEAST: usize>(keep: T, marks: &'static [impl Display + Send + Sync]) -> spate::Pipeline
where
    T: Default,
{
    spate::pipeline! {
        let first = T::default();
        memory
        -> bytes
        -> filter(|line| line.len() > LEAST && keep.keep(line) && first.keep(line))
        -> map(|line| wrap((line, T::default())))
        -> flat_map(|wrapped| marks.iter().map(move |mark| format!("{mark} {}", wrapped.inner.0.len())))
        -> capture
    }
}
