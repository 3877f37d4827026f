//! The group: restarts, members that come and go, commits.

use spate_runtime::record::Partition;
use spate_runtime::source::{Commit, LaneId, Source};
use spate_test::services::{KafkaApi, KafkaError, Producer};

use super::harness::{
    Got, Member, Seen, assert_got, broker, deduplicated, produce, send, settings, unique, until,
};

pub(super) const COOPERATIVE: &str = "    partition.assignment.strategy: cooperative-sticky\n";

#[test]
fn a_restart_goes_on_at_the_next_offset_after_the_commit() {
    let (kafka, topic) = broker(3);
    let group = unique("group");
    produce(&kafka, &topic, 3, 0, 100);
    let mut member = Member::join(&kafka, &topic, &group, "");
    member.until("the first arrive", |member| member.count() >= 300);
    let first = member.leave();
    produce(&kafka, &topic, 3, 100, 100);
    let mut member = Member::join(&kafka, &topic, &group, "");
    member.until("the others arrive", |member| member.count() >= 300);
    for partition in 0..3 {
        assert_got(&first, partition, 0, 100);
        member.assert_got(partition, 100, 100);
    }
}

#[test]
fn what_was_read_and_not_committed_is_read_again() {
    let (kafka, topic) = broker(1);
    let group = unique("group");
    produce(&kafka, &topic, 1, 0, 100);
    let mut member = Member::join(&kafka, &topic, &group, "");
    member.until("all arrive", |member| member.count() >= 100);
    member.drop_lanes();
    member.source.close();
    let mut member = Member::join(&kafka, &topic, &group, "");
    member.until("all arrive again", |member| member.count() >= 100);
    member.assert_got(0, 0, 100);
}

/// What two members saw and got.
pub(super) struct Moved {
    pub(super) one: Vec<Seen>,
    pub(super) two: Vec<Seen>,
    pub(super) got: Vec<Got>,
}

/// Two members share four partitions, then one leaves; in each phase 200 records per partition are produced.
pub(super) fn partitions_move(
    brokers: &str,
    topic: &str,
    producer: &Producer,
    strategy: &str,
) -> Moved {
    let group = unique("group");
    let join = || Member::start(settings(brokers, topic, &group, strategy));
    send(producer, topic, 4, 0, 200);
    let mut one = join();
    one.until("the first arrive", |member| member.count() >= 4 * 200);
    let mut two = join();
    until(
        "both have two partitions",
        &mut [&mut one, &mut two],
        |members| members.iter().all(|member| member.lanes.len() == 2),
    );
    send(producer, topic, 4, 200, 200);
    // Of every partition: where a commit is refused, one alone comes several times.
    let all_newest = |members: &[&mut Member], offset: i64| {
        let newest = |partition: i32| {
            let mut got = members.iter().flat_map(|member| &member.got);
            got.any(|got| got.partition == partition && got.offset == offset)
        };
        (0..4).all(newest)
    };
    until(
        "the second lot arrives",
        &mut [&mut one, &mut two],
        |members| all_newest(members, 399),
    );
    let seen_by_two = two.seen.clone();
    let mut got = two.leave();
    send(producer, topic, 4, 400, 200);
    until("the third lot arrives", &mut [&mut one], |members| {
        all_newest(members, 599)
    });
    got.append(&mut one.got);
    Moved {
        one: std::mem::take(&mut one.seen),
        two: seen_by_two,
        got,
    }
}

/// The assignments and revocations among what a member saw.
fn moves(seen: &[Seen]) -> Vec<Seen> {
    seen.iter()
        .filter(|seen| matches!(seen, Seen::Assigned(_) | Seen::Revoking(_) | Seen::Lost(_)))
        .cloned()
        .collect()
}

/// Asserts that an eager member gave everything back at each rebalance. There may be more of them than members that come and
/// go: the embedded broker makes one anew whose answers overtake each other.
pub(super) fn assert_eager(moved: &Moved) {
    for (name, seen) in [("one", moves(&moved.one)), ("two", moves(&moved.two))] {
        for pair in seen.chunks(2) {
            match pair {
                [Seen::Assigned(given), Seen::Revoking(taken)] if given == taken => {}
                [Seen::Assigned(_)] => {}
                _ => panic!("{name}: {seen:?}"),
            }
        }
    }
    let (one, two) = (sizes(&moved.one), sizes(&moved.two));
    assert_eq!((one.first(), one.last()), (Some(&4), Some(&4)), "{one:?}");
    assert!(one.len() >= 3 && one.contains(&2), "{one:?}");
    assert!(
        !two.is_empty() && two.iter().all(|size| *size == 2),
        "{two:?}"
    );
}

