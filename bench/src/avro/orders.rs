//! The workload: orders as Kafka would hand them over, back to back in one file with an array of their offsets.
//!
//! Drawn by splitmix64 from one seed, so that every run and every child process reads the same bytes.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::Error;

/// The schema id in front of every record.
pub(crate) const SCHEMA_ID: u32 = 4211;

/// Orders below are dropped: a fifth of them.
pub(crate) const LEAST_CENTS: i64 = 200_000;

const SEED: u64 = 0x5eed_0001;

/// 2026-01-01 in milliseconds.
const FIRST_PLACED_AT: i64 = 1_767_225_600_000;

/// The first order's id; ids take six bytes.
const FIRST_ORDER_ID: i64 = 1_000_000_000_000;

const REGIONS: [&str; 16] = [
    "eu",
    "us",
    "us-west",
    "apac",
    "emea-2",
    "north",
    "south",
    "nordic",
    "benelux",
    "oceania",
    "americas",
    "caucasus",
    "east-asia",
    "west-africa",
    "south-asia2",
    "antarctica-1",
];

/// As many characters, but not ASCII.
const REGIONS_ABROAD: [&str; 16] = [
    "åß",
    "éü",
    "üs-wést",
    "øpåc",
    "emêa-2",
    "nörth",
    "søuth",
    "nørdic",
    "bénélux",
    "océanie",
    "américas",
    "cáucaso",
    "东亚-asia",
    "west-áfrica",
    "süd-asien-2",
    "antárctica-1",
];

/// A kind of orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The workload that everything is compared by.
    Plain,
    /// Every text has a character that is not ASCII.
    Abroad,
    /// The array's block has a negative count and a size, as some writers do.
    Sized,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Plain, Kind::Abroad, Kind::Sized];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Plain => "orders",
            Kind::Abroad => "not_ascii",
            Kind::Sized => "sized_blocks",
        }
    }
}

/// Payloads in memory.
pub(crate) struct Orders {
    slab: Vec<u8>,
    /// Where each payload begins, and the end of the last.
    offsets: Vec<u32>,
}

impl Orders {
    /// Draws `count` orders.
    pub(crate) fn draw(kind: Kind, count: usize) -> Orders {
        let mut random = SplitMix(SEED);
        let mut orders = Orders {
            slab: Vec::with_capacity(count * 100),
            offsets: vec![0],
        };
        for n in 0..count {
            order(kind, n as i64, &mut random, &mut orders.slab);
            let end = u32::try_from(orders.slab.len()).expect("the slab is below 4 GiB");
            orders.offsets.push(end);
        }
        orders
    }

    /// The file of the payloads; their offsets are in one beside it.
    pub(crate) fn path(dir: &Path, kind: Kind) -> PathBuf {
        dir.join(format!("{}.payloads", kind.name()))
    }

    /// Writes the two files: the payloads, and their offsets as little-endian 32-bit numbers.
    pub(crate) fn save(&self, path: &Path) -> Result<(), Error> {
        let written = fs::write(path, &self.slab).and_then(|()| {
            let mut file = io::BufWriter::new(File::create(path.with_extension("offsets"))?);
            self.offsets
                .iter()
                .try_for_each(|offset| file.write_all(&offset.to_le_bytes()))?;
            file.flush()
        });
        written.map_err(|error| Error::file(path, error))
    }

    /// Reads the first `count` orders.
    pub(crate) fn load(path: &Path, count: usize) -> Result<Orders, Error> {
        let read = || {
            let mut bytes = vec![0; 4 * (count + 1)];
            File::open(path.with_extension("offsets"))?.read_exact(&mut bytes)?;
            let offsets: Vec<u32> = bytes
                .as_chunks()
                .0
                .iter()
                .map(|offset| u32::from_le_bytes(*offset))
                .collect();
            let mut slab = vec![0; offsets[count] as usize];
            File::open(path)?.read_exact(&mut slab)?;
            Ok(Orders { slab, offsets })
        };
        read().map_err(|error| Error::file(path, error))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The mean size of a payload.
    pub(crate) fn mean_size(&self) -> f64 {
        self.slab.len() as f64 / self.len() as f64
    }

    /// The payloads in order.
    #[inline(always)]
    pub(crate) fn payloads(&self) -> impl Iterator<Item = &[u8]> {
        self.offsets
            .array_windows::<2>()
            .map(|[from, to]| &self.slab[*from as usize..*to as usize])
    }
}

fn order(kind: Kind, n: i64, random: &mut SplitMix, out: &mut Vec<u8>) {
    out.push(0);
    out.extend_from_slice(&SCHEMA_ID.to_be_bytes());
    long(FIRST_ORDER_ID + n, out);
    let regions = match kind {
        Kind::Abroad => &REGIONS_ABROAD,
        _ => &REGIONS,
    };
    string(regions[random.below(16) as usize], out);
    long(random.below(1_000_000) as i64, out);
    if random.below(2) == 0 {
        long(0, out);
    } else {
        long(1, out);
        let mut note = String::new();
        for _ in 0..random.below(41) {
            note.push(char::from(b'a' + random.below(26) as u8));
        }
        if kind == Kind::Abroad {
            note.push('é');
        }
        string(&note, out);
    }
    long(FIRST_PLACED_AT + random.below(86_400_000 * 365) as i64, out);
    let mut lines = Vec::new();
    let count = 1 + random.below(4) as i64;
    for _ in 0..count {
        let sku = random.below(1 << 32);
        match kind {
            Kind::Abroad => string(&format!("SKÜ-{sku}"), &mut lines),
            _ => string(&format!("SKU-{sku}"), &mut lines),
        }
        long(1 + random.below(20) as i64, &mut lines);
    }
    if kind == Kind::Sized {
        long(-count, out);
        long(lines.len() as i64, out);
    } else {
        long(count, out);
    }
    out.extend_from_slice(&lines);
    long(0, out);
}

fn string(text: &str, out: &mut Vec<u8>) {
    long(text.len() as i64, out);
    out.extend_from_slice(text.as_bytes());
}

fn long(value: i64, out: &mut Vec<u8>) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; the tiny bias does not matter here.
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}
