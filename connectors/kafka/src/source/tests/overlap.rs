//! Rebalances that the client begins while it waits for the answer to another: it does when topics change meanwhile.

use spate_test::services::{EmbeddedKafka, KafkaApi, KafkaError};

use super::group::COOPERATIVE;
use super::harness::{Member, STEADY, Seen, assert_got, broker, deduplicated, produce, unique};

/// A member that has read ten records of each partition, all of them committed.
fn reading(kafka: &EmbeddedKafka, topic: &str, partitions: i32, more: &str) -> Member {
    produce(kafka, topic, partitions, 0, 10);
    let more = format!("{more}{STEADY}");
    let mut member = Member::join(kafka, topic, &unique("group"), &more);
    let all = usize::try_from(partitions).expect("small") * 10;
    member.until("the first arrive", |member| member.count() == all);
    member.commit_all();
    member.seen.clear();
    member
}

/// Produces ten more for each partition: they arrive without a gap.
fn assert_reads_on(mut member: Member, kafka: &EmbeddedKafka, topic: &str, partitions: i32) {
    produce(kafka, topic, partitions, 10, 10);
    member.until("the others arrive", |member| {
        let newest = |partition: i32| {
            let mut got = member.got.iter().rev();
            got.any(|got| got.partition == partition && got.offset == 19)
        };
        (0..partitions).all(newest)
    });
    let got = deduplicated(std::mem::take(&mut member.got));
    (0..partitions).for_each(|partition| assert_got(&got, partition, 0, 20));
    member.leave();
}

/// Makes look-ups of committed offsets fail until [`look_ups_succeed`].
fn look_ups_fail(kafka: &EmbeddedKafka) {
    let refusals = [KafkaError::CoordinatorLoadInProgress; 1_000];
    kafka
        .request_errors(KafkaApi::OffsetFetch, &refusals)
        .expect("injected");
}

fn look_ups_succeed(kafka: &EmbeddedKafka) {
    kafka
        .clear_request_errors(KafkaApi::OffsetFetch)
        .expect("cleared");
}

fn refused(seen: &Seen) -> bool {
    matches!(seen, Seen::Trouble(text) if text.contains("committed offsets"))
}

/// What a member saw of its partitions, of which the numbers are sorted.
fn moves(member: &Member) -> Vec<Seen> {
    let sorted = |numbers: &Vec<i32>| {
        let mut numbers = numbers.clone();
        numbers.sort_unstable();
        numbers
    };
    let moves = member.seen.iter().filter_map(|seen| match seen {
        Seen::Assigned(numbers) => Some(Seen::Assigned(sorted(numbers))),
        Seen::Revoking(numbers) => Some(Seen::Revoking(sorted(numbers))),
        Seen::Lost(numbers) => Some(Seen::Lost(sorted(numbers))),
        _ => None,
    });
    moves.collect()
}

#[test]
fn partitions_that_are_given_and_were_not_taken_back_are_lost_and_read_on() {
    for strategy in ["", COOPERATIVE] {
        let (kafka, topic) = broker(2);
        let mut member = reading(&kafka, &topic, 2, strategy);
        member.source.give(&topic, &[0, 1]);
        member.until("they come again", |member| {
            moves(member) == [Seen::Lost(vec![0, 1]), Seen::Assigned(vec![0, 1])]
        });
        assert_reads_on(member, &kafka, &topic, 2);
    }
}

#[test]
fn partitions_that_are_given_while_they_are_taken_back_are_lost_and_read_on() {
    for strategy in ["", COOPERATIVE] {
        let (kafka, topic) = broker(2);
        let mut member = reading(&kafka, &topic, 2, strategy);
        member.source.take_away(&topic, &[0, 1]);
        member.source.give(&topic, &[0, 1]);
        member.until("they come again", |member| moves(member).len() == 3);
        let wanted = [
            Seen::Revoking(vec![0, 1]),
            Seen::Lost(vec![0, 1]),
            Seen::Assigned(vec![0, 1]),
        ];
        assert_eq!(moves(&member), wanted, "{strategy}");
        assert_reads_on(member, &kafka, &topic, 2);
    }
}

#[test]
fn an_eager_assignment_makes_the_one_before_void() {
    let (kafka, topic) = broker(2);
    let mut member = reading(&kafka, &topic, 2, "");
    member.source.take_away(&topic, &[0, 1]);
    member.until("they are given back", |member| {
        !member.source.is_rebalancing()
    });
    look_ups_fail(&kafka);
    member.source.give(&topic, &[0]);
    member.until("offsets are refused", |member| {
        member.seen.iter().any(refused)
    });
    member.source.give(&topic, &[0, 1]);
    look_ups_succeed(&kafka);
    member.until("both are assigned", |member| member.lanes.len() == 2);
    let wanted = [Seen::Revoking(vec![0, 1]), Seen::Assigned(vec![0, 1])];
    assert_eq!(moves(&member), wanted);
    assert_reads_on(member, &kafka, &topic, 2);
}

