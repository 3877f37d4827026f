//! What is the same for everybody who is measured, in this process and in the one of the other libraries (`bench/peers`).

mod output;
mod pass;
mod payloads;
mod row;
mod unchecked;

pub(crate) use output::{Output, Written};
pub(crate) use pass::{LEAST_CENTS, Pass, Refused, SCHEMA_ID, each};
pub(crate) use payloads::Payloads;
pub(crate) use row::Row;
pub(crate) use unchecked::{store, text};
