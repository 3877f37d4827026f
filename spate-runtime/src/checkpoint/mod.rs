//! From settled batches to committed offsets: the tracker of one lane and the checkpointer of all of them.

mod checkpointer;
mod tracker;

pub use checkpointer::Checkpointer;
pub use tracker::{OutOfOrder, PartitionTracker, Progress};

#[cfg(test)]
mod tests;
