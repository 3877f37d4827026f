//! One process of the group: the real machines, put together as the runtime does it, and stepped one at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use fastrand::Rng;
use spate_runtime::exit::ExitReport;
use spate_runtime::failure::{Failure, FailureSlot};
use spate_runtime::machines::{
    self, Budget, Controller, ControllerConfig, Deadline, Driver, DriverHandle, DriverShared,
    DriverStatus, DriverStep, Mailbox, SinkWorker, WorkerShared,
};
use spate_runtime::sink::{ShardQueue, Sink as _};
use spate_runtime::stats::Stats;
use spate_runtime::time::Time;

use super::SINKS;
use super::faults::{Dice, Weather};
use super::kernel::{GRAPH, Kernel};
use super::plan::Plan;
use super::planted::Planted;
use super::scripts::{DrawnGate, DrawnSink, DrawnSource, Outages};
use super::truth::Truth;
use super::watch::{WatchedSource, WatchedWriter};
use crate::scripted::{Alarms, ScriptedSink, ScriptedSource, Topic};

/// What all processes of a run share.
pub(super) struct Setting {
    pub(super) plan: Plan,
    pub(super) planted: Option<Planted>,
    pub(super) truth: Truth,
    pub(super) weather: Arc<Weather>,
    pub(super) alarms: Alarms,
    pub(super) outages: Outages,
    pub(super) topic: Topic,
}

/// A machine of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    Controller,
    Driver(usize),
    Worker(usize),
}

/// When a machine is to be stepped.
struct Turn {
    at: Option<Time>,
    /// It does nothing before this time, whatever asks for it.
    slow_until: Time,
}

impl Turn {
    fn now() -> Self {
        Turn {
            at: Some(Time::ZERO),
            slow_until: Time::ZERO,
        }
    }

