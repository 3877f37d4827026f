//! A server process that ends with its owner, also when the owner is killed.
//!
//! Between the two runs `services/supervise.py`: it starts the server, passes on signals that this side writes to its
//! standard input, and ends the server when that pipe closes, which the kernel does for any way that the owner ends.

use super::error::{ServiceError, tail};
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const SUPERVISE: &str = include_str!("../../services/supervise.py");
/// How long the supervisor may take for anything: only one that hangs does.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// What to run.
pub(crate) struct Launch<'a> {
    /// The service's name, for errors.
    pub(crate) service: &'static str,
    pub(crate) program: &'a Path,
    pub(crate) args: Vec<String>,
    /// Added to the environment.
    pub(crate) env: Vec<(String, String)>,
    /// Gets standard output and standard error, appended.
    pub(crate) log: PathBuf,
    /// A folder to remove when the owner is gone.
    pub(crate) remove: Option<PathBuf>,
}

/// Signals that a server, or a [`Program`](super::Program), is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM: end in an orderly way.
    Term,
    /// SIGKILL: end at once.
    Kill,
    /// SIGSTOP: freeze. It stands still when the call that sends it returns.
    Stop,
    /// SIGCONT: go on after [`Signal::Stop`].
    Cont,
}

impl Signal {
    fn name(self) -> &'static str {
        match self {
            Signal::Term => "TERM",
            Signal::Kill => "KILL",
            Signal::Stop => "STOP",
            Signal::Cont => "CONT",
        }
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With an exit code.
    Code(i32),
    /// By a signal of this number.
    Signal(i32),
    /// Its supervisor was ended, and it with it.
    Unsupervised,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Code(code) => write!(f, "it ended with exit code {code}"),
            Ended::Signal(signal) => write!(f, "it was ended by signal {signal}"),
            Ended::Unsupervised => f.write_str("its supervisor was ended"),
        }
    }
}

#[derive(Default)]
struct Status {
    pid: Option<u32>,
    /// How often it stood still after a stop.
    stopped: usize,
    ended: Option<Ended>,
}

type Shared = Arc<(Mutex<Status>, Condvar)>;

/// The process of a service, while there is one: it can be ended and started again.
#[derive(Default)]
pub(crate) struct Slot(Mutex<Option<Supervised>>);

impl Slot {
    pub(crate) fn pid(&self) -> Option<u32> {
        lock(&self.0).as_ref().map(Supervised::pid)
    }

    pub(crate) fn kill(&self) {
        if let Some(process) = lock(&self.0).take() {
            process.kill();
        }
    }

    /// Ends the process in an orderly way; after `patience` it is killed.
    pub(crate) fn stop(&self, patience: Duration) {
        if let Some(process) = lock(&self.0).take() {
            process.stop(patience);
        }
    }

    /// Starts the process, after killing the one that runs.
    pub(crate) fn start(
        &self,
        launch: impl FnOnce() -> Result<Supervised, ServiceError>,
    ) -> Result<(), ServiceError> {
        let mut process = lock(&self.0);
        if let Some(running) = process.take() {
            running.kill();
        }
        *process = Some(launch()?);
        Ok(())
    }

    /// Sends a signal; whether there is a process.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        lock(&self.0)
            .as_mut()
            .map(|process| process.signal(signal))
            .is_some()
    }
}

/// A running server. Dropping it kills the server.
pub(crate) struct Supervised {
    service: &'static str,
    supervisor: Child,
    input: Option<ChildStdin>,
    status: Shared,
    pid: u32,
    log: PathBuf,
    log_start: u64,
}

impl Supervised {
    pub(crate) fn spawn(launch: Launch<'_>) -> Result<Supervised, ServiceError> {
        let Launch {
            service,
            program,
            args,
            env,
            log,
            remove,
        } = launch;
        let log_start = std::fs::metadata(&log).map_or(0, |m| m.len());
        let mut command = Command::new("python3");
        command
            .args(["-I", "-S", "-c", SUPERVISE])
            .arg(&log)
            .arg(remove.unwrap_or_default())
            .arg(program)
            .args(args)
            .envs(env);
        // Its own group, so that Ctrl-C on a terminal reaches the owner only.
        command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut supervisor = command
            .spawn()
            .map_err(ServiceError::io("run", "python3"))?;
        let status: Shared = Arc::default();
        if let Some(output) = supervisor.stdout.take() {
            let status = Arc::clone(&status);
            thread::spawn(move || follow(BufReader::new(output), &status));
        }
        let input = supervisor.stdin.take();
        let mut this = Supervised {
            service,
            supervisor,
            input,
            status,
            pid: 0,
            log,
            log_start,
        };
        let started = this.wait_until(PATIENCE, |s| s.pid.is_some() || s.ended.is_some());
        let pid = lock(&this.status.0).pid;
        match pid {
            Some(pid) => this.pid = pid,
            None => {
                let how = if started {
                    "ended at once"
                } else {
                    "is silent"
                };
                let mut said = String::new();
                if started && let Some(mut err) = this.supervisor.stderr.take() {
                    let _ = std::io::Read::read_to_string(&mut err, &mut said);
                }
                return Err(this.start_error(format!(
                    "`{}` {how}: {}",
                    program.display(),
                    tail(&said, 3)
                )));
            }
        }
        Ok(this)
    }

    /// The server's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// How the server ended, if it has.
    pub(crate) fn ended(&self) -> Option<Ended> {
        lock(&self.status.0).ended
    }

