//! ClickHouse for tests: the real engine in a process of its own, or an external server.
//!
//! The engine is chDB (ClickHouse as a library) behind the HTTP front `services/clickhouse_http.py`: all types and
//! formats, deduplication tokens, durability and error codes are the engine's; only the HTTP layer is ours. What it does
//! not have: ReplicatedMergeTree, users and quotas, progress headers, TLS.

use super::clickhouse_client::Client;
use super::error::ServiceError;
use super::place::{RunDir, free_port, random};
use super::process::{Launch, Signal, Slot, Supervised};
use super::{python, skip};
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

const FRONT: &str = include_str!("../../services/clickhouse_http.py");
const NAME: &str = "ClickHouse";

/// How [`ClickHouse::start`] starts the server.
#[derive(Debug, Clone)]
pub struct ClickHouseOptions {
    /// Where the data is kept and stays. Default: a temporary folder that is removed with the server.
    pub data_dir: Option<PathBuf>,
    /// The port on 127.0.0.1. Default 0: a free one.
    pub port: u16,
    /// Users as (name, password). Default: `default` without a password. The first one is used by this handle.
    pub users: Vec<(String, String)>,
    /// How long to wait for readiness. Default 60 s.
    pub ready_timeout: Duration,
}

impl Default for ClickHouseOptions {
    fn default() -> ClickHouseOptions {
        ClickHouseOptions {
            data_dir: None,
            port: 0,
            users: Vec::new(),
            ready_timeout: Duration::from_secs(60),
        }
    }
}

/// What an injected fault does to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Answers with the error code; nothing ran.
    Error,
    /// Closes the connection; nothing ran.
    Drop,
    /// Answers with the error code although the statement ran.
    ErrorAfter,
    /// Closes the connection although the statement ran: applied, but the answer is lost.
    DropAfter,
    /// Answers 200 with the error in the exception header and the body; nothing ran.
    Hidden,
    /// Waits `code` milliseconds, then runs the statement.
    Delay,
}

impl FaultKind {
    fn name(self) -> &'static str {
        match self {
            FaultKind::Error => "error",
            FaultKind::Drop => "drop",
            FaultKind::ErrorAfter => "error_after",
            FaultKind::DropAfter => "drop_after",
            FaultKind::Hidden => "hidden",
            FaultKind::Delay => "delay",
        }
    }
}

/// A ClickHouse server. Dropping the handle of a server that [`ClickHouse::start`] started ends the server.
pub struct ClickHouse {
    client: Client,
    own: Option<Own>,
}

struct Own {
    // Before `run_dir`: the process must be gone before its folder goes.
    process: Slot,
    options: ClickHouseOptions,
    port: u16,
    python: PathBuf,
    run_dir: RunDir,
}

impl ClickHouse {
    /// Starts a server, installing the engine first if need be, and waits until it answers.
    ///
    /// # Errors
    /// A missing prerequisite, a failed install, or a server that ended or stayed silent, with the end of its log.
    pub fn start(options: ClickHouseOptions) -> Result<ClickHouse, ServiceError> {
        let python = python::interpreter()?;
        let mut tries_left = 3;
        loop {
            let port = if options.port == 0 {
                free_port()?
            } else {
                options.port
            };
            match ClickHouse::start_on(port, options.clone(), python.clone()) {
                // Another process can take the free port between the look and the bind.
                Err(ServiceError::Start { log, .. })
                    if options.port == 0
                        && tries_left > 0
                        && log.contains("Address already in use") =>
                {
                    tries_left -= 1;
                }
                done => return done,
            }
        }
    }

    fn start_on(
        port: u16,
        options: ClickHouseOptions,
        python: PathBuf,
    ) -> Result<ClickHouse, ServiceError> {
        let run_dir = RunDir::new("clickhouse")?;
        let front = run_dir.path().join("clickhouse_http.py");
        fs::write(&front, FRONT).map_err(ServiceError::io("write", &front))?;
        let (user, password) = options
            .users
            .first()
            .cloned()
            .unwrap_or(("default".to_owned(), String::new()));
        let client = Client::new(
            &format!("http://127.0.0.1:{port}"),
            Some(user),
            Some(password),
        );
        let own = Own {
            process: Slot::default(),
            options,
            port,
            python,
            run_dir,
        };
        own.process.start(|| own.launch(&client))?;
        Ok(ClickHouse {
            client,
            own: Some(own),
        })
    }

