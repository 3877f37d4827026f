//! Starts the chosen services, prints their addresses, and waits for the end.

use crate::{Choice, UpArgs, detached};
use signal_hook::consts::{SIGINT, SIGTERM};
use spate_test::services::{
    ApacheKafka, ApacheKafkaOptions, ClickHouse, ClickHouseOptions, SchemaRegistry, ServiceError,
};
use std::io::{Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// What runs; dropping it ends it.
enum Running {
    #[cfg(feature = "kafka")]
    Kafka(spate_test::services::EmbeddedKafka),
    ApacheKafka(ApacheKafka),
    ClickHouse(ClickHouse),
    SchemaRegistry(SchemaRegistry),
}

impl Running {
    fn export(&self) -> (&'static str, String) {
        match self {
            #[cfg(feature = "kafka")]
            Running::Kafka(kafka) => ("SPATE_KAFKA_BROKERS", kafka.bootstrap_servers().to_owned()),
            Running::ApacheKafka(kafka) => {
                ("SPATE_KAFKA_BROKERS", kafka.bootstrap_servers().to_owned())
            }
            Running::ClickHouse(server) => ("SPATE_CLICKHOUSE_URL", server.url().to_owned()),
            Running::SchemaRegistry(registry) => ("SPATE_SCHEMA_REGISTRY_URL", registry.url()),
        }
    }

    fn stop(&self) -> Result<(), ServiceError> {
        match self {
            Running::ApacheKafka(kafka) => kafka.stop(),
            Running::ClickHouse(server) => server.stop(),
            _ => Ok(()),
        }
    }
}

/// Runs until it is told to end.
pub(crate) fn run(args: &UpArgs) -> Result<(), String> {
    if args.services.contains(&Choice::Kafka) && args.services.contains(&Choice::ApacheKafka) {
        return Err("kafka and apache-kafka both set SPATE_KAFKA_BROKERS; choose one".to_owned());
    }
    // Before anything starts: a signal during the start ends it as well.
    let ending = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&ending))
            .map_err(|e| format!("cannot watch signals: {e}"))?;
    }
    watch_stdin(&ending);
    let mut running = Vec::new();
    for service in &args.services {
        if ending.load(Ordering::SeqCst) {
            return Ok(());
        }
        eprintln!("stack: starting {}", service.name());
        running.push(start(*service, args).map_err(|e| e.to_string())?);
    }
    let mut lines = String::new();
    for service in &running {
        let (name, value) = service.export();
        lines.push_str(&format!("export {name}={value}\n"));
    }
    if let Some(path) = &args.state {
        detached::write_state(path)?;
    }
    // Whoever reads this may be gone already; the servers are wanted all the same.
    let _ = std::io::stdout()
        .write_all(lines.as_bytes())
        .and_then(|()| std::io::stdout().flush());
    eprintln!("stack: ready");
    while !ending.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(50));
    }
    eprintln!("stack: ending");
    // Orderly where the data stays; temporary data is not worth the wait.
    if args.data.is_some() {
        for service in &running {
            service.stop().map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

fn start(service: Choice, args: &UpArgs) -> Result<Running, ServiceError> {
    let port = args
        .ports
        .iter()
        .rev()
        .find(|(s, _)| *s == service)
        .map_or(0, |(_, port)| *port);
    let data_dir = args.data.as_ref().map(|dir| dir.join(service.name()));
    match service {
        Choice::Kafka => start_embedded(args),
        Choice::ApacheKafka => {
            let kafka = ApacheKafka::start(ApacheKafkaOptions {
                data_dir,
                port,
                ..Default::default()
            })?;
            create_topics(&kafka, args)?;
            Ok(Running::ApacheKafka(kafka))
        }
        Choice::Clickhouse => ClickHouse::start(ClickHouseOptions {
            data_dir,
            port,
            ..Default::default()
        })
        .map(Running::ClickHouse),
        Choice::SchemaRegistry => SchemaRegistry::start_on(port).map(Running::SchemaRegistry),
    }
}

#[cfg(feature = "kafka")]
fn start_embedded(args: &UpArgs) -> Result<Running, ServiceError> {
    let kafka = spate_test::services::EmbeddedKafka::start(1)?;
    for (name, partitions) in &args.topics {
        kafka.create_topic(name, *partitions)?;
    }
    Ok(Running::Kafka(kafka))
}

#[cfg(not(feature = "kafka"))]
fn start_embedded(_: &UpArgs) -> Result<Running, ServiceError> {
    Err(needs_feature("the mock cluster"))
}

#[cfg(feature = "kafka")]
fn create_topics(kafka: &ApacheKafka, args: &UpArgs) -> Result<(), ServiceError> {
    args.topics
        .iter()
        .try_for_each(|(name, partitions)| kafka.create_topic(name, *partitions))
}

#[cfg(not(feature = "kafka"))]
fn create_topics(_: &ApacheKafka, args: &UpArgs) -> Result<(), ServiceError> {
    if args.topics.is_empty() {
        Ok(())
    } else {
        Err(needs_feature("--topic"))
    }
}

#[cfg(not(feature = "kafka"))]
fn needs_feature(what: &str) -> ServiceError {
    ServiceError::Missing {
        what: format!("{what}: a build with the feature `kafka`"),
        detail: "this one is without".to_owned(),
        install: "cargo build -p spate-test --features kafka".to_owned(),
    }
}

/// Ends when standard input closes, if it is a pipe: a terminal would stop a process in the background that reads it, and
/// /dev/null is closed from the start.
fn watch_stdin(ending: &Arc<AtomicBool>) {
    let pipe = std::fs::metadata("/dev/stdin")
        .is_ok_and(|m| m.file_type().is_fifo() || m.file_type().is_socket());
    if pipe {
        let ending = Arc::clone(ending);
        thread::spawn(move || {
            let mut buffer = [0; 256];
            while matches!(std::io::stdin().read(&mut buffer), Ok(n) if n > 0) {}
            ending.store(true, Ordering::SeqCst);
        });
    }
}
