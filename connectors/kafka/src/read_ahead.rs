//! How much the client fetches ahead of the drivers.
//!
//! librdkafka's limits count for each partition by itself once it has a queue of its own, as every partition has here
//! (`source/tests/bytes.rs` shows it), and its own defaults are made for one queue of all: 64 MiB or 100,000 records for
//! each partition. A backlog would fill all of that whenever sinks are slower than brokers.
//!
//! A full queue is looked at again after `fetch.queue.backoff.ms`, 5 here: what a partition may have ahead has to last for
//! that time and one round trip to the broker.

use rdkafka::config::ClientConfig;

/// The payload that one partition may have ahead, and so much more as one fetch brings.
const PARTITION_KIB: u32 = 1024;
/// The records. Each costs the client about 320 bytes beside its payload, so that small records count by their number.
const PARTITION_RECORDS: u32 = 2048;
/// What one fetch brings of one partition, as it is stored on the broker; a larger batch is brought alone.
const FETCH_BYTES: u32 = 256 << 10;
/// What one fetch brings of all partitions of a broker. The payloads of uncompressed batches stay in it: the last record
/// that is left of it keeps all of it.
const RESPONSE_BYTES: u32 = 8 << 20;

/// Settings that have to go together with [`RESPONSE_BYTES`]: where one is set, the others are left to librdkafka.
const RESPONSE_SETTINGS: [&str; 3] = [
    "fetch.max.bytes",
    "message.max.bytes",
    "receive.message.max.bytes",
];

/// Sets the defaults; what is set afterwards replaces them. `is_set` tells which settings that will be.
pub(crate) fn apply(client: &mut ClientConfig, is_set: impl Fn(&str) -> bool) {
    client
        .set("fetch.queue.backoff.ms", "5")
        .set("queued.max.messages.kbytes", PARTITION_KIB.to_string())
        .set("queued.min.messages", PARTITION_RECORDS.to_string());
    // Two names of one setting.
    if !is_set("max.partition.fetch.bytes") {
        client.set("fetch.message.max.bytes", FETCH_BYTES.to_string());
    }
    if !RESPONSE_SETTINGS.iter().any(|name| is_set(name)) {
        client.set("fetch.max.bytes", RESPONSE_BYTES.to_string());
    }
}
