//! Partitions that come and go.
//!
//! The choreography of an assignment:
//!
//! 1. The client reports a rebalance and waits for its answer; it keeps the membership alive meanwhile.
//! 2. Given partitions: their start offsets are looked up ([`crate::start`]); then each one's queue is split off, **before**
//!    the assignment is accepted with those offsets, so that no record ever goes to another queue; then the lanes are
//!    handed to the engine. An empty assignment is accepted as well, or the client would wait for ever.
//! 3. Taken partitions: the engine is told, settles, commits and drops its lanes; with the last [`Source::release`] the
//!    client gets its answer. The same when they are lost already, but then nothing can be committed.
//!
//! Both group protocols are served: eager ones replace the whole assignment, cooperative ones add and take away.
//!
//! As a rule the client has one rebalance open at a time. But when topics change, come or go (its metadata tells) while it
//! waits for an answer, it goes on without one: partitions are given that were not taken back before, or taken while others
//! are given. So:
//!
//! - What is taken meanwhile is given back together with what is being given back already.
//! - An eager assignment makes the one before void. A cooperative one waits for its turn, without what is taken meanwhile.
//! - An assignment that comes while lanes are held which had to be given back first tells that the group has gone on without
//!   them: they are lost. What was not committed of them is read again, by whoever has the partition.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rdkafka::consumer::Consumer;
use rdkafka::error::KafkaError;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use spate_runtime::error::ConnectorError;
use spate_runtime::record::Partition;
use spate_runtime::source::{LaneId, SourceEvent, SourceLane};

use super::KafkaSource;
use crate::config::{GroupProtocol, Settings};
use crate::error::{ClientError, Code};
use crate::lane::Lane;
use crate::native::{self, CommitSlot, Queue, Slot};
use crate::progress::Progress;
use crate::start::{Ask, Skips, Start, StartLookup};

/// How often it is asked whether the group has taken this member.
const MEMBERSHIP_INTERVAL: Duration = Duration::from_secs(1);

/// A member that was taken without partitions for so long got its first assignment: an empty one.
const FIRST_ASSIGNMENT: Duration = Duration::from_secs(5);

/// What the client waits for.
pub(super) enum Rebalance {
    /// Nothing.
    None,
    /// The start offsets of given partitions.
    Starting {
        partitions: Vec<Slot>,
        lookup: StartLookup,
        token: usize,
    },
    /// The engine, to release the lanes of taken ones.
    Returning {
        partitions: Vec<Slot>,
        waiting: BTreeSet<LaneId>,
    },
}

impl KafkaSource {
    pub(super) fn given(&mut self, partitions: Vec<Slot>) -> Result<(), ConnectorError> {
        if !self.connection()?.client.is_cooperative() {
            self.stop_starting();
            self.given.clear();
        }
        if let Rebalance::Returning { waiting, .. } = &self.rebalance {
            let lost = waiting.iter().copied().collect();
            self.events.push_back(SourceEvent::Lost(lost));
        }
        self.given.push_back(partitions);
        self.begin()
    }

    /// Begins with the next assignment, unless a rebalance is open.
    fn begin(&mut self) -> Result<(), ConnectorError> {
        if !matches!(self.rebalance, Rebalance::None) {
            return Ok(());
        }
        let Some(partitions) = self.given.pop_front() else {
            return Ok(());
        };
        let held = if self.connection()?.client.is_cooperative() {
            self.lanes.of(&partitions)
        } else {
            self.lanes.all()
        };
        if !held.is_empty() {
            // Two lanes would read one queue, and neither in order.
            tracing::warn!(
                "the group goes on with partitions that this member still had: they are lost and read anew"
            );
            self.given.push_front(partitions);
            return self.take_back(self.lanes.partitions_of(&held), held, true);
        }
        if partitions.is_empty() {
            tracing::info!("no partition is assigned to this member of the group");
            self.skips = Skips::Nothing;
            return self.assign(Vec::new());
        }
        // Only what is assigned first may be skipped, and not after others had it for a while.
        let mut skips = std::mem::replace(&mut self.skips, Skips::Nothing);
        if self
            .idle_since
            .is_some_and(|since| self.now.since(since) >= FIRST_ASSIGNMENT)
        {
            skips = Skips::Nothing;
        }
        let lookup = StartLookup::new(
            partitions.clone(),
            self.settings.start_offset,
            &self.settings.group_id,
            skips,
        );
        self.rebalance = Rebalance::Starting {
            partitions,
            lookup,
            token: 0,
        };
        Ok(())
    }

