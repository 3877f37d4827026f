//! The watch over what stands still for `checkpoint.stalled_fail_after`, so that nothing waits for ever in silence:
//!
//! - The oldest batch of each lane, neither durable nor failed. One behind it may be as old, but it is waited for only
//!   since then.
//! - The driver threads: one that does not come back from user code reads none of its lanes, with or without a batch.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::checkpoint::Progress;
use crate::limits::STALL_LOOK;
use crate::record::Partition;
use crate::source::LaneId;
use crate::time::Time;

/// The watch over all lanes.
pub(super) struct StallWatch {
    fail_after: Duration,
    next_look: Time,
    waits: BTreeMap<LaneId, Wait>,
}

/// What a lane waits for, and since when that was seen.
#[derive(Clone, Copy)]
struct Wait {
    offset: i64,
    since: Time,
}

/// A watermark that stood still for too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stall {
    pub(super) partition: Partition,
    /// The first offset of the batch that is waited for.
    pub(super) offset: i64,
    pub(super) waited: Duration,
    /// Batches of the partition in flight, that one included.
    pub(super) pending: usize,
    /// Other partitions that have stood still for as long as is allowed.
    pub(super) others: usize,
}

impl StallWatch {
    pub(super) fn new(fail_after: Duration) -> Self {
        StallWatch {
            fail_after,
            next_look: Time::ZERO,
            waits: BTreeMap::new(),
        }
    }

    /// Looks at all lanes, now and then; the stall of the lane that has waited longest, if there is one.
    pub(super) fn step<'a>(
        &mut self,
        lanes: impl Iterator<Item = (LaneId, &'a Partition, Progress)>,
        now: Time,
    ) -> Option<Stall> {
        if now < self.next_look {
            return None;
        }
        self.next_look = now.after(STALL_LOOK.min(self.fail_after / 16));
        let before = std::mem::take(&mut self.waits);
        let mut stall: Option<Stall> = None;
        let mut stalls = 0;
        for (lane, partition, progress) in lanes {
            let Some(offset) = progress.waits_for else {
                continue;
            };
            let wait = before
                .get(&lane)
                .copied()
                .filter(|wait| wait.offset == offset)
                .unwrap_or(Wait { offset, since: now });
            self.waits.insert(lane, wait);
            let waited = now.since(wait.since);
            if waited < self.fail_after {
                continue;
            }
            stalls += 1;
            if stall.as_ref().is_none_or(|longest| waited > longest.waited) {
                stall = Some(Stall {
                    partition: partition.clone(),
                    offset,
                    waited,
                    pending: progress.pending,
                    others: 0,
                });
            }
        }
        stall.map(|stall| Stall {
            others: stalls - 1,
            ..stall
        })
    }
}

/// The watch over the driver threads.
pub(super) struct ThreadWatch {
    fail_after: Duration,
    /// The steps of each driver, and since when there were so many.
    seen: Vec<(usize, Time)>,
}

impl ThreadWatch {
    pub(super) fn new(fail_after: Duration) -> Self {
        ThreadWatch {
            fail_after,
            seen: Vec::new(),
        }
    }

    /// Looks at the steps that each driver has begun, `None` for one that has ended; the drivers that stand still.
    pub(super) fn step(
        &mut self,
        steps: impl Iterator<Item = Option<usize>>,
        now: Time,
    ) -> Vec<usize> {
        let mut still = Vec::new();
        for (driver, steps) in steps.enumerate() {
            if self.seen.len() == driver {
                self.seen.push((0, now));
            }
            let (seen, since) = &mut self.seen[driver];
            match steps {
                Some(steps) if steps == *seen => {
                    if now.since(*since) >= self.fail_after {
                        still.push(driver);
                    }
                }
                steps => (*seen, *since) = (steps.unwrap_or_default(), now),
            }
        }
        still
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(160);

    fn at(seconds: u64) -> Time {
        Time::ZERO.after(Duration::from_secs(seconds))
    }

    /// Steps the watch with lanes that wait for an offset each; a lane without one waits for nothing.
    fn step(watch: &mut StallWatch, waits: &[Option<i64>], seconds: u64) -> Option<Stall> {
        let partitions: Vec<Partition> = (0..waits.len())
            .map(|number| Partition::new("t", number as i32))
            .collect();
        let lanes = waits.iter().enumerate().map(|(index, &waits_for)| {
            let progress = Progress {
                waits_for,
                pending: waits_for.map_or(0, |_| 3),
                ..Progress::default()
            };
            (LaneId(index as u64), &partitions[index], progress)
        });
        watch.step(lanes, at(seconds))
    }

    #[test]
    fn a_watermark_that_stands_still_is_found_at_the_limit_and_not_before() {
        let mut watch = StallWatch::new(LIMIT);
        for second in 0..170 {
            let waits = (second >= 10).then_some(7);
            assert_eq!(step(&mut watch, &[None, waits], second), None);
        }
        let stall = step(&mut watch, &[None, Some(7)], 170).expect("it stands still since 10");
        assert_eq!(stall.partition, Partition::new("t", 1));
        assert_eq!((stall.offset, stall.pending), (7, 3));
        assert_eq!((stall.waited, stall.others), (LIMIT, 0));
    }

    #[test]
    fn a_watermark_that_moves_or_has_nothing_to_wait_for_never_stalls() {
        let mut watch = StallWatch::new(LIMIT);
        for second in 0..2000 {
            // One moves every 100 seconds, one settles now and then and waits for the same offset's successor.
            let moving = Some((second / 100) as i64);
            let settling = (second % 100 != 0).then_some(5 + (second / 100) as i64);
            let stall = step(&mut watch, &[moving, settling, None], second);
            assert_eq!(stall, None, "after {second} seconds");
        }
    }

    #[test]
    fn of_several_the_longest_wait_is_named_and_the_others_counted() {
        let mut watch = StallWatch::new(LIMIT);
        assert_eq!(step(&mut watch, &[None, Some(1), None], 0), None);
        assert_eq!(step(&mut watch, &[Some(9), Some(1), Some(4)], 5), None);
        let stall = step(&mut watch, &[Some(9), Some(1), Some(4)], 300).expect("all stand still");
        assert_eq!((stall.offset, stall.others), (1, 2));
        assert_eq!(stall.waited, Duration::from_secs(300));
    }

    #[test]
    fn a_lane_that_is_gone_is_forgotten() {
        let mut watch = StallWatch::new(LIMIT);
        step(&mut watch, &[Some(1)], 0);
        step(&mut watch, &[], 100);
        assert!(watch.waits.is_empty());
    }

    #[test]
    fn a_thread_that_begins_no_step_is_found_and_one_that_has_ended_is_not() {
        let mut watch = ThreadWatch::new(LIMIT);
        for second in 0..160 {
            let steps = [Some(second as usize), Some(5), None, Some(0)];
            assert!(watch.step(steps.into_iter(), at(second)).is_empty());
        }
        let steps = [Some(159), Some(5), None, Some(0)];
        let still = watch.step(steps.into_iter(), at(160));
        assert_eq!(still, [1, 3], "one never began, one stopped at once");
        assert_eq!(watch.step(steps.into_iter(), at(319)), [0, 1, 3]);
    }
}
