//! The simulator itself: it is deterministic, every kind of fault comes, and every planted bug is found.

use std::collections::BTreeMap;

use spate_test::sim::{self, Fault, Planted};

/// Runs the seeds on all cores; the answers in the seeds' order.
fn over<T: Send>(seeds: std::ops::Range<u64>, run: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = std::sync::atomic::AtomicU64::new(seeds.start);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut answers: Vec<(u64, T)> = std::thread::scope(|scope| {
        let worker = || {
            let mut own = Vec::new();
            loop {
                let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if seed >= seeds.end {
                    return own;
                }
                own.push((seed, run(seed)));
            }
        };
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        let joined = workers
            .into_iter()
            .map(|w| w.join().expect("no run panics"));
        joined.flatten().collect()
    });
    answers.sort_by_key(|(seed, _)| *seed);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[test]
fn runs_of_many_seeds_break_nothing() {
    for (seed, outcome) in over(0..300, sim::run).iter().enumerate() {
        let tail = outcome.log.len().saturating_sub(40);
        assert!(
            outcome.violation.is_none(),
            "seed {seed}: {:?}\n{}\ncargo sim --seed {seed} --verbose",
            outcome.violation,
            outcome.log[tail..].join("\n")
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_log_byte_for_byte() {
    let seeds = 5_000..5_100;
    let first = over(seeds.clone(), |seed| sim::run(seed).log);
    // Once more, one after the other on this thread.
    for (seed, log) in seeds.zip(&first) {
        assert_eq!(&sim::run(seed).log, log, "seed {seed}");
    }
    assert!(first.windows(2).all(|logs| logs[0] != logs[1]));
}

#[test]
fn every_kind_of_fault_comes_and_some_runs_have_none() {
    let outcomes = over(0..600, sim::run);
    let mut counts: BTreeMap<Fault, u64> = BTreeMap::new();
    for (fault, count) in outcomes.iter().flat_map(|outcome| &outcome.faults) {
        *counts.entry(*fault).or_default() += count;
    }
    let missing: Vec<&Fault> = Fault::ALL
        .iter()
        .filter(|fault| counts.get(fault).is_none_or(|n| *n == 0))
        .collect();
    assert!(missing.is_empty(), "never: {missing:?}");
    assert!(outcomes.iter().any(|outcome| outcome.totals.faults == 0));
    assert!(outcomes.iter().any(|outcome| outcome.totals.crashes > 0));
}

#[test]
fn every_planted_bug_is_found() {
    const SEEDS: u64 = 1_000;
    for &bug in Planted::ALL {
        let run = |seed| sim::run_with(seed, Some(bug)).violation;
        let found = (0..SEEDS).step_by(20).find_map(|from| {
            let violations = over(from..from + 20, run).into_iter();
            let mut violations = violations.zip(from..);
            violations.find_map(|(violation, seed)| Some((seed, violation?)))
        });
        let (seed, violation) =
            found.unwrap_or_else(|| panic!("{bug:?} was not found in {SEEDS} seeds"));
        println!("{bug:?}: seed {seed}: {violation}");
    }
}
