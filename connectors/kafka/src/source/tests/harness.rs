//! A member of a group: the source with its lanes, driven by one loop as the engine would.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use spate_runtime::config::Config;
use spate_runtime::error::ConnectorError;
use spate_runtime::record::Partition;
use spate_runtime::source::{Commit, Fetched, LaneId, Source, SourceEvent, SourceLane};
use spate_runtime::time::Time;
use spate_test::services::{EmbeddedKafka, Producer, Record};

use crate::config::Settings;
use crate::source::KafkaSource;

/// How long anything may take before the test is given up; on an idle machine all take a few seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(240);

/// How long a member waits for its first assignment where the test does not say: long enough for a busy machine, and less than
/// [`PATIENCE`], for its error tells more than the test's.
pub(super) const STARTUP: Duration = Duration::from_secs(200);
/// The same as a setting.
const STARTUP_TIMEOUT: &str = "  startup_timeout: 200s";

/// A session that no busy machine lets expire, for a group that nobody leaves and nobody joins a second time; see [`settings`].
pub(super) const STEADY: &str = "    session.timeout.ms: 60000\n    max.poll.interval.ms: 60000\n";

/// How long [`pair`] waits for a group before it makes another.
const PAIR_PATIENCE: Duration = Duration::from_secs(30);
/// How many groups [`pair`] makes.
const PAIR_GROUPS: usize = 10;

/// A record as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Got {
    pub(super) lane: LaneId,
    pub(super) topic: Arc<str>,
    pub(super) partition: i32,
    pub(super) offset: i64,
    pub(super) key: Option<Vec<u8>>,
    pub(super) payload: Option<Vec<u8>>,
    pub(super) timestamp: Option<i64>,
    pub(super) headers: Vec<(String, Option<Vec<u8>>)>,
}

/// What happened to the member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    Assigned(Vec<i32>),
    Revoking(Vec<i32>),
    Lost(Vec<i32>),
    Committed(u64, Result<(), String>),
    Trouble(String),
}

pub(super) struct Member {
    pub(super) source: KafkaSource,
    pub(super) lanes: Vec<Box<dyn SourceLane>>,
    pub(super) got: Vec<Got>,
    pub(super) seen: Vec<Seen>,
    /// Up to where lanes have passed offsets without a record.
    pub(super) passed: BTreeMap<LaneId, i64>,
    /// The first fatal error.
    pub(super) failed: Option<ConnectorError>,
    /// Whether the test itself sent records to the wrong queue.
    pub(super) misrouted: bool,
    /// Reads nothing while set.
    pub(super) idle: bool,
    /// Lanes to release with the commit of this number.
    releasing: Vec<(u64, Vec<LaneId>)>,
    partitions: BTreeMap<LaneId, Partition>,
    next_commit: u64,
    born: Instant,
    /// How much more time has passed for the source than for the test.
    lapsed: Duration,
}

static NAMES: AtomicU32 = AtomicU32::new(0);

impl Drop for Member {
    fn drop(&mut self) {
        if !thread::panicking() && !self.misrouted {
            assert_eq!(self.source.leaks, 0, "records came on the wrong queue");
        }
    }
}

/// A name that no other test uses.
pub(super) fn unique(prefix: &str) -> String {
    format!("{prefix}-{}", NAMES.fetch_add(1, Ordering::Relaxed))
}

/// A broker with a topic.
pub(super) fn broker(partitions: i32) -> (EmbeddedKafka, String) {
    let kafka = EmbeddedKafka::start(1).expect("the embedded broker starts");
    let topic = unique("topic");
    kafka
        .create_topic(&topic, partitions)
        .expect("the topic is created");
    (kafka, topic)
}

/// Produces `count` records per partition whose payload is `partition/number`, counted from `from`.
pub(super) fn produce(kafka: &EmbeddedKafka, topic: &str, partitions: i32, from: i64, count: i64) {
    send(kafka.producer(), topic, partitions, from, count);
}

/// The same with any producer.
pub(super) fn send(producer: &Producer, topic: &str, partitions: i32, from: i64, count: i64) {
    for number in from..from + count {
        for partition in 0..partitions {
            let payload = format!("{partition}/{number}");
            let (partition, payload) = (Some(partition), Some(payload.as_bytes()));
            producer
                .send(Record {
                    topic,
                    partition,
                    payload,
                    ..Record::default()
                })
                .expect("the record is taken");
        }
    }
    producer
        .flush(PATIENCE)
        .expect("all records are acknowledged");
}