    /// Gives up the look-up of starts, if one is under way: its partitions, which are given anew or never.
    fn stop_starting(&mut self) -> Option<Vec<Slot>> {
        match std::mem::replace(&mut self.rebalance, Rebalance::None) {
            Rebalance::Starting {
                partitions, lookup, ..
            } => {
                // Nothing was assigned: the next assignment is the first.
                self.skips = lookup.into_skips();
                Some(partitions)
            }
            other => {
                self.rebalance = other;
                None
            }
        }
    }

    /// A member to which the broker assigns hears nothing if there is nothing for it: that it is one is enough.
    pub(super) fn look_for_membership(&mut self) -> Result<(), ConnectorError> {
        let idle = matches!(self.rebalance, Rebalance::None) && self.health.is_waiting();
        if self.settings.group_protocol == GroupProtocol::Classic
            || !idle
            || self.now.since(self.membership_asked) < MEMBERSHIP_INTERVAL
        {
            return Ok(());
        }
        self.membership_asked = self.now;
        if native::is_member(&self.connection()?.client) {
            tracing::info!("no partition is assigned to this member of the group");
            self.idle_since.get_or_insert(self.now);
            self.health.assigned();
        }
        Ok(())
    }

    pub(super) fn ask_for_starts(&mut self) -> Result<(), ConnectorError> {
        let (next, now) = (self.last_token + 1, self.now);
        let Some(connection) = &self.connection else {
            return Ok(());
        };
        let Rebalance::Starting { lookup, token, .. } = &mut self.rebalance else {
            return Ok(());
        };
        let Some(ask) = lookup.due(now) else {
            return Ok(());
        };
        (*token, self.last_token) = (next, next);
        match ask {
            Ask::LookUp(what, partitions) => {
                let Settings {
                    group_id,
                    read_committed,
                    ..
                } = &self.settings;
                let (queue, stable) = (&connection.queue, *read_committed);
                native::look_up(queue, next, what, group_id, partitions, stable);
                Ok(())
            }
            Ask::Commit(offsets) => {
                let slots = offsets.iter().map(|slot| CommitSlot {
                    topic: &slot.topic,
                    partition: slot.partition,
                    offset: slot.offset,
                    metadata: None,
                });
                match native::commit(&connection.queue, next, slots) {
                    Ok(()) => Ok(()),
                    Err(error) => self.found(next, Err(error)),
                }
            }
        }
    }

    pub(super) fn found(
        &mut self,
        answered: usize,
        result: Result<Vec<Slot>, ClientError>,
    ) -> Result<(), ConnectorError> {
        let now = self.now;
        let starts = match &mut self.rebalance {
            Rebalance::Starting { lookup, token, .. } if *token == answered => {
                let code = result
                    .as_ref()
                    .err()
                    .map_or(Code::NO_OFFSET, |error| error.code);
                match lookup.answer(result, now) {
                    Ok(starts) => starts,
                    Err(error) => return self.trouble(code, error),
                }
            }
            _ => None,
        };
        starts.map_or(Ok(()), |starts| self.assign(starts))
    }

    /// Accepts an assignment with known starts.
    fn assign(&mut self, starts: Vec<Start>) -> Result<(), ConnectorError> {
        let client = Arc::clone(&self.connection()?.client);
        let refused = |what: String| {
            ConnectorError::fatal(format!("the Kafka client refused an assignment: {what}"))
        };
        let mut list = TopicPartitionList::with_capacity(starts.len());
        let mut lanes = Vec::with_capacity(starts.len());
        for start in &starts {
            let Start {
                topic,
                partition,
                offset,
                ..
            } = start;
            let queue = Queue::of_partition(&client, topic, *partition)
                .ok_or_else(|| refused(format!("{topic}/{partition} has no queue")))?;
            let progress = Arc::new(Progress::starting_at(*offset));
            lanes.push(Lane::new(
                self.lanes.next_id(),
                Partition::new(topic.as_str(), *partition),
                queue,
                progress,
            ));
            list.add_partition(topic, *partition)
                .set_offset(offset.map_or(Offset::Beginning, Offset::Offset))
                .map_err(|error| refused(error.to_string()))?;
        }
        let consumer = client.consumer();
        let accepted = if client.is_cooperative() {
            self.hold_positions()?;
            consumer.incremental_assign(&list)
        } else {
            consumer.assign(&list)
        };
        accepted.map_err(|error| refused(error.to_string()))?;
        self.rebalance = Rebalance::None;
        self.health.assigned();
        for lane in &lanes {
            let topic = &lane.partition().topic;
            if self.lanes.of_topic(topic).is_empty() {
                self.topics.begins(topic, self.now);
            }
            self.lanes.add(
                lane.id(),
                lane.partition().clone(),
                lane.progress(),
                self.now,
            );
        }
        if !lanes.is_empty() {
            let lanes = lanes
                .into_iter()
                .map(|lane| -> Box<dyn SourceLane> { Box::new(lane) })
                .collect();
            self.events.push_back(SourceEvent::Assigned(lanes));
        }
        self.begin()
    }

