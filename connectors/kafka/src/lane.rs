//! The data plane of one assigned partition: batches from its queue, in the order of their offsets, without copying.
//!
//! An assignment hands out each offset at most once and misses none. The client may deliver again what was delivered
//! (it pauses and resumes partitions by itself during a cooperative rebalance, and goes back to the last position that it
//! saw); such records are dropped here, by offset.
//!
//! Cost: per batch one call of the client, two uncontended locks; per record one call for its timestamp, no allocation.

use std::sync::Arc;

use spate_runtime::error::ConnectorError;
use spate_runtime::record::{Batch, Headers, Partition, Record};
use spate_runtime::source::{Fetched, LaneId, SourceLane};

use crate::error::{Code, Stage};
use crate::native::{self, BatchReader, Queue, SpareRecords};
use crate::progress::Progress;

/// A partition's lane.
pub(crate) struct Lane {
    id: LaneId,
    partition: Partition,
    reader: BatchReader,
    progress: Arc<Progress>,
    /// The offset behind the last batch that was handed out.
    next_offset: i64,
    /// Whether anything was handed out yet.
    begun: bool,
    /// A retryable error that came in the same batch as records; told at the next fetch.
    held_back: Option<ConnectorError>,
    spare: SpareRecords,
}

/// What the offsets of a fetched batch mean.
#[derive(Debug, PartialEq, Eq)]
enum Jump {
    None,
    /// The records from the first to before the second offset are no longer on the broker.
    Gone(i64, i64),
    /// The partition was truncated or created anew: it begins again at the second offset, before the first.
    Restarted(i64, i64),
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
            held_back: None,
            spare: SpareRecords::default(),
        }
    }

    /// What this lane shares with the control plane.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Takes the errors out of the fetched batch.
    fn take_errors(&mut self) -> Result<(), ConnectorError> {
        if self.reader.iter().all(|message| message.is_record()) {
            return Ok(());
        }
        let (mut passing, mut fatal) = (None, None);
        for message in self.reader.iter() {
            let Some(error) = message.error() else {
                continue;
            };
            let doing = if error.code == Code::AUTO_OFFSET_RESET {
                format!(
                    "offset {} of {} does not exist",
                    message.offset(),
                    self.partition
                )
            } else {
                format!("reading {}", self.partition)
            };
            match error.judge(Stage::Partition, &doing) {
                Some(error) if error.is_retryable() => passing = Some(error),
                Some(error) => {
                    fatal.get_or_insert(error);
                }
                None => {}
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
        }
        Ok(())
    }

    /// Keeps what was not handed out before, each record once and in order.
    fn keep_order(&mut self) {
        let floor = if self.begun {
            self.next_offset
        } else {
            i64::MIN
        };
        let mut check = Ascending(floor);
        if !self
            .reader
            .iter()
            .all(|message| check.goes_on(message.offset()))
        {
            let mut filter = Ascending(floor);
            self.reader
                .retain(|message| filter.goes_on(message.offset()));
        }
    }

    /// Finds out why offsets do not go on where they stopped.
    fn check_jump(&mut self) -> Result<(), ConnectorError> {
        let Some(expected) = self.progress.position() else {
            return Ok(());
        };
        let Some(first) = self.reader.iter().next().map(|message| message.offset()) else {
            return Ok(());
        };
        if first == expected {
            return Ok(());
        }
        let watermarks = native::watermarks(
            self.reader.queue().client(),
            &self.partition.topic,
            self.partition.number,
        );
        match judge_jump(expected, first, self.begun, watermarks) {
            Jump::Restarted(expected, first) if self.begun => {
                self.reader.clear();
                return Err(ConnectorError::fatal(format!(
                    "reading {}: the partition begins again at offset {first} although offset {expected} was reached: it was \
                     truncated or created anew; restart the pipeline to read it from its oldest record",
                    self.partition
                )));
            }
            Jump::Restarted(expected, first) => tracing::warn!(
                partition = %self.partition, expected, first,
                "the partition ends before the committed offset: it was truncated or created anew; reading its oldest record"
            ),
            Jump::Gone(expected, first) => tracing::warn!(
                partition = %self.partition, expected, first,
                "records were deleted on the broker before they were read"
            ),
            Jump::None => {}
        }
        Ok(())
    }
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
            Jump::Restarted(expected, first)
        } else {
            Jump::None
        };
    }
    // Compaction and transactions leave holes as well; only behind the oldest record are they losses.
    if low.is_some_and(|low| low > expected) {
        Jump::Gone(expected, first)
    } else {
        Jump::None
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
        self.reader.fetch(max_records.max(1));
        if self.reader.is_empty() {
            self.progress.fetched_nothing();
            return Ok(Fetched::Empty);
        }
        self.take_errors()?;
        self.check_jump()?;
        self.keep_order();
        let Some(last) = self.reader.iter().last() else {
            return self.held_back.take().map_or(Ok(Fetched::Empty), Err);
        };
        let next = last.offset() + 1;
        if !self.progress.end_fetch(ticket, next) {
            self.reader.clear();
            return Ok(Fetched::Empty);
        }
        self.next_offset = next;
        self.begun = true;
        Ok(Fetched::Batch)
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
        self.reader.clear();
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
    fn a_log_that_ends_before_the_position_began_again() {
        assert_eq!(
            judge_jump(100, 0, true, (Some(0), Some(20))),
            Jump::Restarted(100, 0)
        );
        assert_eq!(
            judge_jump(500, 0, false, (Some(0), Some(100))),
            Jump::Restarted(500, 0)
        );
    }

    #[test]
    fn only_what_lies_before_the_oldest_record_is_gone() {
        assert_eq!(
            judge_jump(50, 80, false, (Some(80), Some(100))),
            Jump::Gone(50, 80)
        );
        assert_eq!(
            judge_jump(50, 80, true, (Some(80), Some(100))),
            Jump::Gone(50, 80)
        );
        assert_eq!(
            judge_jump(50, 60, true, (Some(0), Some(100))),
            Jump::None,
            "compacted"
        );
        assert_eq!(judge_jump(50, 60, true, (None, None)), Jump::None);
    }
}
