//! Queues of the client, and the events of its consumer queue as plain data.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use rdkafka::bindings as c;

use super::{client_error, read_code, text};
use crate::client::Client;
use crate::error::{ClientError, Code};
use crate::topics::{Described, TopicId};

/// A partition with an offset, as it goes to and comes from the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) topic: String,
    pub(crate) partition: i32,
    /// An offset, or one of librdkafka's negative ones.
    pub(crate) offset: i64,
    pub(crate) error: Code,
}

impl Slot {
    /// Whether one of these has the same partition.
    pub(crate) fn is_among(&self, others: &[Slot]) -> bool {
        others
            .iter()
            .any(|other| other.partition == self.partition && other.topic == self.topic)
    }
}

/// What the client has to say.
#[derive(Debug)]
pub(crate) enum Event {
    /// The group gives partitions; the client waits for the answer.
    Assign(Vec<Slot>),
    /// The group takes partitions; the client waits for the answer.
    Revoke(Vec<Slot>),
    /// A rebalance went wrong; the client waits for the answer.
    RebalanceFailed(ClientError),
    Error(ClientError),
    Log {
        /// As syslog counts: 3 is an error, 4 a warning, 7 debugging.
        level: i32,
        facility: String,
        text: String,
    },
    /// A record that went to the consumer's queue and not to its partition's.
    Leaked {
        topic: String,
        partition: i32,
        offset: i64,
    },
    Committed {
        token: usize,
        error: Option<ClientError>,
    },
    /// The answer to a look-up.
    Found {
        token: usize,
        result: Result<Vec<Slot>, ClientError>,
    },
    /// What the brokers know of topics.
    Described {
        token: usize,
        result: Result<Vec<Described>, ClientError>,
    },
    /// Nothing that the source cares about.
    Other,
}

/// A queue of a client; its handle, while librdkafka owns the queue.
pub(crate) struct Queue {
    ptr: NonNull<c::rd_kafka_queue_t>,
    client: Arc<Client>,
}

// SAFETY: librdkafka's queues lock for themselves (rule 1); the handle is destroyed once.
unsafe impl Send for Queue {}

impl Queue {
    /// The queue of everything that has no queue of its own: rebalances, errors, answers, the log.
    pub(crate) fn of_consumer(client: &Arc<Client>) -> Option<Queue> {
        // SAFETY: the client lives; null (no group) is handled.
        let ptr = unsafe { c::rd_kafka_queue_get_consumer(client.native().ptr()) };
        NonNull::new(ptr).map(|ptr| Queue {
            ptr,
            client: Arc::clone(client),
        })
    }

    /// The queue of a partition, split off the consumer's.
    ///
    /// Before the partition is assigned: then the client finds the mark of the split when it begins to fetch
    /// (`RD_KAFKA_Q_F_FWD_APP` in `rd_kafka_toppar_op_fetch_start`) and nothing ever goes to the consumer's queue.
    /// The mark stays for the partition's life in this client, so each assignment needs its reader.
    pub(crate) fn of_partition(client: &Arc<Client>, topic: &str, partition: i32) -> Option<Queue> {
        let topic = CString::new(topic).ok()?;
        // SAFETY: the client lives and the topic is a C text; null is handled.
        let ptr = unsafe {
            c::rd_kafka_queue_get_partition(client.native().ptr(), topic.as_ptr(), partition)
        };
        let queue = Queue {
            ptr: NonNull::new(ptr)?,
            client: Arc::clone(client),
        };
        // SAFETY: the handle lives; no destination means that the queue keeps what it gets.
        unsafe { c::rd_kafka_queue_forward(queue.ptr(), ptr::null_mut()) };
        Some(queue)
    }

    pub(super) fn ptr(&self) -> *mut c::rd_kafka_queue_t {
        self.ptr.as_ptr()
    }

    pub(crate) fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// How many events are in it now.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        // SAFETY: the handle lives.
        unsafe { c::rd_kafka_queue_length(self.ptr()) }
    }

    /// Sends what this queue gets to another one: what happens to a partition that was not split off.
    #[cfg(test)]
    pub(crate) fn forward_to(&self, other: &Queue) {
        // SAFETY: both handles live.
        unsafe { c::rd_kafka_queue_forward(self.ptr(), other.ptr()) };
    }

    /// The next event, if there is one now.
    pub(crate) fn poll(&self) -> Option<Event> {
        // SAFETY: the handle lives; null is handled.
        let event = NonNull::new(unsafe { c::rd_kafka_queue_poll(self.ptr(), 0) })?;
        let event = RawEvent(event.as_ptr());
        // SAFETY: the event lives.
        let kind = unsafe { c::rd_kafka_event_type(event.0) };
        Some(match kind {
            c::RD_KAFKA_EVENT_REBALANCE => event.rebalance(),
            c::RD_KAFKA_EVENT_ERROR => Event::Error(event.error()),
            c::RD_KAFKA_EVENT_LOG => event.log(),
            c::RD_KAFKA_EVENT_FETCH => event.leaked().unwrap_or(Event::Other),
            c::RD_KAFKA_EVENT_OFFSET_COMMIT => event.committed(),
            c::RD_KAFKA_EVENT_LISTCONSUMERGROUPOFFSETS_RESULT
            | c::RD_KAFKA_EVENT_LISTOFFSETS_RESULT => event.found(kind),
            c::RD_KAFKA_EVENT_DESCRIBETOPICS_RESULT => event.described(),
            _ => Event::Other,
        })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the handle lives and is not used afterwards; the client outlives it (rule 2).
        unsafe { c::rd_kafka_queue_destroy(self.ptr()) };
    }
}

