//! Partitions that are assigned and not fetched: seen once in 121 runs of another client, with every other number healthy.
//!
//! The control plane looks at each lane from time to time. A lane whose driver asks and gets nothing although the partition
//! has more, for 30 s, is named in the log, and reading is set on its position again.

use std::time::Duration;

use spate_runtime::time::Time;

/// How long a lane may get nothing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// How often the lanes are looked at.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);

/// What can be seen of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sight {
    pub(crate) position: Option<i64>,
    pub(crate) paused: bool,
    pub(crate) empty_fetches: u64,
}

/// Why a lane is suspicious.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stall {
    /// The broker has never answered a fetch of this partition.
    NeverFetched,
    /// The partition goes on to the second offset, and reading stands at the first.
    Behind(i64, i64),
}

/// The memory of one lane's watch.
#[derive(Debug)]
pub(crate) struct Watch {
    since: Time,
    last: Sight,
    reported: bool,
}

impl Watch {
    pub(crate) fn new(now: Time, sight: Sight) -> Self {
        Watch {
            since: now,
            last: sight,
            reported: false,
        }
    }

    /// Looks at the lane; `watermarks` gives the partition's oldest and next offset, as far as they are known.
    /// A stall is told once, until the lane gets on.
    pub(crate) fn look(
        &mut self,
        now: Time,
        sight: Sight,
        watermarks: impl FnOnce() -> (Option<i64>, Option<i64>),
    ) -> Option<Stall> {
        let moved = sight.position != self.last.position || sight.paused != self.last.paused;
        // A driver that does not ask is busy, or blocked by a sink: its lane is not to blame.
        let waiting = !sight.paused && sight.empty_fetches != self.last.empty_fetches;
        self.last = sight;
        if moved {
            self.reported = false;
        }
        if moved || !waiting {
            self.since = now;
            return None;
        }
        if self.reported || now.since(self.since) < PATIENCE {
            return None;
        }
        let stall = match watermarks() {
            (_, None) => Some(Stall::NeverFetched),
            (low, Some(high)) => {
                let position = sight.position.or(low).unwrap_or(0);
                (high > position).then_some(Stall::Behind(position, high))
            }
        };
        self.reported = stall.is_some();
        self.since = now;
        stall
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Sight = Sight {
        position: Some(10),
        paused: false,
        empty_fetches: 0,
    };

    fn at(seconds: u64) -> Time {
        Time::ZERO.after(Duration::from_secs(seconds))
    }

    /// Looks once a second for so long; the lane is asked all the time.
    fn watch(
        seconds: u64,
        high: Option<i64>,
        change: impl Fn(u64, &mut Sight),
    ) -> Vec<(u64, Stall)> {
        let mut watch = Watch::new(at(0), START);
        let mut sight = START;
        (1..=seconds)
            .filter_map(|second| {
                sight.empty_fetches += 100;
                change(second, &mut sight);
                watch
                    .look(at(second), sight, || (Some(0), high))
                    .map(|stall| (second, stall))
            })
            .collect()
    }

    #[test]
    fn a_lane_that_gets_nothing_although_there_is_more_is_named_once() {
        assert_eq!(
            watch(120, Some(500), |_, _| {}),
            [(30, Stall::Behind(10, 500))]
        );
        assert_eq!(watch(120, None, |_, _| {}), [(30, Stall::NeverFetched)]);
    }

    #[test]
    fn a_lane_at_the_end_of_its_partition_is_fine() {
        assert_eq!(watch(300, Some(10), |_, _| {}), []);
    }

    #[test]
    fn a_lane_that_gets_on_or_is_paused_is_fine() {
        assert_eq!(
            watch(300, Some(500), |second, sight| sight.position =
                Some(10 + second as i64 / 20)),
            []
        );
        assert_eq!(watch(300, Some(500), |_, sight| sight.paused = true), []);
    }

    #[test]
    fn a_lane_whose_driver_does_not_ask_is_not_to_blame() {
        assert_eq!(
            watch(300, Some(500), |_, sight| sight.empty_fetches = 7),
            []
        );
    }

    #[test]
    fn a_lane_that_stalls_again_is_named_again() {
        let stalls = watch(100, Some(500), |second, sight| {
            sight.position = Some(if second < 50 { 10 } else { 20 })
        });
        assert_eq!(
            stalls,
            [(30, Stall::Behind(10, 500)), (80, Stall::Behind(20, 500))]
        );
    }
}
