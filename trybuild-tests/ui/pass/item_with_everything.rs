//! Attributes, visibility, parameters, states, labels, options, clauses.

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub order_id: i64,
    pub region: &'a str,
    pub total_cents: i64,
    pub note: Option<&'a str>,
}

#[derive(Row)]
#[row(table = "files/orders.sql")]
pub struct OrderRow<'a> {
    pub order_id: u64,
    pub region: &'a str,
    pub total_cents: i64,
    pub note: Option<&'a str>,
}

pub fn to_row(order: Order<'_>) -> OrderRow<'_> {
    OrderRow {
        order_id: order.order_id.unsigned_abs(),
        region: order.region,
        total_cents: order.total_cents,
        note: order.note,
    }
}

/// Keys that were seen lately.
pub struct Recent(Vec<i64>);

impl Recent {
    fn insert(&mut self, key: i64) -> bool {
        let new = !self.0.contains(&key);
        self.0.push(key);
        new
    }
}

spate::pipeline! {
    /// Orders that are worth something, once each.
    #[must_use]
    pub(crate) orders(min_cents: i64, region: String, paid: fn(i64) -> bool) {
        let mut seen = Recent(Vec::new());
        let (low, high): (i64, i64) = "7".parse().map(|low: i64| (low, low + min_cents))?;

        kafka(topic = "orders.v1")
        -> order: avro::<Order<'_>>(on_error = skip)
        -> filter(|order| order.total_cents >= low && order.total_cents < high && paid(order.total_cents))
        -> fresh: filter(|order| seen.insert(order.order_id))
        -> local: filter(|order| order.region == region)
        -> row: map(to_row)
        -> orders: clickhouse::<OrderRow<'_>>(table = "shop.orders", on_error = fail,)

        name = "paid-orders";
        on_error = skip;
    }
}

/// Nothing else is needed to run it.
pub fn main() -> ExitCode {
    spate::main(orders(100, "north".to_owned(), |cents| cents > 0))
}
