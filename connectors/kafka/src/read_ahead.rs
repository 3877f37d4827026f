//! How much the client fetches ahead of the drivers: a bound for the process, whatever the number of partitions.
//!
//! librdkafka's limits count for each partition by itself once it has a queue of its own, as every partition has here
//! (`source/tests/bytes.rs` shows it), and its own defaults are made for one queue of all: 64 MiB or 100,000 records for
//! each partition. A backlog would fill all of that whenever sinks are slower than brokers.
//!
//! Up to [`PARTITIONS`] partitions each have the same share; of more than that, each has a smaller one. The limits cannot be
//! changed while a client lives, so the source asks for the number of partitions before it joins its group. A member may be
//! given all of them.
//!
//! A full queue is looked at again after `fetch.queue.backoff.ms`, 5 here: what a partition may have ahead has to last for
//! that time and one round trip to the broker.

use std::collections::BTreeSet;

use rdkafka::config::ClientConfig;

/// From this number of partitions on they share what there is.
const PARTITIONS: usize = 64;
/// The payload that one partition may have ahead, and so much more as one fetch brings.
const PARTITION_KIB: usize = 1024;
/// The records. Each costs the client about 320 bytes beside its payload, so that small records count by their number.
const PARTITION_RECORDS: usize = 2048;
/// What one fetch brings of one partition, as it is stored on the broker; a larger batch is brought alone.
const FETCH_KIB: usize = 256;
/// No share is smaller than this part: a fetch of less would be all overhead.
const SMALLEST: usize = 32;
/// What one fetch brings of all partitions of a broker. The payloads of uncompressed batches stay in it: the last record
/// that is left of it keeps all of it.
const RESPONSE_BYTES: usize = 8 << 20;

/// Settings that have to go together with [`RESPONSE_BYTES`]: where one is set, the others are left to librdkafka.
const RESPONSE_SETTINGS: [&str; 3] = [
    "fetch.max.bytes",
    "message.max.bytes",
    "receive.message.max.bytes",
];

/// Whether so many partitions need smaller limits than a client has that was made without knowing their number.
pub(crate) fn is_shared(partitions: usize) -> bool {
    partitions > PARTITIONS
}

/// Sets the limits of a client that may be given so many partitions, except those that are in `given`.
pub(crate) fn apply(client: &mut ClientConfig, partitions: usize, given: &BTreeSet<String>) {
    let share = |of: usize| (of * PARTITIONS / partitions.max(PARTITIONS)).max(of / SMALLEST);
    let is_given = |name: &str| given.contains(name);
    let mut limits = vec![
        ("fetch.queue.backoff.ms", 5),
        ("queued.max.messages.kbytes", share(PARTITION_KIB)),
        ("queued.min.messages", share(PARTITION_RECORDS)),
    ];
    // Two names of one setting.
    if !is_given("max.partition.fetch.bytes") {
        limits.push(("fetch.message.max.bytes", share(FETCH_KIB) << 10));
    }
    if !RESPONSE_SETTINGS.iter().any(|name| is_given(name)) {
        limits.push(("fetch.max.bytes", RESPONSE_BYTES));
    }
    for (name, limit) in limits {
        if !is_given(name) {
            client.set(name, limit.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(partitions: usize, given: &[&str]) -> [Option<usize>; 4] {
        let mut client = ClientConfig::new();
        let given = given.iter().map(|name| (*name).to_owned()).collect();
        apply(&mut client, partitions, &given);
        let names = [
            "queued.max.messages.kbytes",
            "queued.min.messages",
            "fetch.message.max.bytes",
            "fetch.max.bytes",
        ];
        names.map(|name| client.get(name)?.parse().ok())
    }

    #[test]
    fn however_many_partitions_there_are_they_share_what_there_is() {
        let all = [1024, 2048, 256 << 10, 8 << 20].map(Some);
        for partitions in [0, 1, 64] {
            assert_eq!(limits(partitions, &[]), all);
            assert!(!is_shared(partitions));
        }
        for partitions in [65, 100, 640, 2_000] {
            assert!(is_shared(partitions));
            let [kib, records, fetch, _] = limits(partitions, &[]).map(|limit| limit.unwrap_or(0));
            assert!(partitions * kib <= 64 << 10, "{partitions}: {kib}");
            assert!(partitions * records <= 64 << 11, "{partitions}: {records}");
            assert!(partitions * fetch <= 16 << 20, "{partitions}: {fetch}");
        }
        assert_eq!(limits(1_000_000, &[]), [32, 64, 8 << 10, 8 << 20].map(Some));
    }

    #[test]
    fn what_is_given_is_left_alone_and_so_is_what_has_to_go_with_it() {
        let given = [
            "queued.max.messages.kbytes",
            "max.partition.fetch.bytes",
            "message.max.bytes",
        ];
        assert_eq!(limits(640, &given), [None, Some(204), None, None]);
        assert_eq!(
            limits(1, &["fetch.message.max.bytes"])[2..],
            [None, Some(8 << 20)]
        );
    }
}
