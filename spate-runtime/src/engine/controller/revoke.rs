//! Lanes that go: their drivers drop them, then each revocation is driven to its release.

use super::*;

impl Controller {
    pub(super) fn revoke(&mut self, mut lanes: Vec<LaneId>, lost: bool, now: Time) {
        if lost {
            for lane in &lanes {
                self.checkpointer.lose(*lane);
                self.revocations
                    .iter_mut()
                    .for_each(|revocation| revocation.forget(*lane));
            }
        } else {
            // A lane is given back once, by the revocation that it is in already.
            lanes.retain(|lane| !self.revocations.iter().any(|r| r.lanes.contains(lane)));
        }
        self.again.forget(&lanes);
        // While draining the drivers drop all their lanes anyway.
        if self.phase == Phase::Running {
            self.have_dropped(&lanes);
        }
        self.revocations.push(Revocation::new(lanes, lost, now));
    }

    fn have_dropped(&mut self, lanes: &[LaneId]) {
        let mut by_driver: BTreeMap<usize, Vec<LaneId>> = BTreeMap::new();
        for lane in lanes {
            if let Some(entry) = self.lanes.get_mut(lane)
                && entry.held == Held::Reading
            {
                entry.held = Held::Dropping;
                by_driver.entry(entry.driver).or_default().push(*lane);
            }
        }
        for (driver, lanes) in by_driver {
            self.drivers[driver].mailbox.send(Command::Drop(lanes));
        }
    }

    pub(super) fn drive_revocations(&mut self, now: Time) {
        if self.revocations.is_empty() {
            return;
        }
        self.see_dropped_lanes();
        // Rows of these lanes may wait in a block for company: ask the workers to write now.
        self.config
            .queues
            .iter()
            .for_each(|queue| queue.request_flush());
        let mut commit = false;
        let mut released = Vec::new();
        let (lanes, checkpointer) = (&self.lanes, &self.checkpointer);
        let held = |lane: &LaneId| {
            lanes
                .get(lane)
                .is_some_and(|entry| entry.held != Held::Gone)
        };
        self.revocations.retain(
            |revocation| match revocation.step(held, checkpointer, now) {
                RevocationStep::Wait => true,
                RevocationStep::Commit => {
                    commit = true;
                    true
                }
                RevocationStep::Release => {
                    released.push((revocation.lanes.clone(), revocation.is_lost()));
                    false
                }
            },
        );
        if commit {
            self.commit(now, true);
        }
        if !released.is_empty() {
            // The last look at these lanes.
            self.has_failed_batches();
        }
        for (lanes, lost) in released {
            lanes.iter().for_each(|lane| self.forget(*lane, lost));
            self.release(lanes);
        }
    }

    fn see_dropped_lanes(&mut self) {
        for driver in &self.drivers {
            for lane in driver.status.take_dropped() {
                if let Some(entry) = self.lanes.get_mut(&lane) {
                    entry.held = Held::Gone;
                }
            }
        }
        // A driver that has ended holds no lane, whatever it had time to report.
        for entry in self.lanes.values_mut() {
            if self.drivers[entry.driver].status.has_ended() {
                entry.held = Held::Gone;
            }
        }
    }

    /// The lane is not this run's any more.
    fn forget(&mut self, lane: LaneId, lost: bool) {
        let pending = self.checkpointer.progress(lane).map_or(0, |p| p.pending);
        let behind = self.checkpointer.is_behind(lane);
        // What is lost was given to another member, which reads it; nothing of this run was given up.
        if lost {
            self.lost += pending;
        } else {
            self.abandoned += pending;
        }
        if !lost && (pending > 0 || behind) {
            tracing::warn!(
                pending,
                "a partition goes before all that was read of it is committed; it is read again"
            );
            // While running that is a matter of time; a drain promises the last commit.
            self.uncommitted |= behind && self.phase != Phase::Running;
        }
        self.checkpointer.remove(lane);
        self.lanes.remove(&lane);
    }
}
