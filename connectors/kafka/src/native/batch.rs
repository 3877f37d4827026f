//! Messages read from a partition's queue, which stay in librdkafka's buffers until they are let go. A prefix of them is the
//! current batch.

use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::slice;

use rdkafka::bindings as c;
use spate_runtime::record::HeaderSource;

use super::queue::Queue;
use super::{client_error, read_code, text};
use crate::error::{ClientError, Code};

/// The header name that stands for one that is not UTF-8.
const NOT_A_NAME: &str = "\u{fffd}";

/// The reading end of a partition's queue with its current batch.
pub(crate) struct BatchReader {
    /// Messages that this reader owns, in the queue's order. Declared before the queue: they go first (rule 2).
    messages: Messages,
    /// How many of them, from the first on, are the current batch.
    batch: usize,
    queue: Queue,
}

struct Messages(Vec<*mut c::rd_kafka_message_t>);

// SAFETY: a message may be read and destroyed on any thread (rule 1); the reader is its only owner.
unsafe impl Send for Messages {}

impl Drop for Messages {
    fn drop(&mut self) {
        for message in self.0.drain(..) {
            // SAFETY: it is owned, lives, and is not used afterwards.
            unsafe { c::rd_kafka_message_destroy(message) };
        }
    }
}

impl BatchReader {
    pub(crate) fn new(queue: Queue) -> Self {
        BatchReader {
            messages: Messages(Vec::new()),
            batch: 0,
            queue,
        }
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Takes up to `max` messages that are there now, all as the current batch. What was there before is let go.
    pub(crate) fn fetch(&mut self, max: usize) {
        self.clear();
        let messages = &mut self.messages.0;
        messages.reserve(max);
        // SAFETY: the vector is empty with room for `max` pointers, and the call writes at most so many. It returns how many
        // it has written, each of which we own, or -1.
        unsafe {
            let count =
                c::rd_kafka_consume_batch_queue(self.queue.ptr(), 0, messages.as_mut_ptr(), max);
            messages.set_len(usize::try_from(count).unwrap_or(0));
        }
        self.batch = self.messages.0.len();
    }

    /// Makes all messages that are left the current batch; whether there are any.
    pub(crate) fn take_rest(&mut self) -> bool {
        self.batch = self.messages.0.len();
        self.batch > 0
    }

    /// Leaves in the current batch as many messages as have `bytes` of keys and payloads together, but at least one; whether
    /// that is all of them.
    pub(crate) fn cut(&mut self, bytes: usize) -> bool {
        let mut left = bytes;
        for index in 0..self.batch {
            let message = self.get(index);
            let size =
                message.payload().map_or(0, <[u8]>::len) + message.key().map_or(0, <[u8]>::len);
            if size > left && index > 0 {
                self.batch = index;
                return false;
            }
            left = left.saturating_sub(size);
        }
        true
    }

    /// Lets go of the current batch; the rest stays.
    pub(crate) fn finish(&mut self) {
        for message in self.messages.0.drain(..self.batch) {
            // SAFETY: it is owned, lives, and leaves the vector here.
            unsafe { c::rd_kafka_message_destroy(message) };
        }
        self.batch = 0;
    }

    /// The number of messages in the current batch.
    pub(crate) fn len(&self) -> usize {
        self.batch
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.batch == 0
    }

    /// The message at `index` of the current batch.
    pub(crate) fn get(&self, index: usize) -> Message<'_> {
        Message {
            raw: self.messages.0[index],
            batch: PhantomData,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Message<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Lets go of the messages that `keep` does not want; all others are the current batch.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(Message<'_>) -> bool) {
        self.messages.0.retain(|&raw| {
            let kept = keep(Message {
                raw,
                batch: PhantomData,
            });
            if !kept {
                // SAFETY: it is owned, lives, and leaves the vector here.
                unsafe { c::rd_kafka_message_destroy(raw) };
            }
            kept
        });
        self.batch = self.messages.0.len();
    }

    /// Lets go of all.
    pub(crate) fn clear(&mut self) {
        self.retain(|_| false);
    }
}

/// A message, or an error that took a message's place in the queue.
#[derive(Clone, Copy)]
pub(crate) struct Message<'b> {
    raw: *mut c::rd_kafka_message_t,
    batch: PhantomData<&'b BatchReader>,
}

impl<'b> Message<'b> {
    /// The error, if this is one.
    pub(crate) fn error(self) -> Option<ClientError> {
        // SAFETY: the message lives as long as the batch is borrowed.
        let code = unsafe { read_code(ptr::addr_of!((*self.raw).err)) };
        if code == Code::NONE {
            return None;
        }
        // SAFETY: as above; the text lives with the message.
        let reason = unsafe { text(c::rd_kafka_message_errstr(self.raw)) };
        Some(client_error(code, reason, code == Code::FATAL))
    }

