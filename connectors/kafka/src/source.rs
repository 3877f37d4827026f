//! The control plane: takes the client's events, answers rebalances (`source/rebalance.rs`), commits.
//!
//! # Pausing
//!
//! A paused lane hands out nothing; its queue stays as it is. librdkafka's own pause would throw away what was fetched
//! ahead (up to 64 MiB per partition) and fetch it again afterwards, at every cycle of a sink that is slower than the
//! source. Memory is bounded by the client's read-ahead either way.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rdkafka::error::KafkaError;
use spate_runtime::error::ConnectorError;
use spate_runtime::record::Partition;
use spate_runtime::source::{Commit, LaneId, Source, SourceEvent};
use spate_runtime::time::Time;

use crate::client::Client;
use crate::config::Settings;
use crate::error::{ClientError, Code, Stage};
use crate::health::Health;
use crate::lanes::Lanes;
use crate::native::{self, CommitSlot, Event, Queue, Slot};
use crate::start::Skips;
use crate::topics::Topics;

mod gap;
mod joining;
mod rebalance;
mod topics;

use gap::Gap;
use joining::{Counting, Joining};
use rebalance::Rebalance;

/// At most this many events of the client are taken in one poll.
const EVENTS_PER_POLL: usize = 256;

/// How long `close` waits until the group has been left, so that the other members need not wait for the session to time
/// out. A broker that does not answer is not waited for any longer.
const LEAVE_TIMEOUT: Duration = spate_runtime::source::CLOSE_LIMIT;

/// The Kafka source.
pub(crate) struct KafkaSource {
    settings: Settings,
    connection: Option<Connection>,
    lanes: Lanes,
    rebalance: Rebalance,
    /// Assignments that wait for their turn.
    given: VecDeque<Vec<Slot>>,
    events: VecDeque<SourceEvent>,
    health: Health,
    /// The engine's commits under way: their tokens and their numbers.
    commits: BTreeMap<usize, u64>,
    last_token: usize,
    counting: Option<Counting>,
    joining: Option<Joining>,
    skips: Skips,
    topics: Topics,
    topics_token: usize,
    /// When it was last asked whether the group has taken this member.
    membership_asked: Time,
    /// Since when it is known to be one without an assignment.
    idle_since: Option<Time>,
    gap: Option<Gap>,
    /// Why the source has to stop, once what is queued was told.
    doom: Option<ConnectorError>,
    now: Time,
    /// How many records came on the wrong queue.
    #[cfg(test)]
    leaks: usize,
}

struct Connection {
    queue: Queue,
    client: Arc<Client>,
    left: mpsc::Receiver<()>,
}

impl KafkaSource {
    /// A source that is not connected.
    pub(crate) fn new(settings: Settings) -> Self {
        let (first, again) = (settings.startup_timeout, settings.assignment_timeout);
        let health = Health::new(settings.subscription.to_string(), first, again);
        let topics = Topics::new(settings.subscription.listed().to_vec(), first, again);
        KafkaSource {
            settings,
            connection: None,
            lanes: Lanes::default(),
            rebalance: Rebalance::None,
            given: VecDeque::new(),
            events: VecDeque::new(),
            health,
            commits: BTreeMap::new(),
            last_token: 0,
            counting: None,
            joining: None,
            skips: Skips::Unknown,
            topics,
            topics_token: 0,
            membership_asked: Time::ZERO,
            idle_since: None,
            gap: None,
            doom: None,
            now: Time::ZERO,
            #[cfg(test)]
            leaks: 0,
        }
    }

    /// Makes the client, for so many partitions.
    fn connect(&mut self, partitions: usize) -> Result<(), ConnectorError> {
        let failed = |what: &str, error: &KafkaError| {
            ConnectorError::fatal(format!(
                "{what}: {}",
                self.settings.redact(&error.to_string())
            ))
        };
        let (client, left) = Client::create(&self.settings.client(partitions))
            .map_err(|error| failed("the Kafka client was not made", &error))?;
        let queue = Queue::of_consumer(&client).ok_or_else(|| {
            ConnectorError::fatal("the Kafka client has no consumer group: check `source.group_id`")
        })?;
        self.connection = Some(Connection {
            queue,
            client,
            left,
        });
        Ok(())
    }