/// Lines of `more` that are indented by four are settings of librdkafka, the others of the section.
///
/// The embedded broker waits for one second less than a session for the members of every rebalance but a group's first, so
/// sessions are short; `apache/mod.rs` makes them long. If it is late by that second, it takes the member that waits for it for
/// dead, and never answers: the member asks again three seconds after the longest time between two polls, so that is short too.
pub(super) fn settings(brokers: &str, topic: &str, group: &str, more: &str) -> Settings {
    let (client, section): (Vec<&str>, Vec<&str>) =
        more.lines().partition(|line| line.starts_with("    "));
    let mut client = client.join("\n");
    let mut short = vec![("heartbeat.interval.ms", 200)];
    if !client.contains("session.timeout.ms") {
        short.extend([
            ("session.timeout.ms", 6_000),
            ("max.poll.interval.ms", 30_000),
        ]);
    }
    for (key, value) in short {
        if !more.contains("group_protocol: consumer") && !client.contains(key) {
            client.push_str(&format!("\n    {key}: {value}"));
        }
    }
    let mut section = section.join("\n");
    if !section.contains("startup_timeout") {
        section.push('\n');
        section.push_str(STARTUP_TIMEOUT);
    }
    let what = if topic.starts_with('^') {
        format!("topic_pattern: '{topic}'")
    } else {
        format!("topics: [{topic}]")
    };
    let yaml = format!(
        "source:\n  brokers: '{brokers}'\n  {what}\n  group_id: {group}\n{section}\n  rdkafka:\n{client}\n"
    );
    let config = Config::from_yaml(&yaml).expect("it is YAML");
    Settings::read(&config.section("source")).expect("the section is valid")
}

impl Member {
    /// A member that has begun to join; `more` as for [`settings`].
    pub(super) fn join(kafka: &EmbeddedKafka, topic: &str, group: &str, more: &str) -> Member {
        Member::start(settings(kafka.bootstrap_servers(), topic, group, more))
    }

    pub(super) fn start(settings: Settings) -> Member {
        let mut source = KafkaSource::new(settings);
        source.start(Time::ZERO).expect("the source starts");
        Member {
            source,
            lanes: Vec::new(),
            got: Vec::new(),
            seen: Vec::new(),
            passed: BTreeMap::new(),
            failed: None,
            misrouted: false,
            idle: false,
            releasing: Vec::new(),
            partitions: BTreeMap::new(),
            next_commit: 0,
            born: Instant::now(),
            lapsed: Duration::ZERO,
        }
    }

    /// Lets so much time pass for the source at once: a test of a timeout first waits for what must be known by then, however
    /// long that takes.
    pub(super) fn lapse(&mut self, time: Duration) {
        self.lapsed += time;
    }

    /// Polls the source once and reads a batch of each lane.
    pub(super) fn turn(&mut self) {
        let now = Time::ZERO.after(self.born.elapsed() + self.lapsed);
        match self.source.poll(now) {
            Ok(Some(event)) => self.take(event),
            Ok(None) => {}
            Err(error) => self.fail(error),
        }
        if !self.idle {
            for index in 0..self.lanes.len() {
                self.read(index);
            }
        }
    }

    fn fail(&mut self, error: ConnectorError) {
        if error.is_retryable() {
            self.seen.push(Seen::Trouble(error.message));
        } else {
            self.failed.get_or_insert(error);
        }
    }

    fn read(&mut self, index: usize) {
        let Member {
            lanes, got, passed, ..
        } = self;
        let lane = &mut lanes[index];
        match lane.fetch(97) {
            Ok(Fetched::Batch) => {
                let (id, topic) = (lane.id(), Arc::clone(&lane.partition().topic));
                lane.read(&mut |batch| {
                    let last = batch.records().last().expect("a batch has records");
                    assert!(batch.next_offset() > last.offset());
                    if batch.next_offset() > last.offset() + 1 {
                        passed.insert(id, batch.next_offset());
                    }
                    got.extend(batch.records().iter().map(|record| {
                        Got {
                            lane: id,
                            topic: Arc::clone(&topic),
                            partition: batch.partition(),
                            offset: record.offset(),
                            key: record.key().map(<[u8]>::to_vec),
                            payload: (!record.is_tombstone()).then(|| record.payload().to_vec()),
                            timestamp: batch.meta(record).timestamp(),
                            headers: batch
                                .meta(record)
                                .headers()
                                .iter()
                                .map(|(name, value)| (name.to_owned(), value.map(<[u8]>::to_vec)))
                                .collect(),
                        }
                    }));
                });
                lane.finish();
            }
            Ok(Fetched::Empty) => {}
            Ok(Fetched::Passed(next)) => {
                self.passed.insert(lane.id(), next);
            }
            Ok(Fetched::End) => panic!("a Kafka lane has no end"),
            Err(error) => self.fail(error),
        }
    }

