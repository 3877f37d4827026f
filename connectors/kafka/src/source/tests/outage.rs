//! Brokers, topics and clients that are not there, and leaving.

use std::thread;
use std::time::{Duration, Instant};

use spate_runtime::config::Config;
use spate_runtime::source::{Fetched, OpenContext, Source, SourceKind, SourceLane};
use spate_test::services::{BROKER_ALL, EmbeddedKafka, KafkaApi, KafkaError};

use super::group::COOPERATIVE;
use super::harness::{
    Member, PATIENCE, STARTUP, STEADY, Seen, broker, pair, produce, settings, unique,
};
use crate::Kafka;

#[test]
fn reading_goes_on_after_the_brokers_were_down() {
    let (kafka, topic) = broker(2);
    produce(&kafka, &topic, 2, 0, 100);
    // How long the outage takes is not known: until it is told, and until all clients have connected again.
    let mut member = Member::join(&kafka, &topic, &unique("group"), STEADY);
    member.until("the first arrive", |member| member.count() >= 200);
    kafka.broker_down(BROKER_ALL).expect("down");
    member.until("the outage is told", |member| {
        member
            .seen
            .iter()
            .any(|seen| matches!(seen, Seen::Trouble(_)))
    });
    kafka.broker_up(BROKER_ALL).expect("up");
    produce(&kafka, &topic, 2, 100, 100);
    member.until("the others arrive", |member| member.count() >= 400);
    for partition in 0..2 {
        member.assert_got(partition, 0, 200);
    }
    member.leave();
}

#[test]
fn a_broker_that_comes_up_late_is_joined() {
    let (kafka, topic) = broker(1);
    produce(&kafka, &topic, 1, 0, 10);
    kafka.broker_down(BROKER_ALL).expect("down");
    let mut member = Member::join(&kafka, &topic, &unique("group"), "");
    member.until("the outage is told", |member| {
        member
            .seen
            .iter()
            .any(|seen| matches!(seen, Seen::Trouble(_)))
    });
    kafka.broker_up(BROKER_ALL).expect("up");
    member.until("all arrive", |member| member.count() >= 10);
}

#[test]
fn without_a_broker_the_start_ends_with_the_clients_own_words() {
    let mut member = Member::start(settings("127.0.0.1:1", "orders", "group", ""));
    member.until("it is told", |member| member.was_told("Connection refused"));
    member.lapse(STARTUP);
    let failure = member.failure();
    for part in [
        "`orders`",
        "200s",
        "source.startup_timeout",
        "Connection refused",
        "127.0.0.1:1",
    ] {
        assert!(failure.contains(part), "{part}: {failure}");
    }
    member.source.close();
}

#[test]
fn a_missing_topic_is_named_and_keeps_no_other_from_being_read() {
    let (kafka, topic) = broker(1);
    produce(&kafka, &topic, 1, 0, 10);
    let words = "`no-such-topic` does not exist";
    let mut member = Member::join(&kafka, "no-such-topic", &unique("group"), "");
    member.until("it is told", |member| member.was_told(words));
    member.lapse(STARTUP);
    let failure = member.failure();
    assert!(failure.contains(words), "{failure}");

    let mut member = Member::join(
        &kafka,
        &format!("{topic}, no-such-topic"),
        &unique("group"),
        "",
    );
    member.until(
        "the other topic is read and the missing one told",
        |member| member.count() >= 10 && member.was_told(words),
    );
}

#[test]
fn a_fenced_member_stops() {
    let (kafka, topic) = broker(1);
    let mut member = Member::join(&kafka, &topic, &unique("group"), "");
    member.until_assigned();
    member.source.fence();
    let failure = member.failure();
    assert!(
        failure.contains("FENCED_INSTANCE_ID") && failure.contains("source.group_instance_id"),
        "{failure}"
    );
    member.drop_lanes();
    member.source.close();
}