    /// The one server of this process, started on first use; or the external one that `SPATE_CLICKHOUSE_URL` names
    /// (`http://user:password@host:8123`). Tests share it, so each works in a database of its own
    /// ([`ClickHouse::create_database`]) and none kills it or injects faults that match another test's statements.
    ///
    /// # Errors
    /// As [`ClickHouse::start`]; every call reports the same error.
    pub fn shared() -> Result<&'static ClickHouse, ServiceError> {
        static SHARED: OnceLock<Result<ClickHouse, ServiceError>> = OnceLock::new();
        SHARED
            .get_or_init(|| {
                match std::env::var("SPATE_CLICKHOUSE_URL")
                    .ok()
                    .filter(|u| !u.is_empty())
                {
                    Some(url) => ClickHouse::external(&url),
                    None => ClickHouse::start(ClickHouseOptions::default()),
                }
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// [`ClickHouse::shared`] for tests: `None`, counted, when `SPATE_SKIP` names `clickhouse`.
    ///
    /// # Panics
    /// When there is no server, with the command that installs what is missing.
    pub fn required() -> Option<&'static ClickHouse> {
        skip::required(skip::Service::ClickHouse, ClickHouse::shared)
    }

    /// [`ClickHouse::start`] for tests that kill their server or make it fail: `None`, counted, when `SPATE_SKIP` names
    /// `clickhouse`.
    ///
    /// # Panics
    /// When the server does not start, with the command that installs what is missing.
    pub fn required_own(options: ClickHouseOptions) -> Option<ClickHouse> {
        skip::required(skip::Service::ClickHouse, || ClickHouse::start(options))
    }

    /// A server that somebody else runs.
    ///
    /// # Errors
    /// [`ServiceError::Unreachable`] when it does not answer a ping.
    pub fn external(url: &str) -> Result<ClickHouse, ServiceError> {
        let client = Client::new(url, None, None);
        if !client.ping() {
            let detail = "no answer to /ping".to_owned();
            return Err(ServiceError::Unreachable {
                service: NAME,
                url: client.url,
                detail,
            });
        }
        Ok(ClickHouse { client, own: None })
    }

    /// The base URL, without credentials or a final slash.
    pub fn url(&self) -> &str {
        &self.client.url
    }

    /// The user this handle works as.
    pub fn user(&self) -> &str {
        &self.client.user
    }

    /// The password of [`ClickHouse::user`].
    pub fn password(&self) -> &str {
        &self.client.password
    }

    /// The process id of the server while it runs; none for an external one.
    pub fn pid(&self) -> Option<u32> {
        self.own.as_ref().and_then(|own| own.process.pid())
    }

    /// The server's log; none for an external one. It goes away with the handle.
    pub fn log(&self) -> Option<PathBuf> {
        self.own.as_ref().map(|own| own.run_dir.path().join("log"))
    }

    /// Runs one statement and returns its answer, tab separated unless the statement has a `FORMAT`.
    ///
    /// # Errors
    /// [`ServiceError::Query`] with the server's code, or [`ServiceError::Unreachable`].
    pub fn query(&self, sql: &str) -> Result<String, ServiceError> {
        self.query_with(sql, &[])
    }

    /// [`ClickHouse::query`] with URL parameters: settings, `database`, `param_*`.
    ///
    /// # Errors
    /// As [`ClickHouse::query`].
    pub fn query_with(&self, sql: &str, params: &[(&str, &str)]) -> Result<String, ServiceError> {
        let answer = self.client.post("/", params, sql.as_bytes())?;
        Ok(String::from_utf8_lossy(&answer)
            .trim_end_matches('\n')
            .to_owned())
    }

    /// Runs one statement whose answer does not matter.
    ///
    /// # Errors
    /// As [`ClickHouse::query`].
    pub fn execute(&self, sql: &str) -> Result<(), ServiceError> {
        self.query(sql).map(drop)
    }

    /// Runs an `INSERT ... FORMAT x` with `body` as its data.
    ///
    /// # Errors
    /// As [`ClickHouse::query`].
    pub fn insert(
        &self,
        sql: &str,
        params: &[(&str, &str)],
        body: &[u8],
    ) -> Result<(), ServiceError> {
        let mut all = vec![("query", sql)];
        all.extend_from_slice(params);
        self.client.post("/", &all, body).map(drop)
    }

    /// Creates a database of a new name that starts with `prefix`. It is dropped with the handle.
    ///
    /// # Errors
    /// As [`ClickHouse::query`].
    pub fn create_database(&self, prefix: &str) -> Result<Database<'_>, ServiceError> {
        let name = format!("{prefix}_{:016x}", random());
        self.execute(&format!("CREATE DATABASE `{name}`"))?;
        Ok(Database { server: self, name })
    }

    /// Makes the next `count` statements that contain `matching` fail. `code` is ClickHouse's error code (milliseconds
    /// for [`FaultKind::Delay`]). Faults are used up in the order in which they were made.
    ///
    /// # Errors
    /// [`ServiceError::State`] for an external server.
    pub fn fault(
        &self,
        kind: FaultKind,
        code: u32,
        count: u32,
        matching: &str,
    ) -> Result<(), ServiceError> {
        self.own()?;
        let (code, count) = (code.to_string(), count.to_string());
        let params = [
            ("kind", kind.name()),
            ("code", &code),
            ("count", &count),
            ("match", matching),
        ];
        self.client.post("/_fault", &params, b"").map(drop)
    }

