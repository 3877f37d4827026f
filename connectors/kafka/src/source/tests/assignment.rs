//! Where an assignment starts, and what happens when that is nowhere.

use spate_runtime::record::Partition;
use spate_runtime::source::{Commit, Source};
use spate_test::services::{EmbeddedKafka, KafkaApi, KafkaError, Record};

use super::harness::{Member, broker, produce, unique};

#[test]
fn latest_starts_behind_the_newest_record_and_the_next_member_goes_on_there() {
    let (kafka, topic) = broker(2);
    let group = unique("group");
    produce(&kafka, &topic, 2, 0, 50);
    let mut member = Member::join(&kafka, &topic, &group, "  start_offset: latest\n");
    member.until_assigned();
    produce(&kafka, &topic, 2, 50, 10);
    member.until("the new ones arrive", |member| member.count() >= 20);
    member.assert_got(0, 50, 10);
    // It ends without a commit of its own.
    member.drop_lanes();
    member.source.close();
    produce(&kafka, &topic, 2, 60, 10);
    let mut member = Member::join(&kafka, &topic, &group, "  start_offset: latest\n");
    member.until("what came between arrives too", |member| {
        member.count() >= 40
    });
    for partition in 0..2 {
        member.assert_got(partition, 50, 20);
    }
}

#[test]
fn fail_stops_where_nothing_is_committed_and_goes_on_where_something_is() {
    let (kafka, topic) = broker(1);
    let group = unique("group");
    produce(&kafka, &topic, 1, 0, 10);
    let failure = Member::join(&kafka, &topic, &group, "  start_offset: fail\n").failure();
    assert!(
        failure.contains(&format!("{topic}/0")) && failure.contains("source.start_offset"),
        "{failure}"
    );

    let mut member = Member::join(&kafka, &topic, &group, "");
    member.until("all arrive", |member| member.count() == 10);
    member.leave();
    produce(&kafka, &topic, 1, 10, 10);
    let mut member = Member::join(&kafka, &topic, &group, "  start_offset: fail\n");
    member.until("the others arrive", |member| member.count() == 10);
    member.assert_got(0, 10, 10);
}

/// Leaves `offset` committed for the topic's only partition.
fn leave_committed(kafka: &EmbeddedKafka, topic: &str, group: &str, offset: i64) {
    let mut member = Member::join(kafka, topic, group, "");
    member.idle = true;
    member.until_assigned();
    let (lane, partition) = (member.lanes[0].id(), Partition::new(topic, 0));
    member
        .source
        .commit(
            99,
            &[Commit {
                lane,
                partition,
                offset,
                metadata: Some("note".to_owned()),
            }],
        )
        .expect("it begins");
    member.until("the commit ends", |member| member.committed(99).is_some());
    assert_eq!(member.committed(99), Some(Ok(())));
    member.drop_lanes();
    member.source.close();
}

/// Fills the partition beyond what the embedded broker keeps (5 MiB): its oldest records are deleted.
fn overfill(kafka: &EmbeddedKafka, topic: &str) {
    let payload = vec![b'x'; 100_000];
    for _ in 0..80 {
        let record = Record {
            topic,
            partition: Some(0),
            payload: Some(&payload),
            ..Record::default()
        };
        kafka.producer().send(record).expect("the record is taken");
    }
    kafka
        .producer()
        .flush(std::time::Duration::from_secs(60))
        .expect("all records are acknowledged");
}

#[test]
fn where_the_committed_record_was_deleted_reading_goes_on_at_the_oldest() {
    let (kafka, topic) = broker(1);
    let group = unique("group");
    produce(&kafka, &topic, 1, 0, 10);
    leave_committed(&kafka, &topic, &group, 3);
    overfill(&kafka, &topic);
    let mut member = Member::join(&kafka, &topic, &group, "  on_offset_gap: earliest\n");
    member.until("the newest arrives", |member| {
        member.got.last().is_some_and(|got| got.offset == 89)
    });
    let offsets: Vec<i64> = member.got.iter().map(|got| got.offset).collect();
    assert!(offsets[0] > 10, "the oldest were deleted: {}", offsets[0]);
    assert_eq!(offsets, (offsets[0]..90).collect::<Vec<_>>());
}

