//! Which topics are read, and those that are not there. The embedded broker does not describe topics: `apache/topics.rs` has
//! those that stay away.

use spate_runtime::config::Config;
use spate_runtime::record::Partition;
use spate_runtime::source::{Commit, OpenContext, Source, SourceKind};
use spate_test::services::{EmbeddedKafka, KafkaError};

use super::harness::{Got, Member, STARTUP, STEADY, Seen, broker, produce, unique};
use crate::Kafka;

/// New topics are seen after half a second, by all members.
const SOON: &str = "    topic.metadata.refresh.interval.ms: 500\n";

/// How many records of a topic of one partition arrived, of which the offsets are checked.
fn count_of(got: &[Got], topic: &str) -> usize {
    let offsets: Vec<i64> = got
        .iter()
        .filter(|got| &*got.topic == topic)
        .map(|got| got.offset)
        .collect();
    let first = offsets.first().copied().unwrap_or(0);
    let wanted: Vec<i64> = (first..).take(offsets.len()).collect();
    assert_eq!(offsets, wanted, "{topic}");
    offsets.len()
}

#[test]
fn several_topics_are_read() {
    let (kafka, first) = broker(2);
    let second = unique("topic");
    kafka.create_topic(&second, 1).expect("created");
    produce(&kafka, &first, 2, 0, 50);
    produce(&kafka, &second, 1, 0, 70);
    let topics = format!("{first}, {second}");
    let mut member = Member::join(&kafka, &topics, &unique("group"), STEADY);
    member.until("all arrive", |member| member.count() >= 170);
    assert_eq!(count_of(&member.got, &second), 70);
    member.leave();
}

#[test]
fn a_forbidden_topic_is_named_and_read_once_it_is_allowed() {
    let (kafka, topic) = broker(1);
    let forbidden = unique("topic");
    kafka.create_topic(&forbidden, 1).expect("created");
    produce(&kafka, &topic, 1, 0, 10);
    produce(&kafka, &forbidden, 1, 0, 10);
    kafka
        .topic_error(&forbidden, KafkaError::TopicAuthorizationFailed)
        .expect("refused");
    let topics = format!("{topic}, {forbidden}");
    let mut member = Member::join(&kafka, &topics, &unique("group"), SOON);
    member.until("the other topic is read", |member| member.count() == 10);
    member.until("it is told", |member| {
        member.was_told(&format!("may not read the topic `{forbidden}`"))
    });
    kafka
        .topic_error(&forbidden, KafkaError::None)
        .expect("allowed");
    member.until("both are read", |member| {
        let mut got = member.got.iter();
        got.any(|got| *got.topic == forbidden && got.offset == 9)
    });
    member.leave();
}

#[test]
fn a_topic_that_is_gone_for_a_while_is_named_and_read_on() {
    let (kafka, topic) = broker(1);
    let other = unique("topic");
    kafka.create_topic(&other, 1).expect("created");
    produce(&kafka, &topic, 1, 0, 10);
    produce(&kafka, &other, 1, 0, 10);
    let topics = format!("{topic}, {other}");
    let mut member = Member::join(&kafka, &topics, &unique("group"), SOON);
    member.until("both are read", |member| member.count() == 20);
    let gone = KafkaError::UnknownTopicOrPartition;
    kafka.topic_error(&topic, gone).expect("gone");
    let words = format!("the topic `{topic}` does not exist");
    member.until("it is told", |member| member.was_told(&words));
    kafka.topic_error(&topic, KafkaError::None).expect("back");
    produce(&kafka, &topic, 1, 10, 10);
    produce(&kafka, &other, 1, 10, 10);
    member.until("both are read on", |member| {
        let newest = |topic: &str| {
            let mut of_topic = member.got.iter().filter(|got| &*got.topic == topic);
            of_topic.any(|got| got.offset == 19)
        };
        newest(&topic) && newest(&other)
    });
}

