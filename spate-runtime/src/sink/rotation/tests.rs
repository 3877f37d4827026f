//! Rotation and breakers against a model that keeps the whole history and works everything out from it.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone, Copy)]
struct Attempt {
    begin: Time,
    end: Time,
    told: Told,
}

/// Every attempt at every replica, in order.
struct Model {
    config: BreakerConfig,
    history: Vec<Vec<Attempt>>,
    last: Option<usize>,
}

impl Model {
    /// Until when attempts at a replica are kept away, by its history alone.
    fn closed_to(&self, replica: usize) -> Time {
        let (mut row, mut open) = (0, None);
        for attempt in &self.history[replica] {
            let probe = open.is_some();
            match attempt.told {
                Told::Works => (row, open) = (0, None),
                Told::Fails if probe => {
                    let took = attempt.end.since(attempt.begin);
                    open = Some(attempt.end.after(self.config.open_for.max(took)));
                }
                Told::Fails => {
                    row += 1;
                    if row == self.config.failures {
                        open = Some(attempt.end.after(self.config.open_for));
                    }
                }
                Told::Nothing if probe => open = Some(attempt.end),
                Told::Nothing => {}
            }
        }
        open.filter(|_| self.history.len() > 1)
            .unwrap_or(Time::ZERO)
    }

    fn expected(&self, now: Time) -> Result<usize, Time> {
        let count = self.history.len();
        let first = self.last.map_or(0, |last| last + 1);
        for turn in 0..count {
            let replica = (first + turn) % count;
            if self.closed_to(replica) <= now {
                return Ok(replica);
            }
        }
        Err((0..count).map(|r| self.closed_to(r)).min().unwrap())
    }
}

/// What happens next: time passes, then an attempt is made that ends like this.
#[derive(Debug, Clone, Copy)]
struct Step {
    pause: u64,
    took: u64,
    told: Told,
    anyway: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let told = prop_oneof![
        5 => Just(Told::Fails),
        2 => Just(Told::Works),
        1 => Just(Told::Nothing)
    ];
    let step = (0..400_u64, 0..300_u64, told, prop::bool::weighted(0.1)).prop_map(
        |(pause, took, told, anyway)| Step {
            pause,
            took,
            told,
            anyway,
        },
    );
    prop::collection::vec(step, 1..120)
}

proptest! {
    #[test]
    fn the_next_replica_is_the_next_in_rotation_that_its_history_admits(
        replicas in 1..5_usize,
        failures in 1..4_u32,
        open_for in 1..500_u64,
        steps in steps(),
    ) {
        let open_for = Duration::from_millis(open_for);
        let config = BreakerConfig { failures, open_for };
        let mut rotation = Rotation::new(replicas, &config);
        let mut model = Model { config, history: vec![Vec::new(); replicas], last: None };
        let mut now = Time::ZERO;
        for step in steps {
            now = now.after(Duration::from_millis(step.pause));
            let expected = model.expected(now);
            let replica = match rotation.begin(now) {
                Ok(replica) => {
                    prop_assert_eq!(expected, Ok(replica));
                    replica
                }
                Err(until) => {
                    prop_assert_eq!(expected, Err(until));
                    prop_assert!(until > now);
                    if !step.anyway {
                        continue;
                    }
                    let replica = rotation.begin_anyway(now);
                    prop_assert_eq!(model.closed_to(replica), until);
                    replica
                }
            };
            let begin = now;
            now = now.after(Duration::from_millis(step.took));
            rotation.end(replica, step.told, now);
            model.history[replica].push(Attempt { begin, end: now, told: step.told });
            model.last = Some(replica);
            for replica in 0..replicas {
                prop_assert_eq!(rotation.is_open(replica), model.closed_to(replica) != Time::ZERO);
            }
        }
    }
}

#[test]
fn attempts_go_round_and_skip_a_replica_whose_breaker_is_open() {
    let config = BreakerConfig {
        failures: 1,
        ..BreakerConfig::default()
    };
    let mut rotation = Rotation::new(3, &config);
    let mut order = Vec::new();
    for told in [
        Told::Works,
        Told::Fails,
        Told::Works,
        Told::Works,
        Told::Works,
        Told::Works,
    ] {
        let replica = rotation.begin(Time::ZERO).unwrap();
        rotation.end(replica, told, Time::ZERO);
        order.push(replica);
    }
    assert_eq!(order, [0, 1, 2, 0, 2, 0]);
}

#[test]
fn a_single_replica_is_never_kept_away() {
    let config = BreakerConfig {
        failures: 1,
        ..BreakerConfig::default()
    };
    let mut rotation = Rotation::new(1, &config);
    for _ in 0..10 {
        assert_eq!(rotation.begin(Time::ZERO), Ok(0));
        rotation.end(0, Told::Fails, Time::ZERO);
    }
    assert!(!rotation.is_open(0));
}
