//! Payloads that are not what the topic promises, under both policies.

use spate_it::{Run, Sample, Stack, orders, strict_orders};

use crate::{assert_names, failure};

/// A valid payload of the schema id.
fn good(schema_id: u32) -> Vec<u8> {
    Sample::nth(3).framed(schema_id)
}

fn no_avro(_: u32) -> Vec<u8> {
    br#"{"order_id": 1, "region": "emea"}"#.to_vec()
}

fn truncated(schema_id: u32) -> Vec<u8> {
    let payload = good(schema_id);
    payload[..payload.len() / 2].to_vec()
}

fn cut_inside_the_frame(schema_id: u32) -> Vec<u8> {
    good(schema_id)[..3].to_vec()
}

fn frame_without_a_body(schema_id: u32) -> Vec<u8> {
    good(schema_id)[..5].to_vec()
}

fn wrong_magic_byte(schema_id: u32) -> Vec<u8> {
    let mut payload = good(schema_id);
    payload[0] = 1;
    payload
}

fn empty(_: u32) -> Vec<u8> {
    Vec::new()
}

fn trailing_bytes(schema_id: u32) -> Vec<u8> {
    let mut payload = good(schema_id);
    payload.push(0);
    payload
}

fn unknown_schema_id(_: u32) -> Vec<u8> {
    good(4_242)
}

fn not_utf8(schema_id: u32) -> Vec<u8> {
    // The region `emea` becomes `em\xffa`.
    let mut payload = good(schema_id);
    let at = payload
        .windows(4)
        .position(|text| text == b"emea")
        .expect("the region");
    payload[at + 2] = 0xff;
    payload
}

fn a_length_of_gigabytes(schema_id: u32) -> Vec<u8> {
    let mut payload = vec![0];
    payload.extend_from_slice(&schema_id.to_be_bytes());
    payload.extend_from_slice(&[0x02, 0xfe, 0xff, 0xff, 0xff, 0x0f, b'x']);
    payload
}

/// Refused by the user's own stage, behind the decoder.
fn a_negative_number(schema_id: u32) -> Vec<u8> {
    Sample {
        order_id: -1,
        ..Sample::nth(3)
    }
    .framed(schema_id)
}

/// How a payload is made, and the stage that refuses it.
type Bad = (fn(u32) -> Vec<u8>, &'static str);

/// Ten good records, a bad one, ten good ones in one of two partitions: the pipeline stops at the bad one and names it.
fn stops_at((payload, stage): Bad) -> Option<Stack<'static>> {
    let mut stack = Stack::start(2)?;
    stack.orders(0..20);
    let payload = payload(stack.schema_id());
    let bad = stack.no_row(1, Some(&payload));
    stack.orders(20..40);

    let report = Run::start(strict_orders(), &stack.settings()).report();
    let text = failure(&report);
    let (topic, offset) = (
        format!("topic `{}`", stack.topic()),
        format!("offset {bad}"),
    );
    assert_names(
        &text,
        &[&format!("stage `{stage}`"), &topic, "partition 1", &offset],
    );
    assert_eq!(report.stage(stage).map(|stage| stage.skipped), Some(0));
    let committed = stack.assert_committed_is_stored();
    assert!(
        committed[1] <= bad,
        "offset {bad} is bad and {} is committed",
        committed[1]
    );
    Some(stack)
}

macro_rules! kinds {
    ($($bad:ident => $stage:literal),* $(,)?) => {
        const ALL: &[Bad] = &[$(($bad, $stage)),*];

        /// One test for each.
        mod under_fail_the_pipeline_stops_and_names_the_record {
            $(#[test]
            fn $bad() {
                super::stops_at((super::$bad, $stage));
            })*
        }
    };
}

kinds! {
    no_avro => "avro",
    truncated => "avro",
    cut_inside_the_frame => "avro",
    frame_without_a_body => "avro",
    wrong_magic_byte => "avro",
    empty => "avro",
    trailing_bytes => "avro",
    unknown_schema_id => "avro",
    not_utf8 => "avro",
    a_length_of_gigabytes => "avro",
    a_negative_number => "to_row",
}

#[test]
fn after_a_bad_record_has_stopped_it_a_pipeline_that_skips_goes_on_there() {
    let Some(stack) = stops_at((truncated, "avro")) else {
        return;
    };
    let mut run = Run::start(orders(), &stack.settings());
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(
        report.stage("avro").map(|stage| stage.skipped),
        Some(1),
        "{report}"
    );
    stack.assert_every_row();
}

/// Every kind has a partition of its own, in which it is the first record, one in the middle, and the last.
#[test]
fn under_skip_bad_records_are_counted_and_nothing_else_is_lost() {
    let partitions = i32::try_from(ALL.len()).expect("a few");
    let Some(mut stack) = Stack::start(partitions) else {
        return;
    };
    let bad = |stack: &mut Stack<'_>| {
        let id = stack.schema_id();
        stack.no_rows(
            (0..)
                .zip(ALL)
                .map(|(partition, bad)| (partition, bad.0(id))),
        );
    };
    bad(&mut stack);
    stack.orders(0..110);
    bad(&mut stack);
    stack.orders(110..220);
    bad(&mut stack);

    let mut run = Run::start(orders(), &stack.settings());
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.exit_code(), 0, "{report}");
    for stage in ["avro", "to_row"] {
        let expected = 3 * ALL.iter().filter(|bad| bad.1 == stage).count() as u64;
        assert_eq!(
            report.stage(stage).map(|stage| stage.skipped),
            Some(expected),
            "{report}"
        );
    }
    assert_eq!(report.totals().unaccounted(), 0);
    stack.assert_every_row_once();

    // Also where the last record was bad, it is not read again.
    let mut run = Run::start(orders(), &stack.settings());
    stack.orders_into(0, &[Sample::nth(1)]);
    stack.wait_committed(&mut run);
    let report = run.stop();
    assert_eq!(report.totals().records, 1, "{report}");
}
