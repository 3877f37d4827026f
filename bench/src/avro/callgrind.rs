//! Counts instructions: this program runs itself under callgrind for each variant, once with one pass and once with two.
//!
//! Both load the same records, so that the difference is one pass and nothing else. Counts repeat exactly for one compiler, as far as
//! the C library's `memcpy` chooses the same way for the machine.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;

use super::variants::Variant;
use super::{COUNTED, Error};

/// Instructions per record of a variant of this process.
pub(crate) fn variant(dir: &Path, variant: &Variant) -> Result<f64, Error> {
    let program = std::env::current_exe().map_err(|error| Error::file(dir, error))?;
    let payloads = variant.kind.path(dir);
    let counted = COUNTED.to_string();
    record(dir, variant.name, &program, |passes| {
        let words: [&OsStr; 5] = [
            "avro-pass".as_ref(),
            variant.name.as_ref(),
            payloads.as_ref(),
            counted.as_ref(),
            passes.as_ref(),
        ];
        words.map(OsStr::to_owned).to_vec()
    })
}

/// Instructions per record of a program; `arguments` get the number of passes.
pub(crate) fn record(
    dir: &Path,
    name: &str,
    program: &Path,
    arguments: impl Fn(&str) -> Vec<OsString>,
) -> Result<f64, Error> {
    let one = total(dir, name, program, &arguments("1"))?;
    let two = total(dir, name, program, &arguments("2"))?;
    Ok(two.saturating_sub(one) as f64 / COUNTED as f64)
}

/// All instructions of a program. Its profile stays in `callgrind.NAME.out`, for `callgrind_annotate`.
fn total(dir: &Path, name: &str, program: &Path, arguments: &[OsString]) -> Result<u64, Error> {
    let out = dir.join(format!("callgrind.{name}.out"));
    let mut option = OsStr::new("--callgrind-out-file=").to_owned();
    option.push(&out);
    let command = format!("valgrind {}", program.display());
    let output = Command::new("valgrind")
        .args(["--tool=callgrind".as_ref(), option.as_os_str()])
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|error| Error::Start {
            command: command.clone(),
            error,
            advice: "; it counts instructions and comes with the system's package `valgrind`",
        })?;
    if !output.status.success() {
        return Err(Error::Failed {
            command,
            status: output.status,
            output: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    let text = fs::read_to_string(&out).map_err(|error| Error::file(&out, error))?;
    text.lines()
        .find_map(|line| line.strip_prefix("totals:")?.trim().parse().ok())
        .ok_or(Error::NoTotals { path: out })
}
