//! The stage `kafka`: from its section to a source.

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
///   group_id: orders-etl
///   # Where the group has committed nothing yet: earliest, latest (only what is produced from then on), or fail.
///   start_offset: earliest
///   startup_timeout: 30s        # without an assignment until then, the pipeline stops
///   assignment_timeout: 5m      # the same for an assignment that was lost and never came back
///   rdkafka:                    # settings of librdkafka, as they are; those that the engine owns are refused
///     queued.max.messages.kbytes: 16384
/// ```
///
/// Only `brokers`, the topics and `group_id` must be set; the others show their defaults (`rdkafka` is empty).
#[derive(Debug)]
pub struct Kafka;

impl SourceKind for Kafka {
    const KIND: &'static str = "kafka";

    fn open(section: &Section, _: &OpenContext) -> Result<Box<dyn Source>, OpenError> {
        let settings = Settings::read(section)?;
        // librdkafka checks how settings go together when it makes a client; without brokers it connects to nothing.
        match Client::create(&settings.client_without_brokers()) {
            Ok(_) => Ok(Box::new(KafkaSource::new(settings))),
            Err(error) => {
                let text = match error {
                    KafkaError::ClientCreation(text) => settings.redact(&text),
                    other => settings.redact(&other.to_string()),
                };
                Err(section
                    .error(
                        "rdkafka",
                        format!("librdkafka refuses these settings: {text}"),
                    )
                    .into())
            }
        }
    }
}
