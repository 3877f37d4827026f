//! The other libraries: a program of a workspace of its own (`bench/peers`), so that nothing of theirs is in ours.
//!
//! It loads the payloads and then, for each line on its standard input, runs one pass and prints a line, so that their rounds take turns
//! with ours. Callgrind counts it as it counts our variants.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::orders::Kind;
use super::shared::Written;
use super::{Error, ORDERS, callgrind};

/// A library, by the name that the program knows, and what it does.
pub(crate) const PEERS: [(&str, &str); 4] = [
    (
        "spate_default",
        "published spate 0.2.0, `build_serde`: its documented default",
    ),
    (
        "spate_best",
        "published spate 0.2.0, borrowed: the row's fields, its best",
    ),
    (
        "serde_avro_fast",
        "serde_avro_fast 2.1.2, borrowed: the row's fields",
    ),
    (
        "apache_avro",
        "apache-avro 0.22, `Value` to a struct: all fields",
    ),
];

/// What they are compared with.
pub(crate) const BASE: &str = "pushdown";

/// The built program.
pub(crate) struct Program {
    path: PathBuf,
    payloads: PathBuf,
}

impl Program {
    /// Builds it; the first time takes some minutes.
    pub(crate) fn build(bench: &Path, dir: &Path) -> Result<Program, Error> {
        let target = dir.join("peers");
        let manifest = bench.join("peers/Cargo.toml");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let command = format!(
            "cargo build --release --locked --manifest-path {}",
            manifest.display()
        );
        println!(
            "avro: building the other libraries in {} (`--ours` does without them)",
            target.display()
        );
        let output = Command::new(cargo)
            .args([
                "build",
                "--release",
                "--locked",
                "--quiet",
                "--manifest-path",
            ])
            .arg(manifest)
            .arg("--target-dir")
            .arg(&target)
            .output()
            .map_err(|error| Error::Start {
                command: command.clone(),
                error,
                advice: "",
            })?;
        if !output.status.success() {
            let output_text = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(Error::Failed {
                command,
                status: output.status,
                output: output_text,
            });
        }
        Ok(Program {
            path: target.join("release/spate-bench-peers"),
            payloads: Kind::Plain.path(dir),
        })
    }

    /// Instructions per record of a library.
    pub(crate) fn count(&self, dir: &Path, name: &str) -> Result<f64, Error> {
        callgrind::record(dir, name, &self.path, |passes| {
            let counted = super::COUNTED.to_string();
            vec![
                name.into(),
                self.payloads.clone().into(),
                counted.into(),
                passes.into(),
            ]
        })
    }

    /// Starts it for one library; it ends when the answer is dropped.
    pub(crate) fn start(&self, name: &'static str) -> Result<Peer, Error> {
        let mut child = Command::new(&self.path)
            .arg(name)
            .arg(&self.payloads)
            .arg(ORDERS.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Error::Start {
                command: self.path.display().to_string(),
                error,
                advice: "",
            })?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are piped")
        };
        Ok(Peer {
            name,
            child,
            input: Some(input),
            output: BufReader::new(output),
        })
    }
}

/// A library in a running child.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// One pass whose rows are hashed.
    pub(crate) fn hash(&mut self) -> Result<Written, Error> {
        self.ask("hash").map(|(_, written)| written)
    }

    /// Nanoseconds per record of one pass.
    pub(crate) fn time(&mut self) -> Result<f64, Error> {
        self.ask("time")
            .map(|(nanos, _)| nanos as f64 / ORDERS as f64)
    }

    fn ask(&mut self, what: &str) -> Result<(u64, Written), Error> {
        let mut line = String::new();
        let asked = match &mut self.input {
            Some(input) => {
                writeln!(input, "{what}").and_then(|()| self.output.read_line(&mut line))
            }
            None => Ok(0),
        };
        let numbers: Vec<u64> = line
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        match (asked, numbers.as_slice()) {
            (Ok(_), [nanos, rows, bytes, hash]) => Ok((
                *nanos,
                Written {
                    rows: *rows,
                    bytes: *bytes,
                    hash: *hash,
                },
            )),
            // What went wrong it has said on the standard error, which is ours.
            _ => Err(Error::Peer {
                name: self.name,
                line,
            }),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The end of its input is the end of it.
        self.input = None;
        let _ = self.child.wait();
    }
}
