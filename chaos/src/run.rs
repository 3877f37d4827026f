//! The order of a run: start, faults, recovery, drain, count.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::auditor::{Auditor, patiently};
use crate::error::Error;
use crate::faults::Faults;
use crate::group::Group;
use crate::ledger::Ledger;
use crate::options::{Assignment, Options, Plant};
use crate::plan::{Kind, MEMBERS, Plan};
use crate::plant::plant;
use crate::producer::{Orders, produce};
use crate::screen::Screen;
use crate::servers::{PARTITIONS, Servers};
use crate::verdict::{Verdict, when_doubled};

const POLL: Duration = Duration::from_millis(100);
/// The time between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(10);
/// When all faults are over, the group makes progress at least this often.
const STALLED: Duration = Duration::from_secs(90);
/// How long after its time a run may be without anything stored for a promise to be broken on purpose.
const TO_PLANT: Duration = Duration::from_secs(240);
/// How long the servers may take to answer the last audit.
const LAST_AUDIT: Duration = Duration::from_secs(60);

/// Runs everything; the last line, and whether all promises were kept.
pub(crate) fn run(
    options: &Options,
    kinds: Vec<Kind>,
    seed: u64,
    screen: Screen,
    interrupted: &AtomicBool,
    folder: &Path,
) -> Result<(String, bool), Error> {
    let plan = Plan::new(seed, kinds);
    let assignment = options.group.unwrap_or_else(|| Assignment::drawn(seed));
    let servers = Servers::start(&screen)?;
    let config = servers.write_config(folder, assignment)?;
    screen.line(&format!(
        "seed={seed}: {MEMBERS} processes, group {assignment:?}; logs in {}",
        folder.display()
    ));
    let group = Group::new(screen, folder.to_owned(), config)?;
    let ledger = Arc::new(Mutex::new(Ledger::new(PARTITIONS as usize)));
    let brokers = servers.kafka.bootstrap_servers();
    let auditor = Auditor::new(screen, brokers, &servers.clickhouse, &ledger);
    let run = Run {
        options,
        screen,
        interrupted,
        servers: &servers,
        group: &group,
        faults: Faults::new(screen, &servers, &group, &auditor.done),
        ledger: &ledger,
        auditor: &auditor,
        go_on: AtomicBool::new(options.plant.is_none()),
        stop_producing: AtomicBool::new(false),
        stop_auditing: AtomicBool::new(false),
    };
    let orders = Orders {
        brokers: brokers.to_owned(),
        schema_id: servers.schema_id,
        records: options.records,
        seconds: options.seconds,
        ledger: Arc::clone(&ledger),
    };
    let outcome = run.all(plan, &orders, seed);
    servers.keep_logs(folder);
    outcome
}

struct Run<'a> {
    options: &'a Options,
    screen: Screen,
    interrupted: &'a AtomicBool,
    servers: &'a Servers,
    group: &'a Group,
    faults: Faults<'a>,
    ledger: &'a Mutex<Ledger>,
    auditor: &'a Auditor<'a>,
    /// Whether the producer need not hold anything back.
    go_on: AtomicBool,
    stop_producing: AtomicBool,
    stop_auditing: AtomicBool,
}

/// Ends the threads of a run when it ends, also by an error or a panic.
struct EndThreads<'a>(&'a Run<'a>);

impl Drop for EndThreads<'_> {
    fn drop(&mut self) {
        self.0.faults.abort.store(true, Ordering::Release);
        self.0.faults.stop.store(true, Ordering::Release);
        self.0.stop_producing.store(true, Ordering::Release);
        self.0.stop_auditing.store(true, Ordering::Release);
    }
}

