//! Topics that are missing, deleted, created late.

use spate_test::services::{Producer, delete_topic};

use super::super::harness::{Member, STARTUP, send};
use super::super::members::CONSUMER;
use super::{create, group, name, new_topic, settings, shared, topic};

/// New topics are seen after half a second.
const SOON: &str = "    topic.metadata.refresh.interval.ms: 500\n";

#[test]
fn a_topic_that_stays_missing_keeps_no_other_from_being_read_and_ends_the_pipeline() {
    let Some((brokers, topic, producer)) = topic(1) else {
        return;
    };
    send(&producer, &topic, 1, 0, 10);
    for protocol in ["", CONSUMER] {
        let topics = format!("{topic}, no-such-topic");
        let mut member = Member::start(settings(brokers, &topics, &group(), protocol));
        let words = "`no-such-topic` does not exist";
        member.until("the other topic is read and this one told", |member| {
            member.count() == 10 && member.was_told(words)
        });
        member.lapse(STARTUP);
        let failure = member.failure();
        for part in [words, "200s", "source.startup_timeout"] {
            assert!(failure.contains(part), "{part}: {failure}");
        }
        assert!(!failure.contains(&topic), "{failure}");
    }
}

#[test]
fn a_topic_that_is_deleted_is_named_and_ends_the_pipeline_when_it_stays_away() {
    let Some((brokers, producer)) = shared() else {
        return;
    };
    for protocol in ["", CONSUMER] {
        let (kept, deleted) = (new_topic(brokers, 1), new_topic(brokers, 1));
        let topics = format!("{kept}, {deleted}");
        send(&producer, &kept, 1, 0, 10);
        send(&producer, &deleted, 1, 0, 10);
        let more = format!("{protocol}  assignment_timeout: 200s\n{SOON}");
        let mut member = Member::start(settings(brokers, &topics, &group(), &more));
        member.until("both are read", |member| member.count() == 20);
        delete_topic(brokers, &deleted).expect("deleted");
        let words = format!("the topic `{deleted}` does not exist");
        member.until("it is told", |member| member.was_told(&words));
        send(&producer, &kept, 1, 10, 10);
        member.until("the other is read on", |member| member.count() == 30);
        member.lapse(STARTUP);
        let failure = member.failure();
        for part in [words.as_str(), "200s", "source.assignment_timeout"] {
            assert!(failure.contains(part), "{part}: {failure}");
        }
    }
}

#[test]
fn a_listed_topic_that_is_created_late_is_read_from_its_beginning() {
    let Some((brokers, producer)) = shared() else {
        return;
    };
    for protocol in ["", CONSUMER] {
        let (early, late) = (new_topic(brokers, 1), name("topic"));
        send(&producer, &early, 1, 0, 10);
        let more = format!("{protocol}  start_offset: latest\n{SOON}");
        let topics = format!("{early}, {late}");
        let mut member = Member::start(settings(brokers, &topics, &group(), &more));
        member.until_assigned();
        send(&producer, &early, 1, 10, 10);
        member.until("what came after the start arrives", |member| {
            member.count() == 10
        });
        create(brokers, &late, 1);
        let new = Producer::connect(brokers).expect("a producer");
        send(&new, &late, 1, 0, 20);
        member.until("the late one is read", |member| member.count() == 30);
        member.leave();
    }
}

#[test]
fn topics_that_match_a_pattern_are_found_and_later_ones_read_from_their_beginning() {
    let Some((brokers, producer)) = shared() else {
        return;
    };
    for protocol in ["", CONSUMER] {
        let prefix = name("pattern");
        let topic = |kind: &str| format!("{prefix}.{kind}");
        for kind in ["a", "b"] {
            create(brokers, &topic(kind), 1);
            send(&producer, &topic(kind), 1, 0, 10);
        }
        let more = format!("{protocol}  start_offset: latest\n{SOON}");
        let pattern = format!("^{prefix}[.].*");
        let mut member = Member::start(settings(brokers, &pattern, &group(), &more));
        member.until("both are assigned", |member| member.lanes.len() == 2);
        for kind in ["a", "b"] {
            send(&producer, &topic(kind), 1, 10, 10);
        }
        member.until("what came after the start arrives", |member| {
            member.count() == 20
        });
        create(brokers, &topic("late"), 1);
        let new = Producer::connect(brokers).expect("a producer");
        send(&new, &topic("late"), 1, 0, 30);
        member.until("the late one is read", |member| member.count() == 50);
        member.leave();
    }
}

#[test]
fn a_pattern_does_not_match_the_brokers_own_topics() {
    let Some((brokers, topic, producer)) = topic(1) else {
        return;
    };
    send(&producer, &topic, 1, 0, 10);
    for protocol in ["", CONSUMER] {
        // The group's commits are in a topic of the broker's. Topics of other tests may be deleted while they are read.
        let pattern = format!("^(__.*|{topic})");
        let mut member = Member::start(settings(brokers, &pattern, &group(), protocol));
        member.until("the topic is read", |member| {
            member.got.iter().any(|got| *got.topic == topic)
        });
        let own: Vec<&str> = member
            .lanes
            .iter()
            .map(|lane| &*lane.partition().topic)
            .collect();
        assert!(own.iter().all(|topic| !topic.starts_with("__")), "{own:?}");
        member.leave();
    }
}
