//! The lanes that the engine holds: which partition each reads, how far it is, and the watch over it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rdkafka::consumer::Consumer;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use spate_runtime::record::Partition;
use spate_runtime::source::LaneId;
use spate_runtime::time::Time;

use crate::client::Client;
use crate::error::{ClientError, Code};
use crate::native::{self, Slot};
use crate::progress::{Progress, Stop};
use crate::watch::{self, Sight, Stall, Watch};

/// The lanes of the current assignment, and those that are being taken back.
#[derive(Default)]
pub(crate) struct Lanes {
    held: BTreeMap<LaneId, Held>,
    last_id: u64,
    looked_at: Time,
}

struct Held {
    partition: Partition,
    progress: Arc<Progress>,
    watch: Watch,
}

impl Held {
    fn sight(progress: &Progress) -> Sight {
        Sight {
            position: progress.position(),
            paused: progress.is_paused(),
            empty_fetches: progress.empty_fetches(),
        }
    }
}

impl Lanes {
    /// A number for a new assignment.
    pub(crate) fn next_id(&mut self) -> LaneId {
        self.last_id += 1;
        LaneId(self.last_id)
    }

    pub(crate) fn add(
        &mut self,
        id: LaneId,
        partition: Partition,
        progress: Arc<Progress>,
        now: Time,
    ) {
        let watch = Watch::new(now, Held::sight(&progress));
        self.held.insert(
            id,
            Held {
                partition,
                progress,
                watch,
            },
        );
    }