    fn due(&self) -> Option<Time> {
        self.at.map(|at| at.max(self.slow_until))
    }
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct DriverSeat {
    driver: Option<Driver>,
    kernel: Kernel,
    mailbox: Arc<Mailbox>,
    status: Arc<DriverStatus>,
    turn: Turn,
}

struct WorkerSeat {
    worker: Option<SinkWorker>,
    place: String,
    woken: Arc<Woken>,
    turn: Turn,
}

/// A process.
pub(super) struct Process {
    pub(super) id: u32,
    pub(super) source: ScriptedSource,
    pub(super) failure: Arc<FailureSlot>,
    /// When its drain began.
    pub(super) draining: Option<Time>,
    setting: Arc<Setting>,
    controller: Controller,
    controller_turn: Turn,
    drivers: Vec<DriverSeat>,
    workers: Vec<WorkerSeat>,
    shutdown: Arc<AtomicBool>,
    deadline: Arc<Deadline>,
    workers_ended: Arc<AtomicUsize>,
    stats: Arc<Stats>,
    budget: Arc<Budget>,
    done: bool,
}

impl Process {
    pub(super) fn start(setting: &Arc<Setting>, id: u32, rng: &mut Rng) -> Self {
        let Setting { plan, truth, .. } = &**setting;
        let now = setting.alarms.now();
        let failure = Arc::<FailureSlot>::default();
        let deadline = Arc::<Deadline>::default();
        let stats = Arc::new(Stats::new(GRAPH.len(), plan.sinks.len()));
        let budget = Arc::new(Budget::new(plan.budget, &plan.backpressure));
        let run: Arc<str> = format!("run{id}").into();
        let dice = |rng: &mut Rng| Dice::new(rng, &setting.weather);

        let mut queues = Vec::new();
        let mut workers = Vec::new();
        for (slot, of) in plan.sinks.iter().enumerate() {
            let sink = ScriptedSink::new(of.shards);
            sink.use_alarms(&setting.alarms);
            sink.script(DrawnSink {
                dice: dice(rng),
                truth: truth.clone(),
                process: id,
                sink: slot,
                shards: of.shards,
                latency: of.latency,
                outages: setting.outages.clone(),
                keeps: true,
            });
            let mut of_sink = Vec::new();
            for shard in 0..of.shards {
                let queue = Arc::new(ShardQueue::new(of.pool.queue.capacity));
                let writer = {
                    let (sink, truth) = (sink.clone(), truth.clone());
                    let (failure, planted) = (Arc::clone(&failure), setting.planted);
                    move || {
                        let watched = WatchedWriter {
                            inner: sink.writer(shard),
                            truth: truth.clone(),
                            at: (id, slot, shard),
                            failure: Arc::clone(&failure),
                        };
                        Planted::writer(planted, Box::new(watched))
                    }
                };
                let shared = WorkerShared {
                    sink: SINKS[slot],
                    stats: machines::sink_stats(&stats, slot),
                    failure: Arc::clone(&failure),
                    deadline: Arc::clone(&deadline),
                    run: Arc::clone(&run),
                };
                let worker = SinkWorker::new(
                    shared,
                    shard,
                    Arc::clone(&queue),
                    Box::new(writer),
                    of.pool.clone(),
                    rng.u64(..),
                );
                workers.push(WorkerSeat {
                    worker: Some(worker),
                    place: format!("sink `{}` shard {shard}", SINKS[slot]),
                    woken: Arc::default(),
                    turn: Turn::now(),
                });
                of_sink.push(queue);
            }
            queues.push(of_sink);
        }

        let mut drivers = Vec::new();
        let mut handles = Vec::new();
        for _ in 0..plan.drivers {
            let (mailbox, status) = (Arc::<Mailbox>::default(), Arc::<DriverStatus>::default());
            let sinks = plan.sinks.iter().zip(&queues);
            let sinks = sinks.map(|(of, queues)| (of.pool.chunk.clone(), queues.clone()));
            let gate = DrawnGate {
                dice: dice(rng),
                truth: truth.clone(),
                process: id,
            };
            let driver = Driver::new(
                DriverShared {
                    mailbox: Arc::clone(&mailbox),
                    status: Arc::clone(&status),
                    failure: Arc::clone(&failure),
                    deadline: Arc::clone(&deadline),
                },
                machines::output(&GRAPH, &stats, sinks.collect(), &budget),
                Some(Box::new(gate)),
                plan.batch_records,
            );
            handles.push(DriverHandle {
                mailbox: Arc::clone(&mailbox),
                status: Arc::clone(&status),
            });
            drivers.push(DriverSeat {
                driver: Some(driver),
                kernel: Kernel::new(setting, id),
                mailbox,
                status,
                turn: Turn::now(),
            });
        }

        let source = ScriptedSource::new(&setting.topic);
        source.script(DrawnSource {
            stalls_late: plan.stalled_fail_after > Duration::from_secs(200),
            dice: dice(rng),
            truth: truth.clone(),
            process: id,
        });
        source.read_ahead(rng.u32(0..20));
        let watched = WatchedSource {
            inner: source.source(),
            handle: source.clone(),
            truth: truth.clone(),
            process: id,
            deadline: Arc::clone(&deadline),
            prompt: plan.prompt(),
        };
        let (shutdown, workers_ended) = (Arc::<AtomicBool>::default(), Arc::default());
        let config = ControllerConfig {
            commit_interval: plan.commit_interval,
            drain_timeout: plan.drain_timeout,
            max_pending_batches: plan.max_pending,
            stalled_fail_after: plan.stalled_fail_after,
            budget: Arc::clone(&budget),
            backpressure: plan.backpressure.clone(),
            failure: Arc::clone(&failure),
            shutdown: Arc::clone(&shutdown),
            deadline: Arc::clone(&deadline),
            queues: queues.into_iter().flatten().collect(),
            workers_ended: Arc::clone(&workers_ended),
            workers: Vec::new(),
            sinks: (0..plan.sinks.len())
                .map(|slot| (SINKS[slot], machines::sink_stats(&stats, slot)))
                .collect(),
        };
        let watched = Planted::source(setting.planted, Box::new(watched));
        let mut controller = Controller::new(config, watched, handles, now);
        truth.log(format_args!("p{id} starts"));
        controller.start(now);
        Process {
            id,
            source,
            failure,
            draining: None,
            setting: Arc::clone(setting),
            controller,
            controller_turn: Turn::now(),
            drivers,
            workers,
            shutdown,
            deadline,
            workers_ended,
            stats,
            budget,
            done: false,
        }
    }

    pub(super) fn machines(&self) -> usize {
        1 + self.drivers.len() + self.workers.len()
    }

    pub(super) fn machine(&self, index: usize) -> Machine {
        match index {
            0 => Machine::Controller,
            index if index <= self.drivers.len() => Machine::Driver(index - 1),
            index => Machine::Worker(index - 1 - self.drivers.len()),
        }
    }

    fn turn(&mut self, machine: Machine) -> &mut Turn {
        match machine {
            Machine::Controller => &mut self.controller_turn,
            Machine::Driver(index) => &mut self.drivers[index].turn,
            Machine::Worker(index) => &mut self.workers[index].turn,
        }
    }

    /// When the machine is to be stepped; `None` if it waits to be woken, or has ended.
    pub(super) fn due(&self, machine: Machine) -> Option<Time> {
        match machine {
            Machine::Controller => self.controller_turn.due(),
            Machine::Driver(index) => {
                let seat = &self.drivers[index];
                seat.driver.as_ref().and_then(|_| seat.turn.due())
            }
            Machine::Worker(index) => {
                let seat = &self.workers[index];
                seat.worker.as_ref()?;
                match seat.woken.0.load(Ordering::SeqCst) {
                    true => Some(seat.turn.slow_until),
                    false => seat.turn.due(),
                }
            }
        }
    }

