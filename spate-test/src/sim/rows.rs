//! Records and rows of a run: a record's payload says what the kernel makes of it, a row says where it came from.

use fastrand::Rng;
use spate_runtime::config::{OpenError, Section};
use spate_runtime::error::RowError;
use spate_runtime::sink::{RowEncoder, RowInfo, Sink, SinkKind};
use spate_runtime::source::OpenContext;

use super::faults::Fault;
use super::plan::Plan;

/// The most children of a record.
pub(super) const MAX_ROWS: usize = 6;

/// What the kernel does with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Its children go to their sinks.
    Rows,
    /// A filter drops it.
    Filtered,
    /// It cannot be decoded and is skipped.
    Undecodable,
    /// It has no payload.
    Tombstone,
    /// Its last child cannot be encoded and is skipped.
    BadChild,
    /// A stage fails at it in the middle of its children, a few times; afterwards it is like `Rows`.
    Fails,
    /// The same with a panic.
    Panics,
}

const KINDS: [Kind; 7] = [
    Kind::Rows,
    Kind::Filtered,
    Kind::Undecodable,
    Kind::Tombstone,
    Kind::BadChild,
    Kind::Fails,
    Kind::Panics,
];

/// A record's payload, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Payload<'a> {
    pub(super) kind: Kind,
    pub(super) id: u16,
    /// The sink of each child.
    pub(super) children: &'a [u8],
}

impl<'a> Payload<'a> {
    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes = vec![self.kind as u8];
        bytes.extend_from_slice(&self.id.to_le_bytes());
        bytes.extend_from_slice(self.children);
        bytes
    }

    pub(super) fn read(bytes: &'a [u8]) -> Self {
        Payload {
            kind: KINDS[usize::from(bytes[0])],
            id: u16::from_le_bytes([bytes[1], bytes[2]]),
            children: &bytes[3..],
        }
    }
}

/// A record to come.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) kind: Kind,
    pub(super) id: u16,
    pub(super) key: Option<u8>,
    pub(super) children: Vec<u8>,
    /// How often a stage fails at it.
    pub(super) failures: u32,
    /// Offsets left out before it.
    pub(super) gap: u32,
}

impl Draft {
    /// `number` is the record's own; with a dedup kernel ids repeat.
    pub(super) fn draw(rng: &mut Rng, plan: &Plan, number: u16) -> Self {
        let rare = |rng: &mut Rng, fault| rng.u32(0..10_000) < plan.rates.of(fault);
        let kind = match rng.u32(0..20) {
            0 => Kind::Filtered,
            1 => Kind::Undecodable,
            2 => Kind::Tombstone,
            3 => Kind::BadChild,
            _ if rare(rng, Fault::KernelFails) => Kind::Fails,
            _ if rare(rng, Fault::KernelPanics) => Kind::Panics,
            _ => Kind::Rows,
        };
        let id = match plan.dedup {
            true => rng.u16(0..=number / 3),
            false => number,
        };
        // The children follow from the id: copies of a record make the same rows.
        let mut own = Rng::with_seed(u64::from(id));
        let most = [1, 1, 1, 3, MAX_ROWS][own.usize(0..5)];
        let least = match kind {
            Kind::Rows if !plan.dedup => 0,
            _ => 1,
        };
        let children = (0..own.usize(least..=most))
            .map(|_| own.usize(0..plan.sinks.len()) as u8)
            .collect();
        Draft {
            kind,
            id,
            key: rng.bool().then(|| rng.u8(0..12)),
            children,
            failures: rng.u32(1..=2),
            gap: if rng.u32(0..8) == 0 { rng.u32(1..5) } else { 0 },
        }
    }

    /// The sinks of the children that become rows.
    pub(super) fn rows(&self) -> &[u8] {
        match self.kind {
            Kind::Rows | Kind::Fails | Kind::Panics => &self.children,
            Kind::BadChild => &self.children[..self.children.len() - 1],
            Kind::Filtered | Kind::Undecodable | Kind::Tombstone => &[],
        }
    }
}

/// A row: one child of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) partition: u8,
    pub(super) offset: u32,
    pub(super) child: u8,
    pub(super) sink: u8,
    pub(super) key: Option<u8>,
    /// It cannot be encoded.
    pub(super) bad: bool,
}

impl Row {
    /// Rows have different lengths, so that one that is torn moves all behind it.
    fn padding(&self) -> u8 {
        (self.offset % 23) as u8
    }

    /// Its encoded bytes.
    pub(super) fn bytes(&self) -> usize {
        usize::from(12 + self.padding())
    }
}

/// The stage of the sinks of a run.
#[derive(Debug)]
pub(super) struct Rows;

impl SinkKind for Rows {
    const KIND: &'static str = "rows";
    const CONFIGURED: bool = false;

    fn open(_: &Section, _: RowInfo, _: &OpenContext) -> Result<Box<dyn Sink>, OpenError> {
        unreachable!("the simulator puts its sinks together itself")
    }
}

impl RowEncoder<Row> for Rows {
    fn row() -> RowInfo {
        RowInfo {
            row: "Row",
            columns: &[],
        }
    }

    fn encode(row: &Row, out: &mut Vec<u8>) -> Result<(), RowError> {
        let pad = row.padding();
        let begin = out.len();
        out.push(12 + pad);
        out.push(row.partition);
        out.extend_from_slice(&row.offset.to_le_bytes());
        out.extend_from_slice(&[row.child, row.sink]);
        out.extend_from_slice(&row.key.map_or([0, 0], |key| [1, key]));
        if row.bad {
            return Err(RowError::new("asked to"));
        }
        out.extend(std::iter::repeat_n(0xa5, usize::from(pad)));
        let sum = sum(&out[begin..]);
        out.extend_from_slice(&sum);
        Ok(())
    }
}

fn sum(bytes: &[u8]) -> [u8; 2] {
    let sum = bytes
        .iter()
        .fold(7u16, |sum, b| sum.rotate_left(3) ^ u16::from(*b));
    sum.to_le_bytes()
}

/// Takes the rows of a block apart.
pub(super) fn read(mut data: &[u8]) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    while let Some(&length) = data.first() {
        let torn = || format!("the rows of a block are torn behind {} rows", rows.len());
        let length = usize::from(length);
        if length < 12 || data.len() < length {
            return Err(torn());
        }
        let (row, rest) = data.split_at(length);
        let (body, end) = row.split_at(length - 2);
        if sum(body) != end {
            return Err(torn());
        }
        rows.push(Row {
            partition: row[1],
            offset: u32::from_le_bytes([row[2], row[3], row[4], row[5]]),
            child: row[6],
            sink: row[7],
            key: (row[8] == 1).then_some(row[9]),
            bad: false,
        });
        data = rest;
    }
    Ok(rows)
}

/// The shard of a key, written down a second time: the engine's router is fixed for good.
pub(super) fn shard_of(key: Option<u8>, shards: usize) -> usize {
    let Some(key) = key else { return 0 };
    let hash = (0xcbf2_9ce4_8422_2325u64 ^ u64::from(key)).wrapping_mul(0x0000_0100_0000_01b3);
    (hash % shards as u64) as usize
}
