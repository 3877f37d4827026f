//! The program as a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait for anything; only what hangs takes so long.
const LIMIT: Duration = Duration::from_secs(60);

type Text = Arc<Mutex<String>>;

/// A running program. Dropping it kills it.
pub(crate) struct Process {
    child: Child,
    out: Text,
    err: Text,
    config: PathBuf,
}

/// How a program ended.
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl End {
    /// The lines of standard error from the report on.
    pub(crate) fn report(&self) -> String {
        let start = self.err.find("pipeline `").expect("a report");
        self.err[start..].to_owned()
    }
}

/// A path of this process's own in the temporary folder.
pub(crate) fn path(what: &str) -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!(
        "spate-program-{}-{number}.{what}",
        std::process::id()
    ))
}

pub(crate) fn command(kind: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .env("SPATE_PROGRAM", kind)
        .env("RUST_LOG", "info")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

impl Process {
    /// Starts the program with a configuration.
    pub(crate) fn start(kind: &str, yaml: &str) -> Process {
        Process::with(command(kind), yaml)
    }

    pub(crate) fn with(mut command: Command, yaml: &str) -> Process {
        let config = path("yaml");
        std::fs::write(&config, yaml).expect("a configuration file");
        command.arg("--config").arg(&config);
        let mut child = command.spawn().expect("the program starts");
        let out = keep(child.stdout.take());
        let err = keep(child.stderr.take());
        Process {
            child,
            out,
            err,
            config,
        }
    }

    /// Waits until it has written `text`.
    pub(crate) fn wrote(&mut self, text: &str) {
        let (out, err) = (Arc::clone(&self.out), Arc::clone(&self.err));
        self.until(&format!("`{text}` is written"), || {
            read(&out).contains(text) || read(&err).contains(text)
        });
    }

    /// Waits until `condition` holds.
    pub(crate) fn until(&mut self, what: &str, condition: impl Fn() -> bool) {
        let end = Instant::now() + LIMIT;
        while !condition() {
            let ended = self.child.try_wait().expect("a child");
            assert!(
                ended.is_none() && Instant::now() < end,
                "never: {what}; {ended:?}\n{}\n{}",
                read(&self.out),
                read(&self.err)
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("sh")
            .args(["-c", "kill -s \"$0\" \"$1\"", name, &pid])
            .status();
        assert!(status.is_ok_and(|status| status.success()), "SIG{name}");
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> End {
        let end = Instant::now() + LIMIT;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(
                Instant::now() < end,
                "it does not end\n{}\n{}",
                read(&self.out),
                read(&self.err)
            );
            thread::sleep(Duration::from_millis(5));
        };
        // The readers hold the texts until the pipes end.
        while Arc::strong_count(&self.out) + Arc::strong_count(&self.err) > 2 {
            assert!(Instant::now() < end, "a pipe does not end");
            thread::sleep(Duration::from_millis(1));
        }
        End {
            code: status.code(),
            signal: status.signal(),
            out: read(&self.out),
            err: read(&self.err),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only when it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Best effort: a small file in the temporary folder.
        let _ = std::fs::remove_file(&self.config);
    }
}

fn read(text: &Text) -> String {
    text.lock().expect("not poisoned").clone()
}

fn keep(pipe: Option<impl Read + Send + 'static>) -> Text {
    let text = Text::default();
    if let Some(pipe) = pipe {
        let text = Arc::clone(&text);
        thread::spawn(move || {
            let mut line = String::new();
            let mut pipe = BufReader::new(pipe);
            while pipe.read_line(&mut line).is_ok_and(|read| read > 0) {
                text.lock().expect("not poisoned").push_str(&line);
                line.clear();
            }
        });
    }
    text
}