    /// Whether this is a record and no error.
    #[inline]
    pub(crate) fn is_record(self) -> bool {
        // SAFETY: the message lives as long as the batch is borrowed.
        unsafe { read_code(ptr::addr_of!((*self.raw).err)) == Code::NONE }
    }

    #[inline]
    pub(crate) fn offset(self) -> i64 {
        // SAFETY: the message lives as long as the batch is borrowed.
        unsafe { ptr::addr_of!((*self.raw).offset).read() }
    }

    /// The epoch of the leader that took it; negative if unknown.
    pub(crate) fn leader_epoch(self) -> i32 {
        // SAFETY: the message lives as long as the batch is borrowed.
        unsafe { c::rd_kafka_message_leader_epoch(self.raw) }
    }

    /// The payload; `None` is a tombstone.
    #[inline]
    pub(crate) fn payload(self) -> Option<&'b [u8]> {
        // SAFETY: the message lives, and its bytes stay where they are, as long as the batch is borrowed.
        unsafe {
            bytes(
                ptr::addr_of!((*self.raw).payload).read(),
                ptr::addr_of!((*self.raw).len).read(),
            )
        }
    }

    #[inline]
    pub(crate) fn key(self) -> Option<&'b [u8]> {
        // SAFETY: the message lives, and its bytes stay where they are, as long as the batch is borrowed.
        unsafe {
            bytes(
                ptr::addr_of!((*self.raw).key).read(),
                ptr::addr_of!((*self.raw).key_len).read(),
            )
        }
    }

    /// Milliseconds since 1970, if the message has a timestamp.
    #[inline]
    pub(crate) fn timestamp(self) -> Option<i64> {
        let mut kind = c::rd_kafka_timestamp_type_t::RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
        // SAFETY: the message lives and the kind may be written.
        let millis = unsafe { c::rd_kafka_message_timestamp(self.raw, &mut kind) };
        (kind != c::rd_kafka_timestamp_type_t::RD_KAFKA_TIMESTAMP_NOT_AVAILABLE && millis >= 0)
            .then_some(millis)
    }
}

impl HeaderSource for BatchReader {
    fn header(&self, record: usize, index: usize) -> Option<(&str, Option<&[u8]>)> {
        let message = *self.messages.0.get(record)?;
        let mut headers = ptr::null_mut();
        let (mut name, mut value, mut size): (*const c_char, *const c_void, usize) =
            (ptr::null(), ptr::null(), 0);
        // SAFETY: the message lives as long as the reader is borrowed. It parses its headers at the first call, keeps them,
        // and hands out pointers into itself; the reader is not `Sync`, so no other thread does so at the same time.
        unsafe {
            if c::rd_kafka_message_headers(message, &mut headers) as i32 != Code::NONE.0 {
                return None;
            }
            if c::rd_kafka_header_get_all(headers, index, &mut name, &mut value, &mut size) as i32
                != Code::NONE.0
            {
                return None;
            }
            Some((
                CStr::from_ptr(name).to_str().unwrap_or(NOT_A_NAME),
                bytes(value, size),
            ))
        }
    }
}

/// # Safety
/// `start` is null or begins `len` bytes that stay as they are for `'b`.
#[inline]
unsafe fn bytes<'b>(start: *const c_void, len: usize) -> Option<&'b [u8]> {
    // SAFETY: not null, and the caller's promise.
    (!start.is_null()).then(|| unsafe { slice::from_raw_parts(start.cast(), len) })
}
