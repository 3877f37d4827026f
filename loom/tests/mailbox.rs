//! Three models of what a driver and the controller share: commands one way, dropped lanes the other, and the end.
//! The wake-up is the operating system's and not modelled; a driver looks at its mailbox again after a few milliseconds
//! whether it was woken or not.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;
use spate_loom::checkpoint::PartitionTracker;
use spate_loom::engine::{Command, DriverStatus, Mailbox, driver};
use spate_loom::record::Partition;
use spate_loom::source::{LaneId, SourceLane};

/// Lane objects that exist. Relaxed on purpose: only the mailbox and the status may order their ends.
#[derive(Clone, Default)]
struct Lanes(Arc<AtomicUsize>);

struct Lane(Arc<AtomicUsize>);

impl SourceLane for Lane {}

impl Drop for Lane {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Lanes {
    fn add(&self, lane: u64) -> Command {
        self.0.fetch_add(1, Relaxed);
        let tracker = PartitionTracker::new(LaneId(lane), Partition::new("t", 0), 1);
        Command::Add(Box::new(Lane(Arc::clone(&self.0))), Arc::new(tracker))
    }

    fn alive(&self) -> usize {
        self.0.load(Relaxed)
    }
}

fn both() -> (Arc<Mailbox>, Arc<DriverStatus>) {
    (Arc::default(), Arc::default())
}

#[test]
fn a_driver_that_has_ended_leaves_no_lane_behind_whenever_it_was_sent() {
    loom::model(|| {
        let (mailbox, status) = both();
        let lanes = Lanes::default();
        let thread = {
            let (mailbox, status) = (Arc::clone(&mailbox), Arc::clone(&status));
            thread::spawn(move || {
                drop(driver::take(&mailbox));
                driver::end(&mailbox, &status);
            })
        };
        for lane in 0..2 {
            mailbox.send(lanes.add(lane));
            if status.has_ended() {
                assert_eq!(
                    lanes.alive(),
                    0,
                    "the source would give back a lane that is read"
                );
            }
        }
        thread.join().unwrap();
        assert_eq!(lanes.alive(), 0);
    });
}

#[test]
fn a_lane_that_is_told_to_be_dropped_is_gone() {
    loom::model(|| {
        let (mailbox, status) = both();
        let lanes = Lanes::default();
        mailbox.send(lanes.add(7));
        let thread = {
            let (mailbox, status) = (Arc::clone(&mailbox), Arc::clone(&status));
            thread::spawn(move || {
                let mut held = Vec::new();
                for _ in 0..2 {
                    match driver::take(&mailbox) {
                        Some(Command::Add(lane, _)) => held.push(lane),
                        Some(Command::Drop(ids)) => {
                            held.clear();
                            ids.into_iter()
                                .for_each(|id| driver::lane_dropped(&status, id));
                        }
                        _ => {}
                    }
                }
            })
        };
        mailbox.send(Command::Drop(vec![LaneId(7)]));
        if driver::take_dropped(&status) == [LaneId(7)] {
            assert_eq!(lanes.alive(), 0);
            assert_eq!(driver::take_dropped(&status), [], "it is told once");
        }
        thread.join().unwrap();
    });
}

#[test]
fn commands_arrive_in_order_and_none_is_lost() {
    loom::model(|| {
        let (mailbox, _) = both();
        let taking = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || {
                let taken = std::iter::from_fn(|| driver::take(&mailbox)).take(2);
                taken.map(number).collect::<Vec<_>>()
            })
        };
        mailbox.send(Command::Drop(vec![LaneId(1)]));
        mailbox.send(Command::Drop(vec![LaneId(2)]));
        let mut taken = taking.join().unwrap();
        taken.extend(std::iter::from_fn(|| driver::take(&mailbox)).map(number));
        assert_eq!(taken, [1, 2]);
    });
}

fn number(command: Command) -> u64 {
    match command {
        Command::Drop(ids) => ids[0].0,
        _ => panic!("only drops were sent"),
    }
}
