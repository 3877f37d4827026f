//! The control plane: takes the client's events, answers rebalances, commits.
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
//!
//! # Pausing
//!
//! A paused lane hands out nothing; its queue stays as it is. librdkafka's own pause would throw away what was fetched
//! ahead (up to 64 MiB per partition) and fetch it again afterwards, at every cycle of a sink that is slower than the
//! source. Memory is bounded by the client's read-ahead either way.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rdkafka::consumer::Consumer;
use rdkafka::error::KafkaError;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use spate_runtime::error::ConnectorError;
use spate_runtime::record::Partition;
use spate_runtime::source::{Commit, LaneId, Source, SourceEvent, SourceLane};
use spate_runtime::time::Time;

use crate::client::Client;
use crate::config::Settings;
use crate::error::{ClientError, Code, Stage};
use crate::health::Health;
use crate::lane::Lane;
use crate::lanes::Lanes;
use crate::native::{self, Event, Queue, Slot};
use crate::progress::Progress;
use crate::start::{Start, StartLookup};

/// At most this many events of the client are taken in one poll.
const EVENTS_PER_POLL: usize = 256;

/// How long `close` waits until the group has been left, so that the other members need not wait for the session to time
/// out. A broker that does not answer is not waited for any longer.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

/// The Kafka source.
pub(crate) struct KafkaSource {
    settings: Settings,
    connection: Option<Connection>,
    lanes: Lanes,
    rebalance: Rebalance,
    events: VecDeque<SourceEvent>,
    health: Health,
    /// The requests under way by their token; commits of the engine with their number.
    commits: BTreeMap<usize, Option<u64>>,
    last_token: usize,
    now: Time,
}

struct Connection {
    queue: Queue,
    client: Arc<Client>,
    left: mpsc::Receiver<()>,
}

/// What the client waits for.
enum Rebalance {
    /// Nothing.
    None,
    /// The start offsets of given partitions.
    Starting { lookup: StartLookup, token: usize },
    /// The engine, to release the lanes of taken ones.
    Returning { partitions: Vec<Slot>, waiting: BTreeSet<LaneId> },
}

impl KafkaSource {
    /// A source that is not connected.
    pub(crate) fn new(settings: Settings) -> Self {
        let health = Health::new(settings.topics.clone(), settings.startup_timeout, settings.assignment_timeout);
        KafkaSource {
            settings,
            connection: None,
            lanes: Lanes::default(),
            rebalance: Rebalance::None,
            events: VecDeque::new(),
            health,
            commits: BTreeMap::new(),
            last_token: 0,
            now: Time::ZERO,
        }
    }

    fn connection(&self) -> Result<&Connection, ConnectorError> {
        self.connection.as_ref().ok_or_else(|| ConnectorError::fatal("the Kafka source is not started"))
    }

    fn token(&mut self) -> usize {
        self.last_token += 1;
        self.last_token
    }

    fn serve(&mut self, now: Time) -> Result<(), ConnectorError> {
        self.now = now;
        for _ in 0..EVENTS_PER_POLL {
            let Some(event) = self.connection.as_ref().and_then(|connection| connection.queue.poll()) else { break };
            self.take(event)?;
        }
        self.ask_for_starts()?;
        self.rewind_lanes()?;
        self.health.check(now)
    }

