//! What Spate's derives generate: decoders of the same schema with more and fewer fields, and the row's encoder.
//!
//! Each pass has types of its own, as a pipeline of an application has: what is called from one place only is inlined there.

use std::hint::black_box;

use spate_avro::{
    AvroRecord as _, Reader, Resolution, Seq, TimestampMillis, confluent, decode_body,
};
use spate_clickhouse::{DateTime64Millis, Row as _};
use spate_macros::{AvroRecord, Row};
use spate_runtime::scratch::Scratch;

use super::shared::{LEAST_CENTS, Output, Payloads, Refused, each};

/// All fields; lines are checked, counted and left where they are.
#[derive(AvroRecord)]
#[avro(schema = "schemas/order.avsc", crate = crate::facade)]
#[allow(dead_code, reason = "decoded for the work of it")]
struct Full<'b> {
    order_id: i64,
    region: &'b str,
    total_cents: i64,
    note: Option<&'b str>,
    placed_at: TimestampMillis,
    lines: Seq<'b, Line<'b>>,
}

#[derive(AvroRecord)]
#[avro(schema = "schemas/order.avsc", record = "shop.Line", crate = crate::facade)]
#[allow(dead_code, reason = "decoded for the work of it")]
struct Line<'b> {
    sku: &'b str,
    qty: i32,
}

/// All fields; lines are collected.
#[derive(AvroRecord)]
#[avro(schema = "schemas/order.avsc", crate = crate::facade)]
#[allow(dead_code, reason = "decoded for the work of it")]
struct FullVec<'b> {
    order_id: i64,
    region: &'b str,
    total_cents: i64,
    note: Option<&'b str>,
    placed_at: TimestampMillis,
    lines: Vec<Collected<'b>>,
}

#[derive(AvroRecord)]
#[avro(schema = "schemas/order.avsc", record = "shop.Line", crate = crate::facade)]
#[allow(dead_code, reason = "decoded for the work of it")]
struct Collected<'b> {
    sku: &'b str,
    qty: i32,
}

/// Declares what the row needs; lines are counted.
macro_rules! projected {
    () => {
        #[derive(AvroRecord)]
        #[avro(schema = "schemas/order.avsc", crate = crate::facade)]
        struct Projected<'b> {
            order_id: i64,
            region: &'b str,
            total_cents: i64,
            placed_at: TimestampMillis,
            lines: Seq<'b, Counted>,
        }

        #[derive(AvroRecord)]
        #[avro(schema = "schemas/order.avsc", record = "shop.Line", crate = crate::facade)]
        struct Counted {}
    };
}

/// The record behind the framing, whose id has to be the last one's.
#[inline(always)]
fn body(payload: &[u8], last: u32) -> Result<&[u8], Refused> {
    match confluent(payload) {
        Ok((id, body)) if id == last => Ok(body),
        _ => Err(Refused),
    }
}

/// Encodes the row of an order.
macro_rules! encode {
    ($order:ident, $chunk:ident) => {{
        #[derive(Row)]
        #[row(table = "sql/orders.sql", crate = crate::facade)]
        struct OrderRow<'b> {
            order_id: u64,
            region: &'b str,
            total_cents: u64,
            placed_at: DateTime64Millis,
            n_lines: u32,
        }
        let row = OrderRow {
            order_id: $order.order_id as u64,
            region: $order.region,
            total_cents: $order.total_cents as u64,
            placed_at: DateTime64Millis($order.placed_at.0),
            n_lines: $order.lines.len() as u32,
        };
        row.encode($chunk).map_err(|_| Refused)
    }};
}

/// Everything is decoded before the filter.
#[inline(never)]
pub(super) fn full(payloads: &Payloads, out: &mut Output) -> Result<(), Refused> {
    each(payloads, out, |payload, last, chunk| {
        let order: Full<'_> =
            decode_body(body(payload, last)?, payload.len()).map_err(|_| Refused)?;
        let order = black_box(&order);
        if order.total_cents < LEAST_CENTS {
            return Ok(false);
        }
        encode!(order, chunk)?;
        Ok(true)
    })
}

/// As `full`, with a `Vec` for each order.
#[inline(never)]
pub(super) fn full_vec(payloads: &Payloads, out: &mut Output) -> Result<(), Refused> {
    each(payloads, out, |payload, last, chunk| {
        let order: FullVec<'_> =
            decode_body(body(payload, last)?, payload.len()).map_err(|_| Refused)?;
        let order = black_box(&order);
        if order.total_cents < LEAST_CENTS {
            return Ok(false);
        }
        encode!(order, chunk)?;
        Ok(true)
    })
}

/// As `full`, of the schema whose lines have one field more: what `resolving_lines` is compared with.
#[inline(never)]
pub(super) fn full_lines(payloads: &Payloads, out: &mut Output) -> Result<(), Refused> {
    #[derive(AvroRecord)]
    #[avro(schema = "schemas/order_lines.avsc", crate = crate::facade)]
    #[allow(dead_code, reason = "decoded for the work of it")]
    struct Order<'b> {
        order_id: i64,
        region: &'b str,
        total_cents: i64,
        note: Option<&'b str>,
        placed_at: TimestampMillis,
        lines: Seq<'b, OrderLine<'b>>,
    }

    #[derive(AvroRecord)]
    #[avro(schema = "schemas/order_lines.avsc", record = "shop.Line", crate = crate::facade)]
    #[allow(dead_code, reason = "decoded for the work of it")]
    struct OrderLine<'b> {
        sku: &'b str,
        qty: i32,
        unit: &'b str,
    }

    each(payloads, out, |payload, last, chunk| {
        let order: Order<'_> =
            decode_body(body(payload, last)?, payload.len()).map_err(|_| Refused)?;
        let order = black_box(&order);
        if order.total_cents < LEAST_CENTS {
            return Ok(false);
        }
        encode!(order, chunk)?;
        Ok(true)
    })
}