#[test]
fn everything_can_be_dropped_while_data_is_in_flight() {
    let (kafka, topic) = broker(4);
    produce(&kafka, &topic, 4, 0, 1_000);
    // Before anything happened, while joining, with lanes that nobody took, with a batch half read.
    drop(Member::join(&kafka, &topic, &unique("group"), ""));
    let mut joining = Member::join(&kafka, &topic, &unique("group"), "");
    joining.turn();
    joining.source.close();
    drop(joining);
    let mut reading = Member::join(&kafka, &topic, &unique("group"), "");
    reading.until("some arrive", |member| member.count() > 0);
    reading.idle = true;
    produce(&kafka, &topic, 4, 1_000, 1_000);
    let mut lane = reading.lanes.remove(0);
    let number = lane.partition().number;
    until_batch(&mut reading, &mut *lane);
    let alive = reading.source.client_alive();
    drop(reading);
    let mut payloads = 0;
    lane.read(&mut |batch| {
        let wanted = format!("{number}/").into_bytes();
        payloads = batch
            .records()
            .iter()
            .filter(|record| record.payload().starts_with(&wanted))
            .count();
    });
    assert!(
        payloads > 0 && alive(),
        "a lane keeps the client and its records"
    );
    drop(lane);
    until_gone(alive);
}

#[test]
fn a_client_that_waits_for_the_answer_to_a_rebalance_can_be_dropped() {
    for strategy in ["", COOPERATIVE] {
        let (kafka, topic) = broker(1);
        let join = || Member::join(&kafka, &topic, &unique("group"), strategy);
        // Neither rebalance is answered: one is not even taken from the queue, the other lacks the offsets.
        let untaken = join();
        let refusals = [KafkaError::CoordinatorLoadInProgress; 1_000];
        kafka
            .request_errors(KafkaApi::OffsetFetch, &refusals)
            .expect("injected");
        let mut taken = join();
        taken.until("offsets are refused", |member| {
            let refused = |seen: &Seen| matches!(seen, Seen::Trouble(text) if text.contains("committed offsets"));
            member.seen.iter().any(refused)
        });
        thread::sleep(Duration::from_secs(2));
        let alive = [untaken.source.client_alive(), taken.source.client_alive()];
        drop((untaken, taken));
        alive.into_iter().for_each(until_gone);
    }
}

/// Waits until a client is destroyed: its context goes last, after it has joined its threads.
fn until_gone(alive: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while alive() {
        assert!(Instant::now() < deadline, "the client was not destroyed");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Fetches until a batch is current.
fn until_batch(member: &mut Member, lane: &mut dyn SourceLane) {
    let deadline = Instant::now() + PATIENCE;
    while lane.fetch(10).expect("nothing fails") != Fetched::Batch {
        assert!(Instant::now() < deadline, "nothing arrives");
        member.turn();
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_group_learns_at_once_that_a_member_leaves() {
    let (kafka, topic) = broker(2);
    // By the end of its session the others would learn it after the test was given up.
    let more = "    session.timeout.ms: 300000\n";
    let (one, mut two) = pair(&kafka, &topic, more);
    one.leave();
    two.until("it has to give its partition back", |member| {
        member
            .seen
            .iter()
            .any(|seen| matches!(seen, Seen::Revoking(_)))
    });
}

#[test]
fn opening_checks_the_section_and_connects_to_nothing() {
    let context = OpenContext {
        pipeline: "p".to_owned(),
        threads: 1,
        tokio: None,
        attachment: None,
    };
    let open = |yaml: &str| {
        let config = Config::from_yaml(yaml).expect("it is YAML");
        Kafka::open(&config.section("source"), &context)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.set_nonblocking(true).expect("it can be asked");
    let address = listener.local_addr().expect("it has an address");
    let section = |more: &str| {
        format!("source: {{brokers: '{address}', topic: t, group_id: hidden-group, {more}}}")
    };
    assert_eq!(open(&section("")), Ok(()));
    thread::sleep(Duration::from_millis(200));
    assert!(listener.accept().is_err(), "nothing was connected");

    // That two settings do not go together is found by the client only.
    let error = open(&section(
        "rdkafka: {max.poll.interval.ms: 2345, session.timeout.ms: 6789}",
    ))
    .expect_err("refused");
    assert!(
        error.contains("source.rdkafka") && error.contains("refuses"),
        "{error}"
    );
    for value in ["2345", "6789", "hidden-group"] {
        assert!(!error.contains(value), "{error}");
    }
}

#[test]
fn a_topic_that_is_created_late_is_read() {
    let kafka = EmbeddedKafka::start(1).expect("the embedded broker starts");
    let topic = unique("late");
    let more = "    topic.metadata.refresh.interval.ms: 500\n";
    let mut member = Member::join(&kafka, &topic, &unique("group"), more);
    member.until("it is missed", |member| {
        member
            .seen
            .iter()
            .any(|seen| matches!(seen, Seen::Trouble(_)))
    });
    kafka.create_topic(&topic, 2).expect("created");
    produce(&kafka, &topic, 2, 0, 10);
    member.until("all arrive", |member| member.count() >= 20);
}
