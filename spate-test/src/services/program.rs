//! A program of one's own in a process that ends with its owner, also when the owner is killed.

use super::error::{ServiceError, tail};
use super::process::{Ended, Launch, Signal, Supervised};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A program and what it is given.
#[derive(Debug, Clone)]
pub struct ProgramOptions {
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Added to this process's environment.
    pub env: Vec<(String, String)>,
    /// Gets standard output and standard error, appended.
    pub log: PathBuf,
}

/// A running program. Dropping it kills the program, also a stopped one.
pub struct Program {
    process: Mutex<Supervised>,
    log: PathBuf,
}

impl Program {
    /// Starts the program.
    ///
    /// # Errors
    /// python3, under which it runs, is missing, or the program does not start.
    pub fn start(options: ProgramOptions) -> Result<Program, ServiceError> {
        let ProgramOptions {
            program,
            args,
            env,
            log,
        } = options;
        let process = Supervised::spawn(Launch {
            service: "the program",
            program: Path::new(&program),
            args,
            env,
            log: log.clone(),
            remove: None,
        })?;
        Ok(Program {
            process: Mutex::new(process),
            log,
        })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.lock().pid()
    }

    /// Where its output goes.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The last lines of its output, at most `lines` of them and about 4 kB.
    pub fn log_tail(&self, lines: usize) -> String {
        tail(&self.lock().log_text(), lines)
    }

    /// Sends a signal. A program that has ended already is no error.
    pub fn signal(&self, signal: Signal) {
        self.lock().signal(signal);
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<Ended> {
        self.lock().ended()
    }

    /// How it ended, if it has within `timeout`.
    pub fn wait(&self, timeout: Duration) -> Option<Ended> {
        self.lock().wait(timeout)
    }

    fn lock(&self) -> MutexGuard<'_, Supervised> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::RunDir;
    use super::*;
    use std::time::Instant;

    fn sh(dir: &RunDir, script: &str) -> Program {
        Program::start(ProgramOptions {
            program: PathBuf::from("/bin/sh"),
            args: vec!["-c".to_owned(), script.to_owned()],
            env: vec![("WORD".to_owned(), "done".to_owned())],
            log: dir.path().join("log"),
        })
        .unwrap()
    }

    const LIMIT: Duration = Duration::from_secs(60);

    #[test]
    fn a_programs_end_tells_its_exit_code_or_signal() {
        let dir = RunDir::new("program").unwrap();
        let program = sh(&dir, "echo $WORD; exit 3");
        assert_eq!(program.wait(LIMIT), Some(Ended::Code(3)));
        assert_eq!(program.log_tail(1), "done");
        let program = sh(&dir, "sleep 600");
        assert_eq!(program.ended(), None);
        program.signal(Signal::Kill);
        assert_eq!(program.wait(LIMIT), Some(Ended::Signal(9)));
    }

    fn until(what: &str, mut look: impl FnMut() -> bool) {
        let end = Instant::now() + LIMIT;
        while !look() {
            assert!(Instant::now() < end, "not within {LIMIT:?}: {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn stop(program: &Program) {
        program.signal(Signal::Stop);
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", program.pid()));
        let stat = stat.expect("a process");
        assert!(stat.contains(") T "), "it stands still: {stat}");
    }

    #[test]
    fn a_stopped_program_goes_on_when_told_and_does_not_outlive_its_handle() {
        let dir = RunDir::new("program").unwrap();
        let script = "trap 'exit 7' TERM; echo up; while :; do sleep 0.05; done";
        let program = sh(&dir, script);
        until("the trap", || program.log_tail(1) == "up");
        stop(&program);
        program.signal(Signal::Term);
        assert_eq!(program.ended(), None);
        program.signal(Signal::Cont);
        assert_eq!(program.wait(LIMIT), Some(Ended::Code(7)));

        let program = sh(&dir, script);
        stop(&program);
        let pid = program.pid();
        drop(program);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }
}
