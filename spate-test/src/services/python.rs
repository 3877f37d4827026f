//! The private Python environment of the ClickHouse front: pinned packages, kept apart from the system's.

use super::error::ServiceError;
use super::{install, prerequisites};
use std::path::PathBuf;
use std::process::Command;

/// What is installed, to the version. chdb-core declares pandas and pyarrow too (330 MB), which it does not need for
/// text and binary formats, so nothing is installed beyond this list.
const PACKAGES: [&str; 4] = [
    "chdb-core==26.9.0",
    "lz4==4.4.5",
    "clickhouse-cityhash==1.0.2.6",
    "zstandard==0.25.0",
];

/// The interpreter of the environment, installed if need be.
pub(crate) fn interpreter() -> Result<PathBuf, ServiceError> {
    let needed = prerequisites::for_python();
    for prerequisite in &needed {
        prerequisite.check()?;
    }
    // An environment is tied to the interpreter it was made with.
    let system = needed
        .first()
        .and_then(|p| p.found.clone().ok())
        .unwrap_or_default();
    let pins = format!("{system}\n{}", PACKAGES.join("\n"));
    let dir = install::installed("python", &pins, |site| {
        let dir = site.dir;
        eprintln!(
            "spate-test: installing the ClickHouse engine into {} (190 MB to fetch, once)",
            dir.display()
        );
        site.run(
            "the Python environment",
            Command::new("python3").args(["-m", "venv"]).arg(dir),
        )?;
        site.run(
            "the ClickHouse engine",
            Command::new(dir.join("bin/python"))
                .args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--no-input",
                    "--no-deps",
                ])
                .args(["--prefer-binary", "--only-binary", "chdb-core"])
                .args(PACKAGES),
        )?;
        eprintln!("spate-test: the ClickHouse engine is installed");
        Ok(())
    })?;
    Ok(dir.join("bin/python"))
}
