//! Every code and every status, one by one.

use ErrorClass::{Fatal, Retryable};

use super::*;

/// The codes of each cause, written down a second time on purpose.
#[rustfmt::skip]
const DECIDED: &[(Cause, &[u32])] = &[
    (Table, &[48, 60, 62, 80, 81, 774]),
    (Replaced, &[218]),
    (Columns, &[7, 8, 9, 10, 15, 16, 19, 20, 32, 33, 43, 44, 47, 50, 53, 70, 117, 120, 122, 128, 131, 377, 728, 772]),
    (Rows, &[6, 26, 27, 36, 38, 41, 46, 69, 72, 190, 321, 349, 376, 395, 407, 441, 467, 469, 675, 676, 691]),
    (Limit, &[158, 229, 307, 396]),
    (Login, &[192, 193, 194, 195, 492, 516, 720, 767]),
    (Grant, &[164, 291, 392, 497, 512, 620]),
    (Setting, &[115, 344, 452, 471, 472, 496, 511, 764]),
    (Request, &[73, 85, 381, 456, 457, 578]),
    (Overload, &[159, 160, 173, 201, 202, 203, 241, 252, 364, 439, 574, 692, 700, 745, 749, 762]),
    (Passing, &[198, 209, 210, 216, 225, 236, 242, 244, 254, 265, 279, 285, 286, 289, 319, 373, 394, 473, 499, 519, 571, 722, 733, 734, 735, 999]),
    (Server, &[243, 425, 1000, 1001, 1002]),
];

#[test]
fn the_table_is_ordered_and_has_each_code_once() {
    assert!(CODES.is_sorted_by(|a, b| a.0 < b.0));
}

#[test]
fn every_code_has_the_cause_that_was_decided_for_it_whatever_the_status() {
    let mut decided = 0;
    for &(expected, codes) in DECIDED {
        for &code in codes {
            decided += 1;
            for status in [200, 400, 401, 403, 404, 500, 503] {
                assert_eq!(
                    cause(Some(code), status, ""),
                    expected,
                    "{code} with {status}"
                );
            }
        }
    }
    assert_eq!(decided, CODES.len(), "a code is decided in one place only");
}

#[test]
fn every_cause_has_the_class_that_was_decided_for_it() {
    for (cause, class) in [
        (Table, Fatal),
        (Replaced, Retryable),
        (Columns, Fatal),
        (Rows, Fatal),
        (Partitions, Fatal),
        (Limit, Fatal),
        (Login, Fatal),
        (Grant, Fatal),
        (Setting, Fatal),
        (Request, Fatal),
        (Overload, Retryable),
        (Passing, Retryable),
        (Server, Retryable),
        (Unknown, Retryable),
        (Redirect, Fatal),
        (Port, Fatal),
        (Address, Fatal),
        (ProxyLimit, Fatal),
        (Proxy, Retryable),
    ] {
        assert_eq!(cause.class(), class, "{cause:?}");
    }
}

#[test]
fn a_code_that_is_not_known_may_pass_whatever_the_status() {
    for code in [0, 1, 98_765, u32::MAX] {
        for status in [200, 400, 403, 404, 500] {
            assert_eq!(
                cause(Some(code), status, ""),
                Unknown,
                "{code} with {status}"
            );
        }
    }
    assert!(Unknown.advice().contains("retry.give_up_after"));
}

#[test]
fn without_a_code_the_status_decides() {
    for (status, expected) in [
        (200, Proxy),
        (204, Proxy),
        (301, Redirect),
        (302, Redirect),
        (307, Redirect),
        (308, Redirect),
        (400, Address),
        (401, Login),
        (403, Grant),
        (404, Address),
        (405, Address),
        (408, Overload),
        (411, Address),
        (413, ProxyLimit),
        (421, Address),
        (429, Overload),
        (500, Server),
        (502, Server),
        (503, Server),
        (504, Server),
    ] {
        assert_eq!(cause(None, status, ""), expected, "{status}");
    }
}

#[test]
fn a_wrong_port_is_known_by_what_it_says() {
    for text in [
        "Port 9000 is for clickhouse-client program You must use port 8123 for HTTP.",
        "The plain HTTP request was sent to HTTPS port",
    ] {
        assert_eq!(cause(None, 400, text), Port);
    }
}

#[test]
fn too_many_partitions_of_one_block_is_fatal_and_names_the_setting() {
    let text = "Too many partitions for single INSERT block (more than 100).";
    assert_eq!(cause(Some(252), 500, text), Partitions);
    assert!(
        Partitions
            .advice()
            .contains("max_partitions_per_insert_block")
    );
    assert_eq!(cause(Some(252), 500, "Too many parts (300)"), Overload);
}

#[test]
fn names_are_those_of_the_engine() {
    use spate_test::services::{ClickHouse, ClickHouseOptions};
    // The pinned engine: names differ between versions.
    let Some(server) = ClickHouse::required_own(ClickHouseOptions::default()) else {
        return;
    };
    let numbers: Vec<String> = CODES.iter().map(|entry| entry.0.to_string()).collect();
    let sql = format!(
        "SELECT c, errorCodeToName(c) FROM (SELECT toInt64(arrayJoin([{}])) AS c) ORDER BY c",
        numbers.join(",")
    );
    let expected: Vec<String> = CODES
        .iter()
        .map(|entry| format!("{}\t{}", entry.0, entry.1))
        .collect();
    let answer = server.query(&sql).expect("an answer");
    for (engine, table) in answer.lines().zip(&expected) {
        assert_eq!(engine, table);
    }
    assert_eq!(answer.lines().count(), expected.len());
}
