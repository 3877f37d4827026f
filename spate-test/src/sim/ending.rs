//! What has to hold after each step, and when a process ends.

use std::time::Duration;

use super::faults::Fault;
use super::process::{Machine, Process};
use super::simulation::Simulation;

/// The engine's grace behind a drain's deadline, twice, and what a step may be late.
const GRACE: Duration = Duration::from_secs(6);

/// A drain that has so much time and meets no fault ends cleanly.
const ENOUGH: Duration = Duration::from_secs(5);

/// Machines may miss a deadline without a fault of their own.
const LATE: [Fault; 2] = [Fault::SlowMachine, Fault::ClockJumps];

impl Simulation {
    /// After a step of a machine.
    pub(super) fn check(&self, at: usize, machine: Machine) {
        let process = &self.processes[at];
        let truth = &self.setting.truth;
        if let Err(text) = process.check() {
            truth.violation(format_args!("{text}"));
        }
        let plan = &self.setting.plan;
        let largest = truth.state().counts.largest;
        if process.in_flight() > plan.most_in_flight(largest) {
            truth.violation(format_args!(
                "p{} has {} bytes in flight, the budget is {}",
                process.id,
                process.in_flight(),
                plan.budget
            ));
        }
        // Lanes that could not be given back are no longer the engine's.
        let exact = [Fault::PauseFails, Fault::ReleaseFails]
            .iter()
            .all(|fault| !plan.rates.has(*fault));
        if machine != Machine::Controller || process.is_draining() || !exact {
            return;
        }
        for (partition, lane) in process.source.assigned() {
            let known = truth.state().knows(lane);
            if known && process.source.is_paused(lane) != process.is_paused() {
                truth.violation(format_args!(
                    "p{} is paused: {}, but partition {partition} is not so",
                    process.id,
                    process.is_paused()
                ));
            }
        }
    }

    /// The counters of a process add up, whether it ended or was killed.
    pub(super) fn check_counts(&self, process: &Process) {
        let truth = &self.setting.truth;
        let totals = process.report().totals().clone();
        let mut state = truth.state();
        if totals.unaccounted() != 0 {
            let text = format!(
                "p{}: {} records have no outcome",
                process.id,
                totals.unaccounted()
            );
            state.violation(format_args!("{text}"));
        }
        let done = state.process(process.id);
        let (records, written) = (done.records, done.written.clone());
        if totals.records != records {
            state.violation(format_args!(
                "p{} counted {} records and ran {records}",
                process.id, totals.records
            ));
        }
        let exact = !self.setting.plan.rates.has(Fault::WritePanicsOnDrop);
        for (slot, sink) in totals.sinks.iter().enumerate() {
            let written = written.get(slot).copied().unwrap_or(0);
            if sink.rows > written || (exact && sink.rows < written) {
                state.violation(format_args!(
                    "p{} counted {} rows of sink {slot} as stored, its writers {written}",
                    process.id, sink.rows
                ));
            }
        }
    }

    /// The controller of a process is done.
    pub(super) fn ends(&mut self, at: usize) {
        let process = self.processes.remove(at);
        let report = process.report();
        let (id, truth) = (process.id, self.setting.truth.clone());
        truth.log(format_args!(
            "p{id} ended with {}: {:?}, abandoned {}, lost {}",
            report.exit_code(),
            report.failure(),
            report.abandoned_batches(),
            report.lost_batches()
        ));
        self.totals.exits += 1;
        self.check_counts(&process);
        self.check_duration(&process);
        for (partition, offset) in report.committed() {
            let committed = self.setting.topic.committed(partition.number);
            if committed < Some(*offset) {
                truth.violation(format_args!(
                    "p{id} reports {partition} as committed to {offset}, the broker has {committed:?}"
                ));
            }
        }
        match report.is_clean() {
            true => self.check_clean(&process),
            false => self.check_failure(&process),
        }
        self.gone(process);
    }

    /// What is in flight is given back, whatever becomes of it.
    pub(super) fn check_dropped(&self, id: u32, in_flight: usize) {
        if in_flight > 0 {
            let truth = &self.setting.truth;
            truth.violation(format_args!(
                "p{id} is gone and {in_flight} bytes are still in flight"
            ));
        }
    }

    fn check_duration(&self, process: &Process) {
        let plan = &self.setting.plan;
        let Some(since) = process.draining else {
            let id = process.id;
            return self
                .setting
                .truth
                .violation(format_args!("p{id} ended without a drain"));
        };
        let took = self.now().since(since);
        if LATE.iter().all(|fault| !plan.rates.has(*fault)) && took > plan.drain_timeout + GRACE {
            self.setting.truth.violation(format_args!(
                "the drain of p{} took {took:?}, it had {:?}",
                process.id, plan.drain_timeout
            ));
        }
    }

    /// A clean end: nothing that the process ran and kept is left uncommitted, no row unwritten, no machine behind.
    fn check_clean(&self, process: &Process) {
        let id = process.id;
        let mut truth = self.setting.truth.state();
        let topic = &self.setting.topic;
        let committed = |partition: usize| topic.committed(partition as i32).unwrap_or(0);
        let unsettled = truth.unsettled(id, committed);
        if let Some(text) = unsettled.first() {
            truth.violation(format_args!("p{id} ended cleanly, but {text}"));
        }
        let report = process.report();
        // Rows of partitions that were lost need not be written.
        let whole = report.lost_batches() == 0;
        for (slot, sink) in report.totals().sinks.iter().enumerate().filter(|_| whole) {
            if sink.encoded != sink.rows || sink.abandoned_rows > 0 {
                truth.violation(format_args!(
                    "p{id} ended cleanly, but sink {slot} has {} of {} rows",
                    sink.rows, sink.encoded
                ));
            }
        }
        if whole && process.in_flight() > 0 {
            truth.violation(format_args!(
                "p{id} ended cleanly with {} bytes in flight",
                process.in_flight()
            ));
        }
        // A worker that is slow and has nothing to write is not waited for.
        let ended =
            process.all_ended() || LATE.iter().any(|fault| self.setting.plan.rates.has(*fault));
        if !ended || !process.source.is_closed() {
            truth.violation(format_args!(
                "p{id} ended cleanly, but not all of it has ended"
            ));
        }
    }

    /// An end that is not clean: there was a reason, and the failure names its place.
    fn check_failure(&self, process: &Process) {
        let id = process.id;
        let plan = &self.setting.plan;
        let mut truth = self.setting.truth.state();
        let causes = truth.process(id).causes.clone();
        let quiet = self.setting.weather.was_calm();
        let Some(failure) = process.failure.get() else {
            // Partitions that were given back before they were settled; nothing failed.
            if quiet && plan.drain_timeout >= ENOUGH {
                truth.violation(format_args!("p{id} gave something up without any fault"));
            }
            return;
        };
        let late = failure.message().contains("drain_timeout");
        let caused = match failure.place() {
            _ if late => !quiet || plan.drain_timeout < ENOUGH,
            place if place.starts_with("thread ") => causes.iter().any(String::is_empty),
            // Rows that a driver could not hand over before the deadline; until then nobody gives up without a word.
            _ if failure.message().contains("was given up") => {
                let since = process.draining.unwrap_or(self.now());
                self.now().since(since) >= plan.drain_timeout
            }
            place if place.starts_with("partition ") => {
                !causes.is_empty() || plan.rates.has(Fault::ClockJumps)
            }
            place => causes
                .iter()
                .any(|cause| !cause.is_empty() && place.starts_with(cause.as_str())),
        };
        if !caused {
            truth.violation(format_args!("p{id} failed without a cause: {failure}"));
        }
    }
}
