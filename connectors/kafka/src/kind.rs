//! The stage `kafka`: from its section to a source.

use rdkafka::consumer::Consumer;
use rdkafka::error::KafkaError;
use spate_runtime::config::{OpenError, Section};
use spate_runtime::source::{OpenContext, Source, SourceKind};

use crate::client::Client;
use crate::config::Settings;
use crate::source::KafkaSource;

/// The stage `kafka`: reads the topics of the `source` section as a member of a consumer group.
///
/// ```yaml
/// source:
///   brokers: ["kafka-1:9092", "kafka-2:9092"]   # or one text, separated by commas
///   topics: [orders]                            # or `topic: orders`; `kafka(topic = "orders")` sets it in code
///   # topic_pattern: "^orders[.].*"             # instead: all topics that match, also those that appear later
///   group_id: orders-etl
///   group_instance_id: etl-1    # static membership: each process a name of its own; default: none
///   group_protocol: classic     # or consumer: the broker assigns (Apache Kafka 4)
///   # Where the group has committed nothing yet: earliest, latest (only what is produced from then on), or fail.
///   start_offset: earliest
///   on_offset_gap: fail         # where the next offset does not exist any more: fail, earliest, or latest
///   startup_timeout: 30s        # without an assignment or a listed topic until then, the pipeline stops
///   assignment_timeout: 5m      # the same for an assignment or a topic that was there and never came back
///   tls: {ca: /etc/kafka/ca.pem, cert: client.pem, key: client.key}   # `{}`: the system's authorities; feature kafka-tls
///   sasl: {mechanism: scram-sha-512, username: etl, password: "${KAFKA_PASSWORD}"}   # or plain, scram-sha-256
///   rdkafka:                    # settings of librdkafka, as they are; those that the source owns are refused
///     queued.max.messages.kbytes: 16384
/// ```
///
/// Only `brokers`, the topics and `group_id` must be set; of the others `group_instance_id`, `tls`, `sasl` and `rdkafka`
/// default to nothing, the rest as shown.
#[derive(Debug)]
pub struct Kafka;

impl SourceKind for Kafka {
    const KIND: &'static str = "kafka";

    fn open(section: &Section, _: &OpenContext) -> Result<Box<dyn Source>, OpenError> {
        let settings = Settings::read(section)?;
        // librdkafka checks how settings go together when it makes a client; without brokers it connects to nothing.
        let entries = settings.subscription.entries();
        let tried = Client::create(&settings.client_without_brokers())
            .map(|(client, _)| client.consumer().subscribe(&entries));
        match tried {
            Ok(Ok(())) => Ok(Box::new(KafkaSource::new(settings))),
            Ok(Err(_)) => Err(section
                .error(
                    "topic_pattern",
                    "not a regular expression that librdkafka takes",
                )
                .into()),
            Err(error) => {
                let text = match error {
                    KafkaError::ClientCreation(text) => settings.redact(&text),
                    other => settings.redact(&other.to_string()),
                };
                let key = if text.contains("ssl.") {
                    "tls"
                } else {
                    "rdkafka"
                };
                Err(section
                    .error(key, format!("librdkafka refuses these settings: {text}"))
                    .into())
            }
        }
    }
}
