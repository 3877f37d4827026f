//! What generated code calls for each stage: one inlined helper per stage, at a concrete lifetime.
//!
//! This module is the hot path. The bounds name the `Fn` traits directly, or closures without annotations would not infer;
//! each helper has a twin for closures that take the record's metadata as well.

use crate::decode::{Decode, Decoder};
use crate::error::{DecodeError, RowError, StageError};
use crate::output::SinkOutput;
use crate::record::{Meta, Record};
use crate::scratch::Scratch;
use crate::sink::{RowEncoder, SinkWitness};

/// Decodes a payload.
///
/// # Errors
/// The payload is not what the schema says.
#[inline(always)]
pub fn decode<'b, D, R>(
    _: Decoder<D, R>,
    thread: &mut D::Thread,
    record: &Record<'b>,
    scratch: &'b Scratch,
) -> Result<R, DecodeError>
where
    D: Decode<'b, R>,
{
    D::decode(thread, record, scratch)
}

/// Whether the record stays.
#[inline(always)]
pub fn filter<In>(record: &In, f: impl FnOnce(&In) -> bool) -> bool {
    f(record)
}

/// Whether the record stays.
#[inline(always)]
pub fn filter_with<'m, In>(
    record: &In,
    meta: Meta<'m>,
    f: impl FnOnce(&In, Meta<'m>) -> bool,
) -> bool {
    f(record, meta)
}

/// The call of a function of the user's whose arguments could leave the kernel's loop, kept inside: a `continue` would
/// lose the record, a `return` the rest of the batch.
#[inline(always)]
pub fn call<Out>(f: impl FnOnce() -> Out) -> Out {
    f()
}

/// The guard of an arm that could leave the kernel's loop, kept inside like a [`call`].
#[inline(always)]
pub fn guard(f: impl FnOnce() -> bool) -> bool {
    f()
}

/// Turns one record into another.
#[inline(always)]
pub fn map<In, Out>(record: In, f: impl FnOnce(In) -> Out) -> Out {
    f(record)
}

/// Turns one record into another.
#[inline(always)]
pub fn map_with<'m, In, Out>(
    record: In,
    meta: Meta<'m>,
    f: impl FnOnce(In, Meta<'m>) -> Out,
) -> Out {
    f(record, meta)
}

/// Looks at the record.
#[inline(always)]
pub fn inspect<In>(record: &In, f: impl FnOnce(&In)) {
    f(record);
}

/// Looks at the record.
#[inline(always)]
pub fn inspect_with<'m, In>(record: &In, meta: Meta<'m>, f: impl FnOnce(&In, Meta<'m>)) {
    f(record, meta);
}

/// Turns a record into another or drops it.
#[inline(always)]
pub fn filter_map<In, Out>(record: In, f: impl FnOnce(In) -> Option<Out>) -> Option<Out> {
    f(record)
}

/// Turns a record into another or drops it.
#[inline(always)]
pub fn filter_map_with<'m, In, Out>(
    record: In,
    meta: Meta<'m>,
    f: impl FnOnce(In, Meta<'m>) -> Option<Out>,
) -> Option<Out> {
    f(record, meta)
}

/// Takes a record apart.
#[inline(always)]
pub fn flat_map<In, Out: IntoIterator>(record: In, f: impl FnOnce(In) -> Out) -> Out::IntoIter {
    f(record).into_iter()
}

/// Takes a record apart.
#[inline(always)]
pub fn flat_map_with<'m, In, Out: IntoIterator>(
    record: In,
    meta: Meta<'m>,
    f: impl FnOnce(In, Meta<'m>) -> Out,
) -> Out::IntoIter {
    f(record, meta).into_iter()
}

/// Turns a record into another or fails.
///
/// # Errors
/// What the closure returned.
#[inline(always)]
pub fn try_map<In, Out>(
    record: In,
    f: impl FnOnce(In) -> Result<Out, StageError>,
) -> Result<Out, StageError> {
    f(record)
}

/// Turns a record into another or fails.
///
/// # Errors
/// What the closure returned.
#[inline(always)]
pub fn try_map_with<'m, In, Out>(
    record: In,
    meta: Meta<'m>,
    f: impl FnOnce(In, Meta<'m>) -> Result<Out, StageError>,
) -> Result<Out, StageError> {
    f(record, meta)
}

/// Whether the record stays, or fails.
///
/// # Errors
/// What the closure returned.
#[inline(always)]
pub fn try_filter<In>(
    record: &In,
    f: impl FnOnce(&In) -> Result<bool, StageError>,
) -> Result<bool, StageError> {
    f(record)
}

/// Whether the record stays, or fails.
///
/// # Errors
/// What the closure returned.
#[inline(always)]
pub fn try_filter_with<'m, In>(
    record: &In,
    meta: Meta<'m>,
    f: impl FnOnce(&In, Meta<'m>) -> Result<bool, StageError>,
) -> Result<bool, StageError> {
    f(record, meta)
}

/// Takes a record apart or fails.
///
/// # Errors
/// What the closure returned.
#[inline(always)]
pub fn try_flat_map<In, Out: IntoIterator>(
    record: In,
    f: impl FnOnce(In) -> Result<Out, StageError>,
) -> Result<Out::IntoIter, StageError> {
    f(record).map(IntoIterator::into_iter)
}

/// Takes a record apart or fails.
///
/// # Errors
/// What the closure returned.
#[inline(always)]
pub fn try_flat_map_with<'m, In, Out: IntoIterator>(
    record: In,
    meta: Meta<'m>,
    f: impl FnOnce(In, Meta<'m>) -> Result<Out, StageError>,
) -> Result<Out::IntoIter, StageError> {
    f(record, meta).map(IntoIterator::into_iter)
}

/// What a record is routed by; the value may borrow from the record.
#[inline(always)]
pub fn route<'r, In, Out>(record: &'r In, f: impl FnOnce(&'r In) -> Out) -> Out {
    f(record)
}

/// What a record is routed by; the value may borrow from the record.
#[inline(always)]
pub fn route_with<'r, 'm, In, Out>(
    record: &'r In,
    meta: Meta<'m>,
    f: impl FnOnce(&'r In, Meta<'m>) -> Out,
) -> Out {
    f(record, meta)
}

/// The record for one arm of a `tee`, while others still get it.
#[inline(always)]
pub fn tee<In: Clone>(record: &In) -> In {
    record.clone()
}

/// Appends the row to the open chunk of its shard.
///
/// # Errors
/// The row cannot be expressed; nothing of it stays in the chunk.
#[inline(always)]
pub fn encode<S, R>(
    _: SinkWitness<S, R>,
    row: &R,
    record: &Record<'_>,
    out: &mut SinkOutput,
) -> Result<(), RowError>
where
    S: RowEncoder<R>,
{
    out.append(record, |chunk| S::encode(row, chunk))
}
