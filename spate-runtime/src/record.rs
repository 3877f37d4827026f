//! What a source hands over: records that borrow from its buffers, in batches of one partition.
//!
//! Nothing here allocates or knows of a client library. A [`Record`] is one cache line; what all records of a batch
//! share (topic, partition) stands in the [`Batch`].

use crate::scratch::Scratch;
use std::fmt;
use std::sync::Arc;

/// A partition of a topic: the unit of order and of the watermark.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Partition {
    /// The topic's name.
    pub topic: Arc<str>,
    /// The partition's number within the topic.
    pub number: i32,
}

impl Partition {
    /// The partition `number` of `topic`.
    pub fn new(topic: impl Into<Arc<str>>, number: i32) -> Self {
        Partition {
            topic: topic.into(),
            number,
        }
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.topic, self.number)
    }
}

impl fmt::Debug for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Headers of a record, read from the source's own structure when the pipeline asks for them.
pub trait HeaderSource {
    /// The header at `index` in the order in which the producer wrote them; `None` past the last.
    /// A header's value may be null.
    fn header(&self, record: usize, index: usize) -> Option<(&str, Option<&[u8]>)>;
}

/// The headers of one record; it costs nothing until it is read.
#[derive(Clone, Copy)]
pub struct Headers<'b> {
    source: Option<(&'b dyn HeaderSource, usize)>,
}

impl<'b> Headers<'b> {
    /// No headers.
    pub const NONE: Headers<'static> = Headers { source: None };

    /// The headers that `source` has for its record `record`.
    pub fn new(source: &'b dyn HeaderSource, record: usize) -> Self {
        Headers {
            source: Some((source, record)),
        }
    }

    /// All headers in the producer's order; a name may occur more than once.
    pub fn iter(self) -> impl Iterator<Item = (&'b str, Option<&'b [u8]>)> {
        let mut index = 0;
        std::iter::from_fn(move || {
            let (source, record) = self.source?;
            let header = source.header(record, index)?;
            index += 1;
            Some(header)
        })
    }

    /// The value of the last header of that name, as Kafka's clients do; `None` if there is none or it is null.
    pub fn get(self, name: &str) -> Option<&'b [u8]> {
        self.iter()
            .filter(|(n, _)| *n == name)
            .last()
            .and_then(|(_, value)| value)
    }
}

/// One record as the source delivered it.
#[derive(Clone, Copy)]
pub struct Record<'b> {
    payload: Option<&'b [u8]>,
    key: Option<&'b [u8]>,
    offset: i64,
    timestamp: i64,
    headers: Headers<'b>,
}

/// The timestamp of a record that has none.
const NO_TIMESTAMP: i64 = i64::MIN;

impl<'b> Record<'b> {
    /// A record at `offset`; a `None` payload is a tombstone.
    #[inline]
    pub fn new(offset: i64, payload: Option<&'b [u8]>) -> Self {
        Record {
            payload,
            key: None,
            offset,
            timestamp: NO_TIMESTAMP,
            headers: Headers::NONE,
        }
    }

    /// With a key.
    #[inline]
    #[must_use]
    pub fn with_key(mut self, key: Option<&'b [u8]>) -> Self {
        self.key = key;
        self
    }

    /// With a timestamp in milliseconds since the Unix epoch.
    #[inline]
    #[must_use]
    pub fn with_timestamp(mut self, millis: Option<i64>) -> Self {
        self.timestamp = millis.unwrap_or(NO_TIMESTAMP);
        self
    }

    /// With headers.
    #[inline]
    #[must_use]
    pub fn with_headers(mut self, headers: Headers<'b>) -> Self {
        self.headers = headers;
        self
    }

    /// The payload; empty for a tombstone.
    #[inline]
    pub fn payload(&self) -> &'b [u8] {
        self.payload.unwrap_or_default()
    }

    /// Whether the payload is null.
    #[inline]
    pub fn is_tombstone(&self) -> bool {
        self.payload.is_none()
    }

    /// The record's key.
    #[inline]
    pub fn key(&self) -> Option<&'b [u8]> {
        self.key
    }

    /// The headers.
    #[inline]
    #[must_use]
    pub fn headers(&self) -> Headers<'b> {
        self.headers
    }

    /// The record's offset in its partition.
    #[inline]
    pub fn offset(&self) -> i64 {
        self.offset
    }
}

/// What is known of a record beside its payload: the second parameter of a stage's closure.
#[derive(Clone, Copy)]
pub struct Meta<'b> {
    topic: &'b str,
    partition: i32,
    record: Record<'b>,
}

impl<'b> Meta<'b> {
    /// The topic.
    pub fn topic(&self) -> &'b str {
        self.topic
    }

    /// The partition's number.
    pub fn partition(&self) -> i32 {
        self.partition
    }

    /// The offset in the partition.
    pub fn offset(&self) -> i64 {
        self.record.offset
    }

    /// Milliseconds since the Unix epoch, if the record carries a timestamp.
    pub fn timestamp(&self) -> Option<i64> {
        (self.record.timestamp != NO_TIMESTAMP).then_some(self.record.timestamp)
    }

    /// The key.
    pub fn key(&self) -> Option<&'b [u8]> {
        self.record.key
    }

    /// The headers.
    pub fn headers(&self) -> Headers<'b> {
        self.record.headers
    }
}

/// Records of one partition, in the order of their offsets. A batch is never empty.
#[derive(Clone, Copy)]
pub struct Batch<'b> {
    topic: &'b str,
    partition: i32,
    records: &'b [Record<'b>],
    next_offset: i64,
    /// Of the driver that runs the batch.
    scratch: Option<&'b Scratch>,
}

impl<'b> Batch<'b> {
    /// A batch of `partition`; `next_offset` is the offset to commit once all of it is durable, which may lie further
    /// than the last record's plus one (compacted records, transaction markers).
    ///
    /// # Panics
    /// If `records` is empty or `next_offset` does not lie behind the last record.
    pub fn new(partition: &'b Partition, records: &'b [Record<'b>], next_offset: i64) -> Self {
        let last = records.last().expect("a batch has records").offset;
        assert!(next_offset > last, "the next offset lies behind the batch");
        Batch {
            topic: &partition.topic,
            partition: partition.number,
            records,
            next_offset,
            scratch: None,
        }
    }

    /// The batch as its driver runs it: with room for what a decoder has to make.
    #[must_use]
    pub(crate) fn with_scratch<'s>(&self, scratch: &'s Scratch) -> Batch<'s>
    where
        'b: 's,
    {
        Batch {
            scratch: Some(scratch),
            ..*self
        }
    }

    /// Room for what a decoder has to make; for generated code.
    #[doc(hidden)]
    #[inline]
    pub fn scratch(&self) -> &'b Scratch {
        match self.scratch {
            Some(scratch) => scratch,
            None => unreachable!("a kernel gets its batches from a driver"),
        }
    }

    /// The records.
    #[inline]
    pub fn records(&self) -> &'b [Record<'b>] {
        self.records
    }

    /// The offset from which reading goes on once this batch is durable.
    pub fn next_offset(&self) -> i64 {
        self.next_offset
    }

    /// The topic.
    pub fn topic(&self) -> &'b str {
        self.topic
    }

    /// The partition's number.
    pub fn partition(&self) -> i32 {
        self.partition
    }

    /// The metadata of one of the batch's records.
    #[inline]
    pub fn meta(&self, record: &Record<'b>) -> Meta<'b> {
        Meta {
            topic: self.topic,
            partition: self.partition,
            record: *record,
        }
    }
}
