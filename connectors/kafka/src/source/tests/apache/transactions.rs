//! Transactions: what is aborted is not read, and what they leave in the log holds up nothing.

use spate_test::services::{Producer, Record, committed_offsets, watermarks};

use super::super::harness::Member;
use super::{group, name, settings, topic};

const LATER: std::time::Duration = std::time::Duration::from_secs(60);

fn transact(producer: &Producer, topic: &str, payloads: &[&str], commit: bool) {
    producer.begin().expect("begun");
    for payload in payloads {
        let record = Record {
            topic,
            partition: Some(0),
            payload: Some(payload.as_bytes()),
            ..Record::default()
        };
        producer.send(record).expect("taken");
    }
    producer.flush(LATER).expect("acknowledged");
    if commit {
        producer.commit().expect("committed");
    } else {
        producer.abort().expect("aborted");
    }
}

fn payloads(member: &Member) -> Vec<String> {
    let text = |payload: &Vec<u8>| String::from_utf8_lossy(payload).into_owned();
    let payloads = member.got.iter().filter_map(|got| got.payload.as_ref());
    payloads.map(text).collect()
}

#[test]
fn only_committed_records_are_read_and_the_lag_reaches_zero_behind_the_last_marker() {
    let Some((brokers, topic, _)) = topic(1) else {
        return;
    };
    let producer = Producer::transactional(brokers, &name("id")).expect("a producer");
    transact(&producer, &topic, &["a", "b"], true);
    transact(&producer, &topic, &["lost"], false);
    transact(&producer, &topic, &["c"], true);
    transact(&producer, &topic, &["lost too", "and this"], false);
    let end = watermarks(brokers, &topic, 0).expect("an answer").1;
    assert_eq!(end, 6 + 4, "records and markers");
    let group = group();
    let mut member = Member::start(settings(brokers, &topic, &group, ""));
    member.until("the end is reached", |member| {
        member.passed.values().any(|&next| next == end)
    });
    assert_eq!(payloads(&member), ["a", "b", "c"]);
    assert_eq!(member.lag(), [(0, 0)]);
    member.leave();
    assert_eq!(
        committed_offsets(brokers, &group, &topic, 1).expect("an answer"),
        [Some(end)]
    );

    // A restart begins behind the markers, and the next transaction is read.
    let mut member = Member::start(settings(brokers, &topic, &group, ""));
    member.until_assigned();
    transact(&producer, &topic, &["d"], true);
    member.until("the next arrives", |member| member.count() == 1);
    assert_eq!(payloads(&member), ["d"]);
    member.leave();
}

#[test]
fn an_open_transaction_holds_reading_up_and_what_it_holds_is_read_when_it_ends() {
    let Some((brokers, topic, plain)) = topic(1) else {
        return;
    };
    let producer = Producer::transactional(brokers, &name("id")).expect("a producer");
    let mut member = Member::start(settings(brokers, &topic, &group(), ""));
    transact(&producer, &topic, &["a"], true);
    member.until("the first arrives", |member| member.count() == 1);
    producer.begin().expect("begun");
    let record = |payload: &'static str| Record {
        topic: &topic,
        partition: Some(0),
        payload: Some(payload.as_bytes()),
        ..Record::default()
    };
    producer.send(record("open")).expect("taken");
    producer.flush(LATER).expect("acknowledged");
    plain.send(record("behind")).expect("taken");
    plain.flush(LATER).expect("acknowledged");
    member.until("the lag is known", |member| member.lag() == [(0, 2)]);
    assert_eq!(payloads(&member), ["a"]);
    assert!(
        member.passed.values().all(|&next| next <= 2),
        "nothing is passed that may still become a record: {:?}",
        member.passed
    );
    producer.commit().expect("committed");
    member.until("both arrive", |member| member.count() == 3);
    assert_eq!(payloads(&member), ["a", "open", "behind"]);
    member.until("the lag is none", |member| member.lag() == [(0, 0)]);
    member.leave();
}

#[test]
fn all_records_of_transactions_are_read_where_that_is_set() {
    let Some((brokers, topic, _)) = topic(1) else {
        return;
    };
    let producer = Producer::transactional(brokers, &name("id")).expect("a producer");
    transact(&producer, &topic, &["a"], true);
    transact(&producer, &topic, &["aborted"], false);
    let more = "    isolation.level: read_uncommitted\n";
    let mut member = Member::start(settings(brokers, &topic, &group(), more));
    member.until("the end is reached", |member| member.lag() == [(0, 0)]);
    assert_eq!(payloads(&member), ["a", "aborted"]);
    member.leave();
}