    fn connection(&self) -> Result<&Connection, ConnectorError> {
        self.connection
            .as_ref()
            .ok_or_else(|| ConnectorError::fatal("the Kafka source is not started"))
    }

    fn token(&mut self) -> usize {
        self.last_token += 1;
        self.last_token
    }

    fn serve(&mut self, now: Time) -> Result<(), ConnectorError> {
        self.now = now;
        for _ in 0..EVENTS_PER_POLL {
            let Some(event) = self
                .connection
                .as_ref()
                .and_then(|connection| connection.queue.poll())
            else {
                break;
            };
            self.take(event)?;
        }
        self.look_for_count()?;
        self.ask_for_group();
        self.ask_for_starts()?;
        self.rewind_lanes()?;
        self.look_for_gaps()?;
        self.look_at_topics()?;
        self.look_for_membership()?;
        let topics = &self.topics;
        self.health.check(now, || topics.complaints())
    }

    fn take(&mut self, event: Event) -> Result<(), ConnectorError> {
        match event {
            Event::Assign(partitions) => self.given(partitions),
            Event::Revoke(partitions) => self.taken(partitions),
            Event::RebalanceFailed(error) => self.rebalance_failed(&error),
            Event::Error(error) if error.code.is_of_topic() => self.topic_error(&error),
            Event::Error(error) => self.report(&error),
            Event::Log {
                level,
                facility,
                text,
            } => {
                if facility == "FAIL" {
                    self.health.hear(&self.settings.redact(&text), self.now);
                }
                log(level, &facility, &text);
                Ok(())
            }
            Event::Leaked {
                topic,
                partition,
                offset,
            } => self.leaked(&topic, partition, offset),
            Event::Committed { token, error } => match self.commits.remove(&token) {
                Some(id) => {
                    let result = error.map_or(Ok(()), |error| Err(commit_error(&error)));
                    self.events.push_back(SourceEvent::Committed { id, result });
                    Ok(())
                }
                None => self.found(token, error.map_or(Ok(Vec::new()), Err)),
            },
            Event::Found { token, result } => {
                if self.found_group(token, &result)? || self.found_bounds(token, &result)? {
                    return Ok(());
                }
                self.found(token, result)
            }
            Event::Described { token, result } => self.described(token, result),
            Event::Other => Ok(()),
        }
    }

    fn report(&mut self, error: &ClientError) -> Result<(), ConnectorError> {
        let told = self.health.take(error, self.now)?;
        self.events.extend(told.map(SourceEvent::Trouble));
        Ok(())
    }

    /// Tells a retryable error, if it was not told just now; passes a fatal one on.
    fn trouble(&mut self, code: Code, error: ConnectorError) -> Result<(), ConnectorError> {
        if !error.is_retryable() {
            return Err(error);
        }
        let told = self.health.tell(code, error, self.now);
        self.events.extend(told.map(SourceEvent::Trouble));
        Ok(())
    }

    // ---- reading ----

    /// A record that a lane will not see. It cannot happen by design, see `source/rebalance.rs`; if it does, nothing is lost.
    fn leaked(&mut self, topic: &str, partition: i32, offset: i64) -> Result<(), ConnectorError> {
        #[cfg(test)]
        {
            self.leaks += 1;
        }
        let Some(lane) = self.lanes.find(topic, partition) else {
            return Ok(());
        };
        if self
            .lanes
            .position(lane)
            .is_some_and(|position| offset < position)
        {
            return Ok(());
        }
        tracing::warn!(
            topic,
            partition,
            offset,
            "a record came on the wrong queue and is fetched again"
        );
        // Taking the queue again splits it off again.
        drop(Queue::of_partition(
            &self.connection()?.client,
            topic,
            partition,
        ));
        self.rewind(lane)
    }

