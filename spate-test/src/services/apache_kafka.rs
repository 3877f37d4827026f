//! Apache Kafka for tests: the real broker, one node in KRaft mode, in a process of its own, or external brokers.

use super::error::ServiceError;
use super::place::{RunDir, free_port};
use super::process::{Launch, Signal, Slot, Supervised};
use super::{install, maven, prerequisites, skip};
use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

const PROPERTIES: &str = include_str!("../../services/server.properties");
const LOG4J: &str = include_str!("../../services/log4j2.xml");
const NAME: &str = "Apache Kafka";
/// Any 16 bytes in URL-safe base64: clusters here never meet.
const CLUSTER_ID: &str = "U3BhdGVUZXN0Q2x1c3RlcA";
/// Ready in half the time, and plenty fast for one broker.
const JVM: [&str; 3] = [
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Djava.awt.headless=true",
];

/// How [`ApacheKafka::start`] starts the broker.
#[derive(Debug, Clone)]
pub struct ApacheKafkaOptions {
    /// Where the data is kept and stays. Default: a temporary folder that is removed with the broker.
    pub data_dir: Option<PathBuf>,
    /// The broker's port on 127.0.0.1. Default 0: a free one.
    pub port: u16,
    /// Largest heap in MB. Default 512.
    pub heap_mb: u32,
    /// Broker properties that win over the built-in ones.
    pub properties: Vec<(String, String)>,
    /// Listeners beside the plain one, by name and protocol: `("TLS", "SSL")`. [`ApacheKafka::listener`] tells where they are.
    pub listeners: Vec<(String, String)>,
    /// Users that the data folder is formatted with: mechanism, name and password.
    pub scram_users: Vec<(String, String, String)>,
    /// How long to wait for readiness. Default 120 s.
    pub ready_timeout: Duration,
}

impl Default for ApacheKafkaOptions {
    fn default() -> ApacheKafkaOptions {
        ApacheKafkaOptions {
            data_dir: None,
            port: 0,
            heap_mb: 512,
            properties: Vec::new(),
            listeners: Vec::new(),
            scram_users: Vec::new(),
            ready_timeout: Duration::from_secs(120),
        }
    }
}

/// An Apache Kafka broker. Dropping the handle of a broker that [`ApacheKafka::start`] started ends the broker.
pub struct ApacheKafka {
    brokers: String,
    own: Option<Own>,
}

struct Own {
    // Before `run_dir`: the process must be gone before its folder goes.
    process: Slot,
    options: ApacheKafkaOptions,
    port: u16,
    /// The ports of the additional listeners, in the options' order.
    ports: Vec<u16>,
    jars: PathBuf,
    run_dir: RunDir,
}

impl ApacheKafka {
    /// Starts a broker, fetching Apache Kafka first if need be, and waits until it serves.
    ///
    /// # Errors
    /// A missing prerequisite, a failed install, or a broker that ended or was not ready, with the end of its log.
    pub fn start(options: ApacheKafkaOptions) -> Result<ApacheKafka, ServiceError> {
        prerequisites::python().check()?;
        prerequisites::java().check()?;
        let jars = maven::kafka_jars()?;
        let mut tries_left = 3;
        loop {
            let port = if options.port == 0 {
                free_port()?
            } else {
                options.port
            };
            match ApacheKafka::start_on(port, options.clone(), jars.clone()) {
                // Another process can take a free port between the look and the bind.
                Err(ServiceError::Start { log, .. })
                    if tries_left > 0 && log.contains("Address already in use") =>
                {
                    tries_left -= 1;
                }
                done => return done,
            }
        }
    }

    fn start_on(
        port: u16,
        options: ApacheKafkaOptions,
        jars: PathBuf,
    ) -> Result<ApacheKafka, ServiceError> {
        let run_dir = RunDir::new("apache-kafka")?;
        let ports = options.listeners.iter().map(|_| free_port());
        let own = Own {
            process: Slot::default(),
            ports: ports.collect::<Result<_, _>>()?,
            options,
            port,
            jars,
            run_dir,
        };
        own.configure()?;
        own.process.start(|| own.launch())?;
        Ok(ApacheKafka {
            brokers: format!("127.0.0.1:{port}"),
            own: Some(own),
        })
    }

