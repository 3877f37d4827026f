//! The published spate 0.2.0: its chain alone, over batches of 512 payloads, with its chunks taken out behind each batch. No source, no threads,
//! no sink.

mod registry;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use spate::avro::{AvroDeserializerBuilder, AvroMode, AvroSettings, RegistrySection};
use spate::backpressure::InflightBudget;
use spate::checkpoint::AckRef;
use spate::clickhouse::{ClickHouseEncoder, DateTime64Millis};
use spate::ops::{PushOutcome, RunnableChain};
use spate::prelude::{
    ChunkConfig, KeyHashRouter, Owned, PartitionId, RecFamily, chain, chain_owned,
};
use spate::record::RawPayload;
use spate::sink::{EncodedChunk, ShardQueues, shard_queues};
use spate::source::PayloadBatch;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::Receiver;

use crate::Pass;
use crate::shared::{LEAST_CENTS, Output, Payloads};
use registry::Registry;

/// Payloads of a batch.
const BATCH: usize = 512;

/// Chunks of the size that everybody else has.
const CHUNK_BYTES: usize = 1 << 20;

/// How often the first payload is tried until its schema is there; the pauses between double from one millisecond on.
const ATTEMPTS: u32 = 12;

#[derive(Deserialize)]
struct Order {
    order_id: i64,
    region: String,
    total_cents: i64,
    #[allow(dead_code, reason = "decoded for the work of it")]
    note: Option<String>,
    placed_at: i64,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "decoded for the work of it")]
struct Line {
    sku: String,
    qty: i32,
}

#[derive(Serialize)]
struct OrderRow {
    order_id: u64,
    region: String,
    total_cents: u64,
    placed_at: DateTime64Millis,
    n_lines: u32,
}

/// What its documentation shows: `build_serde` into a struct that owns all fields.
pub(crate) fn default(payloads: &Payloads) -> Result<Pass, Box<dyn Error>> {
    pass(payloads, |builder, queues, config, budget| {
        Ok(chain_owned::<Order, _>(builder.build_serde::<Order>()?)
            .filter(|order: &Order| order.total_cents >= LEAST_CENTS)
            .map(|order: Order| OrderRow {
                order_id: order.order_id as u64,
                region: order.region,
                total_cents: order.total_cents as u64,
                placed_at: DateTime64Millis(order.placed_at),
                n_lines: order.lines.len() as u32,
            })
            .sink(
                ClickHouseEncoder::<Owned<OrderRow>>::new(),
                KeyHashRouter,
                config,
                queues,
                budget,
            )
            .build())
    })
}

#[derive(Deserialize)]
struct Projected<'b> {
    order_id: i64,
    region: &'b str,
    total_cents: i64,
    placed_at: i64,
    /// Counted: items of no size are never allocated.
    lines: Vec<IgnoredAny>,
}

struct ProjectedFamily;

impl RecFamily for ProjectedFamily {
    type Rec<'b> = Projected<'b>;
}

#[derive(Serialize)]
struct BorrowedRow<'b> {
    order_id: u64,
    region: &'b str,
    total_cents: u64,
    placed_at: DateTime64Millis,
    n_lines: u32,
}

struct BorrowedRowFamily;

impl RecFamily for BorrowedRowFamily {
    type Rec<'b> = BorrowedRow<'b>;
}

fn kept(order: &Projected<'_>) -> bool {
    order.total_cents >= LEAST_CENTS
}

