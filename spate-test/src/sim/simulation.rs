//! One run: what happens next is drawn, and it happens.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use spate_runtime::memory::MemoryRecord;
use spate_runtime::time::Time;

use super::faults::{Dice, Fault, Weather};
use super::group::Group;
use super::plan::Plan;
use super::planted::Planted;
use super::process::{Machine, Process, Setting};
use super::rows::{Draft, Kind, Payload};
use super::scripts::Outages;
use super::truth::Truth;
use super::{Outcome, Totals};
use crate::scripted::{Alarms, Topic};

/// A run that takes more steps than this gets nowhere; the longest ones take a twentieth.
const MAX_STEPS: u64 = 400_000;

/// When there are no faults any more, everything is done after this time.
const QUIET: Duration = Duration::from_secs(400);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Faults,
    Quiet(Time),
    End,
}

pub(super) struct Simulation {
    pub(super) setting: Arc<Setting>,
    rng: Rng,
    dice: Dice,
    pub(super) processes: Vec<Process>,
    pub(super) group: Group,
    next_process: u32,
    /// When processes are to be started.
    starts: Vec<Time>,
    /// Records to come, with their times and partitions.
    drafts: VecDeque<(Time, usize, Draft)>,
    part: Part,
    next_tick: Time,
    /// How far the clock is moved when nothing happens; grows while nothing does.
    stride: Duration,
    lines: usize,
    pub(super) totals: Totals,
    due: Vec<(usize, Machine)>,
}

impl Simulation {
    pub(super) fn new(seed: u64, planted: Option<Planted>) -> Self {
        let mut rng = Rng::with_seed(seed);
        let plan = Plan::draw(&mut rng);
        let topic = Topic::new("sim");
        let truth = Truth::new(&topic, plan.partitions, plan.dedup);
        truth.log(format_args!("seed {seed}: {plan:?}"));
        let group = Group::new(&topic, &truth, &plan);
        let weather = Weather::new(plan.rates.clone());
        let dice = Dice::new(&mut rng, &weather);
        let mut drafts: Vec<(Time, usize, Draft)> = (0..plan.records)
            .map(|number| {
                let at = rng.u64(0..=plan.chaos.as_nanos() as u64);
                // Most of a topic is there before its readers.
                let at = if rng.u32(0..3) > 0 { 0 } else { at };
                let partition = rng.usize(0..plan.partitions);
                let draft = Draft::draw(&mut rng, &plan, number as u16);
                (Time::from_nanos(at), partition, draft)
            })
            .collect();
        drafts.sort_by_key(|(at, ..)| *at);
        let starts = vec![Time::ZERO; rng.usize(1..=plan.members)];
        Simulation {
            setting: Arc::new(Setting {
                plan,
                planted,
                truth,
                weather,
                alarms: Alarms::default(),
                outages: Outages::default(),
                topic,
            }),
            rng,
            dice,
            processes: Vec::new(),
            group,
            next_process: 0,
            starts,
            drafts: drafts.into(),
            part: Part::Faults,
            next_tick: Time::ZERO,
            stride: Duration::ZERO,
            lines: 0,
            totals: Totals::default(),
            due: Vec::new(),
        }
    }

    pub(super) fn now(&self) -> Time {
        self.setting.alarms.now()
    }