    /// The one broker of this process, started on first use; or the external ones that `SPATE_KAFKA_BROKERS` names.
    /// Tests share it, so each uses topics and groups of its own and none kills it.
    ///
    /// # Errors
    /// As [`ApacheKafka::start`]; every call reports the same error.
    pub fn shared() -> Result<&'static ApacheKafka, ServiceError> {
        static SHARED: OnceLock<Result<ApacheKafka, ServiceError>> = OnceLock::new();
        SHARED
            .get_or_init(|| {
                match std::env::var("SPATE_KAFKA_BROKERS")
                    .ok()
                    .filter(|b| !b.is_empty())
                {
                    Some(brokers) => Ok(ApacheKafka::external(&brokers)),
                    None => ApacheKafka::start(ApacheKafkaOptions::default()),
                }
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// [`ApacheKafka::shared`] for tests: `None`, counted, when `SPATE_SKIP` names `apache-kafka`.
    ///
    /// # Panics
    /// When there is no broker, with the command that installs what is missing.
    pub fn required() -> Option<&'static ApacheKafka> {
        skip::required(skip::Service::ApacheKafka, ApacheKafka::shared)
    }

    /// [`ApacheKafka::start`] for tests that kill their broker or make it fail: `None`, counted, when `SPATE_SKIP` names
    /// `apache-kafka`.
    ///
    /// # Panics
    /// When the broker does not start, with the command that installs what is missing.
    pub fn required_own(options: ApacheKafkaOptions) -> Option<ApacheKafka> {
        skip::required(skip::Service::ApacheKafka, || ApacheKafka::start(options))
    }

    /// Brokers that somebody else runs. Nothing is connected yet.
    pub fn external(brokers: &str) -> ApacheKafka {
        ApacheKafka {
            brokers: brokers.to_owned(),
            own: None,
        }
    }

    /// What a client's `bootstrap.servers` takes.
    pub fn bootstrap_servers(&self) -> &str {
        &self.brokers
    }

    /// What a client's `bootstrap.servers` takes for a listener of [`ApacheKafkaOptions::listeners`].
    pub fn listener(&self, name: &str) -> Option<String> {
        let own = self.own.as_ref()?;
        let mut listeners = own.options.listeners.iter().zip(&own.ports);
        let (_, port) = listeners.find(|((listener, _), _)| listener == name)?;
        Some(format!("127.0.0.1:{port}"))
    }

    /// The process id of the broker while it runs; none for external ones.
    pub fn pid(&self) -> Option<u32> {
        self.own.as_ref().and_then(|own| own.process.pid())
    }

    /// The broker's log; none for external ones. It goes away with the handle.
    pub fn log(&self) -> Option<PathBuf> {
        self.own.as_ref().map(|own| own.file("log"))
    }

    /// Creates a topic with one replica.
    ///
    /// # Errors
    /// [`ServiceError::Kafka`], also when the topic exists.
    #[cfg(feature = "kafka")]
    pub fn create_topic(&self, name: &str, partitions: i32) -> Result<(), ServiceError> {
        super::create_topic(&self.brokers, &super::Topic::new(name, partitions))
    }

    /// A producer for this broker.
    ///
    /// # Errors
    /// [`ServiceError::Kafka`] when the client cannot be made.
    #[cfg(feature = "kafka")]
    pub fn producer(&self) -> Result<super::Producer, ServiceError> {
        super::Producer::connect(&self.brokers)
    }

    /// Kills the broker as `kill -9` does.
    ///
    /// # Errors
    /// [`ServiceError::State`] for external brokers.
    pub fn kill(&self) -> Result<(), ServiceError> {
        self.own()?.process.kill();
        Ok(())
    }

    /// Ends the broker in an orderly way; after 20 s it is killed.
    ///
    /// # Errors
    /// [`ServiceError::State`] for external brokers.
    pub fn stop(&self) -> Result<(), ServiceError> {
        self.own()?.process.stop(Duration::from_secs(20));
        Ok(())
    }

    /// Starts the broker again on the same port and data, after killing it if it runs.
    ///
    /// # Errors
    /// As [`ApacheKafka::start`]; [`ServiceError::State`] for external brokers.
    pub fn restart(&self) -> Result<(), ServiceError> {
        let own = self.own()?;
        own.process.start(|| own.launch())
    }

    /// Freezes the broker: connections stay open and nothing is answered.
    ///
    /// # Errors
    /// [`ServiceError::State`] when the broker is stopped or external.
    pub fn pause(&self) -> Result<(), ServiceError> {
        self.signal(Signal::Stop)
    }

    /// Ends [`ApacheKafka::pause`].
    ///
    /// # Errors
    /// [`ServiceError::State`] when the broker is stopped or external.
    pub fn resume(&self) -> Result<(), ServiceError> {
        self.signal(Signal::Cont)
    }

    fn signal(&self, signal: Signal) -> Result<(), ServiceError> {
        if self.own()?.process.signal(signal) {
            return Ok(());
        }
        Err(ServiceError::state(
            NAME,
            "the broker is stopped; restart it first",
        ))
    }

    fn own(&self) -> Result<&Own, ServiceError> {
        self.own.as_ref().ok_or_else(|| {
            ServiceError::state(NAME, "these brokers are external; tests do not stop them")
        })
    }
}

impl Own {
    fn data_dir(&self) -> PathBuf {
        self.options
            .data_dir
            .clone()
            .unwrap_or_else(|| self.run_dir.path().join("data"))
    }