    fn take(&mut self, event: SourceEvent) {
        match event {
            SourceEvent::Assigned(lanes) => {
                let mut numbers: Vec<i32> =
                    lanes.iter().map(|lane| lane.partition().number).collect();
                numbers.sort_unstable();
                self.seen.push(Seen::Assigned(numbers));
                self.partitions.extend(
                    lanes
                        .iter()
                        .map(|lane| (lane.id(), lane.partition().clone())),
                );
                self.lanes.extend(lanes);
            }
            SourceEvent::Revoking(lanes) => {
                self.seen.push(Seen::Revoking(self.numbers(&lanes)));
                self.lanes.retain(|lane| !lanes.contains(&lane.id()));
                let commit = self.commit(&lanes);
                self.releasing.push((commit, lanes));
            }
            SourceEvent::Lost(lanes) => {
                self.seen.push(Seen::Lost(self.numbers(&lanes)));
                self.lanes.retain(|lane| !lanes.contains(&lane.id()));
                self.source
                    .release(&lanes)
                    .expect("lost lanes are released");
            }
            SourceEvent::Committed { id, result } => {
                self.seen
                    .push(Seen::Committed(id, result.map_err(|error| error.message)));
                let done = self.releasing.iter().position(|(commit, _)| *commit == id);
                if let Some((_, lanes)) = done.map(|index| self.releasing.remove(index)) {
                    self.source
                        .release(&lanes)
                        .expect("revoked lanes are released");
                }
            }
            SourceEvent::Ended => panic!("a Kafka source has no end"),
            SourceEvent::Trouble(error) => self.seen.push(Seen::Trouble(error.message)),
        }
    }

    fn numbers(&self, lanes: &[LaneId]) -> Vec<i32> {
        lanes
            .iter()
            .map(|lane| self.partitions[lane].number)
            .collect()
    }

    /// Begins to commit what these lanes have read; its number.
    pub(super) fn commit(&mut self, lanes: &[LaneId]) -> u64 {
        let offsets: Vec<Commit> = lanes
            .iter()
            .filter_map(|lane| {
                let last = self.got.iter().rev().find(|got| got.lane == *lane);
                let next = last.map(|last| last.offset + 1);
                Some(Commit {
                    lane: *lane,
                    partition: self.partitions[lane].clone(),
                    offset: next.max(self.passed.get(lane).copied())?,
                    metadata: None,
                })
            })
            .collect();
        self.next_commit += 1;
        self.source
            .commit(self.next_commit, &offsets)
            .expect("the commit begins");
        self.next_commit
    }

    /// Commits what all lanes have read and waits for the end of it. While the group rebalances the broker refuses, and the
    /// commit is made again, as the engine does.
    pub(super) fn commit_all(&mut self) {
        const OF_A_REBALANCE: [&str; 3] = [
            "REBALANCE_IN_PROGRESS",
            "ILLEGAL_GENERATION",
            "UNKNOWN_MEMBER_ID",
        ];
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let lanes: Vec<LaneId> = self.lanes.iter().map(|lane| lane.id()).collect();
            let number = self.commit(&lanes);
            self.idle = true;
            self.until("the commit ends", |member| {
                member.committed(number).is_some()
            });
            self.idle = false;
            match self.committed(number) {
                Some(Err(refused)) if OF_A_REBALANCE.iter().any(|code| refused.contains(code)) => {
                    thread::sleep(Duration::from_millis(100));
                }
                ended => return assert_eq!(ended, Some(Ok(()))),
            }
        }
        panic!("the group does not end to rebalance");
    }

    /// The partitions of the lanes that it has.
    #[cfg(feature = "it")]
    pub(super) fn numbers_held(&self) -> Vec<i32> {
        let mut numbers: Vec<i32> = self
            .lanes
            .iter()
            .map(|lane| lane.partition().number)
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// The lag by partition number.
    pub(super) fn lag(&self) -> Vec<(i32, i64)> {
        let lag = self.source.lag().into_iter();
        lag.map(|(partition, lag)| (partition.number, lag))
            .collect()
    }

    pub(super) fn committed(&self, number: u64) -> Option<Result<(), String>> {
        self.seen.iter().find_map(|seen| match seen {
            Seen::Committed(id, result) if *id == number => Some(result.clone()),
            _ => None,
        })
    }

    /// Turns until `done`, or until the test is given up.
    pub(super) fn until(&mut self, what: &str, done: impl Fn(&Member) -> bool) {
        until(what, &mut [self], |members| done(members[0]));
    }

    /// Whether a retryable error with these words was told.
    pub(super) fn was_told(&self, words: &str) -> bool {
        let told = |seen: &Seen| matches!(seen, Seen::Trouble(text) if text.contains(words));
        self.seen.iter().any(told)
    }

    /// Turns until a fatal error came up.
    pub(super) fn failure(&mut self) -> String {
        let deadline = Instant::now() + PATIENCE;
        while self.failed.is_none() {
            assert!(
                Instant::now() < deadline,
                "no fatal error came up; seen: {:?}",
                self.seen
            );
            self.turn();
            thread::sleep(Duration::from_millis(1));
        }
        self.failed.as_ref().expect("it failed").message.clone()
    }

    pub(super) fn until_assigned(&mut self) {
        self.until("partitions are assigned", |member| !member.lanes.is_empty());
    }

    /// Ends the member as a drain does: what was read is committed, lanes go, the group is left.
    pub(super) fn leave(mut self) -> Vec<Got> {
        if !self.lanes.is_empty() {
            self.commit_all();
        }
        self.drop_lanes();
        self.source.close();
        std::mem::take(&mut self.got)
    }

    pub(super) fn drop_lanes(&mut self) {
        self.lanes.clear();
    }

    /// Asserts that exactly these records of [`produce`] arrived, each once and in order.
    #[track_caller]
    pub(super) fn assert_got(&self, partition: i32, from: i64, count: i64) {
        assert_got(&self.got, partition, from, count);
    }

    pub(super) fn count(&self) -> usize {
        self.got.len()
    }
}

