//! Whole runs of `pipeline!` blocks in this process, most of them by a clock that is moved by hand.

mod delivery;
mod drain;
mod panics;
mod renewal;
mod support;
