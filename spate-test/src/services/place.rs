//! Where a service runs: a folder of its own that goes away with it, and a port that nobody else takes meanwhile.

use super::error::ServiceError;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

/// A new folder under the system's temporary folder, removed on drop.
#[derive(Debug)]
pub(crate) struct RunDir(PathBuf);

impl RunDir {
    pub(crate) fn new(name: &str) -> Result<RunDir, ServiceError> {
        let dir = std::env::temp_dir().join(format!("spate-{name}-{:016x}", random()));
        fs::create_dir_all(&dir).map_err(ServiceError::io("create", &dir))?;
        Ok(RunDir(dir))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        // Best effort: a left-over folder in the temporary folder harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A free port of 127.0.0.1, below the range from which systems take the ports of outgoing connections: a server that
/// is killed and started again must find its port still free.
pub(crate) fn free_port() -> Result<u16, ServiceError> {
    for _ in 0..200 {
        let port = 16_000 + u16::try_from(random() % 16_000).unwrap_or(0);
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(ServiceError::state(
        "ports",
        "200 random ports between 16000 and 32000 were all taken",
    ))
}

/// A number that differs from call to call and from process to process.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
