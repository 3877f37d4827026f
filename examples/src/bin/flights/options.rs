//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Parser;

const ABOUT: &str = "\
Loads the 27,004 flights of January 2013 into a Kafka topic, runs them through a
pipeline into a ClickHouse table, and compares what the table says with what is
known.

Without options everything runs on this machine: a Kafka broker and a schema
registry inside this process, and ClickHouse in a process of its own (190 MB,
fetched once), which ends with it.";

const AFTER: &str = "\
Exit codes:
  0    the table holds what it must
  1    it does not, or something failed on the way
  2    the command line is wrong
  130  interrupted

RUST_LOG sets what is logged (default: warn).";

/// What the user asked for.
#[derive(Debug, Clone, Parser)]
#[command(name = "flights", about = ABOUT, long_about = None, after_help = AFTER, next_line_help = true)]
pub(crate) struct Options {
    /// Use the Kafka at these brokers. The topic is created there, and stays
    #[arg(long, value_name = "HOST:PORT,..", value_parser = brokers)]
    pub(crate) brokers: Option<String>,

    /// Use the ClickHouse at http://[user:password@]host:8123, in a database of its own
    #[arg(long, value_name = "URL", value_parser = clickhouse)]
    pub(crate) clickhouse: Option<String>,

    /// The topic. It must not exist yet
    #[arg(long, value_name = "NAME", default_value = "flights", value_parser = topic)]
    pub(crate) topic: String,

    /// How many partitions the topic gets, 1 to 256
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) partitions: u16,

    /// How many threads run the pipeline, 1 to 256
    #[arg(long, value_name = "N", default_value_t = default_threads(), value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,

    /// Compare with this file, made like examples/data/flights-truth.json
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,

    /// Leave everything running at the end until Ctrl-C, to query the table
    #[arg(long)]
    pub(crate) keep: bool,

    /// Print the pipeline's stages as a Mermaid flowchart, then exit
    #[arg(long)]
    pub(crate) print_graph: bool,
}

/// As many as the engine takes by itself: one core is left to the clients.
fn default_threads() -> u16 {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    u16::try_from(cores.saturating_sub(1).clamp(1, 256)).unwrap_or(1)
}

fn brokers(text: &str) -> Result<String, String> {
    let is_address = |broker: &str| {
        broker.trim().rsplit_once(':').is_some_and(|(host, port)| {
            !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
        })
    };
    match text.split(',').find(|broker| !is_address(broker)) {
        None => Ok(text.to_owned()),
        Some(broker) => Err(format!(
            "`{broker}` is not of the form host:port, such as localhost:9092"
        )),
    }
}

fn clickhouse(text: &str) -> Result<String, String> {
    let advice = "expected http://host:8123, or http://user:password@host:8123";
    match text.strip_prefix("http://") {
        Some(rest) if !rest.trim_matches('/').is_empty() && !rest.contains([' ', '?', '#']) => {
            Ok(text.to_owned())
        }
        Some(_) => Err(advice.to_owned()),
        None if text.starts_with("https://") => Err(format!("TLS is not available yet; {advice}")),
        None => Err(advice.to_owned()),
    }
}

fn topic(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if text.is_empty() || text.len() > 249 || !text.chars().all(legal) || matches!(text, "." | "..")
    {
        return Err("a topic's name has 1 to 249 letters, digits, `.`, `_` or `-`".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    fn error(arguments: &[&str]) -> String {
        let all = std::iter::once("flights").chain(arguments.iter().copied());
        Options::try_parse_from(all).unwrap_err().to_string()
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Options::command().debug_assert();
        let options = Options::try_parse_from(["flights"]).unwrap();
        assert_eq!((options.topic.as_str(), options.partitions), ("flights", 8));
        assert!(options.threads >= 1);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_can() {
        for (arguments, says) in [
            (
                &["--brokers", "localhost"][..],
                "`localhost` is not of the form host:port",
            ),
            (
                &["--brokers", "a:9092,:1"],
                "`:1` is not of the form host:port",
            ),
            (&["--brokers", "a:70000"], "host:port"),
            (
                &["--clickhouse", "localhost:8123"],
                "expected http://host:8123",
            ),
            (&["--clickhouse", "http://"], "expected http://host:8123"),
            (
                &["--clickhouse", "https://host:8443"],
                "TLS is not available yet",
            ),
            (&["--topic", "my topic"], "letters, digits"),
            (&["--partitions", "0"], "0 is not in 1..=256"),
            (&["--threads", "many"], "invalid digit"),
            (&["--treads", "2"], "'--threads'"),
        ] {
            let text = error(arguments);
            assert!(text.contains(says), "{arguments:?}: {text}");
        }
    }
}
