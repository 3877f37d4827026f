//! What the embedded broker does otherwise than Apache Kafka: commits during a rebalance, fencing, a broker that is killed.

use spate_test::services::{ApacheKafka, ApacheKafkaOptions, Producer};

use super::group::{COOPERATIVE, assert_cooperative, assert_eager, partitions_move};
use super::harness::{Member, assert_got, send, settings, unique, until};

/// A topic on the shared broker with a producer; `None` where the broker is skipped.
fn topic(partitions: i32) -> Option<(&'static str, String, Producer)> {
    let kafka = ApacheKafka::required()?;
    let topic = unique(&format!("topic-{}", std::process::id()));
    kafka
        .create_topic(&topic, partitions)
        .expect("the topic is created");
    Some((
        kafka.bootstrap_servers(),
        topic,
        kafka.producer().expect("a producer is made"),
    ))
}

/// A group that no run before used.
fn group() -> String {
    unique(&format!("group-{}", std::process::id()))
}

#[test]
fn an_eager_revocation_commits_so_that_nothing_comes_twice() {
    let Some((brokers, topic, producer)) = topic(4) else {
        return;
    };
    let moved = partitions_move(brokers, &topic, &producer, "");
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
    let moved = partitions_move(brokers, &topic, &producer, COOPERATIVE);
    assert_cooperative(&moved);
    let mut got = moved.got;
    got.sort_by_key(|got| (got.partition, got.offset));
    (0..4).for_each(|partition| assert_got(&got, partition, 0, 600));
}

#[test]
fn the_older_of_two_members_with_one_instance_id_stops() {
    let Some((brokers, topic, _)) = topic(1) else {
        return;
    };
    let group = group();
    let join = || {
        Member::start(settings(
            brokers,
            &topic,
            &group,
            "  group_instance_id: etl-1\n",
        ))
    };
    let mut older = join();
    older.until_assigned();
    let mut newer = join();
    let failure = {
        while older.failed.is_none() {
            older.turn();
            newer.turn();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        older.failed.as_ref().expect("it failed").message.clone()
    };
    assert!(
        failure.contains("FENCED_INSTANCE_ID") && failure.contains("source.group_instance_id"),
        "{failure}"
    );
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
    spate_runtime::source::Source::close(&mut member.source);
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
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    kafka.restart().expect("restarted");
    send(&producer, "orders", 2, 100, 100);
    until("the others arrive", &mut [&mut member], |members| {
        members[0].count() >= 400
    });
    (0..2).for_each(|partition| member.assert_got(partition, 0, 200));
    member.leave();
}