    /// A rebalance went wrong. Unanswered, it would leave the client waiting; and what is assigned cannot be trusted any
    /// more, so all of it counts as lost.
    pub(super) fn rebalance_failed(&mut self, error: &ClientError) -> Result<(), ConnectorError> {
        self.stop_starting();
        self.given.clear();
        self.take_back(self.lanes.partitions(), self.lanes.all(), true)?;
        self.report(error)
    }

    pub(super) fn taken(&mut self, mut partitions: Vec<Slot>) -> Result<(), ConnectorError> {
        let started = self.stop_starting();
        let client = &self.connection()?.client;
        let lost = client.consumer().assignment_lost();
        let lanes = if client.is_cooperative() {
            // What was given and never accepted cannot be given back.
            if let Some(started) = started {
                self.given.push_front(started);
            }
            for given in &mut self.given {
                let (void, kept): (Vec<Slot>, Vec<Slot>) = std::mem::take(given)
                    .into_iter()
                    .partition(|slot| slot.is_among(&partitions));
                partitions.retain(|taken| !taken.is_among(&void));
                *given = kept;
            }
            self.lanes.of(&partitions)
        } else {
            self.given.clear();
            self.lanes.all()
        };
        self.take_back(partitions, lanes, lost)
    }

    /// Takes lanes away from the engine, together with those that are being taken away already.
    fn take_back(
        &mut self,
        mut partitions: Vec<Slot>,
        mut lanes: BTreeSet<LaneId>,
        lost: bool,
    ) -> Result<(), ConnectorError> {
        let (before, told) = match std::mem::replace(&mut self.rebalance, Rebalance::None) {
            Rebalance::Returning {
                partitions,
                waiting,
            } => (partitions, waiting),
            _ => (Vec::new(), BTreeSet::new()),
        };
        partitions.retain(|slot| !slot.is_among(&before));
        partitions.extend(before);
        self.rebalance = Rebalance::Returning {
            partitions,
            waiting: lanes.union(&told).copied().collect(),
        };
        if !lost {
            lanes.retain(|lane| !told.contains(lane));
        }
        if lanes.is_empty() {
            return self.give_back();
        }
        // What was read of a deleted topic must not be committed to one that is created with its name.
        let (gone, revoked): (Vec<LaneId>, Vec<LaneId>) = lanes.into_iter().partition(|lane| {
            let topic = self.lanes.topic(*lane);
            lost || topic.is_some_and(|topic| self.topics.is_missing(topic))
        });
        if !gone.is_empty() {
            self.events.push_back(SourceEvent::Lost(gone));
        }
        if !revoked.is_empty() {
            self.events.push_back(SourceEvent::Revoking(revoked));
        }
        Ok(())
    }

    /// Answers the client once all lanes of the taken partitions are released.
    pub(super) fn give_back(&mut self) -> Result<(), ConnectorError> {
        let Rebalance::Returning {
            partitions,
            waiting,
        } = &self.rebalance
        else {
            return Ok(());
        };
        if !waiting.is_empty() {
            return Ok(());
        }
        let client = Arc::clone(&self.connection()?.client);
        let consumer = client.consumer();
        let answered = if client.is_cooperative() {
            let list = to_list(partitions);
            self.hold_positions()?;
            list.and_then(|list| consumer.incremental_unassign(&list))
        } else {
            consumer.unassign()
        };
        self.rebalance = Rebalance::None;
        if self.lanes.is_empty() {
            self.health.waits(self.now);
        }
        answered.map_err(|error| {
            ConnectorError::fatal(format!(
                "the Kafka client refused to give partitions back: {error}"
            ))
        })?;
        self.begin()
    }

    /// See [`crate::lanes::Lanes::hold_positions`].
    fn hold_positions(&mut self) -> Result<(), ConnectorError> {
        let held = self.lanes.hold_positions(&self.connection()?.client);
        held.or_else(|error| self.report(&error))
    }
}

fn to_list(partitions: &[Slot]) -> Result<TopicPartitionList, KafkaError> {
    let mut list = TopicPartitionList::with_capacity(partitions.len());
    for partition in partitions {
        list.add_partition(&partition.topic, partition.partition)
            .set_offset(Offset::Invalid)?;
    }
    Ok(list)
}
