//! Calls of the source that may fail for a while: pause, resume and release are made again until the source takes them, or
//! a partition would stay silent, or with a member that does not read it, for ever.

use super::*;

/// What failed and is to be made again.
#[derive(Default)]
pub(super) struct Again {
    /// Lanes are not paused, or not resumed, as they should be.
    pause: bool,
    /// Lanes that could not be given back.
    release: Vec<LaneId>,
    not_before: Time,
}

impl Again {
    /// These lanes are another revocation's now.
    pub(super) fn forget(&mut self, lanes: &[LaneId]) {
        self.release.retain(|lane| !lanes.contains(lane));
    }
}

impl Controller {
    pub(super) fn apply_backpressure(&mut self, now: Time) {
        let config = &self.config.backpressure;
        let blocked = self.drivers.iter().any(|driver| driver.status.is_blocked());
        let fullest = self
            .config
            .queues
            .iter()
            .map(|queue| queue.fill())
            .fold(0.0, f64::max);
        match self.paused_at {
            None if blocked || fullest >= config.high_ratio || self.config.budget.is_high() => {
                self.paused_at = Some(now);
                tracing::debug!(
                    lanes = self.lanes.len(),
                    "paused: a sink is slower than the source"
                );
                self.pause_all();
            }
            Some(since)
                if !blocked
                    && fullest <= config.low_ratio
                    && self.config.budget.is_low()
                    && now.since(since) >= config.min_pause =>
            {
                self.paused_at = None;
                tracing::debug!(lanes = self.lanes.len(), "resumed");
                self.pause_all();
            }
            _ => {}
        }
    }

    /// Pauses or resumes all lanes, as they should be now.
    fn pause_all(&mut self) {
        let lanes: Vec<LaneId> = self.lanes.keys().copied().collect();
        self.again.pause = false;
        if self.paused_at.is_some() {
            self.pause(&lanes);
        } else if !self.call("resume", |source| source.resume(&lanes)) {
            self.again.pause = true;
        }
    }

    pub(super) fn pause(&mut self, lanes: &[LaneId]) {
        if !self.call("pause", |source| source.pause(lanes)) {
            self.again.pause = true;
        }
    }

    pub(super) fn release(&mut self, lanes: Vec<LaneId>) {
        if !self.call("release", |source| source.release(&lanes)) {
            self.again.release.extend(lanes);
        }
    }

    /// Makes the calls that failed again, now and then.
    pub(super) fn call_again(&mut self, now: Time) {
        if !self.again.pause && self.again.release.is_empty() {
            self.again.not_before = now.after(CALL_RETRY);
            return;
        }
        if now < self.again.not_before {
            return;
        }
        self.again.not_before = now.after(CALL_RETRY);
        if self.again.pause {
            self.pause_all();
        }
        if !self.again.release.is_empty() {
            let lanes = std::mem::take(&mut self.again.release);
            self.release(lanes);
        }
    }

    /// Whether the call need not be made again.
    fn call(
        &mut self,
        what: &str,
        f: impl FnOnce(&mut dyn Source) -> Result<(), ConnectorError>,
    ) -> bool {
        match f(&mut *self.source) {
            Ok(()) => true,
            Err(error) if error.is_retryable() => {
                self.trouble(ConnectorError::retryable(format!("{what} failed: {error}")));
                false
            }
            Err(error) => {
                self.source_failed(&ConnectorError::fatal(format!("{what} failed: {error}")));
                true
            }
        }
    }
}