#[test]
fn where_the_committed_record_was_deleted_fail_stops() {
    let (kafka, topic) = broker(1);
    let group = unique("group");
    produce(&kafka, &topic, 1, 0, 10);
    leave_committed(&kafka, &topic, &group, 3);
    overfill(&kafka, &topic);
    let mut member = Member::join(&kafka, &topic, &group, "");
    let failure = member.failure();
    for part in [
        &format!("offset 3 of {topic}/0 does not exist"),
        "the oldest record has offset",
        "are lost",
        "source.on_offset_gap",
    ] {
        assert!(failure.contains(part), "{part}: {failure}");
    }
    assert_eq!(member.count(), 0);
}

#[test]
fn where_the_committed_record_was_deleted_reading_may_go_on_at_the_end() {
    let (kafka, topic) = broker(1);
    let group = unique("group");
    produce(&kafka, &topic, 1, 0, 10);
    leave_committed(&kafka, &topic, &group, 3);
    overfill(&kafka, &topic);
    let mut member = Member::join(&kafka, &topic, &group, "  on_offset_gap: latest\n");
    // Without a record that comes, the end of the partition moves reading and what is committed.
    member.until("the end is reached", |member| {
        member.passed.values().any(|&next| next == 90)
    });
    produce(&kafka, &topic, 1, 90, 5);
    member.until("the new ones arrive", |member| member.count() == 5);
    member.assert_got(0, 90, 5);
}

#[test]
fn a_committed_offset_behind_the_end_stops_the_pipeline_or_reading_goes_on_as_is_set() {
    let (kafka, topic) = broker(1);
    produce(&kafka, &topic, 1, 0, 10);
    let join = |group: &str, gap: &str| {
        // As after the topic was created anew.
        leave_committed(&kafka, &topic, group, 500);
        Member::join(&kafka, &topic, group, gap)
    };
    let failure = join(&unique("group"), "").failure();
    for part in [
        &format!("offset 500 of {topic}/0 does not exist"),
        "ends at offset 10",
        "source.on_offset_gap",
    ] {
        assert!(failure.contains(part), "{part}: {failure}");
    }
    let group = unique("group");
    let mut member = join(&group, "  on_offset_gap: earliest\n");
    member.until("all arrive", |member| member.count() >= 10);
    member.assert_got(0, 0, 10);

    let group = unique("group");
    let mut member = join(&group, "  on_offset_gap: latest\n");
    member.until("the end is reached", |member| {
        member.passed.values().any(|&next| next == 10)
    });
    produce(&kafka, &topic, 1, 10, 5);
    member.until("the new ones arrive", |member| member.count() == 5);
    member.assert_got(0, 10, 5);
    // What was committed follows, so that a restart begins there and not behind the end again.
    member.leave();
    produce(&kafka, &topic, 1, 15, 5);
    let mut member = Member::join(&kafka, &topic, &group, "");
    member.until("the others arrive", |member| member.count() == 5);
    member.assert_got(0, 15, 5);
}

#[test]
fn a_look_up_of_committed_offsets_that_fails_is_made_again() {
    let (kafka, topic) = broker(2);
    let group = unique("group");
    produce(&kafka, &topic, 2, 0, 10);
    let errors = [
        KafkaError::CoordinatorLoadInProgress,
        KafkaError::Disconnect,
        KafkaError::NotCoordinator,
    ];
    kafka
        .request_errors(KafkaApi::OffsetFetch, &errors)
        .expect("injected");
    let mut member = Member::join(&kafka, &topic, &group, "");
    member.until("all arrive", |member| member.count() >= 20);
    for partition in 0..2 {
        member.assert_got(partition, 0, 10);
    }
}

#[test]
fn a_forbidden_look_up_stops_the_pipeline() {
    let (kafka, topic) = broker(1);
    kafka
        .request_errors(
            KafkaApi::OffsetFetch,
            &[KafkaError::GroupAuthorizationFailed],
        )
        .expect("injected");
    let failure = Member::join(&kafka, &topic, &unique("group"), "").failure();
    assert!(failure.contains("GROUP_AUTHORIZATION_FAILED"), "{failure}");
}