/// An event, destroyed when it goes; it never leaves [`Queue::poll`].
struct RawEvent(*mut c::rd_kafka_event_t);

impl Drop for RawEvent {
    fn drop(&mut self) {
        // SAFETY: the event lives and is not used afterwards.
        unsafe { c::rd_kafka_event_destroy(self.0) };
    }
}

impl RawEvent {
    fn code(&self) -> Code {
        type Native = unsafe extern "C" fn(*mut c::rd_kafka_event_t) -> c::rd_kafka_resp_err_t;
        type Number = unsafe extern "C" fn(*mut c::rd_kafka_event_t) -> i32;
        // SAFETY: the enum is `repr(i32)`: both functions return in the same way (rule 3).
        let code = unsafe { std::mem::transmute::<Native, Number>(c::rd_kafka_event_error) };
        // SAFETY: the event lives.
        Code(unsafe { code(self.0) })
    }

    fn error(&self) -> ClientError {
        // SAFETY: the event lives, and its text with it.
        let reason = unsafe { text(c::rd_kafka_event_error_string(self.0)) };
        // SAFETY: the event lives and is of the kind that this may be asked of.
        let fatal = unsafe {
            c::rd_kafka_event_type(self.0) == c::RD_KAFKA_EVENT_ERROR
                && c::rd_kafka_event_error_is_fatal(self.0) != 0
        };
        client_error(self.code(), reason, fatal)
    }

    fn token(&self) -> usize {
        // SAFETY: the event lives; the pointer is a number that was given with the request and never followed.
        unsafe { c::rd_kafka_event_opaque(self.0) }.addr()
    }

    fn partitions(&self) -> Vec<Slot> {
        // SAFETY: the event lives and owns the list.
        unsafe { slots(c::rd_kafka_event_topic_partition_list(self.0)) }
    }

    fn rebalance(&self) -> Event {
        const ASSIGN: Code =
            Code(c::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS as i32);
        const REVOKE: Code =
            Code(c::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS as i32);
        match self.code() {
            ASSIGN => Event::Assign(self.partitions()),
            REVOKE => Event::Revoke(self.partitions()),
            _ => Event::RebalanceFailed(self.error()),
        }
    }

    fn log(&self) -> Event {
        let (mut facility, mut line): (*const c_char, *const c_char) = (ptr::null(), ptr::null());
        let mut level: c_int = 7;
        // SAFETY: the event lives and all three may be written.
        unsafe { c::rd_kafka_event_log(self.0, &mut facility, &mut line, &mut level) };
        // SAFETY: the texts live as long as the event.
        let (facility, text) = unsafe { (text(facility), text(line)) };
        Event::Log {
            level,
            facility,
            text,
        }
    }

    fn leaked(&self) -> Option<Event> {
        // SAFETY: the event lives and owns the message.
        let message = unsafe { c::rd_kafka_event_message_next(self.0) };
        if message.is_null() {
            return None;
        }
        // SAFETY: the message lives; its topic is null or lives with it.
        unsafe {
            let topic = ptr::addr_of!((*message).rkt).read();
            if topic.is_null() {
                return None;
            }
            Some(Event::Leaked {
                topic: text(c::rd_kafka_topic_name(topic)),
                partition: ptr::addr_of!((*message).partition).read(),
                offset: ptr::addr_of!((*message).offset).read(),
            })
        }
    }

    fn committed(&self) -> Event {
        let failed = self.code() != Code::NONE;
        let error = match self
            .partitions()
            .iter()
            .find(|slot| slot.error != Code::NONE)
        {
            _ if failed => Some(self.error()),
            Some(slot) => {
                let reason = format!("{}/{}", slot.topic, slot.partition);
                Some(client_error(slot.error, reason, false))
            }
            None => None,
        };
        Event::Committed {
            token: self.token(),
            error,
        }
    }

