//! `sim`: runs the simulation over many seeds. See `spate_test::sim`.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use clap::Parser;
use spate_test::sim::{self, Outcome, Totals};

/// Runs the engine's machines under faults drawn from seeds; exit code 1 when something was wrong.
#[derive(Parser)]
#[command(name = "sim", version)]
struct Cli {
    /// How many seeds to run
    #[arg(
        long,
        default_value_t = 1000,
        value_name = "N",
        conflicts_with = "seed"
    )]
    seeds: u64,
    /// The first of them
    #[arg(long, default_value_t = 0, value_name = "S", conflicts_with = "seed")]
    first: u64,
    /// Run this seed alone
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// How many run at a time [default: the cores]
    #[arg(long, value_name = "J")]
    jobs: Option<usize>,
    /// Print what happened, of every seed
    #[arg(long)]
    verbose: bool,
}

/// The last lines of the log of a run that was wrong.
const TAIL: usize = 60;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let (first, seeds) = cli.seed.map_or((cli.first, cli.seeds), |seed| (seed, 1));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = cli.jobs.unwrap_or(cores).max(1);
    let began = Instant::now();
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let results = Mutex::new((Totals::default(), 0u64, 0u64));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= seeds {
                        break;
                    }
                    let seed = first + number;
                    let outcome = sim::run(seed);
                    let mut results = results.lock().expect("no run panics");
                    results.0 += outcome.totals;
                    results.1 += 1;
                    if cli.verbose || outcome.violation.is_some() {
                        show(seed, &outcome, cli.verbose);
                    }
                    if outcome.violation.is_some() {
                        results.2 += 1;
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let (totals, ran, violations) = results.into_inner().expect("no run panics");
    println!(
        "sim: seeds={ran} records={} faults={} rebalances={} crashes={} exits={} commits={} writes={} steps={} \
         violations={violations} seconds={:.1}",
        totals.records,
        totals.faults,
        totals.rebalances,
        totals.crashes,
        totals.exits,
        totals.commits,
        totals.writes,
        totals.steps,
        began.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(violations > 0))
}

fn show(seed: u64, outcome: &Outcome, all: bool) {
    let from = match all {
        true => 0,
        false => outcome.log.len().saturating_sub(TAIL),
    };
    for line in &outcome.log[from..] {
        println!("{line}");
    }
    if let Some(violation) = &outcome.violation {
        println!("seed {seed}: {violation}\nto repeat it: cargo sim --seed {seed} --verbose");
    }
}
