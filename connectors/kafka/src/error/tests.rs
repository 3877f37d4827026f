use super::*;

const TRANSPORT: Code = Code::TRANSPORT;
const STAGES: [Stage; 3] = [Stage::Client, Stage::Partition, Stage::Request];

fn error(code: Code) -> ClientError {
    ClientError {
        code,
        name: "NAME".to_owned(),
        reason: "words".to_owned(),
        fatal: false,
    }
}

#[test]
fn a_code_is_the_number_that_librdkafka_gives_it() {
    let known = crate::native::all_codes();
    for (code, name) in [
        (Code::NONE, "NO_ERROR"),
        (Code::BAD_MSG, "_BAD_MSG"),
        (Code::BAD_COMPRESSION, "_BAD_COMPRESSION"),
        (Code::PARTITION_EOF, "_PARTITION_EOF"),
        (Code::ALL_BROKERS_DOWN, "_ALL_BROKERS_DOWN"),
        (Code::INVALID_ARG, "_INVALID_ARG"),
        (Code::SSL, "_SSL"),
        (Code::TRANSPORT, "_TRANSPORT"),
        (Code::STATE, "_STATE"),
        (Code::NOT_IMPLEMENTED, "_NOT_IMPLEMENTED"),
        (Code::AUTHENTICATION, "_AUTHENTICATION"),
        (Code::NO_OFFSET, "_NO_OFFSET"),
        (Code::FATAL, "_FATAL"),
        (Code::AUTO_OFFSET_RESET, "_AUTO_OFFSET_RESET"),
        (Code::UNKNOWN_TOPIC_OR_PART, "UNKNOWN_TOPIC_OR_PART"),
        (Code::MSG_SIZE_TOO_LARGE, "MSG_SIZE_TOO_LARGE"),
        (Code::TOPIC_EXCEPTION, "TOPIC_EXCEPTION"),
        (
            Code::INCONSISTENT_GROUP_PROTOCOL,
            "INCONSISTENT_GROUP_PROTOCOL",
        ),
        (Code::INVALID_GROUP_ID, "INVALID_GROUP_ID"),
        (Code::INVALID_SESSION_TIMEOUT, "INVALID_SESSION_TIMEOUT"),
        (
            Code::TOPIC_AUTHORIZATION_FAILED,
            "TOPIC_AUTHORIZATION_FAILED",
        ),
        (
            Code::GROUP_AUTHORIZATION_FAILED,
            "GROUP_AUTHORIZATION_FAILED",
        ),
        (
            Code::UNSUPPORTED_SASL_MECHANISM,
            "UNSUPPORTED_SASL_MECHANISM",
        ),
        (Code::ILLEGAL_SASL_STATE, "ILLEGAL_SASL_STATE"),
        (Code::UNSUPPORTED_VERSION, "UNSUPPORTED_VERSION"),
        (Code::SECURITY_DISABLED, "SECURITY_DISABLED"),
        (
            Code::SASL_AUTHENTICATION_FAILED,
            "SASL_AUTHENTICATION_FAILED",
        ),
        (Code::GROUP_MAX_SIZE_REACHED, "GROUP_MAX_SIZE_REACHED"),
        (Code::FENCED_INSTANCE_ID, "FENCED_INSTANCE_ID"),
        (Code::UNRELEASED_INSTANCE_ID, "UNRELEASED_INSTANCE_ID"),
        (Code::UNSUPPORTED_ASSIGNOR, "UNSUPPORTED_ASSIGNOR"),
    ] {
        let number = known.iter().find(|(_, known)| known == name);
        assert_eq!(number.map(|(number, _)| *number), Some(code), "{name}");
    }
}

#[test]
fn what_trying_again_cannot_change_is_fatal_everywhere() {
    for code in [
        Code::AUTHENTICATION,
        Code::SASL_AUTHENTICATION_FAILED,
        Code::GROUP_AUTHORIZATION_FAILED,
        Code::UNRELEASED_INSTANCE_ID,
        Code::INVALID_REGULAR_EXPRESSION,
        Code::TOPIC_EXCEPTION,
        Code::UNSUPPORTED_VERSION,
        Code::FENCED_INSTANCE_ID,
        Code::AUTO_OFFSET_RESET,
        Code::FATAL,
    ] {
        for stage in STAGES {
            assert_eq!(
                classify(&error(code), stage),
                Verdict::Fatal,
                "{code:?} {stage:?}"
            );
        }
    }
}

