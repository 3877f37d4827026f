//! The budget and the pause: what is in flight is bounded and given back, lanes pause and go on, nothing stands still.

use super::*;
use crate::engine::Sizing;

/// Blocks of ten chunks; the sink takes a second for one.
const BLOCK: usize = 10 * BATCH * ROW;
const BYTES_PER_MS: usize = 1;

/// A sink that is slow but steady, blocks that never get old.
fn slow(budget: impl FnOnce(&Sizing<'_>) -> usize, shards: usize) -> Options {
    let options = Options {
        drivers: 3,
        shards,
        linger: Duration::from_secs(24 * 3600),
        max_bytes: BLOCK,
        bytes_per_ms: Some(BYTES_PER_MS),
        give_up_after: Duration::from_secs(24 * 3600),
        max_pending: 1 << 20,
        ..Options::default()
    };
    let mut pool = SinkPoolConfig::default();
    pool.batch.max_bytes = BLOCK;
    pool.chunk.target_bytes = BATCH * ROW;
    pool.queue.capacity = options.queue;
    let sizing = Sizing::new(options.drivers, &BackpressureConfig::default());
    let budget = budget(&sizing.with_sink("sink", shards, &pool));
    Options { budget, ..options }
}

impl Sim {
    fn run_for(&mut self, time: Duration) {
        let end = self.clock.now().after(time);
        while self.clock.now() < end {
            self.step();
        }
    }

    fn stored(&self) -> usize {
        self.store.rows.lock().unwrap().len()
    }

    fn lines(&self, begin: &str) -> usize {
        let log = self.log.lock().unwrap();
        log.iter().filter(|line| line.starts_with(begin)).count()
    }
}

#[test]
fn the_budget_pauses_the_lanes_before_any_queue_is_full() {
    let mut sim = Sim::new(Options {
        fail: 10,
        max_bytes: 1 << 20,
        linger: Duration::from_secs(3600),
        budget: 10 * BATCH * ROW,
        max_pending: 1 << 20,
        ..Options::default()
    });
    sim.broker.lock().unwrap().ignores_pauses = true;
    sim.assign(0..2, 100_000);
    sim.until("paused", |sim| sim.controller.is_paused());
    assert!(sim.budget.is_high());
    // The lanes go on: the drivers stop at the budget by themselves.
    sim.run_for(Duration::from_secs(5));
    let batches = sim.stats.totals().batches;
    sim.run_for(Duration::from_secs(5));
    assert_eq!(sim.stats.totals().batches, batches);
    assert!(!sim.budget.has_room());
    assert!(sim.controller.is_paused());
    sim.drain();
    sim.assert_nothing_is_in_flight();
}

/// Each driver's batch runs in the middle of the one before: all have asked before any has sealed.
fn step_nested(drivers: &mut [(Driver, Arc<DriverStatus>, bool)], now: Time) {
    let Some(((driver, ..), rest)) = drivers.split_first_mut() else {
        return;
    };
    let mut ran = false;
    let mut kernel = |batch: &Batch<'_>, out: &mut Output| {
        ran = true;
        step_nested(rest, now);
        encode(batch, out, None)
    };
    driver.step(now, &mut kernel);
    if !ran {
        step_nested(rest, now);
    }
}

#[test]
fn however_threads_interleave_they_overshoot_the_budget_by_at_most_one_batch_each() {
    const DRIVERS: usize = 5;
    const LIMIT: usize = 20 * BATCH * ROW + 1;
    let mut sim = Sim::new(Options {
        drivers: DRIVERS,
        max_bytes: 1 << 20,
        linger: Duration::from_secs(3600),
        budget: LIMIT,
        max_pending: 1 << 20,
        ..Options::default()
    });
    sim.broker.lock().unwrap().ignores_pauses = true;
    sim.assign(0..DRIVERS as i32, 100_000);
    let mut most = 0;
    for _ in 0..1000 {
        let now = sim.clock.now();
        sim.controller.step(now);
        step_nested(&mut sim.drivers, now);
        sim.step_workers(now);
        sim.clock.advance(Duration::from_millis(1));
        most = most.max(sim.budget.in_flight());
    }
    assert!(most >= LIMIT, "{most}");
    assert!(most <= LIMIT + DRIVERS * BATCH * ROW, "{most}");
    assert!(
        most > LIMIT + (DRIVERS - 2) * BATCH * ROW,
        "{most}: they did not interleave"
    );
}

/// Rows that were stored after `time`, of how many the sink could have stored.
fn stored_within(sim: &mut Sim, shards: usize, time: Duration) -> (usize, usize) {
    sim.run_for(time);
    let possible = shards * BYTES_PER_MS * usize::try_from(time.as_millis()).unwrap() / ROW;
    (sim.stored(), possible)
}

