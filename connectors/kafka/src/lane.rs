//! The data plane of one assigned partition: batches from its queue, in the order of their offsets, without copying.
//!
//! An assignment hands out each offset at most once and misses none. The client may deliver again what was delivered
//! (it pauses and resumes partitions by itself during a cooperative rebalance, and goes back to the last position that it
//! saw); such records are dropped here, by offset.
//!
//! Offsets without a record (aborted transactions and the markers of all of them, what compaction removed) are passed with
//! the records behind them, or, at the end of the partition, with the client's word for where that is.
//!
//! A batch has at most [`BATCH_BYTES`] of keys and payloads, or one record; what was fetched beyond is the next batch.
//!
//! Cost: per batch one call of the client, two uncontended locks; per record one call for its timestamp, no allocation.

use std::sync::Arc;

use spate_runtime::error::ConnectorError;
use spate_runtime::record::{Batch, Headers, Partition, Record};
use spate_runtime::source::{Fetched, LaneId, SourceLane};

use crate::error::{Code, Stage};
use crate::native::{self, BatchReader, Queue, SpareRecords};
use crate::progress::{Progress, Stop, Ticket};

/// The most bytes of keys and payloads in one batch of several records: what is encoded from one batch is in flight before
/// anybody can pause.
const BATCH_BYTES: usize = 1 << 20;

/// A partition's lane.
pub(crate) struct Lane {
    id: LaneId,
    partition: Partition,
    reader: BatchReader,
    progress: Arc<Progress>,
    /// The offset behind the last batch that was handed out.
    next_offset: i64,
    /// Whether anything was handed out or passed yet.
    begun: bool,
    /// The leader epoch of the last record that was handed out; negative if unknown.
    epoch: i32,
    /// A retryable error that came in the same batch as records; told at the next fetch.
    held_back: Option<ConnectorError>,
    /// The fetch that brought what the reader has, and what it brought behind that.
    fetched: Option<Ticket>,
    behind: Behind,
    spare: SpareRecords,
}

/// What a fetch brought behind its records; it counts when all of them were handed out.
#[derive(Debug, Default, Clone, Copy)]
struct Behind {
    /// The offset at which the partition ends.
    end: Option<i64>,
    /// The next offset does not exist on the broker.
    gap: bool,
}

/// What the offsets of a fetched batch mean.
#[derive(Debug, PartialEq, Eq)]
enum Jump {
    None,
    /// The records before this offset, the broker's oldest, are gone.
    Gone(i64),
    /// The partition was truncated or created anew: it goes on before what was expected.
    Restarted,
}

impl Lane {
    /// A lane that reads `queue`.
    pub(crate) fn new(
        id: LaneId,
        partition: Partition,
        queue: Queue,
        progress: Arc<Progress>,
    ) -> Self {
        Lane {
            id,
            partition,
            reader: BatchReader::new(queue),
            progress,
            next_offset: 0,
            begun: false,
            epoch: -1,
            held_back: None,
            fetched: None,
            behind: Behind::default(),
            spare: SpareRecords::default(),
        }
    }

    /// What this lane shares with the control plane.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Takes out of the fetched batch what is no record.
    fn take_errors(&mut self) -> Result<Behind, ConnectorError> {
        let mut behind = Behind::default();
        if self.reader.iter().all(|message| message.is_record()) {
            return Ok(behind);
        }
        let (mut passing, mut fatal) = (None, None);
        for message in self.reader.iter() {
            let Some(error) = message.error() else {
                continue;
            };
            match error.code {
                Code::PARTITION_EOF => behind.end = Some(message.offset()),
                // What is to be done about it is decided with the numbers, which the control plane looks up.
                Code::AUTO_OFFSET_RESET => behind.gap = true,
                code => {
                    if code == Code::TOPIC_AUTHORIZATION_FAILED {
                        self.progress.set_refused(true);
                    }
                    let doing = format!("reading {}", self.partition);
                    match error.judge(Stage::Partition, &doing) {
                        Some(error) if error.is_retryable() => passing = Some(error),
                        Some(error) => {
                            fatal.get_or_insert(error);
                        }
                        None => {}
                    }
                }
            }
        }
        if let Some(error) = fatal {
            // Records before it in the batch stay uncommitted and are read again after a restart.
            self.reader.clear();
            return Err(error);
        }
        self.reader.retain(|message| message.is_record());
        if passing.is_some() {
            // The client takes an error's offset for a consumed one and could go on behind it.
            self.progress.want_rewind();
            self.held_back = passing;
            behind.end = None;
        }
        Ok(behind)
    }

