//! serde_avro_fast: single pass into a struct that borrows and has only what the row needs.

use std::error::Error;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_avro_fast::Schema;

use crate::shared::{LEAST_CENTS, Refused, Row, each, store};
use crate::{Pass, SCHEMA};

#[derive(Deserialize)]
struct Projected<'b> {
    order_id: i64,
    region: &'b str,
    total_cents: i64,
    placed_at: i64,
    /// Counted: items of no size are never allocated.
    lines: Vec<IgnoredAny>,
}

pub(crate) fn borrowed() -> Result<Pass, Box<dyn Error>> {
    let schema: Schema = SCHEMA.parse()?;
    Ok(Box::new(move |payloads, out| {
        let done = each(payloads, out, |payload, last, chunk| {
            let body = body(payload, last)?;
            let order: Projected<'_> =
                serde_avro_fast::from_datum_slice(body, &schema).map_err(|_| Refused)?;
            if order.total_cents < LEAST_CENTS {
                return Ok(false);
            }
            let row = Row {
                order_id: order.order_id as u64,
                region: order.region,
                total_cents: order.total_cents as u64,
                placed_at: order.placed_at,
                n_lines: order.lines.len() as u32,
            };
            store(&row, chunk);
            Ok(true)
        });
        done.map_err(|Refused| "a payload was refused".into())
    }))
}

/// The record behind the framing, whose id has to be the last one's.
#[inline(always)]
pub(crate) fn body(payload: &[u8], last: u32) -> Result<&[u8], Refused> {
    match payload {
        [0, a, b, c, d, body @ ..] if u32::from_be_bytes([*a, *b, *c, *d]) == last => Ok(body),
        _ => Err(Refused),
    }
}