    pub(crate) fn remove(&mut self, id: LaneId) {
        self.held.remove(&id);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub(crate) fn holds(&self, id: LaneId, partition: &Partition) -> bool {
        self.held
            .get(&id)
            .is_some_and(|held| held.partition == *partition)
    }

    pub(crate) fn all(&self) -> BTreeSet<LaneId> {
        self.held.keys().copied().collect()
    }

    /// The partitions of all lanes.
    pub(crate) fn partitions(&self) -> Vec<Slot> {
        self.partitions_of(&self.all())
    }

    /// The partitions of these lanes.
    pub(crate) fn partitions_of(&self, lanes: &BTreeSet<LaneId>) -> Vec<Slot> {
        let slot = |Partition { topic, number }: &Partition| Slot {
            topic: topic.to_string(),
            partition: *number,
            offset: 0,
            error: Code::NONE,
        };
        lanes
            .iter()
            .filter_map(|lane| self.held.get(lane))
            .map(|held| slot(&held.partition))
            .collect()
    }

    /// The topics that have lanes.
    pub(crate) fn topics(&self) -> BTreeSet<String> {
        self.held
            .values()
            .map(|held| held.partition.topic.to_string())
            .collect()
    }

    /// The topic of a lane.
    pub(crate) fn topic(&self, id: LaneId) -> Option<&str> {
        self.held.get(&id).map(|held| &*held.partition.topic)
    }

    /// The lanes of a topic.
    pub(crate) fn of_topic(&self, topic: &str) -> Vec<LaneId> {
        let matches =
            |(id, held): (&LaneId, &Held)| (&*held.partition.topic == topic).then_some(*id);
        self.held.iter().filter_map(matches).collect()
    }

    /// How many records of each partition are still to be read, as far as the last fetches tell.
    pub(crate) fn lag(&self, client: &Client) -> Vec<(Partition, i64)> {
        let lag = |held: &Held| {
            let Partition { topic, number } = &held.partition;
            let (low, high) = native::watermarks(client, topic, *number);
            let position = held.progress.position().or(low)?;
            Some((held.partition.clone(), (high? - position).max(0)))
        };
        self.held.values().filter_map(lag).collect()
    }

    /// A lane that has stopped: its partition, the next offset, and why.
    pub(crate) fn stopped(&self) -> Option<(Partition, i64, Stop)> {
        let stopped = |held: &Held| {
            let position = held.progress.position()?;
            Some((held.partition.clone(), position, held.progress.stopped()?))
        };
        self.held.values().find_map(stopped)
    }

    /// The topics of which this user may not read a partition.
    pub(crate) fn refused(&self) -> BTreeSet<String> {
        self.held
            .values()
            .filter(|held| held.progress.is_refused())
            .map(|held| held.partition.topic.to_string())
            .collect()
    }

    /// Makes the client ask again where it was refused: what it tells once it may read is the only sign of that.
    pub(crate) fn try_refused_again(&self) {
        let refused = self.held.values().filter(|held| held.progress.is_refused());
        refused.for_each(|held| held.progress.want_rewind());
    }

    /// The lanes of these partitions.
    pub(crate) fn of(&self, partitions: &[Slot]) -> BTreeSet<LaneId> {
        partitions
            .iter()
            .filter_map(|slot| self.find(&slot.topic, slot.partition))
            .collect()
    }

    /// The lane of a partition.
    pub(crate) fn find(&self, topic: &str, number: i32) -> Option<LaneId> {
        let matches =
            |held: &Held| held.partition.number == number && &*held.partition.topic == topic;
        self.held
            .iter()
            .find(|(_, held)| matches(held))
            .map(|(id, _)| *id)
    }

    pub(crate) fn set_paused(&self, lanes: &[LaneId], paused: bool) {
        for held in lanes.iter().filter_map(|lane| self.held.get(lane)) {
            held.progress.set_paused(paused);
        }
    }

    /// How far a lane has read.
    pub(crate) fn position(&self, id: LaneId) -> Option<i64> {
        self.held.get(&id).and_then(|held| held.progress.position())
    }

    /// Sets reading of all lanes on their positions, while the client has them paused for a rebalance.
    ///
    /// The client goes on behind the last thing that it handed out, and takes the word of a partition's end for a record at
    /// that offset: the record that comes there would be missed.
    pub(crate) fn hold_positions(&self, client: &Client) -> Result<(), ClientError> {
        self.held.keys().try_for_each(|id| self.rewind(*id, client))
    }

    /// Makes the client fetch again from the lane's position.
    pub(crate) fn rewind(&self, id: LaneId, client: &Client) -> Result<(), ClientError> {
        let Some(Held {
            partition,
            progress,
            ..
        }) = self.held.get(&id)
        else {
            return Ok(());
        };
        let offset = progress
            .begin_rewind()
            .map_or(Offset::Beginning, Offset::Offset);
        let mut list = TopicPartitionList::with_capacity(1);
        let sought = list
            .add_partition(&partition.topic, partition.number)
            .set_offset(offset)
            // Without a timeout the call only orders it; whatever is in the queue is outdated when it returns.
            .and_then(|()| {
                client
                    .consumer()
                    .seek_partitions(list, std::time::Duration::ZERO)
            });
        progress.end_rewind();
        let failed = |error: rdkafka::error::KafkaError| {
            native::client_error(
                Code::STATE,
                format!("going back to {offset:?} of {partition} failed: {error}"),
                false,
            )
        };
        sought.map(|_| ()).map_err(failed)
    }

    /// The lanes that asked to be rewound, and those that the watch finds to be stuck.
    pub(crate) fn rewinds_due(&mut self, client: &Client, now: Time) -> Vec<LaneId> {
        let look = now.since(self.looked_at) >= watch::INTERVAL;
        if look {
            self.looked_at = now;
        }
        let mut rewind = Vec::new();
        for (id, held) in &mut self.held {
            let stuck = look && held.is_stuck(client, now);
            if stuck || held.progress.take_rewind_wish() {
                rewind.push(*id);
            }
        }
        rewind
    }
}

impl Held {
    fn is_stuck(&mut self, client: &Client, now: Time) -> bool {
        let Held {
            partition,
            progress,
            watch,
        } = self;
        let watermarks = || native::watermarks(client, &partition.topic, partition.number);
        match watch.look(now, Held::sight(progress), watermarks) {
            None => false,
            Some(Stall::NeverFetched) => {
                tracing::warn!(
                    partition = %partition,
                    "assigned for {:?} and no fetch was answered; reading is set on its position again", watch::PATIENCE
                );
                true
            }
            Some(Stall::Behind(position, high)) => {
                tracing::warn!(
                    partition = %partition, position, high,
                    "nothing arrived for {:?} although there is more; reading is set on its position again", watch::PATIENCE
                );
                true
            }
        }
    }
}