/// All fields, of a compiled schema that the orders' writers do not have.
macro_rules! resolving {
    ($payloads:ident, $out:ident, $compiled:literal, $writer:literal, { $($more:ident: $ty:ty)? }, { $($unit:ident: $unit_ty:ty)? }) => {{
        #[derive(AvroRecord)]
        #[avro(schema = $compiled, crate = crate::facade)]
        #[allow(dead_code, reason = "decoded for the work of it")]
        struct Resolved<'b> {
            order_id: i64,
            region: &'b str,
            total_cents: i64,
            note: Option<&'b str>,
            placed_at: TimestampMillis,
            lines: Seq<'b, ResolvedLine<'b>>,
            $($more: $ty,)?
        }

        #[derive(AvroRecord)]
        #[avro(schema = $compiled, record = "shop.Line", crate = crate::facade)]
        #[allow(dead_code, reason = "decoded for the work of it")]
        struct ResolvedLine<'b> {
            sku: &'b str,
            qty: i32,
            $($unit: $unit_ty,)?
        }

        /// Records of a batch.
        const BATCH: u32 = 512;

        let mut resolution = Resolution::new::<Resolved<'_>>(include_str!($writer)).map_err(|_| Refused)?;
        let mut scratch = Scratch::new();
        let mut batch = 0;
        each($payloads, $out, |payload, last, chunk| {
            if batch == BATCH {
                scratch.clear();
                batch = 0;
            }
            batch += 1;
            let order: Resolved<'_> = resolution
                .decode(body(payload, last)?, payload.len(), &scratch)
                .map_err(|_| Refused)?;
            let order = black_box(&order);
            if order.total_cents < LEAST_CENTS {
                return Ok(false);
            }
            encode!(order, chunk)?;
            Ok(true)
        })
    }};
}

/// As `full`, for orders of a schema of before: without notes, with the customer, totals of 32 bits.
#[inline(never)]
pub(super) fn resolving(payloads: &Payloads, out: &mut Output) -> Result<(), Refused> {
    resolving!(
        payloads,
        out,
        "schemas/order.avsc",
        "../../schemas/order_before.avsc",
        {},
        {}
    )
}

/// As `full`, with a field at the end that no writer has yet.
#[inline(never)]
pub(super) fn resolving_new_field(payloads: &Payloads, out: &mut Output) -> Result<(), Refused> {
    resolving!(
        payloads,
        out,
        "schemas/order_after.avsc",
        "../../schemas/order.avsc",
        { channel: &'b str },
        {}
    )
}

/// As `full`, with all fields in another order than the writer's.
#[inline(never)]
pub(super) fn resolving_reordered(payloads: &Payloads, out: &mut Output) -> Result<(), Refused> {
    resolving!(
        payloads,
        out,
        "schemas/order_reordered.avsc",
        "../../schemas/order.avsc",
        {},
        {}
    )
}

/// As `full`, with a field in each line that no writer has yet.
#[inline(never)]
pub(super) fn resolving_lines(payloads: &Payloads, out: &mut Output) -> Result<(), Refused> {
    resolving!(
        payloads,
        out,
        "schemas/order_lines.avsc",
        "../../schemas/order.avsc",
        {},
        { unit: &'b str }
    )
}

/// Only what the row needs is kept.
#[inline(never)]
pub(super) fn projected(payloads: &Payloads, out: &mut Output) -> Result<(), Refused> {
    projected!();
    each(payloads, out, |payload, last, chunk| {
        let order: Projected<'_> =
            decode_body(body(payload, last)?, payload.len()).map_err(|_| Refused)?;
        if order.total_cents < LEAST_CENTS {
            return Ok(false);
        }
        encode!(order, chunk)?;
        Ok(true)
    })
}

/// As `projected`, and what is behind the filter's field is read for orders that pass, as the pipeline language does it.
#[inline(never)]
pub(super) fn pushdown(payloads: &Payloads, out: &mut Output) -> Result<(), Refused> {
    projected!();
    const UPTO: usize = spate_avro::pushdown::fields_upto::<Projected<'_>>(&["total_cents"]);
    each(payloads, out, |payload, last, chunk| {
        let mut reader = Reader::new(body(payload, last)?, payload.len());
        let order = Projected::decode_upto::<UPTO>(&mut reader).map_err(|_| Refused)?;
        if order.total_cents < LEAST_CENTS {
            return Ok(false);
        }
        let order = order
            .decode_rest::<UPTO>(&mut reader)
            .map_err(|_| Refused)?;
        reader.finish().map_err(|_| Refused)?;
        encode!(order, chunk)?;
        Ok(true)
    })
}
