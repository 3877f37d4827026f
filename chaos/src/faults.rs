//! Inflicts the plan: every fault on a thread of its own, from its beginning to where it is healed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use spate_test::services::FaultKind;

use crate::error::Error;
use crate::group::Group;
use crate::plan::{Fault, Kind, MEMBERS, Plan, Target};
use crate::screen::Screen;
use crate::servers::Servers;

/// At most so many faults at a time.
const AT_ONCE: usize = 2;
/// How long the group may take to go on with its work before the next fault. There may be no work.
const WORK: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);
/// Statements that inserts are, and no query of the auditor.
const INSERTS: &str = "INSERT INTO";

/// The faults of a run.
pub(crate) struct Faults<'a> {
    screen: Screen,
    servers: &'a Servers,
    group: &'a Group,
    /// How many records are committed.
    done: &'a AtomicU64,
    /// No new faults; those that are there are healed at once.
    pub(crate) stop: AtomicBool,
    /// Nothing is healed either: everything ends.
    pub(crate) abort: AtomicBool,
    open: Mutex<Vec<Fault>>,
    begun: AtomicU64,
    /// How many faults of servers have begun.
    outages: AtomicU64,
    failure: Mutex<Option<Error>>,
}

impl<'a> Faults<'a> {
    pub(crate) fn new(
        screen: Screen,
        servers: &'a Servers,
        group: &'a Group,
        done: &'a AtomicU64,
    ) -> Faults<'a> {
        Faults {
            screen,
            servers,
            group,
            done,
            stop: AtomicBool::new(false),
            abort: AtomicBool::new(false),
            open: Mutex::default(),
            begun: AtomicU64::new(0),
            outages: AtomicU64::new(0),
            failure: Mutex::default(),
        }
    }

    /// How many faults there were.
    pub(crate) fn count(&self) -> u64 {
        self.begun.load(Ordering::Acquire)
    }

    /// The faults that are there now.
    pub(crate) fn open(&self) -> Vec<String> {
        lock(&self.open).iter().map(describe).collect()
    }

    /// Why a fault could not be inflicted or healed, once.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        lock(&self.failure).take()
    }

    /// Inflicts the plan until it is stopped; returns when everything is healed.
    pub(crate) fn run(&self, plan: Plan) {
        thread::scope(|scope| {
            for fault in plan {
                if let Some(calm) = fault.calm {
                    self.wait_for(|open| open.is_empty());
                    self.wait_for_work();
                    self.wait(calm);
                }
                self.wait(fault.after);
                self.wait_for(|open| {
                    open.len() < AT_ONCE && open.iter().all(|other| other.target != fault.target)
                });
                if self.stop.load(Ordering::Acquire) {
                    break;
                }
                let number = self.begun.fetch_add(1, Ordering::AcqRel) + 1;
                lock(&self.open).push(fault.clone());
                if !matches!(fault.target, Target::Member(_)) {
                    self.outages.fetch_add(1, Ordering::AcqRel);
                }
                scope.spawn(move || {
                    let began = Instant::now();
                    self.screen
                        .line(&format!("fault {number}: {}", describe(&fault)));
                    if let Err(error) = self.inflict(&fault) {
                        lock(&self.failure).get_or_insert(error);
                        self.stop.store(true, Ordering::Release);
                    }
                    lock(&self.open).retain(|other| *other != fault);
                    let took = began.elapsed().as_secs_f64();
                    self.screen
                        .line(&format!("fault {number}: over after {took:.1} s"));
                });
            }
        });
    }

    fn inflict(&self, fault: &Fault) -> Result<(), Error> {
        let (kafka, clickhouse) = (&self.servers.kafka, &self.servers.clickhouse);
        let insert_fault = |kind: FaultKind, inserts: u32| {
            clickhouse.fault(kind, fault.code, inserts, INSERTS)?;
            self.wait(fault.hold);
            // Those that are left; a server that is about to end has no answer.
            clickhouse.clear_faults().or_else(
                |error| {
                    if self.aborted() { Ok(()) } else { Err(error) }
                },
            )
        };
        match fault.kind {
            Kind::Kill | Kind::Term | Kind::Pause | Kind::Join => {
                return self.inflict_member(fault);
            }
            Kind::BrokerTerm | Kind::BrokerKill => {
                if fault.kind == Kind::BrokerTerm {
                    kafka.stop()?;
                } else {
                    kafka.kill()?;
                }
                self.wait(fault.hold);
                if !self.aborted() {
                    kafka.restart()?;
                }
            }
            Kind::ClickHouseKill => {
                clickhouse.kill()?;
                self.wait(fault.hold);
                if !self.aborted() {
                    clickhouse.restart()?;
                }
            }
            Kind::ClickHouseFreeze => {
                clickhouse.pause()?;
                self.wait(fault.hold);
                clickhouse.resume()?;
            }
            Kind::ClickHouseError => insert_fault(FaultKind::Error, fault.inserts)?,
            Kind::ClickHouseStored => insert_fault(FaultKind::ErrorAfter, fault.inserts)?,
            Kind::ClickHouseCut => insert_fault(FaultKind::DropAfter, fault.inserts)?,
            Kind::ClickHouseHidden => insert_fault(FaultKind::Hidden, fault.inserts)?,
            Kind::ClickHouseHang => insert_fault(FaultKind::Delay, fault.inserts)?,
            Kind::ClickHouseSlow => insert_fault(FaultKind::Delay, fault.inserts * 2)?,
        }
        Ok(())
    }

    fn inflict_member(&self, fault: &Fault) -> Result<(), Error> {
        let number = match fault.target {
            Target::Member(number) => number,
            Target::Broker | Target::ClickHouse => MEMBERS,
        };
        let group = self.group;
        let mut member = group.hold(number);
        match fault.kind {
            Kind::Kill => group.kill(&mut member),
            Kind::Term => group.end(&mut member, self.excuse()),
            Kind::Pause => group.freeze(&mut member),
            _ => group.start(&mut member)?,
        }
        self.wait(fault.hold);
        match fault.kind {
            _ if self.aborted() => {}
            Kind::Pause => group.thaw(&mut member),
            Kind::Join => group.end(&mut member, self.excuse()),
            _ => group.start(&mut member)?,
        }
        Ok(())
    }

    /// Tells, when it is called, whether a server was away since it was made.
    pub(crate) fn excuse(&self) -> impl FnOnce() -> bool {
        let away = || {
            let is_server = |fault: &Fault| !matches!(fault.target, Target::Member(_));
            lock(&self.open).iter().any(is_server)
        };
        let before = (away(), self.outages.load(Ordering::Acquire));
        move || before.0 || away() || self.outages.load(Ordering::Acquire) != before.1
    }

    fn aborted(&self) -> bool {
        self.abort.load(Ordering::Acquire)
    }

    /// Waits, but not longer than until the end of all faults.
    fn wait(&self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end && !self.stop.load(Ordering::Acquire) {
            thread::sleep(POLL);
        }
    }

    /// Waits until the group commits something, for a time.
    fn wait_for_work(&self) {
        let (end, done) = (Instant::now() + WORK, self.done.load(Ordering::Acquire));
        self.wait_for(|_| self.done.load(Ordering::Acquire) > done || Instant::now() >= end);
    }

    fn wait_for(&self, ready: impl Fn(&[Fault]) -> bool) {
        while !self.stop.load(Ordering::Acquire) && !ready(&lock(&self.open)) {
            thread::sleep(POLL);
        }
    }
}

fn describe(fault: &Fault) -> String {
    let seconds = fault.hold.as_secs_f64();
    let kind = fault.kind;
    match (fault.target, kind) {
        (Target::Member(number), _) => format!("{kind} process {number} for {seconds:.1} s"),
        (_, Kind::ClickHouseError | Kind::ClickHouseStored | Kind::ClickHouseHidden) => {
            format!("{kind} {} for {} inserts", fault.code, fault.inserts)
        }
        (_, Kind::ClickHouseCut) => format!("{kind} for {} inserts", fault.inserts),
        (_, Kind::ClickHouseSlow | Kind::ClickHouseHang) => {
            format!("{kind} {} ms for {} inserts", fault.code, fault.inserts)
        }
        _ => format!("{kind} for {seconds:.1} s"),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
