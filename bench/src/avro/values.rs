//! Orders without a compiled schema: into a tree of values, of which the row is made.

use spate_avro::confluent;
use spate_avro::value::{Value, ValueReader};
use spate_clickhouse::{DateTime64Millis, Row as _};
use spate_macros::Row;

use super::shared::{LEAST_CENTS, Output, Payloads, Refused, each};

#[derive(Row)]
#[row(table = "sql/orders.sql", crate = crate::facade)]
struct OrderRow<'v> {
    order_id: u64,
    region: &'v str,
    total_cents: u64,
    placed_at: DateTime64Millis,
    n_lines: u32,
}

/// What `avro::<avro::Value>` does behind the look-up of the schema, and a closure that makes the row.
#[inline(never)]
pub(super) fn full(payloads: &Payloads, out: &mut Output) -> Result<(), Refused> {
    let reader = ValueReader::new(include_str!("../../schemas/order.avsc")).map_err(|_| Refused)?;
    each(payloads, out, |payload, last, chunk| {
        let body = match confluent(payload) {
            Ok((id, body)) if id == last => body,
            _ => return Err(Refused),
        };
        let order = reader.read(body).map_err(|_| Refused)?;
        let long = |name: &str| order.get(name).and_then(Value::as_i64).ok_or(Refused);
        let total_cents = long("total_cents")?;
        if total_cents < LEAST_CENTS {
            return Ok(false);
        }
        let region = order.get("region").and_then(Value::as_str);
        let placed_at = order.get("placed_at").and_then(Value::as_timestamp_millis);
        let row = OrderRow {
            order_id: long("order_id")? as u64,
            region: region.ok_or(Refused)?,
            total_cents: total_cents as u64,
            placed_at: DateTime64Millis(placed_at.ok_or(Refused)?.0),
            n_lines: order.get("lines").map_or(0, |lines| lines.items().len()) as u32,
        };
        row.encode(chunk).map_err(|_| Refused)?;
        Ok(true)
    })
}