    /// Writes the configuration and formats the data folder unless it is formatted.
    fn configure(&self) -> Result<(), ServiceError> {
        let (port, controller) = (self.port, free_port()?);
        let data = self.data_dir();
        fs::create_dir_all(&data).map_err(ServiceError::io("create", &data))?;
        let mut listeners =
            format!("PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}");
        let mut protocols = String::new();
        for ((name, protocol), port) in self.options.listeners.iter().zip(&self.ports) {
            listeners.push_str(&format!(",{name}://127.0.0.1:{port}"));
            protocols.push_str(&format!(",{name}:{protocol}"));
        }
        let mut text = format!(
            "{PROPERTIES}listeners={listeners}\nadvertised.listeners={listeners}\n\
             controller.quorum.bootstrap.servers=127.0.0.1:{controller}\nlog.dirs={}\n",
            data.display()
        );
        if !protocols.is_empty() {
            text.push_str(&format!(
                "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT{protocols}\n"
            ));
        }
        for (name, value) in &self.options.properties {
            text.push_str(&format!("{name}={value}\n"));
        }
        self.write("server.properties", &text)?;
        self.write("log4j2.xml", LOG4J)?;
        if data.join("meta.properties").exists() {
            return Ok(());
        }
        let mut format = Command::new("java");
        format.args(self.java_args()).arg("kafka.tools.StorageTool");
        format
            .args(["format", "--standalone", "-t", CLUSTER_ID, "-c"])
            .arg(self.file("server.properties"));
        for (mechanism, name, password) in &self.options.scram_users {
            let user = format!("{mechanism}=[name={name},password={password}]");
            format.args(["--add-scram", &user]);
        }
        install::run_step("a data folder for Apache Kafka", &mut format)
    }

    fn launch(&self) -> Result<Supervised, ServiceError> {
        let mut args = self.java_args();
        args.push(format!("-Xmx{}m", self.options.heap_mb));
        args.extend([
            "kafka.Kafka".to_owned(),
            self.file("server.properties")
                .to_string_lossy()
                .into_owned(),
        ]);
        let process = Supervised::spawn(Launch {
            service: NAME,
            program: Path::new("java"),
            args,
            env: Vec::new(),
            log: self.file("log"),
            remove: self
                .options
                .data_dir
                .is_none()
                .then(|| self.run_dir.path().to_owned()),
        })?;
        let port = self.port;
        process.wait_ready(
            self.options.ready_timeout,
            "`Kafka Server started` in the log",
            || {
                process.log_text().contains("Kafka Server started")
                    && TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
            },
        )?;
        Ok(process)
    }

    fn java_args(&self) -> Vec<String> {
        let mut args: Vec<String> = JVM.map(str::to_owned).into();
        args.push(format!(
            "-Dlog4j2.configurationFile={}",
            self.file("log4j2.xml").display()
        ));
        args.extend(["-cp".to_owned(), format!("{}/*", self.jars.display())]);
        args
    }

    fn file(&self, name: &str) -> PathBuf {
        self.run_dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), ServiceError> {
        fs::write(self.file(name), text).map_err(ServiceError::io("write", self.file(name)))
    }
}
