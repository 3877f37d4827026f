//! Questions to a schema registry with Confluent's API: the schema of an id, the latest one of a subject, and what they refer to.
//!
//! Every answer is sorted by what it means for the pipeline, because a record must never be dropped for an error that
//! passes: only a registry that says itself that it does not know an id makes the id unknown. Where there are several servers, the one
//! that answered last is asked first; trouble with one is no trouble while another answers.

mod answer;
mod connection;
#[cfg(feature = "tls")]
pub(crate) mod tls;

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub(crate) use answer::{Answer, Found};
use answer::{Reference, sort};

use crate::config::RegistryAccess;
use crate::limits;

/// A registry, as one pipeline asks it.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) access: RegistryAccess,
    /// The server that answered last.
    preferred: AtomicUsize,
}

impl Client {
    pub(crate) fn new(access: RegistryAccess) -> Self {
        Client {
            access,
            preferred: AtomicUsize::new(0),
        }
    }

    /// The schema of an id and what it refers to.
    pub(crate) async fn schema(&self, id: u32) -> Answer {
        // Ids are counted in each context by itself: without its name those of the default one are meant.
        let path = match self.context() {
            None => format!("/schemas/ids/{id}"),
            Some(context) => format!("/schemas/ids/{id}?subject={}", escaped(context)),
        };
        let answer = self.ask(&path).await;
        self.with_references(answer).await
    }

    /// The context of the configured subject, as in `:.eu:` of `:.eu:orders-value`; none for the default one.
    fn context(&self) -> Option<&str> {
        let subject = self.access.subject.as_deref()?;
        let end = subject.strip_prefix(":.")?.find(':')?;
        Some(&subject[..end + 3])
    }

    /// The latest schema of a subject and what it refers to.
    pub(crate) async fn latest(&self, subject: &str) -> Answer {
        let path = format!("/subjects/{}/versions/latest", escaped(subject));
        let answer = self.ask(&path).await;
        self.with_references(answer).await
    }

    /// Adds the texts that a schema refers to, and those that they refer to: each once, in whatever order.
    async fn with_references(&self, answer: Answer) -> Answer {
        let Answer::Schema(mut found) = answer else {
            return answer;
        };
        let mut asked = HashSet::new();
        let mut open = std::mem::take(&mut found.references);
        while let Some(reference) = open.pop() {
            let Reference {
                subject, version, ..
            } = &reference;
            if !asked.insert((subject.clone(), *version)) {
                continue;
            }
            if asked.len() > limits::REFERENCES {
                return Answer::Unusable(format!(
                    "refers to more than {} other schemas",
                    limits::REFERENCES
                ));
            }
            let context = self.context().filter(|_| !subject.starts_with(":."));
            let qualified = format!("{}{subject}", context.unwrap_or_default());
            // Deleted or not: a schema that can be asked for by its id goes on referring to it.
            let path = format!(
                "/subjects/{}/versions/{version}?deleted=true",
                escaped(&qualified)
            );
            match self.ask(&path).await {
                Answer::Schema(other) => {
                    open.extend(other.references);
                    found.others.push(other.text);
                }
                Answer::Unknown => {
                    return Answer::Incomplete(format!(
                        "refers to `{}`, version {version} of the subject `{subject}`, which the registry does not have",
                        reference.name
                    ));
                }
                Answer::Unusable(reason) => {
                    return Answer::Unusable(format!(
                        "refers to the subject `{subject}`, whose version {version} {reason}"
                    ));
                }
                passing => return passing,
            }
        }
        Answer::Schema(found)
    }

