//! What the compiled Avro codec costs: framed payloads in memory to ClickHouse rows on one thread, against the same work by hand.
//!
//! Judged by instructions first, because they repeat: callgrind counts one and two passes over the same records, and the difference is
//! the cost of the second. Then by time: variants take turns in one process, and the ratio is the median over adjacent pairs.
//! All variants must write the same rows.

mod callgrind;
mod hand;
mod logical;
mod orders;
mod ours;
mod peers;
mod recorded;
mod rounds;
mod shared;
mod table;
mod values;
mod variants;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use orders::Kind;
use peers::{PEERS, Peer, Program};
use shared::{Output, Payloads, Refused, Written};
use table::Measured;
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

    /// Leave the other libraries out, which take minutes to build for the first time
    #[arg(long)]
    ours: bool,

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
    #[error(
        "the child of `{name}` answered `{line}` where nanoseconds, rows, bytes and a hash belong; it says why above"
    )]
    Peer { name: &'static str, line: String },
    #[error("`{name}` wrote {found:?}, `{base}` {expected:?}: they must write the same rows")]
    Differs {
        name: &'static str,
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
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = bench.parent().unwrap_or(bench).join("target/bench/avro");
    fs::create_dir_all(&dir).map_err(|error| Error::file(&dir, error))?;
    if options.check || options.record {
        return count(options, bench, &dir);
    }
    let program = match options.ours {
        true => None,
        false => Some(Program::build(bench, &dir)?),
    };
    let orders = draw(&dir, ORDERS)?;
    let mut running = Vec::new();
    if let Some(program) = &program {
        for (name, _) in PEERS {
            running.push(program.start(name)?);
        }
    }
    let written = compare(&orders, &mut running)?;
    println!(
        "{ORDERS} orders of {:.1} bytes, {:.2} % of them pass the filter; instructions over the first {COUNTED}",
        orders[&Kind::Plain].mean_size(),
        100.0 * written.rows as f64 / ORDERS as f64
    );
    let mut times = rounds::run(&orders, &mut running, options.rounds)?;
    let mut measured = Vec::new();
    let mut add = |name, what, base, instructions| {
        let times = times.remove(name).unwrap_or_default();
        measured.push(Measured {
            name,
            what,
            base,
            instructions,
            times,
        });
    };
    for variant in VARIANTS {
        add(
            variant.name,
            variant.what,
            variant.base,
            callgrind::variant(&dir, variant)?,
        );
    }
    if let Some(program) = &program {
        for (name, what) in PEERS {
            add(name, what, peers::BASE, program.count(&dir, name)?);
        }
    }
    Ok(table::print(&measured))
}

/// Counts the instructions of our variants, for the file of recorded ones.
fn count(options: &Options, bench: &Path, dir: &Path) -> Result<bool, Error> {
    let orders = draw(dir, COUNTED)?;
    compare(&orders, &mut [])?;
    let ours = VARIANTS.iter().filter(|variant| variant.is_ours());
    let instructions = ours
        .map(|variant| Ok((variant.name, callgrind::variant(dir, variant)?)))
        .collect::<Result<BTreeMap<_, _>, Error>>()?;
    let recorded = recorded::Recorded::new(&bench.join("recorded.toml"));
    match options.record {
        true => recorded.write(&instructions).map(|()| true),
        false => recorded.compare(&instructions),
    }
}

/// Draws every kind of orders and writes their files.
fn draw(dir: &Path, count: usize) -> Result<BTreeMap<Kind, Payloads>, Error> {
    let mut orders = BTreeMap::new();
    for kind in Kind::ALL {
        let drawn = orders::draw(kind, count);
        let path = kind.path(dir);
        drawn
            .save(&path)
            .map_err(|error| Error::file(&path, error))?;
        orders.insert(kind, drawn);
    }
    Ok(orders)
}

/// Runs everybody once and compares the rows of those that read the same orders.
fn compare(orders: &BTreeMap<Kind, Payloads>, peers: &mut [Peer]) -> Result<Written, Error> {
    let mut first: BTreeMap<Kind, (&'static str, Written)> = BTreeMap::new();
    let mut same = |kind, name, written| {
        let (base, expected) = *first.entry(kind).or_insert((name, written));
        match written == expected {
            true => Ok(written),
            false => Err(Error::Differs {
                name,
                found: written,
                base,
                expected,
            }),
        }
    };
    let mut plain = None;
    for variant in VARIANTS {
        let written = pass(variant, &orders[&variant.kind], Output::hash())?;
        same(variant.kind, variant.name, written)?;
        if variant.kind == Kind::Plain {
            plain = Some(written);
        }
    }
    for peer in peers {
        same(Kind::Plain, peer.name, peer.hash()?)?;
    }
    plain.ok_or_else(|| Error::NoVariant(Kind::Plain.name().to_owned()))
}

fn pass(variant: &Variant, payloads: &Payloads, mut out: Output) -> Result<Written, Error> {
    match (variant.pass)(payloads, &mut out) {
        Ok(()) => Ok(out.finish()),
        Err(Refused) => Err(Error::Refused(variant.name)),
    }
}

/// What a child does: so many passes over the first orders of a file.
pub(crate) fn run_pass(options: &PassOptions) -> Result<bool, Error> {
    let variant = variants::find(&options.variant)?;
    let payloads = Payloads::load(&options.payloads, options.orders)
        .map_err(|error| Error::file(&options.payloads, error))?;
    for _ in 0..options.passes {
        pass(variant, &payloads, Output::discard())?;
    }
    Ok(true)
}
