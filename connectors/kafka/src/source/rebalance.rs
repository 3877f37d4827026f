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
//! The client has at most one rebalance open at a time. Both group protocols are served: eager ones replace the whole
//! assignment, cooperative ones add and take away.

use std::collections::BTreeSet;
use std::sync::Arc;

use rdkafka::consumer::Consumer;
use rdkafka::error::KafkaError;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use spate_runtime::error::ConnectorError;
use spate_runtime::record::Partition;
use spate_runtime::source::{Commit, LaneId, SourceEvent, SourceLane};

use super::KafkaSource;
use crate::config::Settings;
use crate::error::{ClientError, Code};
use crate::lane::Lane;
use crate::native::{self, Queue, Slot};
use crate::progress::Progress;
use crate::start::{Start, StartLookup};

/// What the client waits for.
pub(super) enum Rebalance {
    /// Nothing.
    None,
    /// The start offsets of given partitions.
    Starting { lookup: StartLookup, token: usize },
    /// The engine, to release the lanes of taken ones.
    Returning {
        partitions: Vec<Slot>,
        waiting: BTreeSet<LaneId>,
    },
}

impl KafkaSource {
    pub(super) fn given(&mut self, partitions: Vec<Slot>) -> Result<(), ConnectorError> {
        let client = &self.connection()?.client;
        let held = if client.is_cooperative() {
            self.lanes.of(&partitions)
        } else {
            self.lanes.all()
        };
        if !held.is_empty() {
            // Two lanes would read one queue, and neither in order.
            return Err(ConnectorError::fatal(
                "the Kafka client gave partitions that it had not taken back before",
            ));
        }
        if partitions.is_empty() {
            tracing::info!("no partition is assigned to this member of the group");
            return self.assign(Vec::new());
        }
        let lookup = StartLookup::new(
            partitions,
            self.settings.start_offset,
            &self.settings.group_id,
        );
        self.rebalance = Rebalance::Starting { lookup, token: 0 };
        Ok(())
    }

    pub(super) fn ask_for_starts(&mut self) -> Result<(), ConnectorError> {
        let (next, now) = (self.last_token + 1, self.now);
        let Some(connection) = &self.connection else {
            return Ok(());
        };
        if let Rebalance::Starting { lookup, token } = &mut self.rebalance
            && let Some((what, partitions)) = lookup.due(now)
        {
            let Settings {
                group_id,
                read_committed,
                ..
            } = &self.settings;
            native::look_up(
                &connection.queue,
                next,
                what,
                group_id,
                partitions,
                *read_committed,
            );
            *token = next;
            self.last_token = next;
        }
        Ok(())
    }

    pub(super) fn found(
        &mut self,
        answered: usize,
        result: Result<Vec<Slot>, ClientError>,
    ) -> Result<(), ConnectorError> {
        let now = self.now;
        let starts = match &mut self.rebalance {
            Rebalance::Starting { lookup, token } if *token == answered => {
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
            consumer.incremental_assign(&list)
        } else {
            consumer.assign(&list)
        };
        accepted.map_err(|error| refused(error.to_string()))?;
        self.rebalance = Rebalance::None;
        self.health.assigned();
        let mut commits = Vec::new();
        for (start, lane) in starts.iter().zip(&lanes) {
            self.lanes.add(
                lane.id(),
                lane.partition().clone(),
                lane.progress(),
                self.now,
            );
            if let (true, Some(offset)) = (start.commit, start.offset) {
                let (lane, partition) = (lane.id(), lane.partition().clone());
                commits.push(Commit {
                    lane,
                    partition,
                    offset,
                    metadata: None,
                });
            }
        }
        if !lanes.is_empty() {
            let lanes = lanes
                .into_iter()
                .map(|lane| -> Box<dyn SourceLane> { Box::new(lane) })
                .collect();
            self.events.push_back(SourceEvent::Assigned(lanes));
        }
        if !commits.is_empty() {
            self.send_commit(None, &commits)?;
        }
        Ok(())
    }

    /// A rebalance went wrong. Unanswered, it would leave the client waiting; and what is assigned cannot be trusted any
    /// more, so all of it counts as lost.
    pub(super) fn rebalance_failed(&mut self, error: &ClientError) -> Result<(), ConnectorError> {
        self.take_back(self.lanes.partitions(), self.lanes.all(), true)?;
        self.report(error)
    }

    pub(super) fn taken(&mut self, partitions: Vec<Slot>) -> Result<(), ConnectorError> {
        let client = &self.connection()?.client;
        let lanes = if client.is_cooperative() {
            self.lanes.of(&partitions)
        } else {
            self.lanes.all()
        };
        let lost = client.consumer().assignment_lost();
        self.take_back(partitions, lanes, lost)
    }

    fn take_back(
        &mut self,
        partitions: Vec<Slot>,
        lanes: BTreeSet<LaneId>,
        lost: bool,
    ) -> Result<(), ConnectorError> {
        // An assignment whose starts were still looked for is void.
        self.rebalance = Rebalance::Returning {
            partitions,
            waiting: lanes.clone(),
        };
        if lanes.is_empty() {
            return self.give_back();
        }
        let lanes = lanes.into_iter().collect();
        self.events.push_back(if lost {
            SourceEvent::Lost(lanes)
        } else {
            SourceEvent::Revoking(lanes)
        });
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
        let client = &self.connection()?.client;
        let consumer = client.consumer();
        let answered = if client.is_cooperative() {
            to_list(partitions).and_then(|list| consumer.incremental_unassign(&list))
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
        })
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
