//! A test that needs a server fails without it, unless `SPATE_SKIP` turns it off; then it is counted, never passed over
//! in silence.

use super::error::ServiceError;
use super::{ApacheKafka, ClickHouse};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::thread;

/// What a test can need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// [`super::ClickHouse`], `clickhouse`.
    ClickHouse,
    /// The embedded Kafka (feature `kafka`), `kafka`.
    Kafka,
    /// [`super::ApacheKafka`], `apache-kafka`.
    ApacheKafka,
}

impl Service {
    /// All of them.
    pub const ALL: [Service; 3] = [Service::ClickHouse, Service::Kafka, Service::ApacheKafka];

    /// The name that `SPATE_SKIP` and `stack` use.
    pub fn name(self) -> &'static str {
        match self {
            Service::ClickHouse => "clickhouse",
            Service::Kafka => "kafka",
            Service::ApacheKafka => "apache-kafka",
        }
    }
}

/// Ensures that `service` can be had, starting the shared one. `None` when `SPATE_SKIP` turns it off.
///
/// # Panics
/// When it cannot be had, with the command that installs what is missing.
pub fn require(service: Service) -> Option<()> {
    match service {
        Service::ClickHouse => ClickHouse::required().map(drop),
        Service::ApacheKafka => ApacheKafka::required().map(drop),
        // Compiled in or not: there is nothing to look for at run time.
        Service::Kafka => required(service, || Ok(())),
    }
}

pub(crate) fn required<T>(
    service: Service,
    get: impl FnOnce() -> Result<T, ServiceError>,
) -> Option<T> {
    if skipped(service) {
        return None;
    }
    match get() {
        Ok(found) => Some(found),
        Err(error) => panic!(
            "this test needs {name}: {error}\n(`stack doctor` lists what is missing; SPATE_SKIP={name} skips such tests)",
            name = service.name()
        ),
    }
}

/// Whether `SPATE_SKIP` (names with commas between) turns off tests that need `service`. If so, says so on standard
/// error and adds a line to [`skip_log`].
///
/// # Panics
/// When `SPATE_SKIP` has a name that no service has: a typo would turn off nothing and say nothing.
pub fn skipped(service: Service) -> bool {
    let list = std::env::var("SPATE_SKIP").unwrap_or_default();
    let names = parse(&list).unwrap_or_else(|error| panic!("{error}"));
    if !names.contains(&service) {
        return false;
    }
    let thread = thread::current();
    let test = thread.name().unwrap_or("unnamed");
    eprintln!(
        "skipped: {test} needs {}, which SPATE_SKIP turns off",
        service.name()
    );
    if let Err(error) = record(service, test) {
        eprintln!("skipped: not counted: {error}");
    }
    true
}

fn parse(list: &str) -> Result<Vec<Service>, String> {
    list.split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| {
            Service::ALL.into_iter().find(|s| s.name() == name).ok_or_else(|| {
                format!("SPATE_SKIP names `{name}`; the services are clickhouse, kafka and apache-kafka")
            })
        })
        .collect()
}

fn record(service: Service, test: &str) -> Result<(), ServiceError> {
    let path = skip_log();
    let line = format!("{}\t{test}\n", service.name());
    // One write of one line, so that processes at the same time do not mix theirs.
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .map_err(ServiceError::io("write", &path))
}

/// The file that counts skipped tests: `$SPATE_SKIP_LOG`, else `spate-skipped.tsv` in cargo's target folder, else in the
/// system's temporary folder.
pub fn skip_log() -> PathBuf {
    if let Some(path) = std::env::var_os("SPATE_SKIP_LOG").filter(|p| !p.is_empty()) {
        return path.into();
    }
    let exe = std::env::current_exe().unwrap_or_default();
    // cargo marks its target folder with this file.
    let target = exe
        .ancestors()
        .find(|dir| dir.join("CACHEDIR.TAG").exists())
        .map(PathBuf::from);
    target
        .unwrap_or_else(std::env::temp_dir)
        .join("spate-skipped.tsv")
}

/// The skipped tests since [`clear_skips`], as (service, test).
///
/// # Errors
/// [`ServiceError::Io`] when the file cannot be read; a missing file is no skip.
pub fn skips() -> Result<Vec<(String, String)>, ServiceError> {
    let path = skip_log();
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text
            .lines()
            .filter_map(|l| l.split_once('\t'))
            .map(|(s, t)| (s.to_owned(), t.to_owned()))
            .collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(ServiceError::io("read", &path)(error)),
    }
}

/// Starts counting anew.
///
/// # Errors
/// [`ServiceError::Io`] when the file cannot be removed.
pub fn clear_skips() -> Result<(), ServiceError> {
    let path = skip_log();
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ServiceError::io("remove", &path)(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_and_a_typo_is_an_error_that_names_it() {
        assert_eq!(
            parse(" clickhouse, apache-kafka ,"),
            Ok(vec![Service::ClickHouse, Service::ApacheKafka])
        );
        assert_eq!(parse(""), Ok(vec![]));
        let error = parse("click-house").unwrap_err();
        assert!(
            error.contains("click-house") && error.contains("clickhouse, kafka"),
            "{error}"
        );
    }

    #[test]
    #[should_panic(expected = "install it with `apt-get install -y x`")]
    fn a_missing_server_fails_the_test_with_the_install_command() {
        let missing = ServiceError::Missing {
            what: "x".into(),
            detail: "not there".into(),
            install: "apt-get install -y x".into(),
        };
        // Kafka is never in the list when this runs without SPATE_SKIP; with it, the panic must still come.
        if required::<()>(Service::Kafka, || Err(missing.clone())).is_none() {
            panic!("{missing}");
        }
    }
}
