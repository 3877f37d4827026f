//! Offsets that do not exist any more, and partitions that were not there.

use spate_runtime::source::Source;
use spate_test::services::{Producer, add_partitions, delete_records, delete_topic};

use super::super::harness::{Member, send};
use super::{create, group, settings, topic};

/// New partitions and topics are seen after half a second.
const SOON: &str = "    topic.metadata.refresh.interval.ms: 500\n";

/// Leaves the end of the topic's one partition committed for a new group.
fn read_all(brokers: &str, topic: &str, count: usize) -> String {
    let group = group();
    let mut member = Member::start(settings(brokers, topic, &group, ""));
    member.until("all arrive", |member| member.count() == count);
    member.leave();
    group
}

#[test]
fn where_retention_has_passed_the_committed_offset_the_policy_decides() {
    let Some((brokers, topic, producer)) = topic(1) else {
        return;
    };
    send(&producer, &topic, 1, 0, 50);
    let groups = [(); 3].map(|()| read_all(brokers, &topic, 50));
    send(&producer, &topic, 1, 50, 50);
    delete_records(brokers, &topic, 0, 80).expect("deleted");
    let start = |group: &str, more: &str| Member::start(settings(brokers, &topic, group, more));

    let failure = start(&groups[0], "").failure();
    for part in [
        &format!("offset 50 of {topic}/0 does not exist"),
        "the oldest record has offset 80, 30 are lost",
        "source.on_offset_gap",
    ] {
        assert!(failure.contains(part), "{part}: {failure}");
    }

    let mut member = start(&groups[1], "  on_offset_gap: earliest\n");
    member.until("the rest arrives", |member| member.count() == 20);
    member.assert_got(0, 80, 20);
    member.leave();

    let mut member = start(&groups[2], "  on_offset_gap: latest\n");
    member.until("the end is reached", |member| {
        member.passed.values().any(|&next| next == 100)
    });
    send(&producer, &topic, 1, 100, 5);
    member.until("the new ones arrive", |member| member.count() == 5);
    member.assert_got(0, 100, 5);
    member.leave();
    // What was skipped once is not skipped again.
    for (group, from) in [(&groups[1], 100), (&groups[2], 105)] {
        let mut member = start(group, "");
        send(&producer, &topic, 1, 105, 1);
        let next = move |member: &Member| member.got.first().map(|got| got.offset);
        member.until("it goes on", |member| next(member).is_some());
        assert_eq!(next(&member), Some(from));
        member.leave();
    }
}

#[test]
fn retention_that_passes_a_reader_stops_it_with_the_numbers() {
    let Some((brokers, topic, producer)) = topic(1) else {
        return;
    };
    send(&producer, &topic, 1, 0, 10);
    // The client reads ahead no more than a batch or two of the ten.
    let more = "    queued.min.messages: 1\n    fetch.max.bytes: 2000\n    max.partition.fetch.bytes: 1000\n    message.max.bytes: 1000\n";
    let mut member = Member::start(settings(brokers, &topic, &group(), more));
    member.until("all arrive", |member| member.count() == 10);
    member.idle = true;
    (0..10).for_each(|batch| send(&producer, &topic, 1, 10 + batch * 500, 500));
    delete_records(brokers, &topic, 0, 5_000).expect("deleted");
    member.idle = false;
    let failure = member.failure();
    assert!(
        failure.contains("the oldest record has offset 5000") && failure.contains("are lost"),
        "{failure}"
    );
    let read = member.got.last().map_or(0, |got| got.offset);
    assert!(read < 5_000, "it was read up to {read}");
}

#[test]
fn added_partitions_are_read_from_their_beginning_also_under_latest() {
    for start in ["latest", "earliest"] {
        let Some((brokers, topic, producer)) = topic(1) else {
            return;
        };
        let group = group();
        send(&producer, &topic, 1, 0, 10);
        let more = format!("  start_offset: {start}\n{SOON}");
        let mut member = Member::start(settings(brokers, &topic, &group, &more));
        member.until_assigned();
        let skipped = start == "latest";
        send(&producer, &topic, 1, 10, 10);
        member.until("what is to be read arrives", |member| {
            member.count() == if skipped { 10 } else { 20 }
        });
        add_partitions(brokers, &topic, 2).expect("added");
        // Records are there before any member knows of the partition.
        let producer = Producer::connect(brokers).expect("a producer");
        send(&producer, &topic, 2, 20, 20);
        member.until("the new partition is read", |member| {
            let mut of_new = member.got.iter().filter(|got| got.partition == 1);
            of_new.any(|got| got.offset == 19)
        });
        member.assert_got(1, 20, 20);
        // The process ends, a third partition comes, another process begins.
        member.leave();
        add_partitions(brokers, &topic, 3).expect("added");
        let producer = Producer::connect(brokers).expect("a producer");
        send(&producer, &topic, 3, 40, 20);
        let mut member = Member::start(settings(brokers, &topic, &group, &more));
        member.until("all three are read", |member| member.count() >= 60);
        (0..3).for_each(|partition| member.assert_got(partition, 40, 20));
        member.leave();
    }
}

#[test]
fn a_topic_that_is_created_anew_while_it_is_read_stops_the_pipeline_and_is_not_committed() {
    let Some((brokers, topic, producer)) = topic(1) else {
        return;
    };
    let group = group();
    send(&producer, &topic, 1, 0, 10);
    let mut member = Member::start(settings(brokers, &topic, &group, ""));
    member.until("all arrive", |member| member.count() == 10);
    member.until("the topic is known", |member| member.source.knows(&topic));
    delete_topic(brokers, &topic).expect("deleted");
    create(brokers, &topic, 1);
    // The new log reaches beyond what was read: without a look at the topic the first ten would be missed for good.
    let producer = Producer::connect(brokers).expect("a producer");
    send(&producer, &topic, 1, 0, 30);
    let failure = member.failure();
    assert!(
        failure.contains(&format!("`{topic}` was deleted and created anew"))
            || failure.contains("does not exist"),
        "{failure}"
    );
    assert!(
        member.lanes.is_empty(),
        "its lanes are gone: {:?}",
        member.seen
    );
    member.source.close();
    // Nothing of the old topic was committed: a restart reads the new one from its beginning.
    let mut member = Member::start(settings(brokers, &topic, &group, ""));
    member.until("all arrive", |member| member.count() == 30);
    member.assert_got(0, 0, 30);
    member.leave();
}
