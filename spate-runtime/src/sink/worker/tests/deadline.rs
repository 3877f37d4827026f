//! Invariant 5: whatever the worker waits for, it wakes up at the drain's deadline and ends there.

use super::*;

/// Brings a worker into a state in which it waits.
struct Case {
    name: &'static str,
    replicas: usize,
    script: Vec<Answer>,
    rows: usize,
    /// Time passes in steps as asked for until then, in milliseconds.
    until: u64,
    /// What the report says of the rows that were not written.
    says: &'static str,
}

fn cases() -> Vec<Case> {
    let case = |name, replicas, script, rows, until, says| Case {
        name,
        replicas,
        script,
        rows,
        until,
        says,
    };
    vec![
        case("idle", 1, vec![], 0, 0, ""),
        case("lingering", 1, vec![], 3, 0, "drain_timeout"),
        case(
            "write hanging",
            1,
            vec![],
            10,
            0,
            "an attempt at http://ch-0 did not end",
        ),
        case(
            "backoff",
            1,
            vec![Retryable("busy"); 9],
            10,
            0,
            "the last error, at http://ch-0: busy",
        ),
        case(
            "all breakers open",
            2,
            vec![Retryable("busy"); 4],
            10,
            1_500,
            "the last error, at http://ch-1: busy",
        ),
        case(
            "probe in flight",
            2,
            vec![Retryable("busy"); 4],
            10,
            5_500,
            "the last error, at http://ch-1: busy",
        ),
        case(
            "future that panics in its drop",
            1,
            vec![PanicsInDrop(Box::new(Hangs))],
            10,
            0,
            "an attempt at http://ch-0 did not end",
        ),
    ]
}

#[test]
fn every_wait_ends_at_the_deadline() {
    for case in cases() {
        let mut b = Bench::with(Scripted::new(case.replicas, case.script.clone()), config());
        let cells: Vec<_> = (case.rows > 0)
            .then(|| b.push(case.rows))
            .into_iter()
            .collect();
        let mut now = 0;
        let mut step = b.step(now);
        while let Some(wake_at) = step.wake_at.map(|at| at.as_nanos() / 1_000_000)
            && wake_at <= case.until
        {
            now = wake_at;
            step = b.step(now);
        }
        let name = case.name;
        let attempts = b.written().len();
        match name {
            "all breakers open" => {
                let rotation = b.worker.rotation.as_ref().unwrap();
                assert!((0..2).all(|replica| rotation.is_open(replica)));
                assert_eq!((attempts, step.wake_at), (4, at(5_300)));
            }
            "probe in flight" => {
                assert_eq!((attempts, b.writer.alive.load(Ordering::SeqCst)), (5, 1));
            }
            _ => {}
        }
        // The drain begins while nothing else happens: the worker is woken by it, and once more at the deadline.
        let deadline = now + 200;
        b.deadline.set(
            Time::ZERO.after(Duration::from_millis(now)),
            Duration::from_millis(200),
        );
        let step = b.step(now + 1);
        assert!(!step.done, "{name}: there is time left");
        assert!(step.wake_at <= at(deadline), "{name}: {step:?}");
        let before = b.step(deadline - 1);
        assert!(!before.done && before.wake_at <= at(deadline), "{name}");
        assert!(b.step(deadline).done, "{name}: at the deadline it ends");
        assert_eq!(b.writer.alive.load(Ordering::SeqCst), 0, "{name}");
        assert_eq!(b.abandoned(), case.rows as u64, "{name}");
        assert!(cells.iter().all(|cell| cell.state() == AckState::Failed));
        assert_eq!(b.failure.is_set(), case.rows > 0, "{name}");
        if case.rows > 0 {
            let failure = b.failure();
            assert!(failure.contains(case.says), "{name}: {failure}");
            assert!(failure.contains("checkpoint.drain_timeout"), "{failure}");
        }
        assert_eq!(b.worker.watch().held_rows(), 0);
    }
}

#[test]
fn what_is_queued_at_the_deadline_is_counted_too() {
    let mut b = Bench::new(vec![]);
    let cells = [b.push(10), b.push(10), b.push(10)];
    b.step(0);
    b.push(4);
    b.deadline.set(Time::ZERO, Duration::from_secs(1));
    assert!(b.step(1000).done);
    assert_eq!(b.abandoned(), 34);
    assert!(cells.iter().all(|cell| cell.state() == AckState::Failed));
    assert!(b.failure().contains("34 rows"), "{}", b.failure());
}

#[test]
fn a_worker_that_is_not_stepped_until_long_after_the_deadline_ends_at_its_next_step() {
    let mut b = Bench::new(vec![Answer::Ok]);
    b.deadline.set(Time::ZERO, Duration::from_secs(1));
    let cell = b.push(10);
    assert!(b.step(90_000).done);
    assert_eq!(cell.state(), AckState::Failed);
    assert!(b.written().is_empty(), "nothing is begun that late");
}

#[test]
fn a_drain_that_begins_ends_the_wait_for_the_next_attempt_and_begins_the_backoff_anew() {
    let mut b = Bench::new([vec![Retryable("busy"); 8], vec![Answer::Ok]].concat());
    let cell = b.push(10);
    let now = b.run(0, |b| b.written().len() == 7);
    assert_eq!(b.step(now).wake_at, at(now + 6_400));
    b.deadline
        .set(at(now + 1).expect("a time"), Duration::from_secs(30));
    // The drain wakes the worker: an attempt that fails, then the first wait of the backoff, which nothing ends.
    assert_eq!(b.step(now + 2).wake_at, at(now + 102));
    assert_eq!(b.step(now + 50).wake_at, at(now + 102));
    assert_eq!(b.written().len(), 8);
    b.step(now + 102);
    assert_eq!(b.written().len(), 9);
    assert_eq!(cell.state(), AckState::Delivered);
    assert_eq!(b.stats.retries.load(Ordering::Relaxed), 8);
}
