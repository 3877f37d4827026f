//! What the controller tells a driver, and what a driver tells the controller: the only state that they share.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::thread::Thread;

use crate::checkpoint::PartitionTracker;
use crate::source::{LaneId, SourceLane};
use crate::sync::{Arc, AtomicBool, AtomicUsize, Mutex, Ordering, PoisonError};

/// What a driver is told.
pub enum Command {
    /// Read this lane.
    Add(Box<dyn SourceLane>, Arc<PartitionTracker>),
    /// Drop these lanes, renew the kernel's state, seal what is open.
    Drop(Vec<LaneId>),
    /// Drop all lanes, hand over what is open, end.
    Stop,
}

/// Commands on their way to one driver. Bounded by the number of lanes: each is added and dropped once.
#[derive(Default)]
pub struct Mailbox {
    commands: Mutex<VecDeque<Command>>,
    closed: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Mailbox {
    /// Leaves a command and wakes the driver.
    pub fn send(&self, command: Command) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that nothing is left behind a close.
        if !self.closed.load(Ordering::Acquire) {
            commands.push_back(command);
        }
        drop(commands);
        self.wake();
    }

    /// The driver has ended: commands, and the lanes in them, are dropped from now on. The status says so when none is left.
    pub(crate) fn end(&self, status: &DriverStatus) {
        self.closed.store(true, Ordering::Release);
        let left =
            std::mem::take(&mut *self.commands.lock().unwrap_or_else(PoisonError::into_inner));
        drop(left);
        status.set_ended();
    }

    pub(super) fn take(&self) -> Option<Command> {
        self.commands
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }

    /// The thread that is to be woken.
    pub(super) fn attach(&self, thread: Thread) {
        // A second call would be the same driver again.
        let _ = self.thread.set(thread);
    }

    pub(super) fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// How a driver stands.
#[derive(Debug, Default)]
pub struct DriverStatus {
    steps: AtomicUsize,
    blocked: AtomicBool,
    ended: AtomicBool,
    dropped: Mutex<Vec<LaneId>>,
}

impl DriverStatus {
    /// How many steps the driver has begun; it stands still while user code runs.
    pub(super) fn steps(&self) -> usize {
        self.steps.load(Ordering::Relaxed)
    }

    pub(super) fn begin_step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// A sealed chunk found no room.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Acquire)
    }

    pub(super) fn set_blocked(&self, blocked: bool) {
        self.blocked.store(blocked, Ordering::Release);
    }

    /// The driver has ended; it pushes nothing more and holds no lane.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(crate) fn set_ended(&self) {
        self.ended.store(true, Ordering::Release);
    }

    pub(super) fn lane_dropped(&self, lane: LaneId) {
        self.dropped
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(lane);
    }

    /// Lanes whose objects were dropped since the last call.
    pub(super) fn take_dropped(&self) -> Vec<LaneId> {
        std::mem::take(&mut self.dropped.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