    pub(super) fn run(mut self) -> Outcome {
        let truth = self.setting.truth.clone();
        while truth.first_violation().is_none() && !self.is_over() {
            self.totals.steps += 1;
            if self.totals.steps > MAX_STEPS {
                self.stalls("the run takes steps and gets nowhere");
                break;
            }
            self.turn();
        }
        if truth.first_violation().is_none() {
            let topic = self.setting.topic.clone();
            let committed = |partition: usize| topic.committed(partition as i32).unwrap_or(0);
            truth.state().check_all(committed);
        }
        // What is left is dropped as at a crash; scripted panics have no meaning any more.
        for process in std::mem::take(&mut self.processes) {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(process)));
        }
        let mut state = truth.state();
        let faults: Vec<(Fault, u64)> = self.setting.weather.injected().collect();
        self.totals.faults = faults.iter().map(|(_, count)| count).sum();
        self.totals.rebalances = self.group.rebalances;
        self.totals.commits = state.counts.commits;
        self.totals.writes = state.counts.writes;
        let totals = self.totals;
        state.note(format_args!("{totals:?}"));
        let log = std::mem::take(&mut state.log);
        drop(state);
        Outcome {
            violation: truth.first_violation(),
            log,
            totals,
            faults,
        }
    }

    fn is_over(&self) -> bool {
        self.part == Part::End && self.processes.is_empty() && self.starts.is_empty()
    }

    /// One machine steps, or the clock is moved.
    fn turn(&mut self) {
        let now = self.now();
        self.setting.truth.state().now = now;
        self.due.clear();
        for (at, process) in self.processes.iter().enumerate() {
            for index in 0..process.machines() {
                let machine = process.machine(index);
                if process.due(machine).is_some_and(|due| due <= now) {
                    self.due.push((at, machine));
                }
            }
        }
        if self.setting.plan.spurious > 0 && self.rng.u32(0..100) < self.setting.plan.spurious {
            self.add_spurious();
        }
        if self.due.is_empty() {
            return self.pass_time(now);
        }
        let (at, machine) = self.due[self.rng.usize(0..self.due.len())];
        self.processes[at].step(machine, now);
        self.setting
            .alarms
            .advance(Duration::from_nanos(self.rng.u64(0..40_000)));
        self.check(at, machine);
        if self.processes[at].is_done() {
            self.ends(at);
        }
        if self.rng.u32(0..16) == 0 {
            self.world();
        }
    }

    /// A worker is stepped although nothing asked for it.
    fn add_spurious(&mut self) {
        if self.processes.is_empty() {
            return;
        }
        let at = self.rng.usize(0..self.processes.len());
        let process = &self.processes[at];
        let machine = process.machine(self.rng.usize(0..process.machines()));
        if matches!(machine, Machine::Worker(_)) && process.is_there(machine) {
            self.due.push((at, machine));
        }
    }

    fn pass_time(&mut self, now: Time) {
        self.world();
        let lines = self.setting.truth.state().log.len();
        self.stride = match lines == self.lines {
            true => {
                (self.stride * 3 / 2 + Duration::from_micros(500)).min(Duration::from_millis(250))
            }
            false => Duration::ZERO,
        };
        self.lines = lines;
        let machines = self.processes.iter().flat_map(|process| {
            (0..process.machines()).filter_map(|index| process.due(process.machine(index)))
        });
        let machines = machines.min();
        let events = [
            self.setting.alarms.next(),
            self.starts.iter().min().copied(),
            self.drafts.front().map(|(at, ..)| *at),
            (self.part == Part::Faults).then_some(self.next_tick),
        ];
        let machines = machines.map(|at| at.max(now.after(self.stride)));
        let next = events.into_iter().flatten().chain(machines).min();
        // With nothing at all to wait for, time passes for the group's patience.
        let next = next.unwrap_or(now.after(Duration::from_millis(50)));
        let by = next.since(now).max(Duration::from_micros(1));
        self.setting.alarms.advance(by);
    }

    // ---- what happens around the machines ----

    fn world(&mut self) {
        let now = self.now();
        self.setting.truth.state().now = now;
        while self.drafts.front().is_some_and(|(at, ..)| *at <= now) {
            let (_, partition, draft) = self.drafts.pop_front().expect("it is there");
            self.produce(partition, draft);
        }
        let starts = self.starts.len();
        self.starts.retain(|at| *at > now);
        for _ in self.starts.len()..starts {
            self.start();
        }
        if self.part == Part::Faults && now >= self.next_tick {
            self.next_tick = now.after(self.dice.millis(10, 500));
            self.strike();
        }
        self.group.step(&self.processes, now);
        self.move_on(now);
    }

    fn produce(&mut self, partition: usize, draft: Draft) {
        let topic = &self.setting.topic;
        let number = partition as i32;
        topic.gap(number, draft.gap);
        let payload = Payload {
            kind: draft.kind,
            id: draft.id,
            children: &draft.children,
        };
        let record = MemoryRecord {
            payload: (draft.kind != Kind::Tombstone).then(|| payload.write()),
            key: draft.key.map(|key| vec![key]),
            ..MemoryRecord::default()
        };
        let offset = topic.push_record(number, record);
        self.setting
            .truth
            .state()
            .produced(partition, offset, draft);
        self.totals.records += 1;
    }

    fn start(&mut self) {
        let id = self.next_process;
        self.next_process += 1;
        self.processes
            .push(Process::start(&self.setting, id, &mut self.rng));
        self.group.joins(id, &mut self.rng);
    }

    fn members(&self) -> usize {
        self.processes.len() + self.starts.len()
    }

    fn start_later(&mut self) {
        let after = self.setting.plan.restart;
        self.starts.push(self.now().after(after));
    }

    /// Faults that come from nowhere.
    fn strike(&mut self) {
        let now = self.now();
        let dice = &mut self.dice;
        if dice.hits(Fault::SinkOutage) {
            let sink = dice.rng.usize(0..self.setting.plan.sinks.len());
            let until = now.after(dice.millis(10, 10_000));
            self.setting.outages.begin(sink, until);
            self.setting
                .truth
                .log(format_args!("sink {sink} is down until {until:?}"));
        }
        if self.dice.hits(Fault::ClockJumps) {
            let by = self.dice.millis(100, 40_000);
            self.setting
                .truth
                .log(format_args!("the clock jumps by {by:?}"));
            self.setting.alarms.advance(by);
        }
        if self.dice.hits(Fault::Join) && self.members() < self.setting.plan.members {
            self.start();
        }
        if self.processes.is_empty() {
            return;
        }
        if self.dice.hits(Fault::Rebalance) {
            self.group.deal(&mut self.rng);
        }
        if self.dice.hits(Fault::Lose) {
            self.group.lose(&self.processes, &mut self.rng);
        }
        let at = self.dice.rng.usize(0..self.processes.len());
        if self.dice.hits(Fault::Trouble) {
            self.processes[at].source.trouble("drawn: a broker is down");
        }
        if self.dice.hits(Fault::SlowMachine) {
            let process = &mut self.processes[at];
            let machine = process.machine(self.dice.rng.usize(0..process.machines()));
            let until = now.after(self.dice.millis(10, 10_000));
            process.slow_down(machine, until);
        }
        if self.dice.hits(Fault::Shutdown) {
            self.setting
                .truth
                .log(format_args!("p{} is asked to end", self.processes[at].id));
            self.processes[at].shut_down();
        }
        if self.dice.hits(Fault::Kill) {
            self.kill(at);
        }
    }

    fn kill(&mut self, at: usize) {
        let process = self.processes.remove(at);
        self.setting
            .truth
            .log(format_args!("p{} is killed", process.id));
        self.totals.crashes += 1;
        self.check_counts(&process);
        self.gone(process);
    }

    /// The process is no more, whatever of it was still there.
    pub(super) fn gone(&mut self, process: Process) {
        let (id, now) = (process.id, self.now());
        // A process that is gone runs no destructors: what they say means nothing.
        let budget = process.budget();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(process)));
        self.check_dropped(id, budget.in_flight());
        self.group.leaves(id, now, &mut self.rng);
        let wanted = match self.part {
            Part::End => 0,
            Part::Quiet(_) => 1,
            Part::Faults => self.rng.usize(1..=self.setting.plan.members),
        };
        if self.members() < wanted {
            self.start_later();
        }
    }

    // ---- the parts of a run ----

    fn move_on(&mut self, now: Time) {
        match self.part {
            Part::Faults => {
                let over = now >= Time::ZERO.after(self.setting.plan.chaos);
                if over && self.drafts.is_empty() {
                    self.clear_up(now);
                }
            }
            Part::Quiet(since) => {
                if self.is_all_committed() {
                    self.part = Part::End;
                    self.starts.clear();
                    self.setting
                        .truth
                        .log(format_args!("everything is committed"));
                    self.processes.iter_mut().for_each(Process::shut_down);
                } else if now.since(since) > QUIET {
                    self.stalls("without any fault there is no progress");
                }
            }
            Part::End => {}
        }
    }

    fn clear_up(&mut self, now: Time) {
        self.setting.truth.log(format_args!("no more faults"));
        self.setting.weather.clear_up();
        self.setting.outages.end();
        self.part = Part::Quiet(now);
        if self.setting.plan.bounded {
            self.setting.topic.close();
        }
        let truth = self.setting.truth.clone();
        let stuck = |process: &Process| truth.state().process(process.id).stuck;
        while let Some(at) = self.processes.iter().position(stuck) {
            self.kill(at);
        }
        if self.members() == 0 {
            self.start_later();
        }
    }

    fn is_all_committed(&self) -> bool {
        let truth = self.setting.truth.state();
        (0..self.setting.plan.partitions).all(|partition| {
            let committed = self.setting.topic.committed(partition as i32);
            truth
                .last(partition)
                .is_none_or(|last| committed.is_some_and(|c| c > last))
        })
    }

    fn stalls(&mut self, what: &str) {
        let mut stands = Vec::new();
        for partition in 0..self.setting.plan.partitions {
            let truth = self.setting.truth.state();
            let last = truth.last(partition);
            let committed = self.setting.topic.committed(partition as i32);
            if last.is_some_and(|last| committed.is_none_or(|c| c <= last)) {
                stands.push(format!(
                    "partition {partition} is committed to {committed:?} of {last:?}"
                ));
            }
        }
        for process in &self.processes {
            stands.push(format!(
                "p{}: paused={} draining={} {:?}",
                process.id,
                process.is_paused(),
                process.is_draining(),
                process.failure.get()
            ));
        }
        self.setting
            .truth
            .violation(format_args!("{what}: {}", stands.join("; ")));
    }
}
