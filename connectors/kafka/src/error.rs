//! What an error of the client means for the pipeline: one table, and the text that goes with it.
//!
//! Retryable is what the client itself keeps trying (a broker that is down, a coordinator that moves). Fatal is what
//! trying cannot change (credentials, permissions, settings), and what the client would go on from by skipping records.

use spate_runtime::error::ConnectorError;

mod codes;

use codes::Class;

/// An error code of librdkafka (negative) or of the Kafka protocol (positive).
///
/// A number and not the bindings' enum: brokers may send codes that the enum does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Code(pub(crate) i32);

/// The codes that the source tells apart.
#[rustfmt::skip]
impl Code {
    pub(crate) const NONE: Code = Code(0);
    pub(crate) const BAD_MSG: Code = Code(-199);
    pub(crate) const BAD_COMPRESSION: Code = Code(-198);
    pub(crate) const PARTITION_EOF: Code = Code(-191);
    pub(crate) const ALL_BROKERS_DOWN: Code = Code(-187);
    pub(crate) const INVALID_ARG: Code = Code(-186);
    pub(crate) const SSL: Code = Code(-181);
    pub(crate) const TRANSPORT: Code = Code(-195);
    pub(crate) const STATE: Code = Code(-172);
    pub(crate) const NOT_IMPLEMENTED: Code = Code(-170);
    pub(crate) const AUTHENTICATION: Code = Code(-169);
    pub(crate) const NO_OFFSET: Code = Code(-168);
    pub(crate) const FATAL: Code = Code(-150);
    pub(crate) const AUTO_OFFSET_RESET: Code = Code(-140);
    #[cfg(test)]
    pub(crate) const UNKNOWN_TOPIC_OR_PART: Code = Code(3);
    pub(crate) const MSG_SIZE_TOO_LARGE: Code = Code(10);
    pub(crate) const TOPIC_EXCEPTION: Code = Code(17);
    pub(crate) const INCONSISTENT_GROUP_PROTOCOL: Code = Code(23);
    pub(crate) const INVALID_GROUP_ID: Code = Code(24);
    pub(crate) const INVALID_SESSION_TIMEOUT: Code = Code(26);
    pub(crate) const TOPIC_AUTHORIZATION_FAILED: Code = Code(29);
    pub(crate) const GROUP_AUTHORIZATION_FAILED: Code = Code(30);
    pub(crate) const UNSUPPORTED_SASL_MECHANISM: Code = Code(33);
    pub(crate) const ILLEGAL_SASL_STATE: Code = Code(34);
    pub(crate) const UNSUPPORTED_VERSION: Code = Code(35);
    pub(crate) const SECURITY_DISABLED: Code = Code(54);
    pub(crate) const SASL_AUTHENTICATION_FAILED: Code = Code(58);
    pub(crate) const GROUP_MAX_SIZE_REACHED: Code = Code(81);
    pub(crate) const FENCED_INSTANCE_ID: Code = Code(82);
    pub(crate) const UNRELEASED_INSTANCE_ID: Code = Code(111);
    pub(crate) const UNSUPPORTED_ASSIGNOR: Code = Code(112);
    pub(crate) const INVALID_REGULAR_EXPRESSION: Code = Code(128);

    /// Whether a topic or partition is not there, or may not be read.
    pub(crate) fn is_of_topic(self) -> bool {
        codes::class(self) == Class::Topic
    }
}

/// An error as the client reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientError {
    pub(crate) code: Code,
    /// The code's name, such as `_TRANSPORT`.
    pub(crate) name: String,
    /// The client's own words.
    pub(crate) reason: String,
    /// The client itself will not go on.
    pub(crate) fatal: bool,
}

/// Where an error came up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// In the client: the group, the connections.
    Client,
    /// In the queue of a partition, where the client's next step after an unreadable batch is to skip it.
    Partition,
    /// In the answer to a commit or a look-up.
    Request,
}

/// What to do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No error at all.
    Ignore,
    Retryable,
    Fatal,
}

/// What to do about `error`.
pub(crate) fn classify(error: &ClientError, stage: Stage) -> Verdict {
    if error.fatal {
        return Verdict::Fatal;
    }
    match codes::class(error.code) {
        Class::None => Verdict::Ignore,
        Class::Fatal => Verdict::Fatal,
        // Under TLS 1.3 a client's certificate is refused after the handshake.
        Class::Passing if error.code == Code::TRANSPORT && alerted(&error.reason) => Verdict::Fatal,
        // How long a topic may be missing is decided by `topics.rs`.
        Class::Passing | Class::Topic => Verdict::Retryable,
        Class::Batch if stage == Stage::Partition => Verdict::Fatal,
        Class::Batch => Verdict::Retryable,
        Class::Tls if tls_rejected(&error.reason) => Verdict::Fatal,
        Class::Tls => Verdict::Retryable,
        Class::Sasl if cut_off(&error.reason) => Verdict::Retryable,
        Class::Sasl => Verdict::Fatal,
    }
}