    /// Keeps what was not handed out before, each record once and in order.
    fn keep_order(&mut self) {
        let floor = if self.begun {
            self.next_offset
        } else {
            i64::MIN
        };
        let mut check = Ascending(floor);
        if self
            .reader
            .iter()
            .all(|message| check.goes_on(message.offset()))
        {
            return;
        }
        let mut filter = Ascending(floor);
        let (epoch, mut other) = (self.epoch, None);
        self.reader.retain(|message| {
            let kept = filter.goes_on(message.offset());
            if !kept && is_another(epoch, message.leader_epoch()) {
                other.get_or_insert(message.offset());
            }
            kept
        });
        if let Some(offset) = other {
            self.restarted(offset);
        }
    }

    /// Finds out why offsets do not go on where they stopped: with the first record, or else at the partition's end.
    fn check_jump(&mut self, end: Option<i64>) {
        let Some(expected) = self.progress.position() else {
            return;
        };
        let first = self.reader.iter().next().map(|message| message.offset());
        let Some(first) = first.or(end).filter(|first| *first != expected) else {
            return;
        };
        let watermarks = native::watermarks(
            self.reader.queue().client(),
            &self.partition.topic,
            self.partition.number,
        );
        match judge_jump(expected, first, self.begun, watermarks) {
            Jump::None => {}
            Jump::Restarted if self.begun => self.restarted(first),
            Jump::Restarted => tracing::error!(
                partition = %self.partition, committed = expected, next = first,
                "the partition ends before the committed offset: it was truncated or created anew; reading goes on by \
                 `source.on_offset_gap`"
            ),
            Jump::Gone(oldest) => tracing::error!(
                partition = %self.partition, expected, next = first, lost = oldest - expected, skipped = first - oldest,
                "records were deleted on the broker before they were read; reading goes on by `source.on_offset_gap`"
            ),
        }
    }

    /// Stops: the partition goes on at `offset`, before what was handed out.
    fn restarted(&mut self, offset: i64) {
        self.reader.clear();
        self.progress.stop(Stop::Restarted(offset));
    }
}

/// Whether a record whose offset was handed out before is another one than that: records that are written after a log was
/// truncated have a newer epoch of the leader, and no record behind it has an older one.
fn is_another(last_epoch: i32, epoch: i32) -> bool {
    last_epoch >= 0 && epoch > last_epoch
}

/// The lowest offset that may come next.
struct Ascending(i64);

impl Ascending {
    #[inline]
    fn goes_on(&mut self, offset: i64) -> bool {
        let goes_on = offset >= self.0;
        if goes_on {
            self.0 = offset + 1;
        }
        goes_on
    }
}

/// `watermarks` are the oldest and the next offset on the broker, as far as they are known.
fn judge_jump(
    expected: i64,
    first: i64,
    begun: bool,
    watermarks: (Option<i64>, Option<i64>),
) -> Jump {
    let (low, high) = watermarks;
    if first < expected {
        // Once begun, an earlier offset is a record that comes again, unless the log itself ends before.
        let restarted = !begun || high.is_some_and(|high| high < expected);
        return if restarted {
            Jump::Restarted
        } else {
            Jump::None
        };
    }
    // Compaction and transactions leave holes as well; only behind the oldest record are they losses.
    match low {
        Some(low) if low > expected => Jump::Gone(low),
        _ => Jump::None,
    }
}

impl SourceLane for Lane {
    fn id(&self) -> LaneId {
        self.id
    }

    fn partition(&self) -> &Partition {
        &self.partition
    }

