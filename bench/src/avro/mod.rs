//! What the compiled Avro codec costs: framed payloads in memory to ClickHouse rows on one thread, against the same work by hand.
//!
//! Judged by instructions first, because they repeat: callgrind counts one and two passes over the same records, and the difference is
//! the cost of the second. Then by time: variants take turns in one process, and the ratio is the median over adjacent pairs.
//! All variants must write the same rows.

mod callgrind;
mod hand;
mod orders;
mod ours;
mod output;
mod recorded;
mod rounds;
mod table;
mod variants;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use orders::{Kind, Orders};
use output::{Output, Written};
use variants::{VARIANTS, Variant};

/// How many orders are timed.
const ORDERS: usize = 1_000_000;

/// Over how many of them instructions are counted.
const COUNTED: usize = 20_000;

/// Options of the measurement.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How often each pair of variants is timed, after one round to warm up
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// Count instructions of our variants only and compare with `bench/recorded.toml`
    #[arg(long)]
    check: bool,

    /// Count instructions of our variants only and write them to `bench/recorded.toml`
    #[arg(long, conflicts_with = "check")]
    record: bool,
}

/// What a child under callgrind is asked for.
#[derive(clap::Args)]
pub(crate) struct PassOptions {
    variant: String,
    payloads: PathBuf,
    orders: usize,
    passes: u32,
}

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{path}: {error}")]
    File {
        path: PathBuf,
        error: std::io::Error,
    },
    #[error("`{command}` could not be started: {error}{advice}")]
    Start {
        command: String,
        error: std::io::Error,
        advice: &'static str,
    },
    #[error("`{command}` failed: {status}\n{output}")]
    Failed {
        command: String,
        status: std::process::ExitStatus,
        output: String,
    },
    #[error("{path}: callgrind wrote no line `totals:`")]
    NoTotals { path: PathBuf },
    #[error("the variant `{0}` refused a payload")]
    Refused(&'static str),
    #[error("there is no variant `{0}`")]
    NoVariant(String),
    #[error("`{name}` wrote {found:?}, `{base}` {expected:?}: they must write the same rows")]
    Differs {
        name: String,
        found: Written,
        base: &'static str,
        expected: Written,
    },
    #[error("{path}:{line}: expected `name = number`, found `{text}`")]
    Recorded {
        path: PathBuf,
        line: usize,
        text: String,
    },
    #[error(
        "{path} was recorded with {recorded}, this is {found}: counts of two compilers say nothing about each other; run `{}` with this one",
        recorded::COMMAND
    )]
    OtherCompiler {
        path: PathBuf,
        recorded: String,
        found: String,
    },
}

impl Error {
    fn file(path: &Path, error: std::io::Error) -> Error {
        Error::File {
            path: path.to_owned(),
            error,
        }
    }
}

/// Measures, prints the table, and tells whether the goals are met.
pub(crate) fn run(options: &Options) -> Result<bool, Error> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = own.parent().unwrap_or(own).join("target/bench/avro");
    fs::create_dir_all(&dir).map_err(|error| Error::file(&dir, error))?;
    let only_count = options.check || options.record;
    let count = match only_count {
        true => COUNTED,
        false => ORDERS,
    };
    let mut orders = BTreeMap::new();
    for kind in Kind::ALL {
        let drawn = Orders::draw(kind, count);
        drawn.save(&Orders::path(&dir, kind))?;
        orders.insert(kind, drawn);
    }
    let written = compare(&orders)?;
    let instructions = callgrind::count(&dir)?;
    if only_count {
        let recorded = recorded::Recorded::new(&own.join("recorded.toml"));
        return match options.record {
            true => recorded.write(&instructions).map(|()| true),
            false => recorded.compare(&instructions),
        };
    }
    println!(
        "{ORDERS} orders of {:.1} bytes, {:.2} % of them pass the filter; instructions over the first {COUNTED}",
        orders[&Kind::Plain].mean_size(),
        100.0 * written.rows as f64 / ORDERS as f64
    );
    let times = rounds::run(&orders, options.rounds)?;
    Ok(table::print(&instructions, &times))
}

/// Runs every variant once and compares the rows of those that read the same orders.
fn compare(orders: &BTreeMap<Kind, Orders>) -> Result<Written, Error> {
    let mut first: BTreeMap<Kind, (&'static str, Written)> = BTreeMap::new();
    for variant in VARIANTS {
        let written = pass(variant, &orders[&variant.kind], Output::hash())?;
        let (base, expected) = *first.entry(variant.kind).or_insert((variant.name, written));
        if written != expected {
            return Err(Error::Differs {
                name: variant.name.to_owned(),
                found: written,
                base,
                expected,
            });
        }
    }
    Ok(first[&Kind::Plain].1)
}

fn pass(variant: &Variant, orders: &Orders, mut out: Output) -> Result<Written, Error> {
    match (variant.pass)(orders, &mut out) {
        Ok(()) => Ok(out.finish()),
        Err(variants::Refused) => Err(Error::Refused(variant.name)),
    }
}

/// What a child does: so many passes over the first orders of a file.
pub(crate) fn run_pass(options: &PassOptions) -> Result<bool, Error> {
    let variant = variants::find(&options.variant)
        .ok_or_else(|| Error::NoVariant(options.variant.clone()))?;
    let orders = Orders::load(&options.payloads, options.orders)?;
    for _ in 0..options.passes {
        pass(variant, &orders, Output::discard())?;
    }
    Ok(true)
}