    /// How the server ended, if it has within `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) -> Option<Ended> {
        self.wait_until(timeout, |s| s.ended.is_some());
        self.ended()
    }

    /// Polls `probe` until it is true, the server ends, or the time is up.
    pub(crate) fn wait_ready(
        &self,
        timeout: Duration,
        what: &str,
        mut probe: impl FnMut() -> bool,
    ) -> Result<(), ServiceError> {
        let end = Instant::now() + timeout;
        loop {
            // The end is looked at first: another server on the same port must not pass for this one.
            if let Some(how) = self.ended() {
                return Err(self.start_error(how.to_string()));
            }
            if probe() {
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(self.start_error(format!(
                    "{what} did not happen within {} s",
                    timeout.as_secs()
                )));
            }
            thread::sleep(POLL);
        }
    }

    /// Sends the signal, and waits for the effect of a stop. A server that has ended already is no error.
    pub(crate) fn signal(&mut self, signal: Signal) {
        let stopped = lock(&self.status.0).stopped;
        if let Some(input) = &mut self.input {
            let _ = writeln!(input, "{}", signal.name()).and_then(|()| input.flush());
        }
        if signal == Signal::Stop {
            self.wait_until(PATIENCE, |s| s.stopped > stopped || s.ended.is_some());
        }
    }

    /// Kills the server as `kill -9` does and waits for its end.
    pub(crate) fn kill(mut self) {
        self.end(Signal::Kill, PATIENCE);
    }

    /// Asks the server to end, and kills it when it has not within `grace`.
    pub(crate) fn stop(mut self, grace: Duration) {
        self.signal(Signal::Cont);
        if !self.end(Signal::Term, grace) {
            self.end(Signal::Kill, PATIENCE);
        }
    }

    /// What this run of the server has written, at most the last 256 kB of it.
    pub(crate) fn log_text(&self) -> String {
        let bytes = std::fs::read(&self.log).unwrap_or_default();
        let start = usize::try_from(self.log_start)
            .unwrap_or(0)
            .max(bytes.len().saturating_sub(256 * 1024));
        String::from_utf8_lossy(bytes.get(start..).unwrap_or_default()).into_owned()
    }

    pub(crate) fn start_error(&self, reason: String) -> ServiceError {
        ServiceError::Start {
            service: self.service,
            reason,
            log: tail(&self.log_text(), 30),
        }
    }

    fn end(&mut self, signal: Signal, timeout: Duration) -> bool {
        self.signal(signal);
        self.wait_until(timeout, |s| s.ended.is_some())
    }

    fn wait_until(&self, timeout: Duration, done: impl Fn(&Status) -> bool) -> bool {
        let (status, changed) = &*self.status;
        let waited = changed
            .wait_timeout_while(lock(status), timeout, |s| !done(s))
            .unwrap_or_else(PoisonError::into_inner);
        !waited.1.timed_out()
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.end(Signal::Kill, PATIENCE);
        }
        // Now the supervisor ends by itself; a closed pipe ends it in any case.
        drop(self.input.take());
        let _ = self.supervisor.wait();
    }
}

fn follow(output: impl BufRead, shared: &Shared) {
    for line in output.lines().map_while(Result::ok) {
        let mut status = lock(&shared.0);
        match line.split_once(' ') {
            Some(("pid", n)) => status.pid = n.parse().ok(),
            None if line == "stopped" => status.stopped += 1,
            Some(("exit", n)) => {
                status.ended = n.parse().ok().map(|n: i32| match n {
                    ..0 => Ended::Signal(-n),
                    _ => Ended::Code(n),
                });
            }
            _ => {}
        }
        shared.1.notify_all();
    }
    lock(&shared.0).ended.get_or_insert(Ended::Unsupervised);
    shared.1.notify_all();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::place::RunDir;
    use super::*;

    fn sh(dir: &RunDir, script: &str) -> Result<Supervised, ServiceError> {
        Supervised::spawn(Launch {
            service: "sh",
            program: Path::new("/bin/sh"),
            args: vec!["-c".to_owned(), script.to_owned()],
            env: Vec::new(),
            log: dir.path().join("log"),
            remove: None,
        })
    }

    #[test]
    fn a_server_that_ends_early_is_an_error_that_quotes_its_log() {
        let dir = RunDir::new("process").unwrap();
        let server = sh(&dir, "echo the port is taken; exit 3").unwrap();
        let error = server
            .wait_ready(PATIENCE, "readiness", || false)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("exit code 3") && error.contains("the port is taken"),
            "{error}"
        );
    }

    #[test]
    fn a_server_that_is_never_ready_is_an_error_that_says_what_was_waited_for() {
        let dir = RunDir::new("process").unwrap();
        let server = sh(&dir, "echo starting; sleep 600").unwrap();
        let error = server
            .wait_ready(Duration::from_millis(200), "an answer on port 1", || false)
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("an answer on port 1 did not happen"),
            "{error}"
        );
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error_that_names_it() {
        let dir = RunDir::new("process").unwrap();
        let error = Supervised::spawn(Launch {
            service: "none",
            program: Path::new("/no/such/program"),
            args: vec![],
            env: Vec::new(),
            log: dir.path().join("log"),
            remove: None,
        })
        .err()
        .unwrap();
        assert!(error.to_string().contains("/no/such/program"), "{error}");
    }

    #[test]
    fn stop_ends_a_server_that_ignores_term() {
        let dir = RunDir::new("process").unwrap();
        let server = sh(&dir, "trap '' TERM; echo up; while :; do sleep 0.1; done").unwrap();
        server
            .wait_ready(PATIENCE, "up", || server.log_text().contains("up"))
            .unwrap();
        let status = Arc::clone(&server.status);
        server.stop(Duration::from_millis(100));
        assert_eq!(lock(&status.0).ended, Some(Ended::Signal(9)));
    }
}
