//! The workload: orders, drawn by splitmix64 from one seed, so that every run has the same bytes.

use std::path::{Path, PathBuf};

use super::shared::{Payloads, SCHEMA_ID};

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
    /// Written with a schema of before: `schemas/order_before.avsc`.
    Before,
    /// Written with a schema of after, whose lines have one field more: `schemas/order_lines.avsc`.
    Lines,
    /// No orders but payments, of logical types: `schemas/payment.avsc`.
    Logical,
}

impl Kind {
    pub(crate) const ALL: [Kind; 6] = [
        Kind::Plain,
        Kind::Abroad,
        Kind::Sized,
        Kind::Before,
        Kind::Lines,
        Kind::Logical,
    ];

    /// The file of the payloads; their offsets are in one beside it.
    pub(crate) fn path(self, dir: &Path) -> PathBuf {
        dir.join(format!("{}.payloads", self.name()))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Plain => "orders",
            Kind::Abroad => "not_ascii",
            Kind::Sized => "sized_blocks",
            Kind::Before => "schema_before",
            Kind::Lines => "schema_lines",
            Kind::Logical => "logical_types",
        }
    }
}

/// Draws `count` orders.
pub(crate) fn draw(kind: Kind, count: usize) -> Payloads {
    let mut random = SplitMix(SEED);
    let mut payloads = Payloads::with_capacity(count * 100);
    for n in 0..count {
        payloads.push(|out| match kind {
            Kind::Logical => payment(&mut random, out),
            kind => order(kind, n as i64, &mut random, out),
        });
    }
    payloads
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
    if kind == Kind::Before {
        long(n % 100_000, out);
    }
    long(random.below(1_000_000) as i64, out);
    if random.below(2) == 0 {
        if kind != Kind::Before {
            long(0, out);
        }
    } else {
        let mut note = String::new();
        for _ in 0..random.below(41) {
            note.push(char::from(b'a' + random.below(26) as u8));
        }
        if kind == Kind::Abroad {
            note.push('é');
        }
        if kind != Kind::Before {
            long(1, out);
            string(&note, out);
        }
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
        if kind == Kind::Lines {
            string("piece", &mut lines);
        }
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

fn payment(random: &mut SplitMix, out: &mut Vec<u8>) {
    out.push(0);
    out.extend_from_slice(&SCHEMA_ID.to_be_bytes());
    let (high, low) = (random.next(), random.next());
    let id = format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    );
    string(&id, out);
    // As few bytes as it needs.
    let cents = (random.below(1_000_000) as i64).to_be_bytes();
    let needed = cents[1..]
        .iter()
        .zip(&cents)
        .position(|(next, byte)| *byte != 0 || *next >= 0x80);
    let cents = &cents[needed.unwrap_or(7)..];
    long(cents.len() as i64, out);
    out.extend_from_slice(cents);
    long(FIRST_PLACED_AT / 86_400_000 + random.below(90) as i64, out);
    let at = FIRST_PLACED_AT * 1_000 + random.below(86_400_000_000 * 365) as i64;
    long(at, out);
    long(random.below(86_400_000) as i64, out);
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