    fn fetch(&mut self, max_records: usize) -> Result<Fetched, ConnectorError> {
        debug_assert!(self.reader.is_empty(), "the batch before was not finished");
        if let Some(error) = self.held_back.take() {
            return Err(error);
        }
        if self.progress.is_paused() {
            return Ok(Fetched::Empty);
        }
        let Some(ticket) = self.progress.begin_fetch() else {
            return Ok(Fetched::Empty);
        };
        // What is left of the fetch before, unless the client delivers it again.
        if self.fetched != Some(ticket) || !self.reader.take_rest() {
            self.reader.fetch(max_records.max(1));
            if self.reader.is_empty() {
                self.progress.fetched_nothing();
                return Ok(Fetched::Empty);
            }
            self.fetched = Some(ticket);
            self.behind = self.take_errors()?;
            self.check_jump(self.behind.end);
            self.keep_order();
            if matches!(self.progress.stopped(), Some(Stop::Restarted(_))) {
                return Ok(Fetched::Empty);
            }
        }
        let mut end = None;
        if self.reader.cut(BATCH_BYTES) {
            let behind = std::mem::take(&mut self.behind);
            end = behind.end;
            if behind.gap {
                self.progress.stop(Stop::Gap);
            }
        }
        let last = self
            .reader
            .iter()
            .last()
            .map(|last| (last.offset() + 1, last.leader_epoch()));
        let Some(next) = last.map(|(next, _)| next).max(end) else {
            return self.held_back.take().map_or(Ok(Fetched::Empty), Err);
        };
        self.progress.set_refused(false);
        if last.is_none()
            && (self.progress.position() == Some(next) || (self.begun && next <= self.next_offset))
        {
            // The end of the partition, and nothing lies between.
            self.progress.fetched_nothing();
            return Ok(Fetched::Empty);
        }
        if !self.progress.end_fetch(ticket, next) {
            self.reader.clear();
            return Ok(Fetched::Empty);
        }
        self.next_offset = next;
        self.begun = true;
        match last {
            Some((_, epoch)) => {
                self.epoch = epoch;
                Ok(Fetched::Batch)
            }
            None => Ok(Fetched::Passed(next)),
        }
    }

    fn read(&self, f: &mut dyn FnMut(&Batch<'_>)) {
        let mut records = self.spare.take();
        records.extend(self.reader.iter().enumerate().map(|(index, message)| {
            Record::new(message.offset(), message.payload())
                .with_key(message.key())
                .with_timestamp(message.timestamp())
                .with_headers(Headers::new(&self.reader, index))
        }));
        f(&Batch::new(&self.partition, &records, self.next_offset));
        self.spare.put(records);
    }

    fn finish(&mut self) {
        self.reader.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_offset_is_kept_once_and_in_order() {
        let mut filter = Ascending(12);
        let kept: Vec<i64> = [10, 11, 12, 13, 12, 13, 15, 14, 16]
            .into_iter()
            .filter(|&o| filter.goes_on(o))
            .collect();
        assert_eq!(kept, [12, 13, 15, 16]);
    }

    #[test]
    fn a_record_that_comes_again_is_no_jump_of_the_log() {
        assert_eq!(judge_jump(100, 90, true, (Some(0), Some(150))), Jump::None);
        assert_eq!(judge_jump(100, 90, true, (None, None)), Jump::None);
        assert_eq!(judge_jump(100, 90, true, (Some(0), Some(100))), Jump::None);
    }

    #[test]
    fn a_record_of_a_newer_epoch_is_none_that_comes_again() {
        assert!(is_another(3, 4));
        assert!(!is_another(3, 3) && !is_another(3, 2));
        assert!(!is_another(-1, 4) && !is_another(3, -1), "unknown");
    }

    #[test]
    fn a_log_that_ends_before_the_position_began_again() {
        assert_eq!(
            judge_jump(100, 0, true, (Some(0), Some(20))),
            Jump::Restarted
        );
        assert_eq!(
            judge_jump(500, 0, false, (Some(0), Some(100))),
            Jump::Restarted
        );
    }

    #[test]
    fn only_what_lies_before_the_oldest_record_is_gone() {
        assert_eq!(
            judge_jump(50, 80, false, (Some(80), Some(100))),
            Jump::Gone(80)
        );
        assert_eq!(
            judge_jump(50, 80, true, (Some(80), Some(100))),
            Jump::Gone(80)
        );
        assert_eq!(
            judge_jump(50, 60, true, (Some(0), Some(100))),
            Jump::None,
            "compacted"
        );
        assert_eq!(judge_jump(50, 60, true, (None, None)), Jump::None);
    }
}
