//! What the controller finds wrong by itself: threads and watermarks that stand still, commits without an answer, batches
//! that were given up without a word.

use super::*;

impl Controller {
    /// Stops the pipeline for what stands still for `checkpoint.stalled_fail_after`; the cause before what it entails.
    pub(super) fn check_stalls(&mut self, now: Time) {
        let stalled = self
            .stalled_threads(now)
            .or_else(|| self.stalled_watermark(now))
            .or_else(|| self.stalled_commit(now));
        if let Some((place, what)) = stalled {
            let text = format!("stalled (checkpoint.stalled_fail_after): {what}");
            self.config.failure.set(Failure::new(place, text));
        }
    }

    fn stalled_threads(&mut self, now: Time) -> Option<(String, String)> {
        let steps = self.drivers.iter().map(|driver| {
            let status = &driver.status;
            (!status.has_ended()).then(|| status.steps())
        });
        let still = self.threads.step(steps, now);
        if still.is_empty() {
            return None;
        }
        let still: Vec<String> = still.iter().map(usize::to_string).collect();
        let what = format!(
            "for {:?} it has not come back from a closure, a state or a lane of the source; look there for a loop or a \
             call that waits",
            self.config.stalled_fail_after
        );
        Some((format!("thread {} of the pipeline", still.join(", ")), what))
    }

    fn stalled_watermark(&mut self, now: Time) -> Option<(String, String)> {
        let stall = self.stalls.step(self.checkpointer.lanes(), now)?;
        let others = match stall.others {
            0 => String::new(),
            n => format!("; other partitions that stand still: {n}"),
        };
        let what = format!(
            "the batch from offset {} is neither stored nor given up after {:?}; batches in flight: {}{others}; {}",
            stall.offset,
            stall.waited,
            stall.pending,
            self.last_errors()
        );
        Some((format!("partition {}", stall.partition), what))
    }

    fn stalled_commit(&self, now: Time) -> Option<(String, String)> {
        let waited = now.since(self.checkpointer.committing_since()?);
        let what = format!("a commit has had no answer for {waited:?}");
        (waited >= self.config.stalled_fail_after).then(|| ("checkpoint".to_owned(), what))
    }

    /// Whether a batch was given up. Whoever does it says why before, so this is not the failure yet.
    pub(super) fn has_failed_batches(&mut self) -> bool {
        if self.given_up.is_none() {
            let mut lanes = self.checkpointer.lanes();
            if let Some((_, partition, p)) = lanes.find(|(.., p)| p.failed) {
                self.given_up = Some((partition.clone(), p.waits_for.unwrap_or_default()));
            }
        }
        self.given_up.is_some()
    }

    /// When all who give batches up have ended: the failure of one of which nobody said why.
    pub(super) fn fail_for_failed_batches(&mut self, late: bool) {
        if self.has_failed_batches()
            && !self.config.failure.is_set()
            && let Some((partition, offset)) = &self.given_up
        {
            // Sinks say so themselves; a driver that came late to its own rows only lets them go.
            let why = if late {
                ", because checkpoint.drain_timeout passed before its rows reached a sink"
            } else {
                ""
            };
            let text = format!(
                "a batch at or after offset {offset} was given up{why}; {}",
                self.last_errors()
            );
            let failure = Failure::new(format!("partition {partition}"), text);
            self.config.failure.set(failure);
        }
    }

    /// Threads that did not end with the drain.
    pub(super) fn fail_for_stuck_drivers(&mut self) {
        let drivers = self.drivers.iter().enumerate();
        let stuck: Vec<String> = drivers
            .filter(|(_, driver)| !driver.status.has_ended())
            .map(|(index, _)| index.to_string())
            .collect();
        let text = "it did not stop within checkpoint.drain_timeout: a closure, a state or a lane of the source does not \
                    return; look there for a loop or a call that waits";
        let place = format!("thread {} of the pipeline", stuck.join(", "));
        self.config.failure.set(Failure::new(place, text));
    }

    /// Shards whose worker did not end with the drain.
    pub(super) fn fail_for_late_workers(&mut self, late: usize) {
        let failure = &self.config.failure;
        let stuck = self.config.workers.iter();
        if stuck.filter(|worker| worker.fail_if_stuck(failure)).count() > 0 {
            return;
        }
        let text = format!(
            "workers that did not stop within checkpoint.drain_timeout: {late} of {}; a call of a sink does not return; {}",
            self.config.queues.len(),
            self.last_errors()
        );
        self.config.failure.set(Failure::new("sinks", text));
    }

    /// What the sinks that fail say.
    fn last_errors(&self) -> String {
        let mut errors = Vec::new();
        for (sink, stats) in &self.config.sinks {
            for (shard, error) in stats.last_errors() {
                errors.push(format!(
                    "last error of sink `{sink}` shard {shard}: {error}"
                ));
            }
        }
        if errors.is_empty() {
            return "no sink reports an error".to_owned();
        }
        errors.join("; ")
    }
}