    /// Asks one server after the other, each within the timeout, until one has an answer that holds.
    async fn ask(&self, path: &str) -> Answer {
        let servers = &self.access.servers;
        let first = self.preferred.load(Ordering::Relaxed);
        let mut worst = Answer::Unknown;
        for n in 0..servers.len() {
            let at = (first + n) % servers.len();
            let exchange = connection::exchange(&servers[at], &self.access, path);
            let answer = match tokio::time::timeout(self.access.timeout, exchange).await {
                Ok(Ok((status, wait, body))) => sort(status, wait, &body),
                Ok(Err(connection::Failure::Passing(error))) => Answer::Trouble(error, None),
                Ok(Err(connection::Failure::Rejected(error))) => Answer::Denied(error),
                Err(_) => {
                    Answer::Trouble(format!("no answer within {:?}", self.access.timeout), None)
                }
            };
            match answer {
                // A follower may not know yet what its leader knows.
                Answer::Unknown => {}
                Answer::Trouble(trouble, wait) => {
                    let trouble = match servers.len() {
                        1 => trouble,
                        _ => format!("{}: {trouble}", servers[at]),
                    };
                    worst = joined(worst, trouble, wait);
                }
                holds => {
                    self.preferred.store(at, Ordering::Relaxed);
                    return holds;
                }
            }
        }
        worst
    }
}

/// What two servers said, as one answer.
fn joined(before: Answer, trouble: String, wait: Option<Duration>) -> Answer {
    match before {
        Answer::Trouble(other, longest) => {
            Answer::Trouble(format!("{other}; {trouble}"), longest.max(wait))
        }
        _ => Answer::Trouble(trouble, wait),
    }
}

/// A segment of a path: whatever is not certainly harmless by its code.
fn escaped(segment: &str) -> String {
    let mut out = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(yaml: &str) -> Client {
        let config = spate_runtime::config::Config::from_yaml(yaml).expect("valid");
        let config = crate::config::DecoderConfig::read(&config.section("deserializer"));
        Client::new(config.expect("valid").registry.expect("a registry"))
    }

    #[test]
    fn a_subjects_context_is_what_stands_between_its_first_colons() {
        for (subject, context) in [
            (":.eu:orders-value", Some(":.eu:")),
            (":.eu:a:b", Some(":.eu:")),
            (":.:orders-value", Some(":.:")),
            ("orders-value", None),
            (":orders:", None),
            (":.eu", None),
        ] {
            let yaml = format!(
                "deserializer: {{ registry: {{ url: \"http://r\", subject: \"{subject}\" }} }}"
            );
            assert_eq!(client(&yaml).context(), context, "{subject}");
        }
        assert_eq!(
            client("deserializer: { registry: { url: \"http://r\" } }").context(),
            None
        );
    }

    #[test]
    fn a_subject_is_one_segment_of_a_path() {
        assert_eq!(escaped("orders-value"), "orders-value");
        assert_eq!(escaped(":.eu:a/b c%ü"), "%3A.eu%3Aa%2Fb%20c%25%C3%BC");
    }

    #[test]
    fn a_schema_whose_reference_is_unknown_may_be_whole_later() {
        use std::io::{Read as _, Write as _};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let yaml = format!(
            "deserializer: {{ registry: {{ url: \"http://{}\" }} }}",
            listener.local_addr().expect("an address")
        );
        let server = std::thread::spawn(move || {
            let known = r#"{"schema":"{}","references":[{"name":"a","subject":"b","version":1}]}"#;
            for (status, body) in [(200, known), (404, r#"{"error_code":40401}"#)] {
                let (mut stream, _) = listener.accept().expect("a client");
                let asked = stream.read(&mut [0; 4096]).expect("a question");
                assert_ne!(asked, 0);
                let size = body.len();
                let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {size}\r\n");
                write!(stream, "{head}Connection: close\r\n\r\n{body}").expect("an answer");
            }
        });
        let client = client(&yaml);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().expect("a runtime");
        let answer = runtime.block_on(client.schema(7));
        assert!(
            matches!(&answer, Answer::Incomplete(reason) if reason.contains("`b`")),
            "{answer:?}"
        );
        server.join().expect("both were asked");
    }

    #[test]
    fn of_two_troubles_both_are_told_and_the_longer_wait_counts() {
        let first = joined(Answer::Unknown, "a".into(), Some(Duration::from_secs(2)));
        assert_eq!(
            joined(first, "b".into(), None),
            Answer::Trouble("a; b".into(), Some(Duration::from_secs(2)))
        );
    }
}
