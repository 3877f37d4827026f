//! Giving lanes back: flush, settle, commit, release; see "Revocation" in ARCHITECTURE.md.

use crate::checkpoint::Checkpointer;
use crate::limits::REVOKE_TIMEOUT;
use crate::source::LaneId;
use crate::time::Time;

/// A revocation under way.
pub(super) struct Revocation {
    pub(super) lanes: Vec<LaneId>,
    /// Lost lanes cannot be committed any more: nothing is waited for but the drivers.
    lost: bool,
    deadline: Time,
}

/// What a revocation asks the controller for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RevocationStep {
    /// Wait.
    Wait,
    /// Commit the watermarks now.
    Commit,
    /// Give the lanes back.
    Release,
}

impl Revocation {
    pub(super) fn new(lanes: Vec<LaneId>, lost: bool, now: Time) -> Self {
        Revocation {
            lanes,
            lost,
            deadline: now.after(REVOKE_TIMEOUT),
        }
    }

    /// Whether the lanes were gone before the engine was told.
    pub(super) fn is_lost(&self) -> bool {
        self.lost
    }

    /// A lane was lost meanwhile: it is another revocation's.
    pub(super) fn forget(&mut self, lane: LaneId) {
        self.lanes.retain(|&l| l != lane);
    }

    /// One step; `held` tells whether a driver has a lane's object.
    pub(super) fn step(
        &self,
        held: impl Fn(&LaneId) -> bool,
        checkpointer: &Checkpointer,
        now: Time,
    ) -> RevocationStep {
        if self.lanes.iter().any(held) {
            // Also past the deadline: a lane must not outlive its assignment. A driver needs one batch at most.
            return RevocationStep::Wait;
        }
        if self.lost || now >= self.deadline {
            return RevocationStep::Release;
        }
        let settled = |lane: &LaneId| checkpointer.progress(*lane).is_none_or(|p| p.is_settled());
        if !self.lanes.iter().all(settled) {
            return RevocationStep::Wait;
        }
        // A lane is behind until its commit is answered.
        if self.lanes.iter().any(|lane| checkpointer.is_behind(*lane)) {
            return RevocationStep::Commit;
        }
        RevocationStep::Release
    }
}
