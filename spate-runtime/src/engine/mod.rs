//! The machines of the engine and the shell that runs them.

mod budget;
mod controller;
mod deadline;
mod driver;
mod mailbox;
mod revocation;
pub(crate) mod shell;
mod stall;

pub use budget::{Budget, Held, Sizing};
pub use controller::{Controller, ControllerConfig, ControllerStep, DriverHandle};
pub use deadline::Deadline;
pub use driver::{Driver, DriverShared, DriverStep};
pub use mailbox::{Command, DriverStatus, Mailbox};

#[cfg(test)]
mod sim;