    /// Forgets all injected faults.
    ///
    /// # Errors
    /// As [`ClickHouse::fault`].
    pub fn clear_faults(&self) -> Result<(), ServiceError> {
        self.own()?;
        self.client
            .post("/_fault", &[("clear", "1")], b"")
            .map(drop)
    }

    /// Kills the server as `kill -9` does. What it had acknowledged is there after [`ClickHouse::restart`].
    ///
    /// # Errors
    /// [`ServiceError::State`] for an external server.
    pub fn kill(&self) -> Result<(), ServiceError> {
        self.own()?.process.kill();
        Ok(())
    }

    /// Ends the server in an orderly way; after 10 s it is killed.
    ///
    /// # Errors
    /// [`ServiceError::State`] for an external server.
    pub fn stop(&self) -> Result<(), ServiceError> {
        self.own()?.process.stop(Duration::from_secs(10));
        Ok(())
    }

    /// Starts the server again on the same port and data, after killing it if it runs.
    ///
    /// # Errors
    /// As [`ClickHouse::start`]; [`ServiceError::State`] for an external server.
    pub fn restart(&self) -> Result<(), ServiceError> {
        let own = self.own()?;
        own.process.start(|| own.launch(&self.client))
    }

    /// Freezes the server: connections stay open and nothing is answered.
    ///
    /// # Errors
    /// [`ServiceError::State`] when the server is stopped or external.
    pub fn pause(&self) -> Result<(), ServiceError> {
        self.signal(Signal::Stop)
    }

    /// Ends [`ClickHouse::pause`].
    ///
    /// # Errors
    /// [`ServiceError::State`] when the server is stopped or external.
    pub fn resume(&self) -> Result<(), ServiceError> {
        self.signal(Signal::Cont)
    }

    fn signal(&self, signal: Signal) -> Result<(), ServiceError> {
        if self.own()?.process.signal(signal) {
            return Ok(());
        }
        Err(ServiceError::state(
            NAME,
            "the server is stopped; restart it first",
        ))
    }

    fn own(&self) -> Result<&Own, ServiceError> {
        self.own.as_ref().ok_or_else(|| {
            ServiceError::state(
                NAME,
                "this is an external server, which tests neither stop nor make fail",
            )
        })
    }
}

impl Own {
    fn launch(&self, client: &Client) -> Result<Supervised, ServiceError> {
        let run = self.run_dir.path();
        let data = self
            .options
            .data_dir
            .clone()
            .unwrap_or_else(|| run.join("data"));
        fs::create_dir_all(&data).map_err(ServiceError::io("create", &data))?;
        let path = |p: &std::path::Path| p.to_string_lossy().into_owned();
        let mut args = vec!["-I".to_owned(), path(&run.join("clickhouse_http.py"))];
        args.extend([
            "--path".to_owned(),
            path(&data),
            "--tmp".to_owned(),
            path(&run.join("spool")),
        ]);
        args.extend([
            "--port".to_owned(),
            self.port.to_string(),
            "--faults".to_owned(),
        ]);
        for (user, password) in &self.options.users {
            args.extend(["--user".to_owned(), format!("{user}:{password}")]);
        }
        let process = Supervised::spawn(Launch {
            service: NAME,
            program: &self.python,
            args,
            env: Vec::new(),
            log: run.join("log"),
            remove: self.options.data_dir.is_none().then(|| run.to_owned()),
        })?;
        // Its own word first: on a taken port somebody else would answer the ping.
        process.wait_ready(self.options.ready_timeout, "an answer to /ping", || {
            process.log_text().contains("ready on ") && client.ping()
        })?;
        Ok(process)
    }
}

/// A database of a test's own, dropped with this handle (best effort: a killed server keeps it).
pub struct Database<'a> {
    server: &'a ClickHouse,
    name: String,
}

impl Database<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server it is in.
    pub fn server(&self) -> &ClickHouse {
        self.server
    }

    /// [`ClickHouse::query`] with this database as the current one.
    ///
    /// # Errors
    /// As [`ClickHouse::query`].
    pub fn query(&self, sql: &str) -> Result<String, ServiceError> {
        self.server.query_with(sql, &[("database", &self.name)])
    }

    /// [`ClickHouse::execute`] with this database as the current one.
    ///
    /// # Errors
    /// As [`ClickHouse::query`].
    pub fn execute(&self, sql: &str) -> Result<(), ServiceError> {
        self.query(sql).map(drop)
    }

    /// [`ClickHouse::insert`] with this database as the current one.
    ///
    /// # Errors
    /// As [`ClickHouse::query`].
    pub fn insert(
        &self,
        sql: &str,
        params: &[(&str, &str)],
        body: &[u8],
    ) -> Result<(), ServiceError> {
        let mut all = vec![("database", self.name.as_str())];
        all.extend_from_slice(params);
        self.server.insert(sql, &all, body)
    }
}

impl Drop for Database<'_> {
    fn drop(&mut self) {
        // A killed server has no answer, and the test that failed has already said why.
        let _ = self
            .server
            .execute(&format!("DROP DATABASE IF EXISTS `{}`", self.name));
    }
}
