//! The cache folder, and the rule by which something is installed into it: once, by one process at a time, and never
//! used half made.

use super::error::{ServiceError, tail};
use super::{maven, python};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

const COMPLETE: &str = ".complete";

/// Where installed services are kept: `$SPATE_CACHE`, else `$XDG_CACHE_HOME/spate`, else `~/.cache/spate`.
///
/// # Errors
/// [`ServiceError::State`] when none of the three variables is set.
pub fn cache_dir() -> Result<PathBuf, ServiceError> {
    let var = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    var("SPATE_CACHE")
        .or_else(|| var("XDG_CACHE_HOME").map(|d| d.join("spate")))
        .or_else(|| var("HOME").map(|d| d.join(".cache").join("spate")))
        .ok_or_else(|| {
            ServiceError::state(
                "cache",
                "none of SPATE_CACHE, XDG_CACHE_HOME and HOME is set; set SPATE_CACHE",
            )
        })
}

/// Fetches everything that [`super::ClickHouse`] and [`super::ApacheKafka`] need (about 250 MB) into [`cache_dir`], so
/// that later starts need no network. Progress goes to standard error.
///
/// # Errors
/// The first prerequisite that is missing, or the first step that fails.
pub fn install_all() -> Result<(), ServiceError> {
    python::interpreter()?;
    maven::kafka_jars()?;
    Ok(())
}

/// A folder that is being installed, under its lock.
pub(crate) struct Site<'a> {
    pub(crate) dir: &'a Path,
    lock: &'a File,
}

impl Site<'_> {
    /// Runs one step. The command holds the lock too (as its standard input): when this process is killed, the next one
    /// waits until the command has stopped writing.
    pub(crate) fn run(&self, what: &str, command: &mut Command) -> Result<(), ServiceError> {
        let lock = self
            .lock
            .try_clone()
            .map_err(ServiceError::io("share the lock of", self.dir))?;
        run_step(what, command.stdin(lock))
    }
}

/// The folder `name-<hash of pins>` of the cache, made by `make` unless it is there already.
///
/// Processes that ask at the same time wait for the first one (a file lock, which ends with its process). The marker
/// file is written last: a folder without it is left over from an interrupted install and made anew.
pub(crate) fn installed(
    name: &str,
    pins: &str,
    make: impl FnOnce(&Site<'_>) -> Result<(), ServiceError>,
) -> Result<PathBuf, ServiceError> {
    installed_in(&cache_dir()?, name, pins, make)
}

fn installed_in(
    cache: &Path,
    name: &str,
    pins: &str,
    make: impl FnOnce(&Site<'_>) -> Result<(), ServiceError>,
) -> Result<PathBuf, ServiceError> {
    let dir = cache.join(format!("{name}-{:016x}", fnv1a(pins)));
    let marker = dir.join(COMPLETE);
    if marker.exists() {
        return Ok(dir);
    }
    fs::create_dir_all(cache).map_err(ServiceError::io("create", cache))?;
    let lock_path = cache.join(format!("{name}.lock"));
    let lock = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&lock_path)
        .map_err(ServiceError::io("create", &lock_path))?;
    if lock.try_lock().is_err() {
        eprintln!("spate-test: another process installs {name}; waiting for it");
        lock.lock().map_err(ServiceError::io("lock", &lock_path))?;
    }
    if marker.exists() {
        return Ok(dir);
    }
    if dir.exists() {
        fs::remove_dir_all(&dir).map_err(ServiceError::io("remove", &dir))?;
    }
    fs::create_dir_all(&dir).map_err(ServiceError::io("create", &dir))?;
    make(&Site {
        dir: &dir,
        lock: &lock,
    })?;
    fs::write(&marker, pins).map_err(ServiceError::io("write", &marker))?;
    Ok(dir)
}

/// Runs one step of an install; its output is quoted when it fails.
pub(crate) fn run_step(what: &str, command: &mut Command) -> Result<(), ServiceError> {
    let fail = |detail: String| ServiceError::Install {
        what: what.to_owned(),
        detail,
    };
    let shown = format!("{command:?}");
    let out = command
        .output()
        .map_err(|e| fail(format!("{shown}: {e}")))?;
    if out.status.success() {
        return Ok(());
    }
    let text = [out.stdout, out.stderr].concat();
    Err(fail(format!(
        "{shown} ended with {}:\n{}",
        out.status,
        tail(&String::from_utf8_lossy(&text), 20)
    )))
}

fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::super::place::RunDir;
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_half_made_install_is_made_anew_and_a_complete_one_is_kept() {
        let cache = RunDir::new("install").unwrap();
        let half = installed_in(cache.path(), "thing", "a==1", |site| {
            fs::write(site.dir.join("left-over"), "x").unwrap();
            Err(ServiceError::state("thing", "network gone"))
        });
        assert!(half.is_err());
        let dir = installed_in(cache.path(), "thing", "a==1", |site| {
            assert!(!site.dir.join("left-over").exists());
            fs::write(site.dir.join("file"), "y").map_err(ServiceError::io("write", site.dir))
        })
        .unwrap();
        let again = installed_in(cache.path(), "thing", "a==1", |_| panic!("made twice")).unwrap();
        assert_eq!(dir, again);
        assert!(again.join("file").exists());
    }

    #[test]
    fn other_pins_are_another_folder() {
        let cache = RunDir::new("install").unwrap();
        let one = installed_in(cache.path(), "thing", "a==1", |_| Ok(())).unwrap();
        let two = installed_in(cache.path(), "thing", "a==2", |_| Ok(())).unwrap();
        assert_ne!(one, two);
    }

    #[test]
    fn installs_at_the_same_time_happen_once() {
        let cache = RunDir::new("install").unwrap();
        let made = AtomicU32::new(0);
        std::thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    installed_in(cache.path(), "thing", "a==1", |_| {
                        made.fetch_add(1, Ordering::SeqCst);
                        std::thread::sleep(std::time::Duration::from_millis(50));
                        Ok(())
                    })
                    .unwrap();
                });
            }
        });
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_step_holds_the_lock_until_it_ends_even_without_its_installer() {
        let cache = RunDir::new("install").unwrap();
        let path = cache.path().join("lock");
        let lock = File::create(&path).unwrap();
        let site = Site {
            dir: cache.path(),
            lock: &lock,
        };
        // A lock belongs to the open file, which a step has as its standard input.
        let mut has_it = Command::new("sh");
        has_it
            .args(["-c", "test /dev/stdin -ef \"$1\"", "sh"])
            .arg(&path);
        site.run("a step", &mut has_it).unwrap();
    }
}