#[test]
fn the_smallest_budget_that_is_accepted_keeps_the_sink_busy_and_drains_everything() {
    for (shards, fail) in [(1, 0), (3, 0), (2, 3)] {
        let mut sim = Sim::new(Options {
            fail,
            ..slow(|sizing| sizing.smallest(), shards)
        });
        sim.assign(0..9, 1_000);
        let (stored, possible) = stored_within(&mut sim, shards, Duration::from_secs(20));
        assert!(sim.lines("pause") > 0, "the sink is slower than the source");
        if fail == 0 {
            assert!(
                stored * 10 >= possible * 7,
                "{stored} of {possible}, {shards} shards"
            );
        }
        // What fills no block waits for the drain, or for its age: nothing else is left.
        sim.until("all but the last blocks", |sim| {
            (9 * 1_000 - sim.stored()) * ROW < shards * BLOCK
                && sim.budget.in_flight() < shards * BLOCK
        });
        assert!(sim.clock.now() < Time::ZERO.after(Duration::from_secs(3600)));
        sim.drain();
        assert!(sim.failure.get().is_none());
        sim.assert_nothing_committed_is_missing();
        assert_eq!(
            (0..9).map(|p| sim.committed(p)).collect::<Vec<_>>(),
            [Some(1_000); 9]
        );
        sim.assert_nothing_is_in_flight();
    }
}

#[test]
fn a_budget_that_is_refused_would_stand_still_until_rows_get_old() {
    let refused = |sizing: &Sizing<'_>| {
        let limit = sizing.smallest() / 2;
        assert!(!sizing.works(limit));
        limit
    };
    let mut sim = Sim::new(slow(refused, 1));
    sim.assign(0..9, 1_000);
    let (stored, possible) = stored_within(&mut sim, 1, Duration::from_secs(60));
    assert!(stored * 10 < possible, "{stored} of {possible}");
}

#[test]
fn a_slow_but_steady_sink_is_never_starved_and_pauses_the_lanes_twice_a_block_at_most() {
    // A short queue pauses by itself, behind a long one the budget does. A short one is full for a moment also while its
    // worker could take more.
    for (queue, per_block) in [(8, 2), (512, 1)] {
        let mut sim = Sim::new(Options {
            queue,
            ..slow(|sizing| sizing.default_limit(), 1)
        });
        sim.assign(0..9, 1_000_000);
        let (stored, possible) = stored_within(&mut sim, 1, Duration::from_secs(120));
        assert!(
            stored * 100 >= possible * 95,
            "{stored} of {possible}, queue {queue}"
        );
        let (pauses, blocks) = (sim.lines("pause"), sim.lines("write"));
        assert!(
            (1..=per_block * blocks + 1).contains(&pauses),
            "{pauses} pauses, {blocks} blocks, queue {queue}"
        );
        assert!(sim.lines("resume") >= pauses - 1);
    }
}

#[test]
fn the_source_is_polled_at_every_step_whatever_hangs() {
    let mut sim = Sim::new(Options {
        fail: 10,
        queue: 1,
        ..Options::default()
    });
    let lanes = sim.assign(0..2, 1_000);
    sim.until("paused", |sim| sim.controller.is_paused());
    // From here on neither a driver nor a sink moves, as if user code and the server did not answer.
    let alone = |sim: &mut Sim, what: &str| {
        for _ in 0..1_000 {
            let before = sim.broker.lock().unwrap().polls;
            sim.controller.step(sim.clock.now());
            assert!(
                sim.broker.lock().unwrap().polls > before,
                "not polled {what}"
            );
            sim.clock.advance(Duration::from_millis(1));
        }
    };
    alone(&mut sim, "while paused");
    sim.event(SourceEvent::Revoking(vec![lanes[0]]));
    alone(&mut sim, "during a revocation");
    sim.shutdown
        .store(true, std::sync::atomic::Ordering::SeqCst);
    alone(&mut sim, "during a drain");
}

#[test]
fn however_a_run_ends_nothing_stays_in_flight() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let options = Options {
            seed,
            drivers: random.usize(1..4),
            shards: random.usize(1..3),
            queue: random.usize(1..4),
            fail: [0, 4, 10][random.usize(..3)],
            give_up_after: Duration::from_millis(random.u64(10..400)),
            budget: [usize::MAX, 600][random.usize(..2)],
            fails_at: [None, Some((random.i64(..100), random.bool()))][random.usize(..2)],
            ..Options::default()
        };
        let mut sim = Sim::new(options);
        let lanes = sim.assign(0..4, 100);
        sim.run_for(Duration::from_millis(random.u64(..100)));
        let panics = random.u32(..4) == 0;
        sim.store
            .panics
            .store(panics, std::sync::atomic::Ordering::SeqCst);
        match random.u32(..4) {
            0 => sim.event(SourceEvent::Revoking(vec![lanes[0]])),
            1 => sim.event(SourceEvent::Lost(lanes)),
            _ => {}
        }
        sim.run_for(Duration::from_millis(random.u64(..300)));
        let in_flight = sim.budget.in_flight();
        // Killed, or drained.
        let killed = random.u32(..3) == 0;
        if !killed {
            sim.drain();
        }
        seen.insert((in_flight > 0, killed, sim.failure.get().is_some(), panics));
        sim.assert_nothing_is_in_flight();
    }
    assert!(seen.len() >= 12, "{seen:?}");
}