#[test]
fn what_is_taken_before_it_could_be_read_is_not_read_and_the_rest_is() {
    let (kafka, topic) = broker(4);
    let mut member = reading(&kafka, &topic, 4, COOPERATIVE);
    member.source.take_away(&topic, &[0, 1, 2]);
    member.until("they are given back", |member| {
        !member.source.is_rebalancing()
    });
    look_ups_fail(&kafka);
    member.source.give(&topic, &[0, 1]);
    member.until("offsets are refused", |member| {
        member.seen.iter().any(refused)
    });
    // One that waits, one that is about to be read, one that is read.
    member.source.give(&topic, &[2]);
    member.source.take_away(&topic, &[1, 2, 3]);
    member.until("the one that is read is given back", |member| {
        member.lanes.is_empty()
    });
    look_ups_succeed(&kafka);
    member.until("the one that is left is read", |member| {
        member.lanes.len() == 1 && !member.source.is_rebalancing()
    });
    member.source.give(&topic, &[1, 2, 3]);
    member.until("all are read", |member| member.lanes.len() == 4);
    let wanted = [
        Seen::Revoking(vec![0, 1, 2]),
        Seen::Revoking(vec![3]),
        Seen::Assigned(vec![0]),
        Seen::Assigned(vec![1, 2, 3]),
    ];
    assert_eq!(moves(&member), wanted);
    assert_reads_on(member, &kafka, &topic, 4);
}

#[test]
fn cooperative_rebalances_that_overlap_are_all_answered() {
    let (kafka, topic) = broker(4);
    let mut member = reading(&kafka, &topic, 4, COOPERATIVE);
    member.source.take_away(&topic, &[0]);
    member.source.take_away(&topic, &[1, 2]);
    member.until("they are given back", |member| {
        member.lanes.len() == 1 && !member.source.is_rebalancing()
    });
    member.source.give(&topic, &[2]);
    member.source.give(&topic, &[0]);
    member.source.give(&topic, &[1]);
    member.until("all are read", |member| member.lanes.len() == 4);
    let wanted = [
        Seen::Revoking(vec![0]),
        Seen::Revoking(vec![1, 2]),
        Seen::Assigned(vec![2]),
        Seen::Assigned(vec![0]),
        Seen::Assigned(vec![1]),
    ];
    assert_eq!(moves(&member), wanted);
    assert_reads_on(member, &kafka, &topic, 4);
}

#[test]
fn topics_that_change_before_an_assignment_is_answered_keep_nothing_from_being_read() {
    for strategy in ["", COOPERATIVE] {
        let (kafka, topic) = broker(2);
        let other = unique("topic");
        kafka.create_topic(&other, 1).expect("created");
        produce(&kafka, &topic, 2, 0, 10);
        look_ups_fail(&kafka);
        let topics = format!("{topic}, {other}");
        let more = format!("{strategy}    topic.metadata.refresh.interval.ms: 500\n");
        let mut member = Member::join(&kafka, &topics, &unique("group"), &more);
        member.until("offsets are refused", |member| {
            member.seen.iter().any(refused)
        });
        // The client joins again at once, with an assignment that it waits for.
        let gone = KafkaError::UnknownTopicOrPartition;
        kafka.topic_error(&other, gone).expect("gone");
        member.until("it is missed", |member| {
            let told = |seen: &Seen| matches!(seen, Seen::Trouble(text) if text.contains(&other));
            member.seen.iter().any(told)
        });
        look_ups_succeed(&kafka);
        // By its second assignment, if that is an eager one.
        member.until("the other topic is assigned", |member| {
            member.lanes.len() == 2
        });
        kafka.topic_error(&other, KafkaError::None).expect("back");
        produce(&kafka, &other, 1, 0, 10);
        member.until("the topic that was gone is read", |member| {
            let mut got = member.got.iter();
            got.any(|got| *got.topic == other && got.offset == 9)
        });
        let (mut got, topic_got): (Vec<_>, Vec<_>) = std::mem::take(&mut member.got)
            .into_iter()
            .partition(|got| *got.topic == other);
        got = deduplicated(got);
        assert_got(&got, 0, 0, 10);
        member.got = topic_got;
        assert_reads_on(member, &kafka, &topic, 2);
    }
}
