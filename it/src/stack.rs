//! The servers of one test, what was produced into them, and the comparisons with the table and the commits.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use spate_test::services::{
    ApacheKafka, ClickHouse, Database, EmbeddedKafka, Producer, Record, SchemaRegistry, Service,
    Topic, committed_offsets, create_topic, require,
};

use crate::sample::Sample;
use crate::settings::Settings;
use crate::wait::{Watched, eventually};

/// The topic; every test has a broker, or a topic, of its own.
const TOPIC: &str = "orders";

/// The schema of the pipeline, as the registry has it.
const SCHEMA: &str = include_str!("../schemas/order.avsc");

/// The schema's id in the registry.
const SCHEMA_ID: u32 = 7;

/// At most this many examples in the text of a failure.
const EXAMPLES: usize = 5;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredRow {
    /// The partition of its record.
    pub partition: i32,
    /// The offset of its record.
    pub offset: i64,
    /// All columns, tab-separated, as [`Sample::row`] has them.
    pub text: String,
}

/// The servers, and what was produced.
pub struct Stack<'a> {
    /// The schema registry; it knows the schema.
    pub registry: SchemaRegistry,
    /// The database with the table `orders`.
    pub db: Database<'a>,
    // Before the broker: it says goodbye to one that still answers.
    producer: Producer,
    embedded: Option<EmbeddedKafka>,
    brokers: String,
    topic: String,
    group: String,
    /// By partition, the next offset.
    ends: Vec<i64>,
    /// The row that a record must become, by partition and offset; records without one are not in it.
    expected: BTreeMap<(i32, i64), String>,
}

impl Stack<'static> {
    /// An embedded broker with a topic of so many partitions, and a database on the shared ClickHouse. `None` when
    /// `SPATE_SKIP` turns one of them off.
    ///
    /// # Panics
    /// When a server cannot be had, with the command that installs what is missing.
    #[must_use]
    pub fn start(partitions: i32) -> Option<Stack<'static>> {
        Stack::with_clickhouse(ClickHouse::required()?, partitions)
    }

    /// A topic of its own on the shared Apache Kafka, and a database on the shared ClickHouse. `None` when `SPATE_SKIP`
    /// turns one of them off.
    ///
    /// # Panics
    /// As [`Stack::start`].
    #[must_use]
    pub fn apache(partitions: i32) -> Option<Stack<'static>> {
        Stack::apache_with_clickhouse(ClickHouse::required()?, partitions)
    }
}