/// Asserts that exactly these records of [`produce`] arrived, each once and in order.
#[track_caller]
pub(super) fn assert_got(got: &[Got], partition: i32, from: i64, count: i64) {
    let of_partition = got.iter().filter(|got| got.partition == partition);
    let payloads = of_partition.map(|got| {
        String::from_utf8_lossy(got.payload.as_deref().unwrap_or_default()).into_owned()
    });
    let mut arrived = 0;
    for (index, payload) in (0..).zip(payloads) {
        assert_eq!(
            payload,
            format!("{partition}/{}", from + index),
            "the {index}th record of partition {partition}"
        );
        arrived = index + 1;
    }
    assert_eq!(arrived, count, "records of partition {partition}");
}

/// What arrived, each record once and sorted by its offset: for a broker that refuses commits during a rebalance.
pub(super) fn deduplicated(mut got: Vec<Got>) -> Vec<Got> {
    got.sort_by_key(|got| (got.topic.clone(), got.partition, got.offset));
    got.dedup_by_key(|got| (got.topic.clone(), got.partition, got.offset));
    got
}

/// Two members of a new group that share the topic's partitions since the group's first assignment.
///
/// The embedded broker makes a member wait for almost a session if it joins too late for the first assignment, or if its
/// leader's answer overtakes its own. Such a group does not come together in time and is given up for another one. What a
/// member reports meanwhile still fails the test.
#[track_caller]
pub(super) fn pair(kafka: &EmbeddedKafka, topic: &str, more: &str) -> (Member, Member) {
    let mut given_up = Vec::new();
    for _ in 0..PAIR_GROUPS {
        let group = unique("group");
        let join = || Member::join(kafka, topic, &group, more);
        let (mut one, mut two) = (join(), join());
        let end = Instant::now() + PAIR_PATIENCE;
        while Instant::now() < end {
            for member in [&mut one, &mut two] {
                member.turn();
                assert!(member.failed.is_none(), "a pair: {:?}", member.failed);
            }
            if !one.lanes.is_empty() && !two.lanes.is_empty() {
                return (one, two);
            }
            thread::sleep(Duration::from_millis(1));
        }
        given_up.push([std::mem::take(&mut one.seen), std::mem::take(&mut two.seen)]);
    }
    panic!("no group of two came together; seen: {given_up:?}");
}

/// Turns all members until `done`, or until the test is given up.
pub(super) fn until(
    what: &str,
    members: &mut [&mut Member],
    done: impl Fn(&[&mut Member]) -> bool,
) {
    let deadline = Instant::now() + PATIENCE;
    while !done(members) {
        for member in members.iter_mut() {
            member.turn();
            assert!(member.failed.is_none(), "{what}: {:?}", member.failed);
        }
        if Instant::now() > deadline {
            let seen: Vec<_> = members
                .iter()
                .map(|member| (&member.seen, member.count()))
                .collect();
            panic!("given up waiting: {what}; seen: {seen:?}");
        }
        thread::sleep(Duration::from_millis(1));
    }
}
