//! The consumer's life: made, shared by the source and its lanes, left without blocking anybody.
//!
//! Leaving a group takes a round trip to a broker, and librdkafka's own destructor joins its threads; with a broker that
//! does not answer both take long. So the last owner, whoever that is, hands the consumer to a thread that does it. And so
//! nothing of the client can outlive it: lanes and queues hold an [`Arc`] of it.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use rdkafka::client::{ClientContext, NativeClient};
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, RebalanceProtocol};
use rdkafka::error::{KafkaError, KafkaResult};
use rdkafka::topic_partition_list::TopicPartitionList;
use rdkafka::types::RDKafkaRespErr;

/// How long the leaving thread serves the client before it lets the destructor do the rest.
const LEAVE_POLLS: u32 = 600;
const LEAVE_POLL: Duration = Duration::from_millis(100);

/// The callbacks. The source takes events from the queue itself, so they are called while the consumer leaves only.
pub(crate) struct Context;

impl ClientContext for Context {
    fn error(&self, _: KafkaError, _: &str) {}
}

impl ConsumerContext for Context {
    fn rebalance(
        &self,
        consumer: &BaseConsumer<Self>,
        _: RDKafkaRespErr,
        _: &mut TopicPartitionList,
    ) {
        // A consumer that leaves gets its partitions taken away; it waits for ever until that is acknowledged.
        let _ = consumer.unassign();
    }
}

/// The consumer.
pub(crate) struct Client {
    /// `None` once it is leaving.
    consumer: Option<BaseConsumer<Context>>,
    /// Told when the group has been left.
    left: Option<mpsc::SyncSender<()>>,
}

impl Client {
    /// Makes a consumer and the end at which its leaving is told.
    ///
    /// # Errors
    /// librdkafka refuses the settings. The text may quote values.
    pub(crate) fn create(config: &ClientConfig) -> KafkaResult<(Arc<Client>, mpsc::Receiver<()>)> {
        let consumer: BaseConsumer<Context> = config.create_with_context(Context)?;
        let (left, told) = mpsc::sync_channel(1);
        Ok((
            Arc::new(Client {
                consumer: Some(consumer),
                left: Some(left),
            }),
            told,
        ))
    }

    pub(crate) fn consumer(&self) -> &BaseConsumer<Context> {
        self.consumer
            .as_ref()
            .expect("only the destructor takes the consumer")
    }

    pub(crate) fn native(&self) -> &NativeClient {
        self.consumer().client().native_client()
    }

    /// Whether partitions come and go one by one.
    pub(crate) fn is_cooperative(&self) -> bool {
        matches!(
            self.consumer().rebalance_protocol(),
            RebalanceProtocol::Cooperative
        )
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let (Some(consumer), left) = (self.consumer.take(), self.left.take()) else {
            return;
        };
        let leaving = thread::Builder::new()
            .name("spate-kafka-leave".to_owned())
            .spawn(move || leave(consumer, left));
        if let Err(error) = leaving {
            // The closure, and the consumer with it, was dropped: it has left on this thread.
            tracing::debug!("no thread to leave the consumer group on: {error}");
        }
    }
}

fn leave(consumer: BaseConsumer<Context>, left: Option<mpsc::SyncSender<()>>) {
    if consumer.close_queue().is_ok() {
        // Answers a rebalance that the source has taken from the queue and not answered; without one it changes nothing.
        let _ = consumer.unassign();
        for _ in 0..LEAVE_POLLS {
            if consumer.closed() {
                break;
            }
            consumer.poll(LEAVE_POLL);
        }
    }
    if let Some(left) = left {
        let _ = left.try_send(());
    }
    drop(consumer);
}