impl<'a> Stack<'a> {
    /// A topic of its own on the shared Apache Kafka, and a database on `server`. `None` when `SPATE_SKIP` turns the broker
    /// off.
    ///
    /// # Panics
    /// As [`Stack::start`].
    #[must_use]
    pub fn apache_with_clickhouse(server: &'a ClickHouse, partitions: i32) -> Option<Stack<'a>> {
        let kafka = ApacheKafka::required()?;
        let topic = format!("orders-{:016x}", fastrand::u64(..));
        create_topic(kafka.bootstrap_servers(), &Topic::new(&topic, partitions)).expect("a topic");
        Some(Stack::on(
            kafka.bootstrap_servers().to_owned(),
            topic,
            partitions,
            server,
        ))
    }

    /// An embedded broker, and a database on `server`. `None` when `SPATE_SKIP` turns the broker off.
    ///
    /// # Panics
    /// When the broker cannot be started.
    #[must_use]
    pub fn with_clickhouse(server: &'a ClickHouse, partitions: i32) -> Option<Stack<'a>> {
        require(Service::Kafka)?;
        let kafka = EmbeddedKafka::start(1).expect("an embedded broker");
        kafka.create_topic(TOPIC, partitions).expect("a topic");
        let brokers = kafka.bootstrap_servers().to_owned();
        let stack = Stack::on(brokers, TOPIC.to_owned(), partitions, server);
        Some(Stack {
            embedded: Some(kafka),
            ..stack
        })
    }

    fn on(brokers: String, topic: String, partitions: i32, server: &'a ClickHouse) -> Stack<'a> {
        let db = server.create_database("it").expect("a database");
        db.execute(include_str!("../sql/orders.sql"))
            .expect("a table");
        let registry = SchemaRegistry::start().expect("a registry");
        registry
            .register_with_id("orders-value", SCHEMA_ID, SCHEMA)
            .expect("a schema");
        let partitions = usize::try_from(partitions).expect("a number of partitions");
        Stack {
            registry,
            db,
            producer: Producer::connect(&brokers).expect("a producer"),
            embedded: None,
            brokers,
            group: format!("{topic}-etl"),
            topic,
            ends: vec![0; partitions],
            expected: BTreeMap::new(),
        }
    }

    /// The embedded broker.
    ///
    /// # Panics
    /// When this stack has Apache Kafka.
    #[must_use]
    pub fn kafka(&self) -> &EmbeddedKafka {
        self.embedded.as_ref().expect("an embedded broker")
    }

    /// What the source connects to.
    #[must_use]
    pub fn brokers(&self) -> &str {
        &self.brokers
    }

    /// The topic's name.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// The registry's id of the schema.
    #[must_use]
    pub fn schema_id(&self) -> u32 {
        SCHEMA_ID
    }

    /// A configuration with short intervals, so that outages and commits of a test take little time.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let server = self.db.server();
        Settings::default()
            .set("pipeline.threads", 2)
            .set("pipeline.pin", false)
            .set("checkpoint.interval", "100ms")
            .set("source.brokers", format!("[\"{}\"]", self.brokers))
            .set("source.topics", format!("[{}]", self.topic))
            .set("source.group_id", &self.group)
            // As long as a busy machine may need; a test that is about one of them has its own.
            .set("source.startup_timeout", "150s")
            .set("pipeline.startup_timeout", "150s")
            .set("checkpoint.drain_timeout", "150s")
            // The shortest session that brokers take: a killed member's partitions are free again after it. An embedded broker
            // that is held up for a second takes a member that waits for it for dead, and never answers: the member asks again
            // soon after the longest time between two polls.
            .set(
                "source.rdkafka",
                "{session.timeout.ms: 12000, max.poll.interval.ms: 30000, heartbeat.interval.ms: 500, \
                 reconnect.backoff.max.ms: 500}",
            )
            .set("deserializer.registry.url", format!("\"{}\"", self.registry.url()))
            .set("sink.url", format!("\"{}\"", server.url()))
            .set("sink.user", server.user())
            .set("sink.password", format!("\"{}\"", server.password()))
            .set("sink.database", self.db.name())
            .set("sink.table", "orders")
            .set("sink.batch.linger", "50ms")
            .set("sink.chunk.linger", "20ms")
            .set("sink.retry.initial", "50ms")
            .set("sink.retry.max", "200ms")
    }

    // ---- producing ----

    /// Produces the orders of these numbers, spread over the partitions in turn, and waits until the broker has them.
    ///
    /// # Panics
    /// When the broker does not take them.
    pub fn orders(&mut self, numbers: Range<u64>) {
        let partitions = self.ends.len() as u64;
        for n in numbers {
            let partition = i32::try_from(n % partitions).unwrap_or_default();
            self.queue_order(partition, &Sample::nth(n));
        }
        self.flush();
    }

    /// Produces the orders of these numbers as [`Stack::orders`] does, each with a note of up to `note` characters. The rows
    /// that they become are not kept for a comparison: there may be more of them than fit into memory.
    ///
    /// # Panics
    /// As [`Stack::orders`].
    pub fn many_orders(&mut self, numbers: Range<u64>, note: u64) {
        let partitions = self.ends.len() as u64;
        for n in numbers {
            let partition = i32::try_from(n % partitions).unwrap_or_default();
            let length = usize::try_from(n * 7919 % (note + 1)).unwrap_or_default();
            let order = Sample {
                note: Some("x".repeat(length)),
                ..Sample::nth(n)
            };
            self.queue(partition, Some(&order.framed(SCHEMA_ID)));
        }
        self.flush();
    }

    /// Produces these orders into one partition; each must become a row.
    ///
    /// # Panics
    /// As [`Stack::orders`].
    pub fn orders_into(&mut self, partition: i32, orders: &[Sample]) {
        for order in orders {
            self.queue_order(partition, order);
        }
        self.flush();
    }

    /// Produces a record that must not become a row; its offset.
    ///
    /// # Panics
    /// As [`Stack::orders`].
    pub fn no_row(&mut self, partition: i32, payload: Option<&[u8]>) -> i64 {
        let offset = self.queue(partition, payload);
        self.flush();
        offset
    }

    /// Produces records that must not become rows, by partition and payload.
    ///
    /// # Panics
    /// As [`Stack::orders`].
    pub fn no_rows(&mut self, records: impl IntoIterator<Item = (i32, Vec<u8>)>) {
        for (partition, payload) in records {
            self.queue(partition, Some(&payload));
        }
        self.flush();
    }

    fn queue_order(&mut self, partition: i32, order: &Sample) {
        let offset = self.queue(partition, Some(&order.framed(SCHEMA_ID)));
        self.expected
            .insert((partition, offset), order.row(partition, offset));
    }

    fn queue(&mut self, partition: i32, payload: Option<&[u8]>) -> i64 {
        let record = Record {
            topic: &self.topic,
            partition: Some(partition),
            payload,
            ..Record::default()
        };
        self.producer.send(record).expect("room for a record");
        let end = &mut self.ends[usize::try_from(partition).expect("a partition")];
        *end += 1;
        *end - 1
    }

    fn flush(&self) {
        self.producer
            .flush(Duration::from_secs(240))
            .expect("the broker takes the records");
    }

    /// By partition, the offset behind the last record.
    #[must_use]
    pub fn ends(&self) -> &[i64] {
        &self.ends
    }

    /// How many rows there must be.
    #[must_use]
    pub fn expected_rows(&self) -> u64 {
        self.expected.len() as u64
    }

    // ---- what is there ----

    /// The number of rows, doubled ones included.
    ///
    /// # Panics
    /// When ClickHouse does not answer.
    #[must_use]
    pub fn count(&self) -> u64 {
        let text = self
            .db
            .query("SELECT count() FROM orders")
            .expect("a count");
        text.parse().expect("a number")
    }

    /// All rows, by partition and offset.
    ///
    /// # Panics
    /// When ClickHouse does not answer.
    #[must_use]
    pub fn rows(&self) -> Vec<StoredRow> {
        let sql = "SELECT id, part, off, region, note, total_cents, toUnixTimestamp64Milli(created_at), items \
                   FROM orders ORDER BY part, off FORMAT TSV";
        let text = self.db.query(sql).expect("the rows");
        let row = |line: &str| {
            let mut columns = line.split('\t').skip(1);
            let mut number = || {
                columns
                    .next()
                    .expect("a column")
                    .parse::<i64>()
                    .expect("a number")
            };
            let partition = i32::try_from(number()).expect("a partition");
            StoredRow {
                partition,
                offset: number(),
                text: line.to_owned(),
            }
        };
        text.lines().map(row).collect()
    }

    /// By partition, the offset that the group has committed; 0 where it has not.
    ///
    /// # Panics
    /// When the broker does not answer.
    #[must_use]
    pub fn committed(&self) -> Vec<i64> {
        let partitions = i32::try_from(self.ends.len()).unwrap_or_default();
        let found = committed_offsets(&self.brokers, &self.group, &self.topic, partitions)
            .expect("the committed offsets");
        found
            .into_iter()
            .map(|offset| offset.unwrap_or(0))
            .collect()
    }

    /// Waits until the table has every row that it must have, or more.
    ///
    /// # Panics
    /// As [`Stack::wait_rows`].
    pub fn wait_stored(&self, pipeline: &mut impl Watched) {
        self.wait_rows(self.expected_rows(), pipeline);
    }

    /// Waits until the table has so many rows, or more; as long as it takes, if it goes on.
    ///
    /// # Panics
    /// When the pipeline ends before, or nothing is stored for [`LIMIT`](crate::LIMIT).
    pub fn wait_rows(&self, rows: u64, pipeline: &mut impl Watched) {
        let mut stored = self.count();
        while stored < rows {
            let what = format!("{rows} rows, and more than {stored}");
            stored = pipeline.until(&what, || Some(self.count()).filter(|now| *now > stored));
        }
    }

    /// Waits until everything that was produced is committed; as long as it takes, if it goes on.
    ///
    /// # Panics
    /// When the pipeline ends before, or nothing is committed for [`LIMIT`](crate::LIMIT).
    pub fn wait_committed(&self, pipeline: &mut impl Watched) {
        let mut committed = self.committed();
        while committed != self.ends {
            let what = format!("the commit of {:?}, and more than {committed:?}", self.ends);
            committed = pipeline.until(&what, || {
                Some(self.committed()).filter(|now| *now != committed)
            });
        }
    }

    /// Waits until ClickHouse answers.
    ///
    /// # Panics
    /// When the time is over.
    pub fn wait_clickhouse(&self) {
        eventually("an answer of ClickHouse", || self.db.query("SELECT 1").ok());
    }

    // ---- what must be true ----

    /// Every row that must be there is there exactly once, with the right values, and no other is.
    ///
    /// # Panics
    /// When that is not so.
    pub fn assert_every_row_once(&self) {
        let difference = self.difference();
        assert!(
            difference.is_none_but_doubled() && difference.doubled.is_empty(),
            "{difference}"
        );
    }

    /// Every row that must be there is there at least once, with the right values, and no other is.
    ///
    /// # Panics
    /// When that is not so.
    pub fn assert_every_row(&self) {
        let difference = self.difference();
        assert!(difference.is_none_but_doubled(), "{difference}");
    }

    /// Nothing is committed whose rows are not in the table, and everything in the table is right; the committed offsets.
    ///
    /// # Panics
    /// When that is not so.
    pub fn assert_committed_is_stored(&self) -> Vec<i64> {
        // In this order: what is stored in between may be committed in between.
        let committed = self.committed();
        let mut difference = self.difference();
        difference
            .missing
            .retain(|(partition, offset)| *offset < committed[*partition as usize]);
        assert!(
            difference.is_none_but_doubled(),
            "committed {committed:?}, {difference}"
        );
        committed
    }

    fn difference(&self) -> Difference {
        let rows = self.rows();
        let mut found: BTreeMap<(i32, i64), u64> = BTreeMap::new();
        let mut difference = Difference::default();
        for row in rows {
            let key = (row.partition, row.offset);
            match self.expected.get(&key) {
                None => difference.unexpected.push(row.text),
                Some(expected) if *expected != row.text => {
                    difference.wrong.push((expected.clone(), row.text))
                }
                Some(_) => *found.entry(key).or_default() += 1,
            }
        }
        difference.missing = self
            .expected
            .keys()
            .filter(|key| !found.contains_key(key))
            .copied()
            .collect();
        difference.doubled = found
            .into_iter()
            .filter(|(_, count)| *count > 1)
            .map(|(key, _)| key)
            .collect();
        difference
    }
}

/// How table and expectation differ.
#[derive(Debug, Default)]
struct Difference {
    missing: Vec<(i32, i64)>,
    doubled: Vec<(i32, i64)>,
    wrong: Vec<(String, String)>,
    unexpected: Vec<String>,
}

impl Difference {
    fn is_none_but_doubled(&self) -> bool {
        self.missing.is_empty() && self.wrong.is_empty() && self.unexpected.is_empty()
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn some<T: std::fmt::Debug>(
            f: &mut std::fmt::Formatter<'_>,
            what: &str,
            all: &[T],
        ) -> std::fmt::Result {
            write!(f, "{what}: {}", all.len())?;
            match all {
                [] => writeln!(f),
                all => writeln!(f, ", the first {:?}", &all[..all.len().min(EXAMPLES)]),
            }
        }
        writeln!(f, "table and records differ (partition, offset):")?;
        some(f, "missing", &self.missing)?;
        some(f, "doubled", &self.doubled)?;
        some(f, "wrong (expected, found)", &self.wrong)?;
        some(f, "unexpected", &self.unexpected)
    }
}
