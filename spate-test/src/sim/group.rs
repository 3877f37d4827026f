//! The group: which process has which partition. It asks for partitions, gives them on when they are given back, and takes
//! them away from members that give nothing back or are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fastrand::Rng;
use spate_runtime::source::LaneId;
use spate_runtime::time::Time;

use super::faults::Fault;
use super::plan::Plan;
use super::process::Process;
use super::truth::Truth;
use crate::scripted::Topic;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// Nobody has it.
    Free,
    /// The process has it.
    Given(u32, LaneId),
    /// The process was asked for it at this time.
    Asked(u32, LaneId, Time),
}

/// The group of all processes of a run.
pub(super) struct Group {
    topic: Topic,
    truth: Truth,
    eager: bool,
    patience: Duration,
    partitions: Vec<Stands>,
    /// Who is to have each partition.
    wanted: Vec<Option<u32>>,
    members: BTreeSet<u32>,
    /// Processes that ended without leaving, and when that was.
    gone: BTreeMap<u32, Time>,
    pub(super) rebalances: u64,
    /// Nothing that is drawn can keep a member from giving a partition back in the engine's own time.
    strict: bool,
}

impl Group {
    pub(super) fn new(topic: &Topic, truth: &Truth, plan: &Plan) -> Self {
        let late = [Fault::SlowMachine, Fault::ClockJumps, Fault::ReleaseFails];
        Group {
            topic: topic.clone(),
            truth: truth.clone(),
            eager: plan.eager,
            patience: plan.patience,
            strict: late.iter().all(|fault| !plan.rates.has(*fault)),
            partitions: vec![Stands::Free; plan.partitions],
            wanted: vec![None; plan.partitions],
            members: BTreeSet::new(),
            gone: BTreeMap::new(),
            rebalances: 0,
        }
    }

    /// A process joins; the partitions are dealt anew.
    pub(super) fn joins(&mut self, process: u32, rng: &mut Rng) {
        self.members.insert(process);
        self.deal(rng);
    }

    /// A process is gone. One that left has given everything back; of another one the group learns by its silence.
    pub(super) fn leaves(&mut self, process: u32, now: Time, rng: &mut Rng) {
        self.members.remove(&process);
        self.gone.insert(process, now);
        self.deal(rng);
    }

    /// Decides anew who is to have which partition; most stay where they are.
    pub(super) fn deal(&mut self, rng: &mut Rng) {
        self.rebalances += 1;
        let members: Vec<u32> = self.members.iter().copied().collect();
        let shake = [0, 20, 60, 100][rng.usize(0..4)];
        for wanted in &mut self.wanted {
            let stays = wanted.is_some_and(|process| self.members.contains(&process));
            if !stays || rng.u32(0..100) < shake {
                *wanted = (!members.is_empty()).then(|| members[rng.usize(0..members.len())]);
            }
        }
        self.truth
            .log(format_args!("the group deals: {:?}", self.wanted));
    }

    /// Some partitions of one member are lost to it at once.
    pub(super) fn lose(&mut self, processes: &[Process], rng: &mut Rng) {
        let Some(process) = pick(processes, rng) else {
            return;
        };
        let all = rng.bool();
        let mut lost = Vec::new();
        for (number, stands) in self.partitions.iter_mut().enumerate() {
            let (Stands::Given(owner, lane) | Stands::Asked(owner, lane, _)) = *stands else {
                continue;
            };
            if owner == process.id && (all || rng.bool()) {
                self.truth.state().lane_lost(lane);
                lost.push(number as i32);
                *stands = Stands::Free;
            }
        }
        if !lost.is_empty() {
            self.truth
                .log(format_args!("p{} loses {lost:?}", process.id));
            process.source.lose(&lost);
        }
        // Often the one that lost them joins again at once and gets them again.
        if rng.bool() {
            self.deal(rng);
        }
    }

    /// Moves the partitions towards where they are to be.
    pub(super) fn step(&mut self, processes: &[Process], now: Time) {
        for number in 0..self.partitions.len() {
            self.look(number, processes, now);
        }
        let moves = (0..self.partitions.len()).any(|number| self.is_to_move(number));
        let mut asked: BTreeMap<u32, Vec<i32>> = BTreeMap::new();
        for number in 0..self.partitions.len() {
            let Stands::Given(process, lane) = self.partitions[number] else {
                continue;
            };
            if self.is_to_move(number) || (moves && self.eager) {
                self.partitions[number] = Stands::Asked(process, lane, now);
                asked.entry(process).or_default().push(number as i32);
            }
        }
        for (process, partitions) in asked {
            if let Some(process) = find(processes, process) {
                process.source.revoke(&partitions);
            }
        }
        let mut given: BTreeMap<u32, Vec<i32>> = BTreeMap::new();
        for number in 0..self.partitions.len() {
            let wanted = self.wanted[number].filter(|_| self.partitions[number] == Stands::Free);
            if let Some(process) = wanted.and_then(|process| find(processes, process))
                && !process.source.is_closed()
                && !process.is_done()
            {
                given.entry(process.id).or_default().push(number as i32);
            }
        }
        for (process, partitions) in given {
            let source = &find(processes, process).expect("it was found").source;
            for (lane, number) in source.assign(&partitions).into_iter().zip(partitions) {
                self.partitions[number as usize] = Stands::Given(process, lane);
            }
        }
    }

    fn is_to_move(&self, number: usize) -> bool {
        match self.partitions[number] {
            Stands::Given(process, _) => {
                self.wanted[number].is_some_and(|wanted| wanted != process)
            }
            Stands::Free | Stands::Asked(..) => false,
        }
    }

    /// Whether a partition has come back, or is taken away.
    fn look(&mut self, number: usize, processes: &[Process], now: Time) {
        let (process, lane, since) = match self.partitions[number] {
            Stands::Free => return,
            Stands::Given(process, lane) => (process, lane, self.gone.get(&process).copied()),
            Stands::Asked(process, lane, since) => (process, lane, Some(since)),
        };
        let partition = number as i32;
        if self.topic.owner(partition) != Some(lane) {
            self.partitions[number] = Stands::Free;
            return;
        }
        if since.is_none_or(|since| now.since(since) < self.patience) {
            return;
        }
        self.truth.log(format_args!(
            "the group takes partition {number} away from p{process}"
        ));
        let member = find(processes, process);
        if self.strict && member.is_some_and(|member| !member.is_draining()) {
            self.truth.state().check_asked(lane);
        }
        self.truth.state().lane_lost(lane);
        match member {
            Some(process) => process.source.lose(&[partition]),
            None => self.topic.expel(partition),
        }
        self.partitions[number] = Stands::Free;
    }
}

fn find(processes: &[Process], id: u32) -> Option<&Process> {
    processes.iter().find(|process| process.id == id)
}

fn pick<'a>(processes: &'a [Process], rng: &mut Rng) -> Option<&'a Process> {
    (!processes.is_empty()).then(|| &processes[rng.usize(0..processes.len())])
}
