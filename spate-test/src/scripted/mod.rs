//! A source and a sink that do what a script says: every answer that a broker or a store gives too rarely to be tested
//! with a real one.
//!
//! - [`Topic`]: partitions with records, gaps and tombstones, and the committed offsets. It outlives the sources that read
//!   it, as a broker outlives its clients: a second run over the same topic goes on where the first one committed.
//! - [`ScriptedSource`]: one client of a topic. Partitions are assigned, revoked and lost when the test says so; fetches,
//!   commits and calls fail as scripted. It notes every breach of the contract of [`Source`](spate_runtime::source::Source)
//!   by whoever drives it: see [`ScriptedSource::breaches`].
//! - [`ScriptedSink`]: shards that answer each attempt with the next [`Reply`] of the script: late, failed, failed after
//!   the rows were stored, never, or with a panic.
//!
//! In a pipeline both are the stage [`Scripted`]:
//!
//! ```
//! use std::time::Duration;
//! use spate::prelude::*;
//! use spate_test::scripted::{CommitReply, Reply, ScriptedSink, ScriptedSource};
//!
//! spate::pipeline! {
//!     lines {
//!         spate_test::scripted::Scripted -> bytes -> store: spate_test::scripted::Scripted
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pipeline = lines();
//! let source: ScriptedSource = pipeline.source_handle().expect("the source is scripted");
//! let sink: ScriptedSink = pipeline.sink_handle("store").expect("the sink is scripted");
//! source.topic().push(0, "one");
//! source.topic().push(0, "two");
//! source.assign(&[0]);
//! // The first attempt stores the rows, but its answer is lost; the first commit is refused.
//! sink.next(Reply::lost());
//! source.next_commit(CommitReply::Refused);
//!
//! let config = spate::Config::from_yaml("checkpoint: { interval: 100ms }")?;
//! let runtime = pipeline.with_config(config)?.into_runtime(spate::RuntimeOptions::embedded())?;
//! let shutdown = runtime.shutdown_handle();
//! let run = std::thread::spawn(move || runtime.run());
//! assert!(source.topic().wait_committed(0, 2, Duration::from_secs(10)));
//! shutdown.shutdown();
//! assert_eq!(run.join().expect("the run returns").exit_code(), 0);
//!
//! let attempts = sink.attempts();
//! assert_eq!(attempts.len(), 2);
//! assert_eq!(attempts[0].token, attempts[1].token, "so that the store can drop the second copy");
//! assert_eq!(sink.rows(), [b"one", b"two", b"one", b"two"]);
//! assert!(source.breaches().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! Time: latencies pass in real time where there is a tokio runtime. With [`ScriptedSink::use_alarms`] they pass on a clock that
//! the test moves by hand.

mod alarms;
mod kind;
mod lane;
mod reply;
mod sink;
mod source;
mod topic;

pub use alarms::Alarms;
pub use kind::Scripted;
pub use reply::{Answer, Reply, Stores};
pub use sink::{Attempt, ScriptedSink, SinkScript, Stored};
pub use source::{Call, CommitReply, Fetch, ScriptedSource, SourceScript};
pub use topic::Topic;
