//! The program `orders` as a process: started, signalled, killed; its output kept line by line.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::settings::Settings;
use crate::wait::{Watched, eventually};

/// A running `orders`. Dropping it kills it.
pub struct OrdersProcess {
    child: Child,
    output: Arc<Mutex<String>>,
    readers: Vec<JoinHandle<()>>,
    config: Option<PathBuf>,
}

impl OrdersProcess {
    /// Starts the program `exe` with a configuration file of these settings.
    ///
    /// # Panics
    /// When the file cannot be written or the program not be started.
    #[must_use]
    pub fn start(exe: &str, settings: &Settings) -> OrdersProcess {
        let config = OrdersProcess::config_file(settings);
        let path = config.to_string_lossy().into_owned();
        let mut process = OrdersProcess::with_args(exe, &["--config", &path]);
        process.config = Some(config);
        process
    }

    /// Starts the program `exe` with these arguments.
    ///
    /// # Panics
    /// When the program cannot be started.
    #[must_use]
    pub fn with_args(exe: &str, args: &[&str]) -> OrdersProcess {
        let mut child = Command::new(exe)
            .args(args)
            .env("RUST_LOG", "info,spate_runtime=debug")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {exe}: {error}"));
        let output: Arc<Mutex<String>> = Arc::default();
        let stdout = child
            .stdout
            .take()
            .map(|pipe| keep(pipe, Arc::clone(&output)));
        let stderr = child
            .stderr
            .take()
            .map(|pipe| keep(pipe, Arc::clone(&output)));
        OrdersProcess {
            child,
            output,
            readers: stdout.into_iter().chain(stderr).collect(),
            config: None,
        }
    }

    /// Writes a configuration file of these settings into the temporary folder.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn config_file(settings: &Settings) -> PathBuf {
        let name = format!(
            "spate-it-{}-{:08x}.yaml",
            std::process::id(),
            fastrand::u32(..)
        );
        let path = std::env::temp_dir().join(name);
        write(&path, &settings.yaml());
        path
    }

    /// What it has written so far, to standard output and standard error.
    #[must_use]
    pub fn output(&self) -> String {
        self.output
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Waits until it has written `text`.
    ///
    /// # Panics
    /// When it ends before, or does not within [`LIMIT`](crate::LIMIT).
    pub fn wrote(&mut self, text: &str) {
        let output = Arc::clone(&self.output);
        let look = || {
            output
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .contains(text)
                .then_some(())
        };
        self.until(&format!("`{text}` in the output"), look);
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by its name: `TERM`, `INT`.
    ///
    /// # Panics
    /// When it cannot be sent.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        // The shell's own `kill`: a container need not have the program.
        let status = Command::new("sh")
            .args(["-c", "kill -s \"$0\" \"$1\"", name, &pid])
            .status();
        assert!(
            status.as_ref().is_ok_and(ExitStatus::success),
            "SIG{name} could not be sent: {status:?}"
        );
    }

    /// Kills it as `kill -9` does.
    pub fn kill(mut self) {
        self.end();
    }

    /// Waits for its end: the exit code, none if a signal ended it, and everything it has written.
    ///
    /// # Panics
    /// When it does not end within [`LIMIT`](crate::LIMIT).
    #[must_use]
    pub fn finish(mut self) -> (Option<i32>, String) {
        let status = eventually("the end of the process", || {
            self.child
                .try_wait()
                .unwrap_or_else(|error| panic!("cannot wait: {error}"))
        });
        for reader in self.readers.drain(..) {
            // It ends with the pipe.
            let _ = reader.join();
        }
        (status.code(), self.output())
    }

    fn end(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Watched for OrdersProcess {
    fn ended(&mut self) -> Option<String> {
        let status = self
            .child
            .try_wait()
            .unwrap_or_else(|error| panic!("cannot wait: {error}"))?;
        Some(format!("{status}\n{}", self.output()))
    }
}

impl Drop for OrdersProcess {
    fn drop(&mut self) {
        self.end();
        if let Some(config) = self.config.take() {
            // Best effort: a small file in the temporary folder.
            let _ = fs::remove_file(config);
        }
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text)
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

fn keep(pipe: impl Read + Send + 'static, output: Arc<Mutex<String>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            output
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push_str(&String::from_utf8_lossy(&line));
            line.clear();
        }
    })
}