    fn rewind_lanes(&mut self) -> Result<(), ConnectorError> {
        let Some(connection) = &self.connection else {
            return Ok(());
        };
        for lane in self.lanes.rewinds_due(&connection.client, self.now) {
            self.rewind(lane)?;
        }
        Ok(())
    }

    fn rewind(&mut self, lane: LaneId) -> Result<(), ConnectorError> {
        let result = self.lanes.rewind(lane, &self.connection()?.client);
        result.or_else(|error| self.report(&error))
    }
}

impl Source for KafkaSource {
    fn start(&mut self, now: Time) -> Result<(), ConnectorError> {
        self.connect(0)?;
        self.now = now;
        self.health.waits(now);
        self.count()
    }

    fn poll(&mut self, now: Time) -> Result<Option<SourceEvent>, ConnectorError> {
        if self.events.is_empty() {
            if let Some(error) = self.doom.take() {
                return Err(error);
            }
            self.serve(now)?;
        }
        Ok(self.events.pop_front())
    }

    fn commit(&mut self, id: u64, offsets: &[Commit]) -> Result<(), ConnectorError> {
        // A broker takes any partition from a member; another member's offset must not be set back.
        if let Some(stray) = offsets
            .iter()
            .find(|commit| !self.lanes.holds(commit.lane, &commit.partition))
        {
            let partition = &stray.partition;
            return Err(ConnectorError::retryable(format!(
                "{partition} is not assigned any more: nothing is committed"
            )));
        }
        if offsets.is_empty() {
            self.events
                .push_back(SourceEvent::Committed { id, result: Ok(()) });
            return Ok(());
        }
        let token = self.token();
        let slots = offsets.iter().map(|commit| CommitSlot {
            topic: &commit.partition.topic,
            partition: commit.partition.number,
            offset: commit.offset,
            metadata: commit.metadata.as_deref(),
        });
        native::commit(&self.connection()?.queue, token, slots)
            .map_err(|error| commit_error(&error))?;
        self.commits.insert(token, id);
        Ok(())
    }

    fn pause(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        self.lanes.set_paused(lanes, true);
        Ok(())
    }

    fn resume(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        self.lanes.set_paused(lanes, false);
        Ok(())
    }

    fn release(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        for lane in lanes {
            self.lanes.remove(*lane);
            if let Rebalance::Returning { waiting, .. } = &mut self.rebalance {
                waiting.remove(lane);
            }
        }
        self.give_back()
    }

    fn lag(&self) -> Vec<(Partition, i64)> {
        let connection = self.connection.as_ref();
        connection.map_or(Vec::new(), |connection| self.lanes.lag(&connection.client))
    }

    fn close(&mut self) {
        // Lanes that the engine never took hold the client as well.
        self.events.clear();
        let Some(Connection {
            queue,
            client,
            left,
        }) = self.connection.take()
        else {
            return;
        };
        drop((queue, client));
        // Until the partitions are counted nothing was joined that could be left.
        let joined = self.counting.take().is_none();
        if joined && left.recv_timeout(LEAVE_TIMEOUT).is_err() {
            tracing::warn!(
                "the consumer group was not left within {LEAVE_TIMEOUT:?}; its session will time out"
            );
        }
    }
}

fn commit_error(error: &ClientError) -> ConnectorError {
    let doing = "committing offsets";
    error
        .judge(Stage::Request, doing)
        .unwrap_or_else(|| ConnectorError::retryable(doing))
}

/// A line of librdkafka's log.
fn log(level: i32, facility: &str, text: &str) {
    // These say what an error event says too.
    let level = if matches!(facility, "FAIL" | "ERROR") {
        7
    } else {
        level
    };
    match level {
        ..=4 => tracing::warn!(target: "librdkafka", "{facility}: {text}"),
        5 | 6 => tracing::info!(target: "librdkafka", "{facility}: {text}"),
        _ => tracing::debug!(target: "librdkafka", "{facility}: {text}"),
    }
}

#[cfg(test)]
mod tests;
