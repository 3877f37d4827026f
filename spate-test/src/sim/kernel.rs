//! The kernel of one driver thread, in the shape of generated code: every outcome that a record can have, by its payload.

use std::collections::BTreeSet;
use std::sync::Arc;

use spate_runtime::Output;
use spate_runtime::failure::Failure;
use spate_runtime::graph::{Graph, Mark};
use spate_runtime::record::{Batch, Record};
use spate_runtime::sink::{SinkWitness, sink};
use spate_runtime::stage;

use super::faults::Fault;
use super::planted::Planted;
use super::process::Setting;
use super::rows::{Kind, Payload, Row, Rows};
use super::truth::Ran;

const DECODE: usize = 1;
const KEEP: usize = 2;
const FRESH: usize = 3;
const FAN: usize = 4;
const SINK: usize = 5;

pub(super) static GRAPH: Graph = Graph::new(
    "sim",
    &[
        ("scripted", "scripted", 1),
        ("bytes", "bytes", 1),
        ("keep", "filter", 1),
        ("fresh", "filter", 1),
        ("fan", "flat_map", 1),
        (super::SINKS[0], "rows", 1),
        (super::SINKS[1], "rows", 1),
        (super::SINKS[2], "rows", 1),
    ],
    &[
        (0, Mark::Source),
        (1, Mark::Decoder),
        (1, Mark::Skip),
        (5, Mark::Sink),
        (5, Mark::Skip),
        (6, Mark::Sink),
        (6, Mark::Skip),
        (7, Mark::Sink),
        (7, Mark::Skip),
    ],
);

/// The state of one thread, made anew whenever the driver asks for it.
pub(super) struct Kernel {
    setting: Arc<Setting>,
    process: u32,
    /// Ids that were seen; `None` keeps copies.
    seen: Option<BTreeSet<u16>>,
    rows: SinkWitness<Rows, Row>,
    /// The encoded bytes of the batch that is run.
    bytes: usize,
}

impl Kernel {
    pub(super) fn new(setting: &Arc<Setting>, process: u32) -> Self {
        Kernel {
            setting: Arc::clone(setting),
            process,
            seen: setting.plan.dedup.then(BTreeSet::new),
            rows: sink::<Rows, Row>(),
            bytes: 0,
        }
    }

    /// The state is to be made anew.
    pub(super) fn renew(&mut self) {
        if self.setting.planted != Some(Planted::StateIsKept) {
            *self = Kernel::new(&self.setting, self.process);
        }
    }

    pub(super) fn run(&mut self, batch: &Batch<'_>, out: &mut Output) -> Result<(), Failure> {
        let offsets: Vec<i64> = batch.records().iter().map(Record::offset).collect();
        self.setting
            .truth
            .state()
            .run_begins(self.process, &offsets);
        let result = batch
            .records()
            .iter()
            .try_for_each(|record| self.record(batch, record, out));
        let ran = Ran {
            records: batch.records().len(),
            bytes: std::mem::take(&mut self.bytes),
            next: result.is_ok().then_some(batch.next_offset()),
        };
        self.setting.truth.state().run_ends(self.process, &ran);
        result
    }

    fn record(
        &mut self,
        batch: &Batch<'_>,
        record: &Record<'_>,
        out: &mut Output,
    ) -> Result<(), Failure> {
        out.begin(record);
        if record.is_tombstone() {
            out.tombstone(DECODE);
            return Ok(());
        }
        let payload = Payload::read(record.payload());
        if payload.kind == Kind::Undecodable {
            out.skip(DECODE, "asked to");
            return Ok(());
        }
        out.enter(KEEP);
        if payload.kind == Kind::Filtered {
            if self.setting.planted != Some(Planted::DropIsNotCounted) {
                out.drop_record(KEEP);
            }
            return Ok(());
        }
        out.enter(FRESH);
        if self
            .seen
            .as_mut()
            .is_some_and(|seen| !seen.insert(payload.id))
        {
            out.drop_record(FRESH);
            return Ok(());
        }
        out.enter(FAN);
        out.expand(FAN);
        let last = payload.children.len().saturating_sub(1);
        for (child, &sink) in payload.children.iter().enumerate() {
            out.enter(FAN);
            if child == last {
                self.may_fail(payload.kind, batch, record, out)?;
            }
            out.child(FAN);
            let sink = usize::from(sink);
            out.enter(SINK + sink);
            let row = Row {
                partition: batch.partition() as u8,
                offset: record.offset() as u32,
                child: child as u8,
                sink: sink as u8,
                key: record.key().map(|key| key[0]),
                bad: payload.kind == Kind::BadChild && child == last,
            };
            match stage::encode(self.rows, &row, record, out.sink(sink)) {
                Ok(()) => self.bytes += row.bytes(),
                Err(error) => out.skip(SINK + sink, error),
            }
        }
        Ok(())
    }

    /// Fails at the records that were drawn to, as often as was drawn; the place is what the failure has to name.
    fn may_fail(
        &self,
        kind: Kind,
        batch: &Batch<'_>,
        record: &Record<'_>,
        out: &mut Output,
    ) -> Result<(), Failure> {
        if !matches!(kind, Kind::Fails | Kind::Panics) {
            return Ok(());
        }
        let (partition, offset) = (batch.partition(), record.offset());
        let mut truth = self.setting.truth.state();
        if !truth.fails(partition as usize, offset) {
            return Ok(());
        }
        let place = format!(
            "stage `fan`, topic `{}`, partition {partition}, offset {offset}",
            batch.topic()
        );
        truth.note(format_args!("p{} {kind:?}: {place}", self.process));
        truth.cause(self.process, place);
        self.setting.weather.count(match kind {
            Kind::Panics => Fault::KernelPanics,
            _ => Fault::KernelFails,
        });
        if kind == Kind::Panics {
            truth.run_ends(self.process, &Ran::default());
            drop(truth);
            std::panic::resume_unwind(Box::new("drawn"));
        }
        Err(out.fail(FAN, "drawn"))
    }
}