    fn found(&self, kind: i32) -> Event {
        let result = if self.code() != Code::NONE {
            Err(self.error())
        } else if kind == c::RD_KAFKA_EVENT_LISTOFFSETS_RESULT {
            Ok(self.found_ends())
        } else {
            self.found_committed()
        };
        Event::Found {
            token: self.token(),
            result,
        }
    }

    fn found_committed(&self) -> Result<Vec<Slot>, ClientError> {
        let mut count = 0;
        // SAFETY: the event lives and is of this kind; everything read is owned by it.
        unsafe {
            let result = c::rd_kafka_event_ListConsumerGroupOffsets_result(self.0);
            let groups = c::rd_kafka_ListConsumerGroupOffsets_result_groups(result, &mut count);
            let mut found = Vec::new();
            for index in 0..count {
                let group = *groups.add(index);
                let error = c::rd_kafka_group_result_error(group);
                if !error.is_null() {
                    let code = c::rd_kafka_error_code(error) as i32;
                    return Err(client_error(
                        Code(code),
                        text(c::rd_kafka_error_string(error)),
                        false,
                    ));
                }
                found.extend(slots(c::rd_kafka_group_result_partitions(group)));
            }
            Ok(found)
        }
    }

    fn found_ends(&self) -> Vec<Slot> {
        let mut count = 0;
        // SAFETY: the event lives and is of this kind; everything read is owned by it.
        unsafe {
            let result = c::rd_kafka_event_ListOffsets_result(self.0);
            let infos = c::rd_kafka_ListOffsets_result_infos(result, &mut count);
            (0..count)
                .map(|i| {
                    slot(c::rd_kafka_ListOffsetsResultInfo_topic_partition(
                        *infos.add(i),
                    ))
                })
                .collect()
        }
    }

    fn described(&self) -> Event {
        let result = if self.code() == Code::NONE {
            Ok(self.topics())
        } else {
            Err(self.error())
        };
        Event::Described {
            token: self.token(),
            result,
        }
    }

    fn topics(&self) -> Vec<Described> {
        let mut count = 0;
        // SAFETY: the event lives and is of this kind; everything read is owned by it.
        unsafe {
            let result = c::rd_kafka_event_DescribeTopics_result(self.0);
            let topics = c::rd_kafka_DescribeTopics_result_topics(result, &mut count);
            (0..count)
                .map(|index| described(*topics.add(index)))
                .collect()
        }
    }
}

/// # Safety
/// The description may be read.
unsafe fn described(topic: *const c::rd_kafka_TopicDescription_t) -> Described {
    // SAFETY: the caller's promise; error and id are null or belong to the description.
    unsafe {
        let error = c::rd_kafka_TopicDescription_error(topic);
        let id = c::rd_kafka_TopicDescription_topic_id(topic);
        let code = if error.is_null() {
            Code::NONE
        } else {
            Code(c::rd_kafka_error_code(error) as i32)
        };
        Described {
            topic: text(c::rd_kafka_TopicDescription_name(topic)),
            result: if code != Code::NONE {
                let reason = text(c::rd_kafka_error_string(error));
                Err(client_error(code, reason, false))
            } else if id.is_null() {
                Ok(TopicId(0))
            } else {
                let high = c::rd_kafka_Uuid_most_significant_bits(id).cast_unsigned();
                let low = c::rd_kafka_Uuid_least_significant_bits(id).cast_unsigned();
                Ok(TopicId(u128::from(high) << 64 | u128::from(low)))
            },
        }
    }
}

/// The partitions of a list; none for null.
///
/// # Safety
/// `list` is null or a list that may be read.
unsafe fn slots(list: *const c::rd_kafka_topic_partition_list_t) -> Vec<Slot> {
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: not null, and the caller's promise; the list has `cnt` elements.
    unsafe {
        (0..(*list).cnt)
            .map(|index| slot((*list).elems.offset(index as isize)))
            .collect()
    }
}

/// # Safety
/// `partition` points to a partition of a list that may be read.
unsafe fn slot(partition: *const c::rd_kafka_topic_partition_t) -> Slot {
    // SAFETY: the caller's promise. Fields are read one by one: a reference to the whole would claim that `err` is a
    // value of its enum (rule 3).
    unsafe {
        Slot {
            topic: text(ptr::addr_of!((*partition).topic).read()),
            partition: ptr::addr_of!((*partition).partition).read(),
            offset: ptr::addr_of!((*partition).offset).read(),
            error: read_code(ptr::addr_of!((*partition).err)),
        }
    }
}

/// A request's number as the pointer that librdkafka hands back with the answer.
pub(super) fn token_ptr(token: usize) -> *mut c_void {
    ptr::without_provenance_mut(token)
}
