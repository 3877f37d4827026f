//! Fills the topic: every flight as Avro, framed as a Confluent serializer does it. The writer is Apache's own crate, so
//! that the pipeline reads what somebody else wrote.

use std::time::Duration;

use apache_avro::Schema;
use apache_avro::writer::datum::GenericDatumWriter;
use spate_test::services::{Producer, Record, watermarks};

use crate::error::Error;
use crate::flight;
use crate::options::Options;
use crate::screen::Screen;
use crate::servers::{SCHEMA, Servers};

/// How long the broker may take to acknowledge what is left at the end.
const FLUSH: Duration = Duration::from_secs(60);

/// The topic's content, by partition: the first offset, and the one after the last.
pub(crate) struct Loaded {
    /// In the order of the partitions.
    pub(crate) ends: Vec<(i64, i64)>,
    /// Flights in the topic.
    pub(crate) flights: u64,
}

/// Loads all flights.
///
/// # Errors
/// The broker does not take or keep them.
pub(crate) fn load(options: &Options, servers: &Servers, screen: &Screen) -> Result<Loaded, Error> {
    let flights = flight::read_all()?;
    let sent = flights.len() as u64;
    let schema = Schema::parse_str(SCHEMA)?;
    let writer = GenericDatumWriter::builder(&schema)
        .human_readable(false)
        .build()?;
    let producer = Producer::connect(&servers.brokers)?;
    let mut step = screen.step("Loading", sent);
    let mut payload = Vec::new();
    for (flight, done) in flights.iter().zip(1..) {
        payload.clear();
        payload.push(0); // the frame: a zero, the schema's id, the datum
        payload.extend_from_slice(&servers.schema_id.to_be_bytes());
        writer.write_ser(&mut payload, flight)?;
        producer.send(Record {
            topic: &options.topic,
            key: Some(flight.key().as_bytes()),
            payload: Some(&payload),
            ..Record::default()
        })?;
        step.at(done);
    }
    producer.flush(FLUSH)?;
    let ends = (0..i32::from(options.partitions))
        .map(|partition| watermarks(&servers.brokers, &options.topic, partition))
        .collect::<Result<Vec<_>, _>>()?;
    let held: i64 = ends.iter().map(|(first, end)| end - first).sum();
    if u64::try_from(held) != Ok(sent) {
        return Err(Error::Lost { held, sent });
    }
    step.done("as Avro into the topic");
    Ok(Loaded {
        ends,
        flights: sent,
    })
}
