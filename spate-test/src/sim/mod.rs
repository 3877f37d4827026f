//! The simulation: the engine's real machines on one thread, under a clock that is moved by hand and faults that are drawn
//! from a seed. The same seed gives the same run, byte for byte of its log.
//!
//! A run has a topic, several sinks of several shards, and a group of processes that come, go and die. Each process has a real
//! [`Controller`](spate_runtime::machines::Controller) with its checkpointer, real drivers and real sink workers, over the doubles
//! of [`scripted`](crate::scripted). Which machine is stepped next is drawn as well, so that each may be slow.
//!
//! 1. **Faults.** Records are produced while fetches, commits, calls and writes fail, hang or panic, stages fail, partitions move
//!    between processes, processes are ended, killed and started ([`Fault`]). Each seed draws the kinds and how often they come.
//! 2. **Quiet.** No faults any more. Whoever is left has to read, store and commit everything within bounded time.
//! 3. **End.** Every process is asked to end and has to end cleanly.
//!
//! What is checked, at the moment at which it can first be wrong:
//!
//! - a commit never passes a record that is not stored (or dropped by name); it names a lane that its process holds, lies behind
//!   what was read, and never goes back;
//! - a lane's records are run in order, without a gap, from where it began; none after it was given back or its kernel failed;
//! - a lane is given back only when no driver holds it; paused and resumed lanes are those that should be;
//! - a row is stored in the sink and shard where it belongs, with the bytes that were encoded, and only of batches that ran to
//!   their end; a block that failed is written again with the same bytes and token, and a token never names other rows;
//! - counters add up: records in = outcomes, rows counted = rows that a writer confirmed, for every process, however it ends;
//! - a process that ends cleanly has committed all that it ran, and a process that fails names a place where something was wrong;
//! - every drain ends in bounded time, every run in bounded steps; no machine panics;
//! - in the end every record is stored and committed. With a kernel that drops copies, every id is stored.
//!
//! `cargo sim --seeds 10000` runs many seeds; `cargo sim --seed 17 --verbose` shows one. [`Planted`] bugs show that the checks
//! see what they are for.

mod ending;
mod faults;
mod group;
mod kernel;
mod panics;
mod plan;
mod planted;
mod process;
mod rows;
mod scripts;
mod simulation;
mod truth;
mod watch;

pub use faults::Fault;
pub use planted::Planted;

use simulation::Simulation;

/// The names of the sinks.
const SINKS: [&str; plan::MAX_SINKS] = ["first", "second", "third"];

/// How a run ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was wrong first, if anything was.
    pub violation: Option<String>,
    /// What happened, a line each.
    pub log: Vec<String>,
    /// What the run did.
    pub totals: Totals,
    /// How often each kind of fault came.
    pub faults: Vec<(Fault, u64)>,
}

/// What runs did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Records that were produced.
    pub records: u64,
    /// Faults that came.
    pub faults: u64,
    /// How often partitions were dealt.
    pub rebalances: u64,
    /// Processes that were killed.
    pub crashes: u64,
    /// Processes that ended by themselves or because they were asked to.
    pub exits: u64,
    /// Commits that were begun.
    pub commits: u64,
    /// Attempts to write a block.
    pub writes: u64,
    /// Steps of machines.
    pub steps: u64,
}

impl std::ops::AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        self.records += other.records;
        self.faults += other.faults;
        self.rebalances += other.rebalances;
        self.crashes += other.crashes;
        self.exits += other.exits;
        self.commits += other.commits;
        self.writes += other.writes;
        self.steps += other.steps;
    }
}

/// Runs a seed.
#[must_use]
pub fn run(seed: u64) -> Outcome {
    run_with(seed, None)
}

/// Runs a seed with a bug.
#[must_use]
pub fn run_with(seed: u64, planted: Option<Planted>) -> Outcome {
    let _quiet = panics::quiet();
    Simulation::new(seed, planted).run()
}
