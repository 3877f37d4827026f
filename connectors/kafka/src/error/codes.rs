//! Every error code of librdkafka and the Kafka protocol, and what it means for a consumer.
//!
//! A test compares the table with librdkafka's own list: a code that a new version adds has to be judged here.

use super::Code;

/// What a code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// No error.
    None,
    /// The client keeps trying by itself.
    Passing,
    /// Trying again cannot help.
    Fatal,
    /// A topic or partition is not there, or this user may not read it: how long is waited for it is decided elsewhere.
    Topic,
    /// About one batch of one partition, behind which the client would go on.
    Batch,
    /// A broken TLS handshake: the text tells whether it was refused or cut off.
    Tls,
    /// A broken SASL handshake, likewise.
    Sasl,
}

/// What `code` means. A code that is not in the table comes from a newer broker and may pass.
pub(super) fn class(code: Code) -> Class {
    let known = TABLE.iter().find(|(_, codes)| codes.contains(&code.0));
    known.map_or(Class::Passing, |(class, _)| *class)
}

#[rustfmt::skip]
const TABLE: &[(Class, &[i32])] = &[
    (Class::None, &[
        0,    // NO_ERROR
        -191, // _PARTITION_EOF
        -175, // _ASSIGN_PARTITIONS
        -174, // _REVOKE_PARTITIONS
        -141, // _NOOP
    ]),
    (Class::Topic, &[
        -190, // _UNKNOWN_PARTITION
        -188, // _UNKNOWN_TOPIC
        3,    // UNKNOWN_TOPIC_OR_PART
        29,   // TOPIC_AUTHORIZATION_FAILED
        100,  // UNKNOWN_TOPIC_ID
    ]),
    (Class::Batch, &[
        -199, // _BAD_MSG
        -198, // _BAD_COMPRESSION
        -170, // _NOT_IMPLEMENTED
        -155, // _UNDERFLOW
        4,    // INVALID_MSG_SIZE
        10,   // MSG_SIZE_TOO_LARGE
        76,   // UNSUPPORTED_COMPRESSION_TYPE
    ]),
    (Class::Tls, &[
        -181, // _SSL
    ]),
    (Class::Sasl, &[
        -169, // _AUTHENTICATION
    ]),
    (Class::Fatal, &[
        -194, // _CRIT_SYS_RESOURCE
        -186, // _INVALID_ARG
        -171, // _UNKNOWN_PROTOCOL
        -165, // _UNSUPPORTED_FEATURE
        -150, // _FATAL
        -145, // _NOT_CONFIGURED
        -144, // _FENCED
        -140, // _AUTO_OFFSET_RESET
        -139, // _LOG_TRUNCATION
        12,   // OFFSET_METADATA_TOO_LARGE
        17,   // TOPIC_EXCEPTION
        23,   // INCONSISTENT_GROUP_PROTOCOL
        24,   // INVALID_GROUP_ID
        26,   // INVALID_SESSION_TIMEOUT
        28,   // INVALID_COMMIT_OFFSET_SIZE
        30,   // GROUP_AUTHORIZATION_FAILED
        31,   // CLUSTER_AUTHORIZATION_FAILED
        33,   // UNSUPPORTED_SASL_MECHANISM
        34,   // ILLEGAL_SASL_STATE
        35,   // UNSUPPORTED_VERSION
        43,   // UNSUPPORTED_FOR_MESSAGE_FORMAT
        54,   // SECURITY_DISABLED
        58,   // SASL_AUTHENTICATION_FAILED
        61,   // DELEGATION_TOKEN_AUTH_DISABLED
        62,   // DELEGATION_TOKEN_NOT_FOUND
        63,   // DELEGATION_TOKEN_OWNER_MISMATCH
        64,   // DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        65,   // DELEGATION_TOKEN_AUTHORIZATION_FAILED
        66,   // DELEGATION_TOKEN_EXPIRED
        81,   // GROUP_MAX_SIZE_REACHED
        82,   // FENCED_INSTANCE_ID
        93,   // UNACCEPTABLE_CREDENTIAL
        111,  // UNRELEASED_INSTANCE_ID
        112,  // UNSUPPORTED_ASSIGNOR
        128,  // INVALID_REGULAR_EXPRESSION, which librdkafka has no name for
    ]),
    // Outages, elections, moving coordinators, fenced generations that the client joins again after; and what a consumer
    // never gets: codes of producers, of transactions and of administration.
    (Class::Passing, &[
        -197, -196, -195, -193, -192, -189, -187, -185, -184, -183, -182, -180, -179, -178, -177, -176, -173, -172, -168,
        -167, -166, -164, -163, -162, -161, -160, -159, -158, -157, -156, -154, -153, -152, -151, -149, -148, -147, -146,
        -143, -142, -138, -137, -1, 1, 2, 5, 6, 7, 8, 9, 11, 13, 14, 15, 16, 18, 19, 20, 21, 22, 25, 27, 32, 36, 37, 38,
        39, 40, 41, 42, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 55, 56, 57, 59, 60, 67, 68, 69, 70, 71, 72, 73, 74, 75,
        77, 78, 79, 80, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 94, 95, 96, 97, 110, 113, 117, 118, 129,
    ]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_librdkafka_is_judged_once() {
        let mut known = crate::native::all_codes();
        known.retain(|(_, name)| !["_BEGIN", "_END", "END_ALL"].contains(&name.as_str()));
        assert!(known.len() > 150, "librdkafka tells its codes");
        for (code, name) in &known {
            let classes = TABLE
                .iter()
                .filter(|(_, codes)| codes.contains(&code.0))
                .count();
            assert_eq!(classes, 1, "{name} ({})", code.0);
        }
        let known: Vec<i32> = known.iter().map(|(code, _)| code.0).collect();
        let judged = TABLE.iter().flat_map(|(_, codes)| codes.iter());
        let unknown: Vec<&i32> = judged.filter(|code| !known.contains(code)).collect();
        assert_eq!(unknown, [&128], "codes that librdkafka does not have");
    }
}
