//! Requests whose answers arrive as events of a queue: commits, committed offsets, the ends of partitions, topics.
//!
//! librdkafka's blocking calls for the same (`rd_kafka_committed`, `rd_kafka_query_watermark_offsets`) would hold up the
//! poll loop while a broker is down.

use std::ffi::{CString, c_char};
use std::ptr;

use rdkafka::bindings as c;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use super::client_error;
use super::queue::{Queue, Slot, token_ptr};
use crate::error::{ClientError, Code};

/// How long one look-up may take before it is made again.
const LOOKUP_TIMEOUT_MS: i32 = 10_000;

/// What to look up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// The offsets that the group has committed for some partitions.
    Committed,
    /// All offsets that the group has committed.
    Group,
    /// The offsets of the oldest records.
    Beginnings,
    /// The offsets behind the newest records.
    Ends,
}

/// An offset to commit.
pub(crate) struct CommitSlot<'a> {
    pub(crate) topic: &'a str,
    pub(crate) partition: i32,
    pub(crate) offset: i64,
    pub(crate) metadata: Option<&'a str>,
}

/// Sends a commit; its end is told as [`Event::Committed`](super::Event::Committed) with the same token.
///
/// # Errors
/// The client cannot even begin.
pub(crate) fn commit<'a>(
    queue: &Queue,
    token: usize,
    offsets: impl Iterator<Item = CommitSlot<'a>>,
) -> Result<(), ClientError> {
    let mut list = TopicPartitionList::new();
    for commit in offsets {
        let mut partition = list.add_partition(commit.topic, commit.partition);
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
        if let Some(metadata) = commit.metadata.filter(|text| !text.is_empty()) {
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

/// Asks for offsets of partitions, of which there is at least one except for [`Lookup::Group`]; the answer is an
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
    debug_assert_eq!(
        partitions.is_empty(),
        what == Lookup::Group,
        "librdkafka takes an empty list for all partitions"
    );
    let mut list = TopicPartitionList::with_capacity(partitions.len());
    for partition in partitions {
        let _ = list
            .add_partition(&partition.topic, partition.partition)
            .set_offset(match what {
                Lookup::Beginnings => Offset::Beginning,
                _ => Offset::End,
            });
    }
    let (client, group) = (
        queue.client().native().ptr(),
        CString::new(group).unwrap_or_default(),
    );
    let of_group = matches!(what, Lookup::Committed | Lookup::Group);
    let operation = if of_group {
        c::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS
    } else {
        c::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_LISTOFFSETS
    };
    // SAFETY: client, list and queue live; the request copies options, group and list, which are destroyed here. The token
    // is never followed. Setting an option returns null, or an error that is owned by us.
    unsafe {
        let options = options(client, operation, token);
        if of_group {
            let failed =
                c::rd_kafka_AdminOptions_set_require_stable_offsets(options, stable.into());
            destroy_error(failed);
            let list = if what == Lookup::Group {
                ptr::null_mut()
            } else {
                list.ptr()
            };
            let mut request = c::rd_kafka_ListConsumerGroupOffsets_new(group.as_ptr(), list);
            c::rd_kafka_ListConsumerGroupOffsets(client, &mut request, 1, options, queue.ptr());
            c::rd_kafka_ListConsumerGroupOffsets_destroy(request);
        } else {
            let level = if stable {
                c::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED
            } else {
                c::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED
            };
            destroy_error(c::rd_kafka_AdminOptions_set_isolation_level(options, level));
            c::rd_kafka_ListOffsets(client, list.ptr(), options, queue.ptr());
        }
        c::rd_kafka_AdminOptions_destroy(options);
    }
}

/// Asks what the brokers know of topics, of which there is at least one; the answer is an
/// [`Event::Described`](super::Event::Described) with the same token.
pub(crate) fn describe_topics(queue: &Queue, token: usize, topics: &[String]) {
    let client = queue.client().native().ptr();
    let names: Vec<CString> = topics
        .iter()
        .filter_map(|topic| CString::new(topic.as_str()).ok())
        .collect();
    let mut pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    // SAFETY: client and queue live, and `names` while the pointers to them are used; the request copies options and names,
    // which are destroyed here.
    unsafe {
        let options = options(
            client,
            c::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS,
            token,
        );
        let topics =
            c::rd_kafka_TopicCollection_of_topic_names(pointers.as_mut_ptr(), pointers.len());
        c::rd_kafka_DescribeTopics(client, topics, options, queue.ptr());
        c::rd_kafka_TopicCollection_destroy(topics);
        c::rd_kafka_AdminOptions_destroy(options);
    }
}

/// Options with a timeout and a token, which the caller destroys.
///
/// # Safety
/// The client lives.
unsafe fn options(
    client: *mut c::rd_kafka_t,
    operation: c::rd_kafka_admin_op_t,
    token: usize,
) -> *mut c::rd_kafka_AdminOptions_t {
    // SAFETY: the caller's promise; the options are new, and the token is never followed.
    unsafe {
        let options = c::rd_kafka_AdminOptions_new(client, operation);
        let timeout = LOOKUP_TIMEOUT_MS;
        c::rd_kafka_AdminOptions_set_request_timeout(options, timeout, ptr::null_mut(), 0);
        c::rd_kafka_AdminOptions_set_opaque(options, token_ptr(token));
        options
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
