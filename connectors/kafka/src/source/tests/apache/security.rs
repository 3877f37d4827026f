//! TLS and SASL: what is right is read over, and what is wrong stops with the reason and without the secret.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use spate_test::services::{ApacheKafka, ApacheKafkaOptions, Producer, Topic, create_topic};

use super::super::harness::{Member, STARTUP, assert_got, deduplicated, send, until};
use super::{group, name, settings};
use crate::native;

const PASSWORD: &str = "correct-horse";

/// A folder that goes with the test process; keys are made by OpenSSL's command.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("spate-kafka-tls-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, subject) in [
            ("broker", "IP:127.0.0.1"),
            ("elsewhere", "DNS:elsewhere.example"),
            ("client", "DNS:client.example"),
        ] {
            let (key, cert) = (folder.join(name), folder.join(format!("{name}.pem")));
            let made = Command::new("openssl")
                .args([
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                ])
                .args(["-subj", &format!("/CN={name}")])
                .args(["-addext", &format!("subjectAltName={subject}")])
                .arg("-keyout")
                .arg(key.with_extension("key"))
                .arg("-out")
                .arg(&cert)
                .output()
                .expect("the command `openssl` is there: apt-get install openssl");
            assert!(made.status.success(), "{made:?}");
            // Kafka takes key and certificate from one file.
            let both = [key.with_extension("key"), cert]
                .map(|file| std::fs::read_to_string(file).expect("it was made"));
            std::fs::write(folder.join(format!("{name}.both.pem")), both.concat())
                .expect("written");
        }
        folder
    })
}

fn file(name: &str) -> String {
    folder().join(name).display().to_string()
}

fn listeners() -> Vec<(String, String)> {
    [
        ("TLS", "SSL"),
        ("MUTUAL", "SSL"),
        ("ELSEWHERE", "SSL"),
        ("USERS", "SASL_PLAINTEXT"),
        ("TLSUSERS", "SASL_SSL"),
    ]
    .map(|(name, protocol)| (name.to_owned(), protocol.to_owned()))
    .into()
}

fn properties() -> Vec<(String, String)> {
    let mut properties = Vec::new();
    let mut set = |name: &str, value: &str| properties.push((name.to_owned(), value.to_owned()));
    for (listener, key) in [
        ("tls", "broker"),
        ("mutual", "broker"),
        ("elsewhere", "elsewhere"),
        ("tlsusers", "broker"),
    ] {
        let of = |setting: &str| format!("listener.name.{listener}.{setting}");
        set(&of("ssl.keystore.type"), "PEM");
        set(
            &of("ssl.keystore.location"),
            &file(&format!("{key}.both.pem")),
        );
    }
    set("listener.name.mutual.ssl.client.auth", "required");
    set("listener.name.mutual.ssl.truststore.type", "PEM");
    set(
        "listener.name.mutual.ssl.truststore.location",
        &file("client.pem"),
    );
    set(
        "sasl.enabled.mechanisms",
        "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    );
    for listener in ["users", "tlsusers"] {
        let module = "org.apache.kafka.common.security";
        let of = |mechanism: &str| format!("listener.name.{listener}.{mechanism}.sasl.jaas.config");
        set(
            &of("plain"),
            &format!("{module}.plain.PlainLoginModule required user_etl=\"{PASSWORD}\";"),
        );
        for mechanism in ["scram-sha-256", "scram-sha-512"] {
            set(
                &of(mechanism),
                &format!("{module}.scram.ScramLoginModule required;"),
            );
        }
    }
    // The plain listener's clients may do everything; others what no rule keeps for somebody else.
    set(
        "authorizer.class.name",
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    );
    set("super.users", "User:ANONYMOUS");
    set("allow.everyone.if.no.acl.found", "true");
    set("broker.session.timeout.ms", "3000");
    properties
}

fn start() -> Option<ApacheKafka> {
    let scram = |mechanism: &str| (mechanism.to_owned(), "etl".to_owned(), PASSWORD.to_owned());
    ApacheKafka::required()?;
    let options = ApacheKafkaOptions {
        properties: properties(),
        listeners: listeners(),
        scram_users: vec![scram("SCRAM-SHA-256"), scram("SCRAM-SHA-512")],
        ..ApacheKafkaOptions::default()
    };
    Some(ApacheKafka::start(options).expect("a broker of its own"))
}

/// The broker that no test kills; `None` where it is skipped.
fn broker() -> Option<&'static ApacheKafka> {
    static BROKER: OnceLock<Option<ApacheKafka>> = OnceLock::new();
    BROKER.get_or_init(start).as_ref()
}

