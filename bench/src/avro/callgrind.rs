//! Counts instructions: this program runs itself under callgrind for each variant, once with one pass and once with two.
//!
//! Both load the same records, so that the difference is one pass and nothing else. Counts repeat exactly for one compiler, as far as
//! the C library's `memcpy` chooses the same way for the machine.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::orders::Orders;
use super::variants::VARIANTS;
use super::{COUNTED, Error};

/// Instructions per record by variant.
pub(crate) type Instructions = BTreeMap<&'static str, f64>;

/// Counts all variants of this process.
pub(crate) fn count(dir: &Path) -> Result<Instructions, Error> {
    let program = std::env::current_exe().map_err(|error| Error::file(dir, error))?;
    VARIANTS
        .iter()
        .map(|variant| {
            let payloads = Orders::path(dir, variant.kind);
            let arguments = |passes: &str| {
                [
                    "avro-pass".into(),
                    variant.name.into(),
                    payloads.clone().into_os_string(),
                    COUNTED.to_string().into(),
                    passes.into(),
                ]
            };
            let one = total(dir, variant.name, &program, &arguments("1"))?;
            let two = total(dir, variant.name, &program, &arguments("2"))?;
            Ok((variant.name, per_record(one, two)))
        })
        .collect()
}

/// The cost of a record from the totals of one and two passes.
pub(crate) fn per_record(one: u64, two: u64) -> f64 {
    two.saturating_sub(one) as f64 / COUNTED as f64
}

/// All instructions of a program. Its profile stays in `callgrind.NAME.out`, for `callgrind_annotate`.
pub(crate) fn total(
    dir: &Path,
    name: &str,
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
) -> Result<u64, Error> {
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
