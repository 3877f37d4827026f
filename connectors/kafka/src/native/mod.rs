//! The only unsafe code of the crate: librdkafka's C interface where the `rdkafka` crate has none.
//!
//! - `queue.rs`: queues and the events that come out of them, as plain data.
//! - `batch.rs`: the batch of messages that a lane reads from its partition's queue.
//! - `spare.rs`: the memory of a batch's records, kept from one batch to the next.
//! - `requests.rs`: commits and look-ups whose answers arrive as events.
//!
//! The rules that everything here leans on:
//!
//! 1. librdkafka's handles are safe to use from any thread; each call locks for itself.
//! 2. A queue, an event and a message must be gone before their client is. Queues hold an `Arc` of the client, messages
//!    and events do not leave the structs that hold a queue.
//! 3. Error codes are read as numbers. The bindings' enum does not know the codes of newer brokers, and a value outside
//!    of an enum is undefined behaviour.
#![allow(unsafe_code)]

#[cfg(all(test, feature = "it", feature = "tls"))]
mod acl;
mod batch;
mod queue;
mod requests;
mod spare;

use std::ffi::{CStr, CString, c_char};

use rdkafka::bindings as c;

use crate::client::Client;
use crate::error::{ClientError, Code};

#[cfg(all(test, feature = "it", feature = "tls"))]
pub(crate) use acl::{AclOperation, allow};
pub(crate) use batch::BatchReader;
pub(crate) use queue::{Event, Queue, Slot};
pub(crate) use requests::{CommitSlot, Lookup, commit, describe_topics, look_up};
pub(crate) use spare::SpareRecords;

/// The code of an error as a number (rule 3).
///
/// # Safety
/// `error` points to an error code of librdkafka that may be read.
unsafe fn read_code(error: *const c::rd_kafka_resp_err_t) -> Code {
    // SAFETY: the enum is `repr(i32)`, so the place holds an initialized i32.
    Code(unsafe { error.cast::<i32>().read() })
}

/// The name of a code without its prefix: `_TRANSPORT`, `REBALANCE_IN_PROGRESS`.
fn name_of(code: Code) -> String {
    type Native = unsafe extern "C" fn(c::rd_kafka_resp_err_t) -> *const c_char;
    // SAFETY: the enum is `repr(i32)`: both functions are called in the same way, and librdkafka names unknown numbers too.
    let name = unsafe {
        std::mem::transmute::<Native, unsafe extern "C" fn(i32) -> *const c_char>(
            c::rd_kafka_err2name,
        )
    };
    // SAFETY: a static text, or a thread-local one that is copied here.
    unsafe { text(name(code.0)) }
}

/// A copy of a C text; empty for null.
///
/// # Safety
/// `text` is null or a text that ends with a zero byte and may be read.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the caller's promise.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// An error of the client; without words of its own it says its code's name.
pub(crate) fn client_error(code: Code, reason: String, fatal: bool) -> ClientError {
    let name = name_of(code);
    ClientError {
        code,
        reason: if reason.is_empty() {
            name.clone()
        } else {
            reason
        },
        name,
        fatal,
    }
}

/// The oldest and the next offset of a partition as the last fetch saw them; `None` for what no fetch has told yet.
pub(crate) fn watermarks(
    client: &Client,
    topic: &str,
    partition: i32,
) -> (Option<i64>, Option<i64>) {
    let (mut low, mut high) = (i64::MIN, i64::MIN);
    if let Ok(topic) = CString::new(topic) {
        // SAFETY: the client lives, the topic is a C text, and both numbers may be written.
        unsafe {
            c::rd_kafka_get_watermark_offsets(
                client.native().ptr(),
                topic.as_ptr(),
                partition,
                &mut low,
                &mut high,
            );
        }
    }
    let known = |offset: i64| (offset >= 0).then_some(offset);
    (known(low), known(high))
}

/// Whether the group has taken the client as a member. Asks the client's own thread, no broker.
pub(crate) fn is_member(client: &Client) -> bool {
    // SAFETY: the client lives; the metadata is null or owned by us, and destroyed once.
    unsafe {
        let metadata = c::rd_kafka_consumer_group_metadata(client.native().ptr());
        if metadata.is_null() {
            return false;
        }
        let generation = c::rd_kafka_consumer_group_metadata_generation_id(metadata);
        c::rd_kafka_consumer_group_metadata_destroy(metadata);
        generation > 0
    }
}

/// All codes that librdkafka knows, with their names.
#[cfg(test)]
pub(crate) fn all_codes() -> Vec<(Code, String)> {
    let (mut descriptions, mut count) = (std::ptr::null(), 0);
    // SAFETY: both may be written; the table is static and has so many entries, of which those without a name are gaps.
    unsafe {
        c::rd_kafka_get_err_descs(&mut descriptions, &mut count);
        (0..count)
            .map(|index| descriptions.add(index))
            .filter(|description| !(*std::ptr::addr_of!((**description).name)).is_null())
            .map(|description| {
                let code = read_code(std::ptr::addr_of!((*description).code));
                (code, text((*description).name))
            })
            .collect()
    }
}

/// Raises a fatal error in the client, as a fenced static member gets it.
#[cfg(test)]
pub(crate) fn raise_fatal_error(client: &Client) {
    // SAFETY: the client lives and the reason is a C text.
    unsafe {
        c::rd_kafka_test_fatal_error(
            client.native().ptr(),
            c::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID,
            c"fenced".as_ptr(),
        );
    }
}