fn row(order: Projected<'_>) -> BorrowedRow<'_> {
    BorrowedRow {
        order_id: order.order_id as u64,
        region: order.region,
        total_cents: order.total_cents as u64,
        placed_at: DateTime64Millis(order.placed_at),
        n_lines: order.lines.len() as u32,
    }
}

/// The fastest that we found: `build_datum` into a struct that borrows and has only what the row needs.
pub(crate) fn best(payloads: &Payloads) -> Result<Pass, Box<dyn Error>> {
    pass(payloads, |builder, queues, config, budget| {
        Ok(
            chain::<ProjectedFamily, _>(builder.build_datum::<ProjectedFamily>()?)
                .filter(kept)
                .map_rec::<BorrowedRowFamily, _>(row)
                .sink(
                    ClickHouseEncoder::<BorrowedRowFamily>::new(),
                    KeyHashRouter,
                    config,
                    queues,
                    budget,
                )
                .build(),
        )
    })
}

/// The pass of a chain whose deserializer knows the schema already.
fn pass(
    payloads: &Payloads,
    build: impl FnOnce(
        AvroDeserializerBuilder,
        ShardQueues,
        ChunkConfig,
        Arc<InflightBudget>,
    ) -> Result<Box<dyn RunnableChain>, Box<dyn Error>>,
) -> Result<Pass, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let registry = Registry::start()?;
    let settings = AvroSettings {
        mode: AvroMode::Confluent,
        registry: Some(RegistrySection {
            url: registry.url(),
            username: None,
            password: None,
        }),
        ..AvroSettings::default()
    };
    let builder = AvroDeserializerBuilder::from_settings(&settings, runtime.handle())?;
    let (queues, mut receivers) = shard_queues(1, 64);
    let config = ChunkConfig {
        target_bytes: CHUNK_BYTES,
        ..ChunkConfig::default()
    };
    let chain = build(builder, queues, config, Arc::new(InflightBudget::new()))?;
    let receiver = receivers.pop().ok_or("no queue")?;
    let mut driver = Driver { chain, receiver };
    driver.warm_up(payloads, &runtime)?;
    registry.stop()?;
    Ok(Box::new(move |payloads, out| {
        // Nothing runs on it any more; it lives as long as the chain.
        let _ = &runtime;
        driver.run(payloads, out)
    }))
}

struct Driver {
    chain: Box<dyn RunnableChain>,
    receiver: Receiver<EncodedChunk>,
}

impl Driver {
    /// Pushes the first payload until its schema has come from the registry, and forgets its row.
    fn warm_up(&mut self, payloads: &Payloads, runtime: &Runtime) -> Result<(), Box<dyn Error>> {
        for attempt in 0..ATTEMPTS {
            let (ack, _resolved) = AckRef::test_pair();
            let mut first = payloads.iter();
            let mut batch = Batch::new(&mut first, 1, ack);
            let outcome = self.chain.push_batch(&mut batch, 0);
            if matches!(outcome, PushOutcome::Done) {
                return self.flush(&mut Output::discard());
            }
            self.chain.abandon_batch();
            let pause = Duration::from_millis(1 << attempt);
            runtime.block_on(async { tokio::time::sleep(pause).await });
        }
        Err("the schema did not come from the registry".into())
    }

    fn run(&mut self, payloads: &Payloads, out: &mut Output) -> Result<(), Box<dyn Error>> {
        let mut rest = payloads.iter();
        let mut left = payloads.len();
        while left > 0 {
            let (ack, _resolved) = AckRef::test_pair();
            let mut batch = Batch::new(&mut rest, BATCH.min(left), ack);
            left -= batch.left;
            match self.chain.push_batch(&mut batch, 0) {
                PushOutcome::Done => self.drain(out),
                other => return Err(format!("a batch ended with {other:?}").into()),
            }
        }
        self.flush(out)
    }

    fn flush(&mut self, out: &mut Output) -> Result<(), Box<dyn Error>> {
        match self.chain.flush() {
            PushOutcome::Done => {
                self.drain(out);
                Ok(())
            }
            other => Err(format!("the flush ended with {other:?}").into()),
        }
    }

    fn drain(&mut self, out: &mut Output) {
        while let Ok(chunk) = self.receiver.try_recv() {
            out.take(&chunk.frame);
            out.count(u64::from(chunk.rows));
            chunk.acks.deliver();
        }
    }
}

/// The next payloads as a batch.
struct Batch<'i, 'b, I: Iterator<Item = &'b [u8]>> {
    payloads: &'i mut I,
    left: usize,
    ack: AckRef,
}

impl<'i, 'b, I: Iterator<Item = &'b [u8]>> Batch<'i, 'b, I> {
    fn new(payloads: &'i mut I, left: usize, ack: AckRef) -> Self {
        Batch {
            payloads,
            left,
            ack,
        }
    }
}

impl<'b, I: Iterator<Item = &'b [u8]>> PayloadBatch<'b> for Batch<'_, 'b, I> {
    fn next_payload(&mut self) -> Option<RawPayload<'b>> {
        self.left = self.left.checked_sub(1)?;
        Some(RawPayload {
            bytes: self.payloads.next()?,
            key: None,
            partition: PartitionId(0),
            offset: 0,
            timestamp_ms: 0,
        })
    }

    fn ack(&self) -> &AckRef {
        &self.ack
    }
}
