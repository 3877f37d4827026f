//! `chaos`: a group of pipeline processes against real servers under a schedule of faults, audited from outside.
//!
//! - `plan.rs` draws the schedule from the seed, `faults.rs` inflicts it;
//! - `servers.rs` starts the servers, `group.rs` the processes, which are this program again (`pipeline.rs`);
//! - `producer.rs` fills the topic, `event.rs` says with what, `ledger.rs` keeps what stands where;
//! - `auditor.rs` compares commits and table all the time, `verdict.rs` table and ledger at the end;
//! - `run.rs` is the order of it all.
//!
//! Every process runs under a supervisor that ends it when this program ends, however it ends (see [`spate_test`]).

mod auditor;
mod error;
mod event;
mod faults;
mod group;
mod ledger;
mod options;
mod pipeline;
mod plan;
mod plant;
mod producer;
mod run;
mod screen;
mod servers;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Parser as _;

use crate::error::Error;
use crate::options::Options;
use crate::plan::Kinds;
use crate::screen::Screen;

/// The first argument of a process of the group; its configuration follows.
const MEMBER: &str = "member";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == MEMBER)
        && let Some(config) = arguments.next()
    {
        return pipeline::member(&config);
    }
    let options = Options::parse();
    let kinds = match &options.faults {
        Kinds::Some(kinds) => kinds.clone(),
        Kinds::Help => {
            print!("{}", Kinds::help());
            return ExitCode::SUCCESS;
        }
    };
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
    let screen = Screen::new();
    let interrupted = interruption();
    let outcome = folder().and_then(|folder| {
        let outcome = run::run(&options, kinds, seed, screen, &interrupted, &folder);
        keep_or_remove(
            &folder,
            options.keep || !matches!(outcome, Ok((_, true))),
            &screen,
        );
        outcome
    });
    match outcome {
        Ok((line, good)) => {
            screen.plain(&line);
            ExitCode::from(u8::from(!good))
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// A folder for the run's files.
fn folder() -> Result<PathBuf, Error> {
    let path = std::env::temp_dir().join(format!("spate-chaos-{}", std::process::id()));
    match std::fs::create_dir_all(&path) {
        Ok(()) => Ok(path),
        Err(source) => Err(Error::File {
            action: "create",
            path,
            source,
        }),
    }
}

fn keep_or_remove(folder: &Path, keep: bool, screen: &Screen) {
    if keep {
        screen.line(&format!("logs: {}", folder.display()));
    } else {
        // Best effort: it is a folder in the temporary folder.
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// A flag that SIGINT and SIGTERM set; a second signal ends this program at once, and everything that it started.
fn interruption() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Without a handler the signal ends the program, and everything that it started with it.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)));
    }
    flag
}
