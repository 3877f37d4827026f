//! The same work by hand, with the checks that the generated code makes: framing and id, varints, lengths, branches, blocks and their
//! sizes, `int` ranges, UTF-8 of what is kept, nothing left behind the record, times that the column holds.
//!
//! The order of the fields is written once; how bytes are read and rows are stored is [`plain`] or [`tuned`].

pub(super) mod plain;
pub(super) mod tuned;

use std::hint::black_box;

use super::shared::{LEAST_CENTS, Output, Payloads, Refused, Row, each};

/// The years 1900 to 2299 in milliseconds.
const FIRST_MILLIS: i64 = -2_208_988_800_000;
const LAST_MILLIS: i64 = 10_413_791_999_999;

/// Reads the wire.
pub(super) trait Wire<'b> {
    fn new(bytes: &'b [u8]) -> Self;
    fn rest(&self) -> &'b [u8];
    fn long(&mut self) -> Result<i64, Refused>;
    /// A number that is probably small.
    fn small(&mut self) -> Result<i64, Refused>;
    fn bytes(&mut self) -> Result<&'b [u8], Refused>;
    fn text(&mut self) -> Result<&'b str, Refused>;

    #[inline(always)]
    fn int(&mut self) -> Result<i32, Refused> {
        i32::try_from(self.long()?).map_err(|_| Refused)
    }
}

/// Stores a row.
trait Store {
    fn store(row: &Row<'_>, out: &mut Vec<u8>) -> Result<(), Refused>;
}

#[allow(dead_code, reason = "decoded for the work of it")]
struct Full<'b> {
    order_id: i64,
    region: &'b str,
    total_cents: i64,
    note: Option<&'b str>,
    placed_at: i64,
    /// The blocks as they are, and how many lines are in them.
    lines: (&'b [u8], usize),
}

/// The record behind the framing, whose id has to be the last one's.
#[inline(always)]
pub(super) fn body(payload: &[u8], last: u32) -> Result<&[u8], Refused> {
    match payload {
        [0, a, b, c, d, body @ ..] if u32::from_be_bytes([*a, *b, *c, *d]) == last => Ok(body),
        _ => Err(Refused),
    }
}

#[inline(always)]
pub(super) fn finish<'b>(wire: &impl Wire<'b>) -> Result<(), Refused> {
    match wire.rest().is_empty() {
        true => Ok(()),
        false => Err(Refused),
    }
}

/// Whether a union with null has a value.
#[inline(always)]
fn present<'b>(wire: &mut impl Wire<'b>) -> Result<bool, Refused> {
    match wire.small()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Refused),
    }
}

/// Passes over an array and counts its items, each of which is read by `item` and takes two bytes at least.
#[inline(always)]
fn count<'b, W: Wire<'b>>(
    wire: &mut W,
    item: impl Fn(&mut W) -> Result<(), Refused>,
) -> Result<usize, Refused> {
    let mut total = 0;
    loop {
        let count = wire.small()?;
        if count == 0 {
            return Ok(total);
        }
        let sized = match count < 0 {
            true => Some((
                usize::try_from(wire.long()?).map_err(|_| Refused)?,
                wire.rest().len(),
            )),
            false => None,
        };
        let count = usize::try_from(count.unsigned_abs()).map_err(|_| Refused)?;
        if count > wire.rest().len() / 2 {
            return Err(Refused);
        }
        total += count;
        for _ in 0..count {
            item(wire)?;
        }
        if let Some((size, before)) = sized
            && before - wire.rest().len() != size
        {
            return Err(Refused);
        }
    }
}

#[inline(always)]
fn full<'b, W: Wire<'b>, S: Store>(
    payloads: &'b Payloads,
    out: &mut Output,
) -> Result<(), Refused> {
    each(payloads, out, |payload, last, chunk| {
        let mut wire = W::new(body(payload, last)?);
        let order_id = wire.long()?;
        let region = wire.text()?;
        let total_cents = wire.long()?;
        let note = match present(&mut wire)? {
            true => Some(wire.text()?),
            false => None,
        };
        let placed_at = wire.long()?;
        let before = wire.rest();
        let lines = count(&mut wire, |wire| {
            wire.text()?;
            wire.int().map(drop)
        })?;
        let blocks = &before[..before.len() - wire.rest().len()];
        finish(&wire)?;
        let order = Full {
            order_id,
            region,
            total_cents,
            note,
            placed_at,
            lines: (blocks, lines),
        };
        let order = black_box(&order);
        if order.total_cents < LEAST_CENTS {
            return Ok(false);
        }
        let row = Row {
            order_id: order.order_id as u64,
            region: order.region,
            total_cents: order.total_cents as u64,
            placed_at: order.placed_at,
            n_lines: order.lines.1 as u32,
        };
        S::store(&row, chunk)?;
        Ok(true)
    })
}

#[inline(always)]
fn some<'b, W: Wire<'b>, S: Store, const FILTER_FIRST: bool>(
    payloads: &'b Payloads,
    out: &mut Output,
) -> Result<(), Refused> {
    each(payloads, out, |payload, last, chunk| {
        let mut wire = W::new(body(payload, last)?);
        let order_id = wire.long()?;
        let region = wire.text()?;
        let total_cents = wire.long()?;
        if FILTER_FIRST && total_cents < LEAST_CENTS {
            return Ok(false);
        }
        if present(&mut wire)? {
            wire.bytes()?;
        }
        let placed_at = wire.long()?;
        let lines = count(&mut wire, |wire| {
            wire.bytes()?;
            wire.int().map(drop)
        })?;
        finish(&wire)?;
        if total_cents < LEAST_CENTS {
            return Ok(false);
        }
        let row = Row {
            order_id: order_id as u64,
            region,
            total_cents: total_cents as u64,
            placed_at,
            n_lines: lines as u32,
        };
        S::store(&row, chunk)?;
        Ok(true)
    })
}

/// The three passes of a way to read and to store.
macro_rules! passes {
    ($wire:ident, $store:ident) => {
        /// Everything is decoded before the filter.
        #[inline(never)]
        pub(in crate::avro) fn full(
            orders: &crate::avro::shared::Payloads,
            out: &mut crate::avro::shared::Output,
        ) -> Result<(), Refused> {
            super::full::<$wire<'_>, $store>(orders, out)
        }

        /// Only what the row needs is kept.
        #[inline(never)]
        pub(in crate::avro) fn projected(
            orders: &crate::avro::shared::Payloads,
            out: &mut crate::avro::shared::Output,
        ) -> Result<(), Refused> {
            super::some::<$wire<'_>, $store, false>(orders, out)
        }

        /// As `projected`, and what is behind the filter's field is read for orders that pass.
        #[inline(never)]
        pub(in crate::avro) fn pushdown(
            orders: &crate::avro::shared::Payloads,
            out: &mut crate::avro::shared::Output,
        ) -> Result<(), Refused> {
            super::some::<$wire<'_>, $store, true>(orders, out)
        }
    };
}
use passes;
