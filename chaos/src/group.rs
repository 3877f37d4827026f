//! The processes of the group: started, ended and killed by faults, and started again, as an orchestrator does, when one
//! ends of its own accord. That it did is remembered: a member of the group has no reason to.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use spate_test::services::{Ended, Program, ProgramOptions, Signal};

use crate::error::Error;
use crate::plan::MEMBERS;
use crate::screen::Screen;
use crate::servers::INSTANCE;

/// How long a process that ended of its own accord stays away.
const RESTART: Duration = Duration::from_secs(1);
/// The pipeline's `checkpoint.drain_timeout`, and some time for the rest of the end.
const END: Duration = Duration::from_secs(40);
/// How many lines of a log are shown.
const TAIL: usize = 8;

/// All processes.
pub(crate) struct Group {
    screen: Screen,
    program: PathBuf,
    config: PathBuf,
    slots: Vec<Mutex<Member>>,
    exits: Mutex<Exits>,
}

/// Ends that nobody asked for, or that were not clean.
#[derive(Debug, Default, Clone)]
pub(crate) struct Exits {
    /// Those that no fault explains.
    pub(crate) unexpected: u64,
    /// Drains that were not complete while a server was away.
    pub(crate) incomplete: u64,
}

/// The place of one process.
pub(crate) struct Member {
    name: String,
    log: PathBuf,
    starts: u32,
    process: Option<Program>,
    restart_at: Option<Instant>,
}

impl Group {
    /// No process runs yet. Their logs go into `folder`.
    pub(crate) fn new(screen: Screen, folder: PathBuf, config: PathBuf) -> Result<Group, Error> {
        let program = std::env::current_exe().map_err(|source| Error::File {
            action: "find",
            path: PathBuf::from("the running program"),
            source,
        })?;
        let member = |number: usize| Member {
            name: format!("process {number}"),
            log: folder.join(format!("process-{number}.log")),
            starts: 0,
            process: None,
            restart_at: None,
        };
        let slots = (0..=MEMBERS).map(|number| Mutex::new(member(number)));
        Ok(Group {
            screen,
            program,
            config,
            slots: slots.collect(),
            exits: Mutex::default(),
        })
    }

    /// Waits until the process `number` is free, and keeps it: nobody else touches it meanwhile.
    pub(crate) fn hold(&self, number: usize) -> MutexGuard<'_, Member> {
        lock(&self.slots[number])
    }

    /// Starts a process, unless it runs.
    pub(crate) fn start(&self, member: &mut Member) -> Result<(), Error> {
        if member.process.is_some() {
            return Ok(());
        }
        member.starts += 1;
        member.restart_at = None;
        let at = self.screen.elapsed().as_secs_f64();
        let header = format!("=== {at:.1} s: start {}\n", member.starts);
        let written = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&member.log)
            .and_then(|mut file| file.write_all(header.as_bytes()));
        written.map_err(|source| Error::File {
            action: "write",
            path: member.log.clone(),
            source,
        })?;
        member.process = Some(Program::start(ProgramOptions {
            program: self.program.clone(),
            args: vec![
                crate::MEMBER.to_owned(),
                self.config.to_string_lossy().into_owned(),
            ],
            env: vec![
                ("RUST_LOG".to_owned(), "info,spate_runtime=debug".to_owned()),
                (INSTANCE.to_owned(), member.name.replace(' ', "-")),
            ],
            log: member.log.clone(),
        })?);
        Ok(())
    }

    /// Kills a process as `kill -9` does.
    pub(crate) fn kill(&self, member: &mut Member) {
        self.look(member);
        // Dropping it kills it and waits for its end.
        member.process = None;
    }

    /// Ends a process in an orderly way. `excused`, when it has ended, tells whether a server was away meanwhile.
    pub(crate) fn end(&self, member: &mut Member, excused: impl FnOnce() -> bool) {
        self.look(member);
        member.restart_at = None;
        let Some(process) = member.process.take() else {
            return;
        };
        process.signal(Signal::Cont);
        process.signal(Signal::Term);
        let what = match process.wait(END) {
            Some(Ended::Code(0)) => return,
            Some(Ended::Code(1)) if excused() => {
                lock(&self.exits).incomplete += 1;
                self.screen.line(&format!(
                    "{} did not drain completely while a server was away",
                    member.name
                ));
                return;
            }
            Some(ended) => format!("{ended} after TERM"),
            None => format!("it had not ended {END:?} after TERM, and was killed"),
        };
        self.unexpected(member, &process, &what);
    }

    /// Freezes a process.
    pub(crate) fn freeze(&self, member: &mut Member) {
        self.signal(member, Signal::Stop);
    }

    /// Lets a frozen process go on.
    pub(crate) fn thaw(&self, member: &mut Member) {
        self.signal(member, Signal::Cont);
    }

    fn signal(&self, member: &mut Member, signal: Signal) {
        if let Some(process) = &member.process {
            process.signal(signal);
        }
    }

    /// Looks after the processes that no fault holds: one that ended of its own accord is started again.
    pub(crate) fn watch(&self) -> Result<(), Error> {
        for slot in &self.slots {
            let Ok(mut member) = slot.try_lock() else {
                continue;
            };
            self.look(&mut member);
            if member.restart_at.is_some_and(|at| Instant::now() >= at) {
                self.start(&mut member)?;
            }
        }
        Ok(())
    }

    /// Takes note of an end that nobody asked for.
    fn look(&self, member: &mut Member) {
        let ended = member.process.as_ref().and_then(Program::ended);
        let (Some(ended), Some(process)) = (ended, member.process.take_if(|_| ended.is_some()))
        else {
            return;
        };
        self.unexpected(member, &process, &ended.to_string());
        member.restart_at = Some(Instant::now() + RESTART);
    }

    fn unexpected(&self, member: &Member, process: &Program, what: &str) {
        lock(&self.exits).unexpected += 1;
        let log = process.log().display();
        self.screen.line(&format!(
            "UNEXPECTED END of {} (start {}): {what}; the end of {log}:\n{}",
            member.name,
            member.starts,
            process.log_tail(TAIL)
        ));
    }

    /// The ends so far that were not as they should be.
    pub(crate) fn exits(&self) -> Exits {
        lock(&self.exits).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
