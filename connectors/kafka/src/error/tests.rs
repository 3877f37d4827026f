use rdkafka::types::RDKafkaRespErr as Native;

use super::*;

const TRANSPORT: Code = Code(-195);

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
    for (code, native) in [
        (Code::BAD_MSG, Native::RD_KAFKA_RESP_ERR__BAD_MSG),
        (
            Code::BAD_COMPRESSION,
            Native::RD_KAFKA_RESP_ERR__BAD_COMPRESSION,
        ),
        (Code::NO_OFFSET, Native::RD_KAFKA_RESP_ERR__NO_OFFSET),
        (TRANSPORT, Native::RD_KAFKA_RESP_ERR__TRANSPORT),
        (
            Code::PARTITION_EOF,
            Native::RD_KAFKA_RESP_ERR__PARTITION_EOF,
        ),
        (
            Code::UNKNOWN_PARTITION,
            Native::RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
        ),
        (
            Code::LOCAL_UNKNOWN_TOPIC,
            Native::RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
        ),
        (
            Code::ALL_BROKERS_DOWN,
            Native::RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
        ),
        (Code::INVALID_ARG, Native::RD_KAFKA_RESP_ERR__INVALID_ARG),
        (Code::SSL, Native::RD_KAFKA_RESP_ERR__SSL),
        (
            Code::NOT_IMPLEMENTED,
            Native::RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED,
        ),
        (Code::STATE, Native::RD_KAFKA_RESP_ERR__STATE),
        (
            Code::AUTHENTICATION,
            Native::RD_KAFKA_RESP_ERR__AUTHENTICATION,
        ),
        (
            Code::UNSUPPORTED_FEATURE,
            Native::RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE,
        ),
        (Code::FATAL, Native::RD_KAFKA_RESP_ERR__FATAL),
        (
            Code::NOT_CONFIGURED,
            Native::RD_KAFKA_RESP_ERR__NOT_CONFIGURED,
        ),
        (
            Code::AUTO_OFFSET_RESET,
            Native::RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET,
        ),
        (
            Code::UNKNOWN_TOPIC_OR_PART,
            Native::RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
        ),
        (
            Code::MSG_SIZE_TOO_LARGE,
            Native::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
        ),
        (
            Code::OFFSET_METADATA_TOO_LARGE,
            Native::RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE,
        ),
        (
            Code::TOPIC_EXCEPTION,
            Native::RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
        ),
        (
            Code::INCONSISTENT_GROUP_PROTOCOL,
            Native::RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL,
        ),
        (
            Code::INVALID_GROUP_ID,
            Native::RD_KAFKA_RESP_ERR_INVALID_GROUP_ID,
        ),
        (
            Code::INVALID_SESSION_TIMEOUT,
            Native::RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT,
        ),
        (
            Code::INVALID_COMMIT_OFFSET_SIZE,
            Native::RD_KAFKA_RESP_ERR_INVALID_COMMIT_OFFSET_SIZE,
        ),
        (
            Code::TOPIC_AUTHORIZATION_FAILED,
            Native::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
        ),
        (
            Code::GROUP_AUTHORIZATION_FAILED,
            Native::RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
        ),
        (
            Code::CLUSTER_AUTHORIZATION_FAILED,
            Native::RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
        ),
        (
            Code::UNSUPPORTED_SASL_MECHANISM,
            Native::RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM,
        ),
        (
            Code::ILLEGAL_SASL_STATE,
            Native::RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE,
        ),
        (
            Code::UNSUPPORTED_VERSION,
            Native::RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION,
        ),
        (
            Code::SECURITY_DISABLED,
            Native::RD_KAFKA_RESP_ERR_SECURITY_DISABLED,
        ),
        (
            Code::SASL_AUTHENTICATION_FAILED,
            Native::RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
        ),
        (
            Code::GROUP_MAX_SIZE_REACHED,
            Native::RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED,
        ),
        (
            Code::FENCED_INSTANCE_ID,
            Native::RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID,
        ),
    ] {
        assert_eq!(code.0, native as i32, "{native:?}");
    }
}

#[test]
fn what_trying_again_cannot_change_is_fatal_everywhere() {
    for code in [
        Code::AUTHENTICATION,
        Code::SASL_AUTHENTICATION_FAILED,
        Code::TOPIC_AUTHORIZATION_FAILED,
        Code::GROUP_AUTHORIZATION_FAILED,
        Code::CLUSTER_AUTHORIZATION_FAILED,
        Code::TOPIC_EXCEPTION,
        Code::UNSUPPORTED_VERSION,
        Code::FENCED_INSTANCE_ID,
        Code::AUTO_OFFSET_RESET,
        Code::FATAL,
    ] {
        for stage in [
            Stage::Starting,
            Stage::Running,
            Stage::Partition,
            Stage::Request,
        ] {
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
        for stage in [
            Stage::Starting,
            Stage::Running,
            Stage::Partition,
            Stage::Request,
        ] {
            assert_eq!(
                classify(&error(code), stage),
                Verdict::Retryable,
                "{code:?} {stage:?}"
            );
        }
    }
    assert_eq!(
        classify(&error(Code(9_999)), Stage::Running),
        Verdict::Retryable
    );
}

#[test]
fn a_missing_topic_may_still_be_created_until_the_first_assignment() {
    for code in [
        Code::UNKNOWN_TOPIC_OR_PART,
        Code::LOCAL_UNKNOWN_TOPIC,
        Code::UNKNOWN_PARTITION,
    ] {
        assert_eq!(classify(&error(code), Stage::Starting), Verdict::Retryable);
        assert_eq!(classify(&error(code), Stage::Request), Verdict::Retryable);
        assert_eq!(classify(&error(code), Stage::Running), Verdict::Fatal);
        assert_eq!(classify(&error(code), Stage::Partition), Verdict::Fatal);
    }
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
            classify(&error(code), Stage::Running),
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
            Stage::Starting,
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
fn what_the_client_calls_fatal_is_fatal_whatever_the_code() {
    assert_eq!(
        classify(
            &ClientError {
                fatal: true,
                ..error(TRANSPORT)
            },
            Stage::Running
        ),
        Verdict::Fatal
    );
}

#[test]
fn the_text_tells_what_was_tried_what_happened_and_what_to_do() {
    let text = error(Code::GROUP_AUTHORIZATION_FAILED)
        .judge(Stage::Running, "joining the group")
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
