//! Instructions of our variants as they were recorded, so that a change which costs more is seen before it is merged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Error;

/// How the file is written anew.
pub(crate) const COMMAND: &str = "cargo run --release -p spate-bench -- avro --record";

/// A variant may cost so much more than recorded.
const TOLERANCE: f64 = 1.03;

/// The file of recorded instructions: lines `name = number`, in the syntax of TOML.
pub(crate) struct Recorded {
    path: PathBuf,
}

impl Recorded {
    pub(crate) fn new(path: &Path) -> Self {
        Recorded {
            path: path.to_owned(),
        }
    }

    /// Writes what was counted.
    pub(crate) fn write(&self, instructions: &BTreeMap<&'static str, f64>) -> Result<(), Error> {
        let mut text = format!(
            "# Instructions per record of the compiled Avro codec. CI fails above +{:.0} %. Written by\n# `{COMMAND}`\nrustc = \"{}\"\n",
            (TOLERANCE - 1.0) * 100.0,
            compiler()?
        );
        for (name, count) in instructions {
            text += &format!("{name} = {count:.1}\n");
        }
        fs::write(&self.path, text).map_err(|error| Error::file(&self.path, error))?;
        println!("written: {}", self.path.display());
        Ok(())
    }

    /// Prints what was counted beside what was recorded and tells whether none costs more than it may.
    pub(crate) fn compare(
        &self,
        instructions: &BTreeMap<&'static str, f64>,
    ) -> Result<bool, Error> {
        let (compiled_by, recorded) = self.read()?;
        let found = compiler()?;
        if compiled_by != found {
            return Err(Error::OtherCompiler {
                path: self.path.clone(),
                recorded: compiled_by,
                found,
            });
        }
        let mut held = true;
        for (name, count) in instructions {
            let verdict = match recorded.get(*name) {
                None => {
                    held = false;
                    format!("FAILED: not recorded; run `{COMMAND}`")
                }
                Some(before) if *count > before * TOLERANCE => {
                    held = false;
                    format!(
                        "FAILED: {before:.1} are recorded; find out what it costs with `callgrind_annotate`, and if it is worth it run `{COMMAND}`"
                    )
                }
                Some(before) if count * TOLERANCE < *before => {
                    format!("ok, {before:.1} are recorded; keep it with `{COMMAND}`")
                }
                Some(before) => format!("ok, {before:.1} are recorded"),
            };
            println!("{name}: {count:.1} instructions per record: {verdict}");
        }
        Ok(held)
    }

    fn read(&self) -> Result<(String, BTreeMap<String, f64>), Error> {
        let text =
            fs::read_to_string(&self.path).map_err(|error| Error::file(&self.path, error))?;
        let mut compiler = String::new();
        let mut counts = BTreeMap::new();
        for (n, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = || Error::Recorded {
                path: self.path.clone(),
                line: n + 1,
                text: line.to_owned(),
            };
            let (name, value) = line.split_once(" = ").ok_or_else(wrong)?;
            match name {
                "rustc" => compiler = value.trim_matches('"').to_owned(),
                name => {
                    let count = value.parse().map_err(|_| wrong())?;
                    counts.insert(name.to_owned(), count);
                }
            }
        }
        Ok((compiler, counts))
    }
}

/// The compiler's version in one line.
fn compiler() -> Result<String, Error> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc)
        .arg("--version")
        .output()
        .map_err(|error| Error::Start {
            command: rustc.to_string_lossy().into_owned(),
            error,
            advice: "",
        })?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