#[test]
fn a_topic_that_was_created_anew_stops_the_pipeline_and_is_not_committed() {
    let (kafka, topic) = broker(2);
    produce(&kafka, &topic, 2, 0, 10);
    let mut member = Member::join(&kafka, &topic, &unique("group"), STEADY);
    member.until("all arrive", |member| member.count() == 20);
    let lanes: Vec<_> = member.lanes.iter().map(|lane| lane.id()).collect();
    member.source.describe(&topic, 7);
    member.source.describe(&topic, 7);
    let lag = member.lag();
    assert_eq!(lag, [(0, 0), (1, 0)], "nothing has happened yet");
    member.source.describe(&topic, 8);
    let failure = member.failure();
    assert!(
        failure.contains(&format!("`{topic}` was deleted and created anew")),
        "{failure}"
    );
    assert!(
        member.seen.contains(&Seen::Lost(vec![0, 1])),
        "{:?}",
        member.seen
    );
    assert_eq!(member.lag(), [], "a lane that is gone has no lag");
    let commit = Commit {
        lane: lanes[0],
        partition: Partition::new(topic.as_str(), 0),
        offset: 10,
        metadata: None,
    };
    assert!(
        member.source.commit(99, &[commit]).is_err(),
        "it is not its own any more"
    );
}

#[test]
fn topics_that_match_a_pattern_are_read_and_later_ones_from_their_beginning() {
    for start in ["earliest", "latest"] {
        let kafka = EmbeddedKafka::start(1).expect("the embedded broker starts");
        let name = |kind: &str| format!("{kind}-{start}");
        for kind in ["orders.eu", "orders.us", "lines"] {
            kafka.create_topic(&name(kind), 1).expect("created");
            produce(&kafka, &name(kind), 1, 0, 10);
        }
        let group = unique("group");
        let more = format!("  start_offset: {start}\n{SOON}");
        let mut member = Member::join(&kafka, "^orders\\..*", &group, &more);
        member.until("two are assigned", |member| member.lanes.len() == 2);
        for kind in ["orders.eu", "orders.us", "lines"] {
            produce(&kafka, &name(kind), 1, 10, 10);
        }
        let skipped = start == "latest";
        member.until("what is to be read arrives", |member| {
            member.count() >= if skipped { 20 } else { 40 }
        });
        // Records are there before any member knows of the topic.
        kafka
            .create_topic(&name("orders.late"), 1)
            .expect("created");
        produce(&kafka, &name("orders.late"), 1, 0, 30);
        member.until("the late topic is read", |member| {
            let mut late = member.got.iter();
            late.any(|got| *got.topic == name("orders.late") && got.offset == 29)
        });
        let got = &member.got;
        assert_eq!(
            count_of(got, &name("orders.late")),
            30,
            "from its beginning"
        );
        assert_eq!(count_of(got, &name("lines")), 0, "it does not match");
        member.leave();
    }
}

#[test]
fn a_pattern_that_matches_nothing_is_named_when_the_start_ends() {
    let (kafka, _) = broker(1);
    let mut member = Member::join(&kafka, "^no-such-.*", &unique("group"), "");
    member.turn();
    member.lapse(STARTUP);
    let failure = member.failure();
    for part in ["topics that match `^no-such-.*`", "source.startup_timeout"] {
        assert!(failure.contains(part), "{part}: {failure}");
    }
}

#[test]
fn a_pattern_that_is_no_regular_expression_is_an_error_of_the_section() {
    let context = OpenContext {
        pipeline: "p".to_owned(),
        threads: 1,
        tokio: None,
        attachment: None,
    };
    let open = |pattern: &str| {
        let yaml =
            format!("source: {{brokers: '127.0.0.1:1', group_id: g, topic_pattern: '{pattern}'}}");
        let config = Config::from_yaml(&yaml).expect("it is YAML");
        let opened = Kafka::open(&config.section("source"), &context);
        opened.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(open("^orders[.](eu|us)$"), Ok(()));
    let error = open("^orders[.").expect_err("it is not closed");
    assert!(
        error.contains("source.topic_pattern") && error.contains("regular expression"),
        "{error}"
    );
}