#[test]
fn an_outage_is_retryable_everywhere_and_so_is_a_code_of_a_newer_broker() {
    let rebalance_in_progress = Code(27);
    for code in [
        TRANSPORT,
        Code::ALL_BROKERS_DOWN,
        Code(-185),
        Code(14),
        Code(16),
        Code(25),
        rebalance_in_progress,
    ] {
        for stage in STAGES {
            assert_eq!(
                classify(&error(code), stage),
                Verdict::Retryable,
                "{code:?} {stage:?}"
            );
        }
    }
    assert_eq!(
        classify(&error(Code(9_999)), Stage::Client),
        Verdict::Retryable
    );
}

#[test]
fn a_topic_that_is_not_there_or_forbidden_is_waited_for() {
    for code in [
        Code::UNKNOWN_TOPIC_OR_PART,
        Code::TOPIC_AUTHORIZATION_FAILED,
        Code(-188),
        Code(-190),
        Code(100),
    ] {
        assert!(code.is_of_topic(), "{code:?}");
        for stage in STAGES {
            assert_eq!(classify(&error(code), stage), Verdict::Retryable);
        }
    }
    assert!(!TRANSPORT.is_of_topic());
}

#[test]
fn what_the_client_would_skip_stops_the_pipeline() {
    for code in [
        Code::BAD_MSG,
        Code::BAD_COMPRESSION,
        Code::NOT_IMPLEMENTED,
        Code::MSG_SIZE_TOO_LARGE,
    ] {
        assert_eq!(
            classify(&error(code), Stage::Partition),
            Verdict::Fatal,
            "{code:?}"
        );
        assert_eq!(
            classify(&error(code), Stage::Client),
            Verdict::Retryable,
            "{code:?}"
        );
    }
}

#[test]
fn a_refused_certificate_is_fatal_and_a_cut_handshake_is_not() {
    let ssl = |reason: &str| {
        classify(
            &ClientError {
                reason: reason.to_owned(),
                ..error(Code::SSL)
            },
            Stage::Client,
        )
    };
    assert_eq!(
        ssl("SSL handshake failed: certificate verify failed: self-signed certificate"),
        Verdict::Fatal
    );
    assert_eq!(
        ssl("SSL handshake failed: tlsv1 alert unknown ca"),
        Verdict::Fatal
    );
    assert_eq!(
        ssl("SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener?"),
        Verdict::Retryable
    );
}

#[test]
fn a_refused_password_is_fatal_and_a_broker_that_goes_away_meanwhile_is_not() {
    let sasl = |reason: &str| {
        let reason = reason.to_owned();
        let code = Code::AUTHENTICATION;
        classify(
            &ClientError {
                reason,
                ..error(code)
            },
            Stage::Client,
        )
    };
    for refused in [
        "SASL authentication error: Authentication failed: Invalid username or password",
        "SASL SCRAM-SHA-256 mechanism handshake failed: Broker: Unsupported SASL mechanism: broker's supported mechanisms: PLAIN",
    ] {
        assert_eq!(sasl(refused), Verdict::Fatal, "{refused}");
    }
    for cut in [
        "SASL PLAIN mechanism handshake failed: Local: Broker transport failure: broker's supported mechanisms: (n/a)",
        "SASL authentication error: SaslAuthenticateRequest failed: Local: Timed out",
    ] {
        assert_eq!(sasl(cut), Verdict::Retryable, "{cut}");
    }
}

#[test]
fn an_alert_after_the_handshake_is_fatal_unless_it_says_that_the_broker_ends() {
    let alert = |words: &str| {
        let reason = format!("Receive failed: error:0A000412:SSL routines::{words}");
        classify(
            &ClientError {
                reason,
                ..error(TRANSPORT)
            },
            Stage::Client,
        )
    };
    for refused in [
        "ssl/tls alert bad certificate: SSL alert number 42",
        "tlsv13 alert certificate required: SSL alert number 116",
    ] {
        assert_eq!(alert(refused), Verdict::Fatal, "{refused}");
    }
    assert_eq!(
        alert("tlsv1 alert internal error: SSL alert number 80"),
        Verdict::Retryable
    );
    assert_eq!(alert("unexpected eof while reading"), Verdict::Retryable);
}

#[test]
fn what_the_client_calls_fatal_is_fatal_whatever_the_code() {
    assert_eq!(
        classify(
            &ClientError {
                fatal: true,
                ..error(TRANSPORT)
            },
            Stage::Client
        ),
        Verdict::Fatal
    );
}

#[test]
fn the_text_tells_what_was_tried_what_happened_and_what_to_do() {
    let text = error(Code::GROUP_AUTHORIZATION_FAILED)
        .judge(Stage::Client, "joining the group")
        .map(|e| e.message);
    let expected =
        "joining the group: words (NAME); allow this user to READ the group `source.group_id`";
    assert_eq!(text.as_deref(), Some(expected));
    assert!(
        error(Code::PARTITION_EOF)
            .judge(Stage::Partition, "reading")
            .is_none()
    );
}