    /// Whether the machine has not ended.
    pub(super) fn is_there(&self, machine: Machine) -> bool {
        match machine {
            Machine::Controller => !self.done,
            Machine::Driver(index) => self.drivers[index].driver.is_some(),
            Machine::Worker(index) => self.workers[index].worker.is_some(),
        }
    }

    /// The machine does nothing until then.
    pub(super) fn slow_down(&mut self, machine: Machine, until: Time) {
        self.setting.truth.log(format_args!(
            "p{} {machine:?} is slow until {until:?}",
            self.id
        ));
        self.setting.truth.state().cause(self.id, "");
        let turn = self.turn(machine);
        turn.slow_until = turn.slow_until.max(until);
    }

    pub(super) fn shut_down(&mut self) {
        self.shutdown.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn is_draining(&self) -> bool {
        self.draining.is_some()
    }

    /// One step of a machine.
    pub(super) fn step(&mut self, machine: Machine, now: Time) {
        let step = catch_unwind(AssertUnwindSafe(|| self.step_machine(machine, now)));
        if let Err(panic) = step {
            let text = super::panics::take(&*panic);
            match machine {
                Machine::Worker(index) if text.starts_with("scripted") => {
                    self.worker_panicked(index, text)
                }
                _ => self
                    .setting
                    .truth
                    .violation(format_args!("p{} {machine:?} panicked: {text}", self.id)),
            }
        }
        if self.draining.is_none() && self.deadline.get().is_some() {
            self.draining = Some(now);
            let why = self.failure.get();
            let why = why.map_or("asked to".to_owned(), |failure| failure.to_string());
            self.setting
                .truth
                .log(format_args!("p{} drains: {why}", self.id));
        }
    }

    fn step_machine(&mut self, machine: Machine, now: Time) {
        match machine {
            Machine::Controller => {
                let step = self.controller.step(now);
                self.controller_turn.at = Some(step.wake_at);
                self.done = step.done;
            }
            Machine::Driver(index) => {
                let seat = &mut self.drivers[index];
                let Some(driver) = &mut seat.driver else {
                    return;
                };
                let kernel = &mut seat.kernel;
                let step = driver.step(now, &mut |batch, out| kernel.run(batch, out));
                match step {
                    DriverStep::Work => seat.turn.at = Some(now),
                    DriverStep::Idle { wake_at } => seat.turn.at = Some(wake_at),
                    DriverStep::Renew => {
                        self.setting
                            .truth
                            .log(format_args!("p{} driver {index} renews its state", self.id));
                        seat.kernel.renew();
                        seat.turn.at = Some(now);
                    }
                    DriverStep::Ended => {
                        self.setting
                            .truth
                            .log(format_args!("p{} driver {index} ends", self.id));
                        seat.driver = None;
                        machines::driver_ended(&seat.mailbox, &seat.status);
                    }
                }
            }
            Machine::Worker(index) => {
                let seat = &mut self.workers[index];
                let Some(worker) = &mut seat.worker else {
                    return;
                };
                seat.woken.0.store(false, Ordering::SeqCst);
                let waker = Waker::from(Arc::clone(&seat.woken));
                let step = worker.step(now, &mut Context::from_waker(&waker));
                seat.turn.at = step.wake_at;
                if step.done {
                    self.setting
                        .truth
                        .log(format_args!("p{} worker {index} ends", self.id));
                    seat.worker = None;
                    self.workers_ended.fetch_add(1, Ordering::SeqCst);
                }
            }
        }
    }

    /// As the shell does.
    fn worker_panicked(&mut self, index: usize, text: String) {
        self.setting
            .truth
            .log(format_args!("p{} worker {index} panicked: {text}", self.id));
        let seat = &mut self.workers[index];
        let failure = Failure::new(seat.place.clone(), format!("its worker panicked: {text}"));
        self.failure.set(failure);
        seat.worker = None;
        self.workers_ended.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn budget(&self) -> Arc<Budget> {
        Arc::clone(&self.budget)
    }

    /// The bytes in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.budget.in_flight()
    }

    /// What the controller and the source disagree about, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.source.breaches().first() {
            Some(breach) => Err(format!("p{}: {breach}", self.id)),
            None => Ok(()),
        }
    }

    pub(super) fn is_paused(&self) -> bool {
        self.controller.is_paused()
    }

    /// Whether every driver and every worker has ended.
    pub(super) fn all_ended(&self) -> bool {
        self.drivers.iter().all(|seat| seat.driver.is_none())
            && self.workers.iter().all(|seat| seat.worker.is_none())
    }

    pub(super) fn report(&self) -> ExitReport {
        let sinks = SINKS[..self.stats.totals().sinks.len()].to_vec();
        machines::report(&GRAPH, sinks, &self.stats, &self.failure, &self.controller)
    }
}
