//! Members of a group: more than partitions, under the broker's own protocol, and leaders that move.

use std::time::Duration;

use spate_runtime::source::Source;
use spate_runtime::time::Time;
use spate_test::services::EmbeddedKafka;

use super::group::{COOPERATIVE, assert_cooperative, partitions_move};
use super::harness::{Member, STEADY, assert_got, broker, deduplicated, produce, unique, until};

pub(super) const CONSUMER: &str = "  group_protocol: consumer\n";

#[test]
fn a_member_without_partitions_stays_however_long_it_waits() {
    for protocol in ["", COOPERATIVE, CONSUMER] {
        let (kafka, topic) = broker(1);
        let group = unique("group");
        produce(&kafka, &topic, 1, 0, 10);
        let mut one = Member::join(&kafka, &topic, &group, protocol);
        one.until("it has the partition", |member| member.count() == 10);
        let mut two = Member::join(&kafka, &topic, &group, protocol);
        until(
            "both have their share",
            &mut [&mut one, &mut two],
            |members| {
                let lanes: usize = members.iter().map(|member| member.lanes.len()).sum();
                lanes == 1 && !members.iter().any(|member| member.source.waits())
            },
        );
        // Whoever has no partition now: no time that passes ends it.
        let much_later = Time::ZERO.after(Duration::from_secs(24 * 3600));
        for member in [&mut one, &mut two] {
            let failed = member.source.poll(much_later).map(|_| ());
            assert!(failed.is_ok(), "{protocol}: {failed:?}");
        }
    }
}

#[test]
fn a_group_to_which_the_broker_assigns_shares_without_a_gap() {
    let (kafka, topic) = broker(4);
    let moved = partitions_move(
        kafka.bootstrap_servers(),
        &topic,
        kafka.producer(),
        CONSUMER,
    );
    assert_cooperative(&moved);
    let got = deduplicated(moved.got);
    (0..4).for_each(|partition| assert_got(&got, partition, 0, 600));
}

#[test]
fn reading_follows_a_leader_that_moves() {
    let kafka = EmbeddedKafka::start(3).expect("the embedded brokers start");
    let topic = unique("topic");
    kafka.create_topic(&topic, 2).expect("created");
    produce(&kafka, &topic, 2, 0, 50);
    let mut member = Member::join(&kafka, &topic, &unique("group"), STEADY);
    member.until("the first arrive", |member| member.count() >= 100);
    for round in 0..3 {
        for partition in 0..2 {
            let broker = Some(1 + (round + partition) % 3);
            kafka
                .partition_leader(&topic, partition, broker)
                .expect("it moves");
        }
        produce(&kafka, &topic, 2, 50 + i64::from(round) * 50, 50);
        let wanted = 200 + usize::try_from(round).expect("small") * 100;
        member.until("the others arrive", |member| member.count() >= wanted);
    }
    (0..2).for_each(|partition| member.assert_got(partition, 0, 200));
    member.leave();
}
