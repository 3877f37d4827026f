//! What is measured in this process: each variant is one loop over payloads that is compiled on its own.

use std::hint::black_box;

use super::orders::{Kind, Orders, SCHEMA_ID};
use super::output::Output;
use super::{hand, ours};

/// A payload that a variant refused; there are none in the workload.
#[derive(Debug)]
pub(crate) struct Refused;

/// One pass over all orders.
pub(crate) type Pass = fn(&Orders, &mut Output) -> Result<(), Refused>;

/// A variant.
#[derive(Clone, Copy)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    /// The orders that it reads.
    pub(crate) kind: Kind,
    pub(crate) pass: Pass,
    /// The variant that it is compared with.
    pub(crate) base: &'static str,
    pub(crate) what: &'static str,
}

macro_rules! variants {
    ($($name:literal $kind:ident $pass:expr, vs $base:literal, $what:literal;)*) => {
        &[$(Variant { name: $name, kind: Kind::$kind, pass: $pass, base: $base, what: $what }),*]
    };
}

/// All of them. What has `hand` in its name is written by hand.
pub(crate) const VARIANTS: &[Variant] = variants! {
    "hand_full" Plain hand::tuned::full, vs "hand_full", "by hand, tuned: all fields";
    "hand_projected" Plain hand::tuned::projected, vs "hand_projected", "by hand, tuned: the row's fields";
    "hand_pushdown" Plain hand::tuned::pushdown, vs "hand_pushdown", "by hand, tuned: the row's fields, filter first";
    "full" Plain ours::full, vs "hand_full", "ours: all fields, lines as `Seq`";
    "projected" Plain ours::projected, vs "hand_projected", "ours: the row's fields";
    "pushdown" Plain ours::pushdown, vs "hand_pushdown", "ours: the row's fields, filter first";
    "full_vec" Plain ours::full_vec, vs "full", "ours: all fields, lines as `Vec`";
    "hand_plain_full" Plain hand::plain::full, vs "hand_full", "by hand, plain: all fields";
    "hand_plain_projected" Plain hand::plain::projected, vs "hand_projected", "by hand, plain: the row's fields";
    "hand_plain_pushdown" Plain hand::plain::pushdown, vs "hand_pushdown", "by hand, plain: the row's fields, filter first";
    "hand_not_ascii" Abroad hand::tuned::full, vs "hand_not_ascii", "by hand, tuned: all fields, no text is ASCII";
    "not_ascii" Abroad ours::full, vs "hand_not_ascii", "ours: all fields, no text is ASCII";
    "hand_sized_blocks" Sized hand::tuned::full, vs "hand_sized_blocks", "by hand, tuned: all fields, blocks with sizes";
    "sized_blocks" Sized ours::full, vs "hand_sized_blocks", "ours: all fields, blocks with sizes";
};

/// The variant of that name.
pub(crate) fn find(name: &str) -> Option<&'static Variant> {
    VARIANTS.iter().find(|variant| variant.name == name)
}

/// The loop that all variants share: `record` gets a payload, the id that it has to name and the chunk, and tells whether it wrote a row.
#[inline(always)]
pub(crate) fn each<'b>(
    orders: &'b Orders,
    out: &mut Output,
    mut record: impl FnMut(&'b [u8], u32, &mut Vec<u8>) -> Result<bool, Refused>,
) -> Result<(), Refused> {
    // As a decoder has it: from the last record, unknown to the compiler.
    let last = black_box(SCHEMA_ID);
    let mut rows = 0;
    for payload in orders.payloads() {
        match record(payload, last, &mut out.chunk) {
            Ok(kept) => rows += u64::from(kept),
            Err(Refused) => return Err(Refused),
        }
        out.turn();
    }
    out.count(rows);
    Ok(())
}
