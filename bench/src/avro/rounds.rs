//! Times variants in rounds: in each one every variant runs once, right behind the one that it is compared with.
//!
//! The machine's speed changes from second to second, so only what ran next to each other is compared: the ratio is the median over
//! these pairs. The first round warms up and does not count.

use std::collections::BTreeMap;
use std::time::Instant;

use super::orders::{Kind, Orders};
use super::output::Output;
use super::variants::{VARIANTS, Variant, find};
use super::{Error, pass};

/// What was timed of one variant.
#[derive(Default)]
pub(crate) struct Times {
    /// Nanoseconds per record, one for each round.
    pub(crate) nanos: Vec<f64>,
    /// As multiples of the base's.
    pub(crate) ratios: Vec<f64>,
}

impl Times {
    /// Adds a round.
    pub(crate) fn add(&mut self, base: f64, nanos: f64) {
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

/// Times all variants of this process.
pub(crate) fn run(
    orders: &BTreeMap<Kind, Orders>,
    rounds: u32,
) -> Result<BTreeMap<&'static str, Times>, Error> {
    let mut times: BTreeMap<&'static str, Times> = BTreeMap::new();
    for round in 0..=rounds {
        for variant in VARIANTS {
            let Some(base) = find(variant.base) else {
                return Err(Error::NoVariant(variant.base.to_owned()));
            };
            let base = time(base, orders)?;
            let nanos = time(variant, orders)?;
            if round > 0 {
                times.entry(variant.name).or_default().add(base, nanos);
            }
        }
    }
    Ok(times)
}

/// Nanoseconds per record of one pass.
pub(crate) fn time(variant: &Variant, orders: &BTreeMap<Kind, Orders>) -> Result<f64, Error> {
    let orders = &orders[&variant.kind];
    let out = Output::discard();
    let began = Instant::now();
    pass(variant, orders, out)?;
    Ok(began.elapsed().as_nanos() as f64 / orders.len() as f64)
}