/// How many partitions came with each assignment.
fn sizes(seen: &[Seen]) -> Vec<usize> {
    let given = seen.iter().filter_map(|seen| match seen {
        Seen::Assigned(some) => Some(some.len()),
        _ => None,
    });
    given.collect()
}

/// Asserts that a cooperative member gave back what moved only, and kept the rest.
pub(super) fn assert_cooperative(moved: &Moved) {
    let one = moves(&moved.one);
    let Some((Seen::Assigned(all), others)) = one.split_first() else {
        panic!("{one:?}")
    };
    assert_eq!(all.len(), 4, "{one:?}");
    let mut revoked = others.iter().filter_map(|seen| match seen {
        Seen::Revoking(lanes) => Some(lanes.len()),
        _ => None,
    });
    assert_eq!(revoked.next(), Some(2), "{one:?}");
    assert!(revoked.all(|lanes| lanes <= 2), "{one:?}");
    assert!(
        matches!(one.last(), Some(Seen::Assigned(back)) if back.len() == 2),
        "{one:?}"
    );
}

#[test]
fn eager_members_revoke_everything_and_share_anew_without_a_gap() {
    let (kafka, topic) = broker(4);
    let moved = partitions_move(kafka.bootstrap_servers(), &topic, kafka.producer(), "");
    assert_eager(&moved);
    // The embedded broker refuses a commit while a member joins, which Apache Kafka takes: some records come again.
    let got = deduplicated(moved.got);
    (0..4).for_each(|partition| assert_got(&got, partition, 0, 600));
}

#[test]
fn cooperative_members_keep_what_stays_and_get_the_rest_bit_by_bit() {
    let (kafka, topic) = broker(4);
    let moved = partitions_move(
        kafka.bootstrap_servers(),
        &topic,
        kafka.producer(),
        COOPERATIVE,
    );
    assert_cooperative(&moved);
    let got = deduplicated(moved.got);
    (0..4).for_each(|partition| assert_got(&got, partition, 0, 600));
}

#[test]
fn a_member_without_partitions_waits_and_takes_over() {
    let (kafka, topic) = broker(1);
    let group = unique("group");
    produce(&kafka, &topic, 1, 0, 10);
    let mut one = Member::join(&kafka, &topic, &group, "");
    one.until("the first arrive", |member| member.count() == 10);
    let mut two = Member::join(&kafka, &topic, &group, "");
    // The partition goes to one of them, the other gets an empty assignment.
    let moved = |members: &[&mut Member]| {
        let assigned = |member: &Member| {
            member
                .seen
                .iter()
                .filter(|seen| matches!(seen, Seen::Assigned(_)))
                .count()
        };
        assigned(members[0]) + assigned(members[1]) == 2
    };
    until(
        "the group has two members",
        &mut [&mut one, &mut two],
        moved,
    );
    let (owner, mut other) = if one.lanes.is_empty() {
        (two, one)
    } else {
        (one, two)
    };
    let mut got = owner.leave();
    other.until("it takes over", |member| !member.lanes.is_empty());
    produce(&kafka, &topic, 1, 10, 10);
    other.until("the others arrive", |member| {
        member.got.last().is_some_and(|got| got.offset == 19)
    });
    got.append(&mut other.got);
    assert_got(&deduplicated(got), 0, 0, 20);
}

#[test]
fn a_refused_commit_is_told_as_retryable_and_can_be_made_again() {
    let (kafka, topic) = broker(1);
    let group = unique("group");
    produce(&kafka, &topic, 1, 0, 10);
    let mut member = Member::join(&kafka, &topic, &group, "");
    member.until("all arrive", |member| member.count() == 10);
    kafka
        .request_errors(KafkaApi::OffsetCommit, &[KafkaError::RebalanceInProgress])
        .expect("injected");
    let lanes: Vec<LaneId> = member.lanes.iter().map(|lane| lane.id()).collect();
    let number = member.commit(&lanes);
    member.until("the commit ends", |member| {
        member.committed(number).is_some()
    });
    let error = member
        .committed(number)
        .expect("it ended")
        .expect_err("it was refused");
    assert!(
        error.contains("committing offsets") && error.contains("REBALANCE_IN_PROGRESS"),
        "{error}"
    );
    member.leave();
    let mut member = Member::join(&kafka, &topic, &group, "");
    produce(&kafka, &topic, 1, 10, 5);
    member.until("the others arrive", |member| member.count() >= 5);
    member.assert_got(0, 10, 5);
}

