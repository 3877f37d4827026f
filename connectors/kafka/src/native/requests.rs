//! Requests whose answers arrive as events of a queue: commits, committed offsets, the ends of partitions.
//!
//! librdkafka's blocking calls for the same (`rd_kafka_committed`, `rd_kafka_query_watermark_offsets`) would hold up the
//! poll loop while a broker is down.

use std::ffi::CString;
use std::ptr;

use rdkafka::bindings as c;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use spate_runtime::source::Commit;

use super::queue::{Queue, Slot, token_ptr};
use super::{END, client_error};
use crate::error::{ClientError, Code};

/// How long one look-up may take before it is made again.
const LOOKUP_TIMEOUT_MS: i32 = 10_000;

/// What to look up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// The offsets that the group has committed.
    Committed,
    /// The offsets behind the newest records.
    Ends,
}

/// Sends a commit; its end is told as [`Event::Committed`](super::Event::Committed) with the same token.
///
/// # Errors
/// The client cannot even begin.
pub(crate) fn commit(queue: &Queue, token: usize, offsets: &[Commit]) -> Result<(), ClientError> {
    let mut list = TopicPartitionList::with_capacity(offsets.len());
    for commit in offsets {
        let mut partition = list.add_partition(&commit.partition.topic, commit.partition.number);
        let invalid = |_| {
            client_error(
                Code::INVALID_ARG,
                "an offset to commit is negative".to_owned(),
                false,
            )
        };
        partition
            .set_offset(Offset::Offset(commit.offset))
            .map_err(invalid)?;
        if let Some(metadata) = commit.metadata.as_deref().filter(|text| !text.is_empty()) {
            partition.set_metadata(metadata);
        }
    }
    // SAFETY: client, list and queue live; the list is copied. The token is never followed.
    let code = unsafe {
        c::rd_kafka_commit_queue(
            queue.client().native().ptr(),
            list.ptr(),
            queue.ptr(),
            None,
            token_ptr(token),
        ) as i32
    };
    if code == Code::NONE.0 {
        Ok(())
    } else {
        Err(client_error(Code(code), String::new(), false))
    }
}

/// Asks for offsets of partitions, of which there is at least one; the answer is an
/// [`Event::Found`](super::Event::Found) with the same token.
///
/// With `stable`, offsets are not given while a transaction is still about to commit others, and ends are those of
/// committed transactions.
pub(crate) fn look_up(
    queue: &Queue,
    token: usize,
    what: Lookup,
    group: &str,
    partitions: &[Slot],
    stable: bool,
) {
    debug_assert!(
        !partitions.is_empty(),
        "librdkafka takes an empty list for all partitions"
    );
    let mut list = TopicPartitionList::with_capacity(partitions.len());
    for partition in partitions {
        // For ends, the offset tells which: -1 is the one behind the newest record.
        let _ = list
            .add_partition(&partition.topic, partition.partition)
            .set_offset(Offset::from_raw(END));
    }
    let (client, group) = (
        queue.client().native().ptr(),
        CString::new(group).unwrap_or_default(),
    );
    let operation = match what {
        Lookup::Committed => c::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS,
        Lookup::Ends => c::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_LISTOFFSETS,
    };
    // SAFETY: client, list and queue live; the request copies options, group and list, which are destroyed here. The token
    // is never followed. Setting an option returns null, or an error that is owned by us.
    unsafe {
        let options = c::rd_kafka_AdminOptions_new(client, operation);
        c::rd_kafka_AdminOptions_set_request_timeout(
            options,
            LOOKUP_TIMEOUT_MS,
            ptr::null_mut(),
            0,
        );
        c::rd_kafka_AdminOptions_set_opaque(options, token_ptr(token));
        match what {
            Lookup::Committed => {
                let failed =
                    c::rd_kafka_AdminOptions_set_require_stable_offsets(options, stable.into());
                destroy_error(failed);
                let mut request =
                    c::rd_kafka_ListConsumerGroupOffsets_new(group.as_ptr(), list.ptr());
                c::rd_kafka_ListConsumerGroupOffsets(client, &mut request, 1, options, queue.ptr());
                c::rd_kafka_ListConsumerGroupOffsets_destroy(request);
            }
            Lookup::Ends => {
                let level = if stable {
                    c::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED
                } else {
                    c::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED
                };
                destroy_error(c::rd_kafka_AdminOptions_set_isolation_level(options, level));
                c::rd_kafka_ListOffsets(client, list.ptr(), options, queue.ptr());
            }
        }
        c::rd_kafka_AdminOptions_destroy(options);
    }
}

/// # Safety
/// `error` is null or an error that we own.
unsafe fn destroy_error(error: *mut c::rd_kafka_error_t) {
    if !error.is_null() {
        // SAFETY: not null, and the caller's promise.
        unsafe { c::rd_kafka_error_destroy(error) };
    }
}
