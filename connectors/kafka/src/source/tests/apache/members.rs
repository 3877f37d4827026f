//! Members that come and go.

use std::time::{Duration, Instant};

use spate_test::services::{ApacheKafka, ApacheKafkaOptions};

use spate_runtime::source::Source;

use super::super::group::{COOPERATIVE, assert_cooperative, assert_eager, partitions_move};
use super::super::harness::{Member, PATIENCE, Seen, assert_got, deduplicated, send, until};
use super::super::members::CONSUMER;
use super::{calm, group, settings, topic};

#[test]
fn an_eager_revocation_commits_so_that_nothing_comes_twice() {
    let Some((brokers, topic, producer)) = topic(4) else {
        return;
    };
    let moved = partitions_move(brokers, &topic, &producer, &calm(""));
    assert_eager(&moved);
    let mut got = moved.got;
    got.sort_by_key(|got| (got.partition, got.offset));
    (0..4).for_each(|partition| assert_got(&got, partition, 0, 600));
}

#[test]
fn a_cooperative_revocation_commits_so_that_nothing_comes_twice() {
    let Some((brokers, topic, producer)) = topic(4) else {
        return;
    };
    let moved = partitions_move(brokers, &topic, &producer, &calm(COOPERATIVE));
    assert_cooperative(&moved);
    let mut got = moved.got;
    got.sort_by_key(|got| (got.partition, got.offset));
    (0..4).for_each(|partition| assert_got(&got, partition, 0, 600));
}

#[test]
fn a_revocation_by_the_broker_commits_so_that_nothing_comes_twice() {
    let Some((brokers, topic, producer)) = topic(4) else {
        return;
    };
    let moved = partitions_move(brokers, &topic, &producer, CONSUMER);
    assert_cooperative(&moved);
    let mut got = moved.got;
    got.sort_by_key(|got| (got.partition, got.offset));
    (0..4).for_each(|partition| assert_got(&got, partition, 0, 600));
}

#[test]
fn members_that_come_and_go_in_the_middle_of_the_work_leave_no_gap() {
    for protocol in ["", COOPERATIVE, CONSUMER] {
        let Some((brokers, topic, producer)) = topic(6) else {
            return;
        };
        let group = group();
        let join = || Member::start(settings(brokers, &topic, &group, protocol));
        let mut sent = 0;
        let mut send_more = || {
            send(&producer, &topic, 6, sent, 100);
            sent += 100;
        };
        let share = |members: &mut [Member], what: &str| {
            let mut all: Vec<&mut Member> = members.iter_mut().collect();
            until(what, &mut all, |members| {
                let lanes: usize = members.iter().map(|member| member.lanes.len()).sum();
                lanes == 6 && members.iter().all(|member| !member.lanes.is_empty())
            });
        };
        let (mut members, mut got) = (Vec::new(), Vec::new());
        for joined in 1..=3 {
            send_more();
            members.push(join());
            send_more();
            share(&mut members, &format!("{joined} members share"));
        }
        send_more();
        // One leaves in order, one is gone without a commit: what that one had in flight comes again.
        let mut left = members.remove(0);
        left.turn();
        got.append(&mut left.leave());
        send_more();
        share(&mut members, "two members share");
        let mut gone = members.remove(0);
        send_more();
        gone.turn();
        got.append(&mut gone.got);
        gone.drop_lanes();
        gone.source.close();
        share(&mut members, "one member has all");
        send_more();
        let last = &mut members[0];
        last.until("the newest arrive", |member| {
            let newest = |partition: i32| {
                let mut got = member.got.iter().rev();
                got.any(|got| got.partition == partition && got.offset == sent - 1)
            };
            (0..6).all(newest)
        });
        got.append(&mut last.got);
        let got = deduplicated(got);
        (0..6).for_each(|partition| assert_got(&got, partition, 0, sent));
    }
}

#[test]
fn a_member_with_an_instance_id_that_starts_again_disturbs_nobody() {
    for protocol in ["", COOPERATIVE, CONSUMER] {
        let Some((brokers, topic, producer)) = topic(4) else {
            return;
        };
        let group = group();
        let join = |instance: &str| {
            let more = format!(
                "{protocol}  group_instance_id: {instance}\n    session.timeout.ms: 60000\n"
            );
            let more = if protocol == CONSUMER {
                more.replace("    session.timeout.ms: 60000\n", "")
            } else {
                more
            };
            Member::start(settings(brokers, &topic, &group, &more))
        };
        let (mut one, mut two) = (join("etl-1"), join("etl-2"));
        until("both share", &mut [&mut one, &mut two], |members| {
            members.iter().all(|member| member.lanes.len() == 2)
        });
        send(&producer, &topic, 4, 0, 50);
        until("all arrive", &mut [&mut one, &mut two], |members| {
            members.iter().all(|member| member.count() == 100)
        });
        let (before, partitions) = (two.seen.len(), one.numbers_held());
        one.leave();
        send(&producer, &topic, 4, 50, 50);
        let mut again = join("etl-1");
        until("both read on", &mut [&mut again, &mut two], |members| {
            members[0].count() == 100 && members[1].count() == 200
        });
        assert_eq!(again.numbers_held(), partitions, "it has its own again");
        for partition in partitions {
            again.assert_got(partition, 50, 50);
        }
        let moved =
            |seen: &&Seen| matches!(seen, Seen::Assigned(_) | Seen::Revoking(_) | Seen::Lost(_));
        assert_eq!(two.seen[before..].iter().find(moved), None, "{protocol}");
    }
}