#[test]
fn a_forbidden_commit_is_fatal() {
    let (kafka, topic) = broker(1);
    produce(&kafka, &topic, 1, 0, 1);
    let mut member = Member::join(&kafka, &topic, &unique("group"), "");
    member.until("it arrives", |member| member.count() == 1);
    kafka
        .request_errors(
            KafkaApi::OffsetCommit,
            &[KafkaError::GroupAuthorizationFailed],
        )
        .expect("injected");
    let lanes: Vec<LaneId> = member.lanes.iter().map(|lane| lane.id()).collect();
    let number = member.commit(&lanes);
    member.until("the commit ends", |member| {
        member.committed(number).is_some()
    });
    let error = member
        .committed(number)
        .expect("it ended")
        .expect_err("it was refused");
    assert!(
        error.contains("GROUP_AUTHORIZATION_FAILED") && error.contains("source.group_id"),
        "{error}"
    );
}

#[test]
fn a_lane_that_was_released_is_not_committed() {
    let (kafka, topic) = broker(1);
    produce(&kafka, &topic, 1, 0, 1);
    let mut member = Member::join(&kafka, &topic, &unique("group"), "");
    member.until("it arrives", |member| member.count() == 1);
    let lane = member.lanes[0].id();
    let commit = |partition: Partition| {
        [Commit {
            lane,
            partition,
            offset: 1,
            metadata: None,
        }]
    };
    let other = member
        .source
        .commit(7, &commit(Partition::new(topic.as_str(), 1)));
    assert!(
        other.is_err_and(|error| error.is_retryable()),
        "another partition than the lane's"
    );
    member.drop_lanes();
    member.source.release(&[lane]).expect("released");
    let late = member
        .source
        .commit(8, &commit(Partition::new(topic.as_str(), 0)));
    assert!(late.is_err_and(
        |error| error.is_retryable() && error.message.contains("not assigned any more")
    ));
}

#[test]
fn an_empty_commit_ends_well_at_once() {
    let (kafka, topic) = broker(1);
    let mut member = Member::join(&kafka, &topic, &unique("group"), "");
    member.source.commit(3, &[]).expect("it begins");
    member.until("it ends", |member| member.committed(3) == Some(Ok(())));
}

#[test]
fn a_lost_assignment_is_lost_and_comes_back_with_new_lanes() {
    let (kafka, topic) = broker(2);
    produce(&kafka, &topic, 2, 0, 20);
    let mut member = Member::join(&kafka, &topic, &unique("group"), "");
    member.until("all arrive", |member| member.count() == 40);
    let lanes: Vec<LaneId> = member.lanes.iter().map(|lane| lane.id()).collect();
    kafka
        .request_errors(KafkaApi::Heartbeat, &[KafkaError::UnknownMemberId])
        .expect("injected");
    member.until("it is lost and comes back", |member| {
        member.seen.contains(&Seen::Lost(vec![0, 1])) && member.lanes.len() == 2
    });
    assert!(
        member.lanes.iter().all(|lane| !lanes.contains(&lane.id())),
        "lanes are never used again"
    );
    // Nothing was committed: everything comes again.
    member.until("all arrive again", |member| member.count() >= 80);
    for half in [&member.got[..40], &member.got[40..]] {
        (0..2).for_each(|partition| assert_got(half, partition, 0, 20));
    }
}

#[test]
fn after_a_rebalance_that_went_wrong_everything_counts_as_lost() {
    let (kafka, topic) = broker(2);
    produce(&kafka, &topic, 2, 0, 1);
    let mut member = Member::join(&kafka, &topic, &unique("group"), "");
    member.until("all arrive", |member| member.count() == 2);
    member.source.fail_rebalance();
    member.until("it is told", |member| {
        member.seen.contains(&Seen::Lost(vec![0, 1]))
    });
    let told =
        |seen: &Seen| matches!(seen, Seen::Trouble(text) if text.contains("the rebalance failed"));
    member.until("why is told", |member| member.seen.iter().any(told));
    assert!(member.lanes.is_empty());
}