/// A topic with ten records, and a producer.
fn topic(kafka: &ApacheKafka) -> (String, Producer) {
    let topic = name("topic");
    let producer = kafka.producer().expect("a producer");
    create_topic(kafka.bootstrap_servers(), &Topic::new(&topic, 1)).expect("created");
    send(&producer, &topic, 1, 0, 10);
    (topic, producer)
}

fn tls() -> String {
    format!("  tls: {{ca: '{}'}}\n", file("broker.pem"))
}

fn sasl(mechanism: &str, password: &str) -> String {
    format!("  sasl: {{mechanism: {mechanism}, username: etl, password: {password}}}\n")
}

fn join(kafka: &ApacheKafka, listener: &str, topic: &str, more: &str) -> Member {
    let brokers = kafka.listener(listener).expect("it has the listener");
    Member::start(settings(&brokers, topic, &group(), more))
}

#[test]
fn records_are_read_over_tls_and_sasl() {
    let Some(kafka) = broker() else { return };
    let (topic, _) = topic(kafka);
    let mutual = format!(
        "  tls: {{ca: '{}', cert: '{}', key: '{}'}}\n",
        file("broker.pem"),
        file("client.pem"),
        file("client.key")
    );
    for (listener, more) in [
        ("TLS", tls()),
        ("MUTUAL", mutual),
        ("USERS", sasl("plain", PASSWORD)),
        ("USERS", sasl("scram-sha-256", PASSWORD)),
        ("TLSUSERS", tls() + &sasl("plain", PASSWORD)),
        ("TLSUSERS", tls() + &sasl("scram-sha-256", PASSWORD)),
        ("TLSUSERS", tls() + &sasl("SCRAM-SHA-512", PASSWORD)),
    ] {
        let mut member = join(kafka, listener, &topic, &more);
        member.until("all arrive", |member| member.count() == 10);
        member.leave();
    }
}

#[test]
fn what_is_refused_stops_the_pipeline_with_the_reason_and_without_the_secret() {
    let Some(kafka) = broker() else { return };
    let (topic, _) = topic(kafka);
    let other_ca = format!("  tls: {{ca: '{}'}}\n", file("elsewhere.pem"));
    let elsewhere = other_ca.clone();
    for (listener, more, words) in [
        ("TLS", other_ca, &["certificate", "source.tls"][..]),
        (
            "TLS",
            "  tls: {}\n".to_owned(),
            &["certificate", "source.tls"],
        ),
        ("ELSEWHERE", elsewhere, &["certificate", "source.tls"]),
        ("MUTUAL", tls(), &["certificate", "source.tls"]),
        (
            "USERS",
            sasl("plain", "hunter2"),
            &["Invalid username or password", "source.sasl"],
        ),
        (
            "TLSUSERS",
            tls() + &sasl("scram-sha-512", "hunter2"),
            &["invalid credentials", "source.sasl"],
        ),
    ] {
        // No time runs out: what is refused is refused at once.
        let more = format!("{more}  startup_timeout: 0s\n");
        let failure = join(kafka, listener, &topic, &more).failure();
        for word in words {
            let found = failure.to_lowercase().contains(&word.to_lowercase());
            assert!(found, "{listener}: {word}: {failure}");
        }
        assert!(!failure.contains("hunter2"), "{failure}");
    }
}

