//! How deep values may be in each other, whatever a writer's schema says.

use apache_avro::types::Value;

use super::{made, ours, resolver};

/// So many records in each other, each of its own type: the deepest is defined first.
fn of_their_own(levels: usize, deepest: &str, next: impl Fn(&str) -> String) -> String {
    let mut fields = String::new();
    let mut inner = deepest.to_owned();
    for level in 0..levels {
        let ty = format!(
            r#"{{"type":"record","name":"L{level}","fields":[{{"name":"f","type":{inner}}}]}}"#
        );
        let array = format!(r#"{{"type":"array","items":{ty}}}"#);
        fields.push_str(&format!(r#"{{"name":"a{level}","type":{array}}},"#));
        inner = next(&format!(r#""L{level}""#));
    }
    format!(
        r#"{{"type":"record","name":"R","fields":[{fields}{{"name":"top","type":{inner}}},{{"name":"n","type":"int"}}]}}"#
    )
}

/// Only the number at the end is wanted: it is read, or the record is refused as too deep.
fn is_read_if_it_fits(writer: &str, bytes: &[u8], fits: bool, levels: usize) {
    let reader = r#"{"type":"record","name":"R","fields":[{"name":"n","type":"int"}]}"#;
    let read = ours(writer, reader, bytes);
    let whole = Value::Record(vec![("n".to_owned(), Value::Int(7))]);
    match fits {
        true => assert_eq!(read, Ok(whole), "{levels}"),
        false => {
            let error = read.expect_err("too deep");
            assert!(error.contains("nested more than 384 deep"), "{error}");
        }
    }
}

#[test]
fn records_in_each_other_are_bounded_also_where_none_contains_itself() {
    let nullable = |name: &str| format!(r#"["null",{name}]"#);
    for (levels, fits) in [(150, true), (190, true), (200, false), (20_000, false)] {
        let writer = of_their_own(levels, "\"int\"", nullable);
        let mut bytes = vec![0; levels];
        bytes.extend(vec![2; levels]);
        bytes.extend([2, 14]);
        is_read_if_it_fits(&writer, &bytes, fits, levels);
    }
}

#[test]
fn records_are_as_deep_in_themselves_as_may_be_with_two_values_between() {
    let of = |number: &str| {
        let next = r#"["null",{"type":"array","items":"R"}]"#;
        format!(
            r#"{{"type":"record","name":"R","fields":[{{"name":"v","type":"{number}"}},{{"name":"next","type":{next}}}]}}"#
        )
    };
    let deep = |levels: usize| {
        let mut bytes = [2, 2, 2].repeat(levels - 1);
        bytes.extend([2, 0]);
        bytes.extend(vec![0; levels - 1]);
        bytes
    };
    let resolver = resolver(&of("int"), &of("double")).expect("a plan");
    assert!(made(&resolver, &deep(128)).is_ok());
    let error = made(&resolver, &deep(129)).expect_err("too deep");
    assert_eq!(error.kind(), crate::AvroErrorKind::TooDeep);
}

#[test]
fn records_of_one_field_in_each_other_are_planned_in_bounded_stack() {
    for (levels, fits) in [(1_000, true), (20_000, false)] {
        let writer = of_their_own(levels, "\"int\"", str::to_owned);
        let mut bytes = vec![0; levels];
        bytes.extend([2, 14]);
        is_read_if_it_fits(&writer, &bytes, fits, levels);
    }
}

#[test]
fn a_schema_that_names_a_wide_record_often_becomes_no_large_program() {
    let int = |n: usize| format!(r#"{{"name":"{}{n}","type":"int"}}"#, "f".repeat(1_000));
    let wide: Vec<String> = (0..60).map(int).collect();
    let wide = format!(
        r#"{{"type":"record","name":"W","fields":[{}]}}"#,
        wide.join(",")
    );
    let mut fields = format!(r#"{{"name":"w","type":{wide}}}"#);
    for n in 0..2_000 {
        fields.push_str(&format!(r#",{{"name":"w{n}","type":"W"}}"#));
    }
    let writer = format!(
        r#"{{"type":"record","name":"R","fields":[{{"name":"u","type":["null",{{"type":"record","name":"X","fields":[{fields}]}}]}},{{"name":"n","type":"int"}}]}}"#
    );
    let reader = r#"{"type":"record","name":"R","fields":[{"name":"n","type":"int"}]}"#;
    let size = format!("{:?}", resolver(&writer, reader).expect("a plan")).len();
    assert!(size < 16 << 20, "{size}");
    let mut bytes = vec![2];
    bytes.extend(vec![0; 60 * 2_001]);
    bytes.push(14);
    let whole = Value::Record(vec![("n".to_owned(), Value::Int(7))]);
    assert_eq!(ours(&writer, reader, &bytes), Ok(whole));
}