/// Whether a TLS handshake was refused for what was shown, and not cut off.
fn tls_rejected(reason: &str) -> bool {
    let text = reason.to_ascii_lowercase();
    alerted(reason)
        || [
            "certificate",
            "wrong version number",
            "no suitable",
            "hostname mismatch",
        ]
        .iter()
        .any(|sign| text.contains(sign))
}

/// Whether the other side has said why it refuses the connection. It also says that it ends one or is in trouble itself.
fn alerted(reason: &str) -> bool {
    let text = reason.to_ascii_lowercase();
    text.contains("alert")
        && text.contains("ssl")
        && !["close notify", "internal error", "user canceled"]
            .iter()
            .any(|passing| text.contains(passing))
}

/// Whether a SASL handshake ended because the broker went away: the client gives that the code of a refusal.
fn cut_off(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    ["transport failure", "timed out", "disconnected"]
        .iter()
        .any(|sign| reason.contains(sign))
}

/// What to do about a fatal error of which no more is known.
const ADVICE: &str = "this does not pass by itself: see the brokers' logs and `source`, and start the pipeline again";

impl ClientError {
    /// The error for the engine, `None` if it is none: `doing` tells what was tried, with the topic or partition.
    pub(crate) fn judge(&self, stage: Stage, doing: &str) -> Option<ConnectorError> {
        let verdict = classify(self, stage);
        let text = || {
            let hint = self
                .hint(stage)
                .or_else(|| (verdict == Verdict::Fatal).then_some(ADVICE))
                .map(|hint| format!("; {hint}"))
                .unwrap_or_default();
            format!("{doing}: {} ({}){hint}", self.reason, self.name)
        };
        match verdict {
            Verdict::Ignore => None,
            Verdict::Retryable => Some(ConnectorError::retryable(text())),
            Verdict::Fatal => Some(ConnectorError::fatal(text())),
        }
    }

    fn hint(&self, stage: Stage) -> Option<&'static str> {
        Some(match self.code {
            Code::AUTHENTICATION | Code::SASL_AUTHENTICATION_FAILED | Code::ILLEGAL_SASL_STATE => {
                "check `source.sasl`"
            }
            Code::UNSUPPORTED_SASL_MECHANISM => {
                "set `source.sasl.mechanism` to one that the broker offers"
            }
            Code::SECURITY_DISABLED => {
                "the broker has no security: remove `source.tls` and `source.sasl`"
            }
            Code::SSL => "check `source.tls` and the broker's certificate",
            Code::TRANSPORT if alerted(&self.reason) => {
                "check `source.tls`: the broker wants a certificate of its own authority"
            }
            Code::TRANSPORT if self.reason.contains("SSL listener") => "set `source.tls`",
            Code::TOPIC_AUTHORIZATION_FAILED => "allow this user to READ and DESCRIBE the topic",
            Code::GROUP_AUTHORIZATION_FAILED => {
                "allow this user to READ the group `source.group_id`"
            }
            Code::TOPIC_EXCEPTION => "check `source.topics`",
            Code::INVALID_REGULAR_EXPRESSION => {
                "brokers take patterns in the syntax of RE2: check `source.topic_pattern`"
            }
            Code::INVALID_GROUP_ID => "check `source.group_id`",
            Code::INCONSISTENT_GROUP_PROTOCOL => {
                "the group's other members use another protocol or other strategies: check `source.group_protocol` and \
                 `source.rdkafka.partition.assignment.strategy`"
            }
            Code::UNSUPPORTED_ASSIGNOR => "check `source.rdkafka.group.remote.assignor`",
            Code::UNSUPPORTED_VERSION => {
                "the broker is too old for a setting: `source.group_protocol: consumer` needs Apache Kafka 4"
            }
            Code::INVALID_SESSION_TIMEOUT => {
                "set `source.rdkafka.session.timeout.ms` within the broker's limits"
            }
            Code::FENCED_INSTANCE_ID => {
                "another process runs with the same `source.group_instance_id`: give every process its own"
            }
            Code::UNRELEASED_INSTANCE_ID => {
                "another process runs with the same `source.group_instance_id`, or ran and its session has not ended yet: give \
                 every process its own"
            }
            Code::GROUP_MAX_SIZE_REACHED => {
                "the group is full: raise the broker's group.max.size or run fewer processes"
            }
            Code::BAD_COMPRESSION | Code::NOT_IMPLEMENTED if stage == Stage::Partition => {
                "this build cannot read the batch, and the client would skip it"
            }
            Code::BAD_MSG if stage == Stage::Partition => {
                "the batch is damaged, and the client would skip it"
            }
            Code::MSG_SIZE_TOO_LARGE => {
                "raise `source.rdkafka.receive.message.max.bytes` and `message.max.bytes` above the record's size"
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod page;
#[cfg(test)]
mod tests;