    fn take(&mut self, event: Event) -> Result<(), ConnectorError> {
        match event {
            Event::Assign(partitions) => self.given(partitions),
            Event::Revoke(partitions) => self.taken(partitions, false),
            Event::RebalanceFailed(error) => {
                // Unanswered, it would leave the client waiting; what is assigned cannot be trusted any more.
                let all = Vec::new();
                self.taken(all, true)?;
                self.report(&error)
            }
            Event::Error(error) => self.report(&error),
            Event::Log { level, facility, text } => {
                log(level, &facility, &text);
                Ok(())
            }
            Event::Leaked { topic, partition, offset } => self.leaked(&topic, partition, offset),
            Event::Committed { token, error } => {
                self.committed(token, error);
                Ok(())
            }
            Event::Found { token, result } => self.found(token, result),
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

    // ---- assignment ----

    fn given(&mut self, partitions: Vec<Slot>) -> Result<(), ConnectorError> {
        let client = &self.connection()?.client;
        let held = if client.is_cooperative() { self.lanes.of(&partitions) } else { self.lanes.all() };
        if !held.is_empty() {
            // Two lanes would read one queue, and neither in order.
            return Err(ConnectorError::fatal("the Kafka client gave partitions that it had not taken back before"));
        }
        if partitions.is_empty() {
            tracing::info!("no partition is assigned to this member of the group");
            return self.assign(Vec::new());
        }
        let lookup = StartLookup::new(partitions, self.settings.start_offset, &self.settings.group_id);
        self.rebalance = Rebalance::Starting { lookup, token: 0 };
        Ok(())
    }

    fn ask_for_starts(&mut self) -> Result<(), ConnectorError> {
        let (next, now) = (self.last_token + 1, self.now);
        let Some(connection) = &self.connection else { return Ok(()) };
        if let Rebalance::Starting { lookup, token } = &mut self.rebalance
            && let Some((what, partitions)) = lookup.due(now)
        {
            let Settings { group_id, read_committed, .. } = &self.settings;
            native::look_up(&connection.queue, next, what, group_id, partitions, *read_committed);
            *token = next;
            self.last_token = next;
        }
        Ok(())
    }

    fn found(&mut self, answered: usize, result: Result<Vec<Slot>, ClientError>) -> Result<(), ConnectorError> {
        let now = self.now;
        let starts = match &mut self.rebalance {
            Rebalance::Starting { lookup, token } if *token == answered => {
                let code = result.as_ref().err().map_or(Code::NO_OFFSET, |error| error.code);
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
        let refused = |what: String| ConnectorError::fatal(format!("the Kafka client refused an assignment: {what}"));
        let mut list = TopicPartitionList::with_capacity(starts.len());
        let mut lanes = Vec::with_capacity(starts.len());
        for start in &starts {
            let Start { topic, partition, offset, .. } = start;
            let queue = Queue::of_partition(&client, topic, *partition)
                .ok_or_else(|| refused(format!("{topic}/{partition} has no queue")))?;
            let progress = Arc::new(Progress::starting_at(*offset));
            lanes.push(Lane::new(self.lanes.next_id(), Partition::new(topic.as_str(), *partition), queue, progress));
            list.add_partition(topic, *partition)
                .set_offset(offset.map_or(Offset::Beginning, Offset::Offset))
                .map_err(|error| refused(error.to_string()))?;
        }
        let consumer = client.consumer();
        let accepted = if client.is_cooperative() { consumer.incremental_assign(&list) } else { consumer.assign(&list) };
        accepted.map_err(|error| refused(error.to_string()))?;
        self.rebalance = Rebalance::None;
        self.health.assigned();
        let mut commits = Vec::new();
        for (start, lane) in starts.iter().zip(&lanes) {
            self.lanes.add(lane.id(), lane.partition().clone(), lane.progress(), self.now);
            if let (true, Some(offset)) = (start.commit, start.offset) {
                let (lane, partition) = (lane.id(), lane.partition().clone());
                commits.push(Commit { lane, partition, offset, metadata: None });
            }
        }
        if !lanes.is_empty() {
            let lanes = lanes.into_iter().map(|lane| -> Box<dyn SourceLane> { Box::new(lane) }).collect();
            self.events.push_back(SourceEvent::Assigned(lanes));
        }
        if !commits.is_empty() {
            self.send_commit(None, &commits)?;
        }
        Ok(())
    }

    // ---- revocation ----

    fn taken(&mut self, partitions: Vec<Slot>, failed: bool) -> Result<(), ConnectorError> {
        let client = &self.connection()?.client;
        let lanes = if client.is_cooperative() && !failed { self.lanes.of(&partitions) } else { self.lanes.all() };
        let lost = failed || client.consumer().assignment_lost();
        // An assignment whose starts were still looked for is void.
        self.rebalance = Rebalance::Returning { partitions, waiting: lanes.clone() };
        if lanes.is_empty() {
            return self.give_back();
        }
        let lanes = lanes.into_iter().collect();
        self.events.push_back(if lost { SourceEvent::Lost(lanes) } else { SourceEvent::Revoking(lanes) });
        Ok(())
    }

    /// Answers the client once all lanes of the taken partitions are released.
    fn give_back(&mut self) -> Result<(), ConnectorError> {
        let Rebalance::Returning { partitions, waiting } = &self.rebalance else { return Ok(()) };
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
        answered.map_err(|error| ConnectorError::fatal(format!("the Kafka client refused to give partitions back: {error}")))
    }

    // ---- reading ----

    /// A record that a lane will not see. It cannot happen by design, see step 2 above; if it does, nothing is lost.
    fn leaked(&mut self, topic: &str, partition: i32, offset: i64) -> Result<(), ConnectorError> {
        let Some(lane) = self.lanes.find(topic, partition) else { return Ok(()) };
        if self.lanes.position(lane).is_some_and(|position| offset < position) {
            return Ok(());
        }
        tracing::warn!(topic, partition, offset, "a record came on the wrong queue and is fetched again");
        // Taking the queue again splits it off again.
        drop(Queue::of_partition(&self.connection()?.client, topic, partition));
        self.rewind(lane)
    }

    fn rewind_lanes(&mut self) -> Result<(), ConnectorError> {
        let Some(connection) = &self.connection else { return Ok(()) };
        for lane in self.lanes.to_rewind(&connection.client, self.now) {
            self.rewind(lane)?;
        }
        Ok(())
    }

    fn rewind(&mut self, lane: LaneId) -> Result<(), ConnectorError> {
        let result = self.lanes.rewind(lane, &self.connection()?.client);
        result.or_else(|error| self.report(&error))
    }

    // ---- commits ----

    fn send_commit(&mut self, id: Option<u64>, offsets: &[Commit]) -> Result<(), ConnectorError> {
        let token = self.token();
        let sent = native::commit(&self.connection()?.queue, token, offsets);
        match sent {
            Ok(()) => {
                self.commits.insert(token, id);
                Ok(())
            }
            Err(error) => Err(commit_error(&error)),
        }
    }

    fn committed(&mut self, token: usize, error: Option<ClientError>) {
        let result = error.map_or(Ok(()), |error| Err(commit_error(&error)));
        match self.commits.remove(&token) {
            Some(Some(id)) => self.events.push_back(SourceEvent::Committed { id, result }),
            Some(None) | None => {
                if let Err(error) = result {
                    tracing::warn!("the start offsets were not committed: {error}");
                }
            }
        }
    }
}

impl Source for KafkaSource {
    fn start(&mut self, now: Time) -> Result<(), ConnectorError> {
        let failed = |what: &str, error: &KafkaError| {
            ConnectorError::fatal(format!("{what}: {}", self.settings.redact(&error.to_string())))
        };
        let (client, left) =
            Client::create(self.settings.client()).map_err(|error| failed("the Kafka client was not made", &error))?;
        let topics: Vec<&str> = self.settings.topics.iter().map(String::as_str).collect();
        client.consumer().subscribe(&topics).map_err(|error| failed("the topics were not subscribed", &error))?;
        let queue = Queue::of_consumer(&client)
            .ok_or_else(|| ConnectorError::fatal("the Kafka client has no consumer group: check `source.group_id`"))?;
        self.connection = Some(Connection { queue, client, left });
        self.now = now;
        self.health.waits(now);
        Ok(())
    }

    fn poll(&mut self, now: Time) -> Result<Option<SourceEvent>, ConnectorError> {
        if self.events.is_empty() {
            self.serve(now)?;
        }
        Ok(self.events.pop_front())
    }

    fn commit(&mut self, id: u64, offsets: &[Commit]) -> Result<(), ConnectorError> {
        // A broker takes any partition from a member; another member's offset must not be set back.
        if let Some(stray) = offsets.iter().find(|commit| !self.lanes.holds(commit.lane, &commit.partition)) {
            let partition = &stray.partition;
            return Err(ConnectorError::retryable(format!("{partition} is not assigned any more: nothing is committed")));
        }
        if offsets.is_empty() {
            self.events.push_back(SourceEvent::Committed { id, result: Ok(()) });
            return Ok(());
        }
        self.send_commit(Some(id), offsets)
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

    fn close(&mut self) {
        // Lanes that the engine never took hold the client as well.
        self.events.clear();
        let Some(Connection { queue, client, left }) = self.connection.take() else { return };
        drop((queue, client));
        if left.recv_timeout(LEAVE_TIMEOUT).is_err() {
            tracing::warn!("the consumer group was not left within {LEAVE_TIMEOUT:?}; its session will time out");
        }
    }
}

fn commit_error(error: &ClientError) -> ConnectorError {
    let doing = "committing offsets";
    error.judge(Stage::Request, doing).unwrap_or_else(|| ConnectorError::retryable(doing))
}

fn to_list(partitions: &[Slot]) -> Result<TopicPartitionList, KafkaError> {
    let mut list = TopicPartitionList::with_capacity(partitions.len());
    for partition in partitions {
        list.add_partition(&partition.topic, partition.partition).set_offset(Offset::Invalid)?;
    }
    Ok(list)
}

/// A line of librdkafka's log.
fn log(level: i32, facility: &str, text: &str) {
    // These say what an error event says too.
    let level = if matches!(facility, "FAIL" | "ERROR") { 7 } else { level };
    match level {
        ..=4 => tracing::warn!(target: "librdkafka", "{facility}: {text}"),
        5 | 6 => tracing::info!(target: "librdkafka", "{facility}: {text}"),
        _ => tracing::debug!(target: "librdkafka", "{facility}: {text}"),
    }
}

#[cfg(test)]
mod tests;
