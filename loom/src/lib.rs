//! Spate's ack cell, partition tracker and driver mailbox, compiled from the engine's own files with loom's types in place
//! of the standard library's. The models in `tests/` run them under every interleaving of a few threads.
//!
//! Nothing of the engine is repeated here but what these files only pass on: a lane and its number, and room for a decoder.

// What the models do not call is still the engine's.
#![allow(dead_code, unreachable_pub, missing_docs)]

#[path = "../../spate-runtime/src/ack.rs"]
pub mod ack;
#[path = "../../spate-runtime/src/engine/mailbox.rs"]
mod mailbox;
#[path = "../../spate-runtime/src/record.rs"]
pub mod record;
#[path = "../../spate-runtime/src/checkpoint/tracker.rs"]
mod tracker;

pub mod checkpoint {
    pub use crate::tracker::{OutOfOrder, PartitionTracker, Progress};
}

pub mod source {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub struct LaneId(pub u64);

    pub trait SourceLane: Send {}
}

pub mod scratch {
    #[derive(Debug)]
    pub struct Scratch;
}

pub mod engine {
    pub use crate::mailbox::{Command, DriverStatus, Mailbox};

    /// What the driver's thread does, which only the engine can.
    pub mod driver {
        use super::{Command, DriverStatus, Mailbox};
        use crate::source::LaneId;

        pub fn take(mailbox: &Mailbox) -> Option<Command> {
            mailbox.take()
        }

        pub fn end(mailbox: &Mailbox, status: &DriverStatus) {
            mailbox.end(status);
        }

        pub fn lane_dropped(status: &DriverStatus, lane: LaneId) {
            status.lane_dropped(lane);
        }

        pub fn take_dropped(status: &DriverStatus) -> Vec<LaneId> {
            status.take_dropped()
        }
    }
}

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};
    pub(crate) use std::sync::PoisonError;
}
