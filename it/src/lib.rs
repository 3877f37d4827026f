//! What the tests of this crate share: a pipeline, the servers that it runs against, and what must be true afterwards.
//!
//! - `orders`: the pipelines under test, `kafka -> avro -> filter -> try_map -> clickhouse`, one per error policy.
//! - `sample`: the orders that tests produce, and the row that each must become.
//! - `settings`: a configuration, setting by setting.
//! - `stack`: the servers of one test, what was produced, and the comparisons with table and commits.
//! - `run`: a pipeline in this process.
//! - `process`: a pipeline as a process of its own.
//! - `wait`: bounded waits.

mod orders;
mod process;
mod run;
mod sample;
mod settings;
mod stack;
mod wait;

pub use orders::{Line, Order, OrderRow, fresh_orders, orders, strict_orders, watched_orders};
pub use process::OrdersProcess;
pub use run::Run;
pub use sample::Sample;
pub use settings::Settings;
pub use stack::{Stack, StoredRow};
pub use wait::{LIMIT, Watched, eventually};