#[test]
fn of_two_members_with_one_instance_id_one_stops_and_names_the_setting() {
    for (protocol, code) in [
        ("", "FENCED_INSTANCE_ID"),
        (CONSUMER, "UNRELEASED_INSTANCE_ID"),
    ] {
        let Some((brokers, topic, _)) = topic(1) else {
            return;
        };
        let group = group();
        let more = format!("{protocol}  group_instance_id: etl-1\n");
        let join = || Member::start(settings(brokers, &topic, &group, &more));
        let mut older = join();
        older.until_assigned();
        let mut newer = join();
        // The group's members fence the older one, the broker refuses the newer one.
        let (stops, goes_on) = if protocol.is_empty() {
            (&mut older, &mut newer)
        } else {
            (&mut newer, &mut older)
        };
        let end = Instant::now() + PATIENCE;
        while stops.failed.is_none() && Instant::now() < end {
            stops.turn();
            goes_on.turn();
            std::thread::sleep(Duration::from_millis(1));
        }
        let failure = stops.failed.as_ref().expect("it failed").message.clone();
        assert!(
            failure.contains(code) && failure.contains("source.group_instance_id"),
            "{failure}"
        );
        goes_on.until("the other has the partition", |member| {
            !member.lanes.is_empty()
        });
    }
}

#[test]
fn a_member_that_leaves_is_replaced_at_once() {
    let Some((brokers, topic, producer)) = topic(1) else {
        return;
    };
    let group = group();
    send(&producer, &topic, 1, 0, 10);
    // With this session the second would wait longer than the test does, if the first had not left.
    let join = || {
        Member::start(settings(
            brokers,
            &topic,
            &group,
            "    session.timeout.ms: 300000\n",
        ))
    };
    let mut member = join();
    member.until("all arrive", |member| member.count() == 10);
    member.leave();
    let mut member = join();
    send(&producer, &topic, 1, 10, 10);
    member.until("the others arrive", |member| member.count() == 10);
    member.assert_got(0, 10, 10);
}

#[test]
fn latest_and_its_committed_start_work_on_a_real_broker() {
    let Some((brokers, topic, producer)) = topic(2) else {
        return;
    };
    let group = group();
    let join = || {
        Member::start(settings(
            brokers,
            &topic,
            &group,
            "  start_offset: latest\n",
        ))
    };
    send(&producer, &topic, 2, 0, 10);
    let mut member = join();
    member.until_assigned();
    send(&producer, &topic, 2, 10, 10);
    member.until("the new ones arrive", |member| member.count() == 20);
    (0..2).for_each(|partition| member.assert_got(partition, 10, 10));
    member.drop_lanes();
    member.source.close();
    let mut member = join();
    member.until("they come again", |member| member.count() == 20);
    (0..2).for_each(|partition| member.assert_got(partition, 10, 10));
}

#[test]
fn reading_goes_on_after_the_broker_was_killed() {
    if ApacheKafka::required().is_none() {
        return;
    }
    let kafka = ApacheKafka::start(ApacheKafkaOptions {
        // So that the killed broker is let in again soon.
        properties: vec![("broker.session.timeout.ms".to_owned(), "3000".to_owned())],
        ..ApacheKafkaOptions::default()
    })
    .expect("a broker of its own");
    kafka
        .create_topic("orders", 2)
        .expect("the topic is created");
    let producer = kafka.producer().expect("a producer is made");
    send(&producer, "orders", 2, 0, 100);
    let mut member = Member::start(settings(kafka.bootstrap_servers(), "orders", "group", ""));
    member.until("the first arrive", |member| member.count() == 200);
    member.commit_all();
    kafka.kill().expect("killed");
    for _ in 0..1_000 {
        member.turn();
        std::thread::sleep(Duration::from_millis(1));
    }
    kafka.restart().expect("restarted");
    send(&producer, "orders", 2, 100, 100);
    until("the others arrive", &mut [&mut member], |members| {
        let newest = |partition: i32| {
            let mut got = members[0].got.iter();
            got.any(|got| got.partition == partition && got.offset == 199)
        };
        (0..2).all(newest)
    });
    // A group that its coordinator has lost sight of is joined anew, and begins at what was committed.
    let others = deduplicated(member.got.split_off(200));
    for partition in 0..2 {
        member.assert_got(partition, 0, 100);
        assert_got(&others, partition, 100, 100);
    }
    member.leave();
}
