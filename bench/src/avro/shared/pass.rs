//! One pass over payloads: the loop and the chunk are the same for everybody who is measured.

use std::hint::black_box;

use super::{Output, Payloads};

/// The schema id in front of every record.
pub(crate) const SCHEMA_ID: u32 = 4211;

/// Orders below are dropped: a fifth of them.
pub(crate) const LEAST_CENTS: i64 = 200_000;

/// A payload that a variant refused; there are none in the workload.
#[derive(Debug)]
pub(crate) struct Refused;

/// One pass over all orders.
pub(crate) type Pass = fn(&Payloads, &mut Output) -> Result<(), Refused>;

/// The loop that all variants share: `record` gets a payload, the id that it has to name and the chunk, and tells whether it wrote a row.
#[inline(always)]
pub(crate) fn each<'b>(
    payloads: &'b Payloads,
    out: &mut Output,
    mut record: impl FnMut(&'b [u8], u32, &mut Vec<u8>) -> Result<bool, Refused>,
) -> Result<(), Refused> {
    // As a decoder has it: from the last record, unknown to the compiler.
    let last = black_box(SCHEMA_ID);
    let mut rows = 0;
    for payload in payloads.iter() {
        match record(payload, last, &mut out.chunk) {
            Ok(kept) => rows += u64::from(kept),
            Err(Refused) => return Err(Refused),
        }
        out.turn();
    }
    out.count(rows);
    Ok(())
}
