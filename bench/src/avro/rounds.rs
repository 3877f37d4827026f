//! Times in rounds: in each one everybody runs once, right behind the one that it is compared with.
//!
//! The machine's speed changes from second to second, so only what ran next to each other is compared: the ratio is the median over
//! these pairs. The first round warms up and does not count.

use std::collections::BTreeMap;
use std::time::Instant;

use super::orders::Kind;
use super::peers::{self, Peer};
use super::shared::{Output, Payloads};
use super::variants::{VARIANTS, Variant, find};
use super::{Error, pass};

/// What was timed of one variant or library.
#[derive(Default)]
pub(crate) struct Times {
    /// Nanoseconds per record, one for each round.
    pub(crate) nanos: Vec<f64>,
    /// As multiples of the base's.
    pub(crate) ratios: Vec<f64>,
}

impl Times {
    fn add(&mut self, base: f64, nanos: f64) {
        self.nanos.push(nanos);
        self.ratios.push(nanos / base);
    }
}

/// The value in the middle.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        len if len % 2 == 1 => sorted[len / 2],
        len => (sorted[len / 2 - 1] + sorted[len / 2]) / 2.0,
    }
}

/// Times all variants and libraries.
pub(crate) fn run(
    orders: &BTreeMap<Kind, Payloads>,
    peers: &mut [Peer],
    rounds: u32,
) -> Result<BTreeMap<&'static str, Times>, Error> {
    let mut times: BTreeMap<&'static str, Times> = BTreeMap::new();
    let mut add = |round, name, base, nanos| {
        if round > 0 {
            times.entry(name).or_default().add(base, nanos);
        }
    };
    for round in 0..=rounds {
        for variant in VARIANTS {
            let base = time(find(variant.base)?, orders)?;
            add(round, variant.name, base, time(variant, orders)?);
        }
        for peer in peers.iter_mut() {
            let base = time(find(peers::BASE)?, orders)?;
            add(round, peer.name, base, peer.time()?);
        }
    }
    Ok(times)
}

/// Nanoseconds per record of one pass.
fn time(variant: &Variant, orders: &BTreeMap<Kind, Payloads>) -> Result<f64, Error> {
    let payloads = &orders[&variant.kind];
    let out = Output::discard();
    let began = Instant::now();
    pass(variant, payloads, out)?;
    Ok(began.elapsed().as_nanos() as f64 / payloads.len() as f64)
}