#[test]
fn tls_where_there_is_none_and_none_where_there_is_end_with_the_reason() {
    let Some(kafka) = broker() else { return };
    let (topic, _) = topic(kafka);
    let tls_port = kafka.listener("TLS").expect("it has the listener");
    let plain = kafka.bootstrap_servers();
    // The third is refused at once; of the others no client is sure.
    for (brokers, more, said, words) in [
        (
            tls_port.as_str(),
            String::new(),
            Some("APIVERSION"),
            "source.tls",
        ),
        (plain, tls(), Some("PLAINTEXT"), "PLAINTEXT"),
        (plain, sasl("plain", PASSWORD), None, "SASL"),
    ] {
        let mut member = Member::start(settings(brokers, &topic, &group(), &more));
        if let Some(said) = said {
            member.until("the client says why", |member| {
                let reason = member.source.reason();
                reason.is_some_and(|reason| reason.contains(said))
            });
            member.lapse(STARTUP);
        }
        let failure = member.failure();
        assert!(failure.contains(words), "{words}: {failure}");
        assert!(!failure.contains(PASSWORD), "{failure}");
    }
}

#[test]
fn reading_goes_on_after_a_broker_with_tls_and_sasl_was_killed() {
    let Some(kafka) = start() else { return };
    let (topic, producer) = topic(&kafka);
    let more = tls() + &sasl("scram-sha-256", PASSWORD);
    let mut member = join(&kafka, "TLSUSERS", &topic, &more);
    member.until("the first arrive", |member| member.count() == 10);
    for round in 1..=3 {
        kafka.kill().expect("killed");
        for _ in 0..500 {
            member.turn();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        kafka.restart().expect("restarted");
        send(&producer, &topic, 1, round * 10, 10);
        let newest = round * 10 + 9;
        until("the others arrive", &mut [&mut member], |members| {
            members[0]
                .got
                .last()
                .is_some_and(|got| got.offset == newest)
        });
    }
    // A group that its coordinator has lost sight of is joined anew, and begins at what was committed.
    let got = deduplicated(std::mem::take(&mut member.got));
    assert_got(&got, 0, 0, 40);
}

#[test]
fn a_topic_that_this_user_may_not_read_keeps_no_other_from_being_read_and_ends_the_pipeline() {
    let Some(kafka) = broker() else { return };
    let users = tls() + &sasl("scram-sha-256", PASSWORD);
    for (operation, seen) in [
        // Nothing at all, or to describe it only: then reading itself is refused.
        (native::AclOperation::None, "may not read the topic"),
        (native::AclOperation::Describe, "may not read the topic"),
    ] {
        let ((open, producer), (closed, _)) = (topic(kafka), topic(kafka));
        let plain = kafka.bootstrap_servers();
        native::allow(plain, &closed, "User:other", native::AclOperation::Read);
        native::allow(plain, &closed, "User:etl", operation);
        let more = format!("{users}  assignment_timeout: 200s\n");
        let topics = format!("{open}, {closed}");
        let mut member = join(kafka, "TLSUSERS", &topics, &more);
        member.until("the other is read", |member| member.count() == 10);
        send(&producer, &open, 1, 10, 10);
        member.until("the other is read on and this one told", |member| {
            member.count() == 20 && member.was_told(seen)
        });
        member.lapse(STARTUP);
        let failure = member.failure();
        for part in [seen, closed.as_str(), "allow it to READ"] {
            assert!(failure.contains(part), "{operation:?}: {part}: {failure}");
        }

        // Once it may, both are read.
        let more = format!("{users}    topic.metadata.refresh.interval.ms: 500\n");
        let mut member = join(kafka, "TLSUSERS", &topics, &more);
        member.until("the other is read", |member| member.count() == 20);
        native::allow(plain, &closed, "User:etl", native::AclOperation::Read);
        member.until("both are read", |member| member.count() == 30);
        member.until("nothing is missing any more", |member| {
            member.source.complaints().is_empty()
        });
        member.leave();
    }
}
