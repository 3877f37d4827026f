//! What the ack cell, the tracker and the mailbox are synchronised by. The crate `loom` compiles the same files with
//! loom's types in place of these, so they take them from here.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
pub(crate) use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
