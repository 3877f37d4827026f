//! Acks, trackers and the checkpointer. They stand apart from the sources because the crate `loom` compiles those as they are.

mod ack;
mod checkpointer;
mod checkpointer_model;
mod model;
mod tracker;
mod tracker_model;