impl Run<'_> {
    fn all(&self, plan: Plan, orders: &Orders, seed: u64) -> Result<(String, bool), Error> {
        let began = Instant::now();
        let recovered = thread::scope(|scope| {
            let _end = EndThreads(self);
            for number in 0..MEMBERS {
                self.group.start(&mut self.group.hold(number))?;
            }
            let producing = scope.spawn(|| {
                let (stop, abort) = (&self.stop_producing, &self.faults.abort);
                produce(orders, &self.auditor.done, &self.go_on, stop, abort)
            });
            scope.spawn(|| self.auditor.run(&self.stop_auditing));
            let inflicting = scope.spawn(|| self.faults.run(plan));

            let mut progress = Progress::new();
            let seconds = Duration::from_secs(self.options.seconds);
            let mut to_plant = self.options.plant;
            while to_plant.is_some()
                || began.elapsed() < seconds && !(producing.is_finished() && self.is_done())
            {
                self.tick(&mut progress)?;
                if began.elapsed() > seconds + TO_PLANT {
                    return Err(Error::Producer("nothing was stored".to_owned()));
                }
                let due = began.elapsed() > seconds / 3 && self.auditor.findings().rows > 0;
                if let Some(what) = to_plant.take_if(|_| due) {
                    self.plant(what)?;
                }
            }
            self.screen.line("no more faults: everything recovers");
            self.faults.stop.store(true, Ordering::Release);
            self.stop_producing.store(true, Ordering::Release);
            while !(inflicting.is_finished() && producing.is_finished()) {
                self.tick(&mut progress)?;
            }
            // A panic there is a panic here.
            producing
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            let recovered = self.recover(&mut progress)?;
            self.screen.line("the group ends");
            for number in 0..=MEMBERS {
                self.check()?;
                self.group
                    .end(&mut self.group.hold(number), self.faults.excuse());
            }
            Ok::<bool, Error>(recovered)
        })?;
        self.count(seed, recovered, began.elapsed())
    }

    /// Waits until everything is committed; whether it is, or the group stands still.
    fn recover(&self, progress: &mut Progress) -> Result<bool, Error> {
        for number in 0..MEMBERS {
            self.group.start(&mut self.group.hold(number))?;
        }
        let mut moved = (Instant::now(), 0, 0);
        while !self.is_done() {
            self.tick(progress)?;
            let done = self.auditor.done.load(Ordering::Acquire);
            let rows = self.auditor.findings().rows;
            if (moved.1, moved.2) != (done, rows) {
                moved = (Instant::now(), done, rows);
            }
            if moved.0.elapsed() > STALLED {
                self.screen.line(&format!(
                    "STALLED: nothing was committed or stored for {STALLED:?}, and no fault is left"
                ));
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether everything that was produced is committed, as far as the auditor has seen.
    fn is_done(&self) -> bool {
        self.auditor.done.load(Ordering::Acquire) == lock(self.ledger).count()
    }

    fn tick(&self, progress: &mut Progress) -> Result<(), Error> {
        self.check()?;
        self.group.watch()?;
        if progress.is_due() {
            let produced = lock(self.ledger).count();
            let findings = self.auditor.findings();
            let open = self.faults.open();
            let lag = produced.saturating_sub(self.auditor.done.load(Ordering::Acquire));
            self.screen.line(&format!(
                "faults={} produced={produced} rows={} lag={lag} audits={} {}",
                self.faults.count(),
                findings.rows,
                findings.audits,
                if open.is_empty() {
                    String::new()
                } else {
                    format!("[{}]", open.join(", "))
                }
            ));
        }
        thread::sleep(POLL);
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        if self.interrupted.load(Ordering::Acquire) {
            return Err(Error::Interrupted);
        }
        if let Some(failure) = self.faults.take_failure() {
            return Err(failure);
        }
        match lock(self.ledger).broken() {
            Some(why) => Err(Error::Producer(why.to_owned())),
            None => Ok(()),
        }
    }

    fn plant(&self, what: Plant) -> Result<(), Error> {
        plant(
            what,
            &self.go_on,
            &self.screen,
            self.group,
            &self.faults,
            &self.servers.clickhouse,
            self.auditor,
            self.ledger,
        )
    }

    /// The outcome: the last line, and whether all promises were kept.
    fn count(&self, seed: u64, recovered: bool, took: Duration) -> Result<(String, bool), Error> {
        self.last_audit()?;
        let (ends, known) = (
            patiently(|| self.auditor.ends())?,
            lock(self.ledger).known(),
        );
        for (partition, (end, acknowledged)) in
            ends.into_iter().zip(known.iter().copied()).enumerate()
        {
            if end != acknowledged {
                return Err(Error::Topic {
                    partition,
                    end,
                    acknowledged,
                });
            }
        }
        let verdict = Verdict::find(&self.servers.clickhouse, self.ledger)?;
        let (findings, exits) = (self.auditor.findings(), self.group.exits());
        let complete = findings.committed == known;
        let past_durable = findings.past_durable.len();
        let produced = lock(self.ledger).count();
        self.screen.line(&format!(
            "rows={} audits={} commits_moved_back={} unexpected_exits={} incomplete_drains={} records_per_second={:.0}",
            findings.rows,
            findings.audits,
            findings.moved_back,
            exits.unexpected,
            exits.incomplete,
            produced as f64 / took.as_secs_f64()
        ));
        if verdict.duplicates > 0 {
            let when = when_doubled(&self.servers.clickhouse, &self.screen)?;
            self.screen.line(&format!("stored again: {when}"));
        }
        if !verdict.is_good() {
            self.screen
                .line(&format!("TABLE AND TOPIC DIFFER: {verdict}"));
        }
        if !complete {
            self.screen.line(&format!(
                "NOT COMMITTED: committed {:?}, produced {known:?}",
                findings.committed
            ));
        }
        let good = verdict.is_good()
            && past_durable == 0
            && recovered
            && complete
            && exits.unexpected == 0;
        let line = format!(
            "chaos: seed={seed} faults={} produced={produced} distinct={} missing={} duplicates={} commits_past_durable={past_durable}",
            self.faults.count(),
            verdict.distinct,
            verdict.missing,
            verdict.duplicates,
        );
        Ok((line, good))
    }

    /// Audits once more when nothing moves any longer.
    fn last_audit(&self) -> Result<(), Error> {
        let end = Instant::now() + LAST_AUDIT;
        loop {
            self.check()?;
            match self.auditor.audit() {
                Ok(()) => return Ok(()),
                Err(error) if Instant::now() > end => {
                    return Err(Error::Unaudited(error.to_string()));
                }
                Err(_) => thread::sleep(POLL),
            }
        }
    }
}

struct Progress {
    next: Instant,
}

impl Progress {
    fn new() -> Progress {
        Progress {
            next: Instant::now() + PROGRESS,
        }
    }

    fn is_due(&mut self) -> bool {
        let due = Instant::now() >= self.next;
        if due {
            self.next = Instant::now() + PROGRESS;
        }
        due
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
