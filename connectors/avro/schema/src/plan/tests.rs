//! What a plan says of what it cannot read; what it does with bytes is tested where they are read, in `spate-avro`.

use super::{Cause, Incompatible, Node, Plan};
use crate::canonical::{parse, parse_reader};

fn plan(writer: &str, reader: &str) -> Result<Plan, Incompatible> {
    let (reader, extras) = parse_reader(reader).expect("the reader's schema");
    Plan::new(
        &parse(writer).expect("the writer's schema"),
        &reader,
        &extras,
    )
}

fn gap(writer: &str, reader: &str) -> Option<String> {
    let plan = plan(writer, reader).expect("a plan");
    plan.gap.map(|gap| gap.to_string())
}

fn record(name: &str, fields: &str) -> String {
    format!(r#"{{"type":"record","name":"{name}","fields":[{fields}]}}"#)
}

fn symbols(symbols: &str) -> String {
    format!(r#"{{"type":"enum","name":"E","symbols":[{symbols}]}}"#)
}

#[test]
fn a_value_without_a_place_is_noted_and_one_that_has_a_default_is_not() {
    let of = |ty: &str| {
        record(
            "R",
            &format!(r#"{{"name":"a","type":{{"type":"array","items":{ty}}}}}"#),
        )
    };
    let (two, one) = (of(&symbols(r#""A","B""#)), of(&symbols(r#""A""#)));
    let said = "at field path `a[]`: the enum here has no B, and no default";
    assert_eq!(gap(&two, &one).as_deref(), Some(said));
    assert_eq!(
        gap(&two, &one.replace("[\"A\"]", "[\"A\"],\"default\":\"A\"")),
        None
    );
    assert_eq!(gap(&one, &two), None);
    let said = "at field path `a[]`: string there cannot be read as long here";
    assert_eq!(
        gap(&of(r#"["int","string"]"#), &of("\"long\"")).as_deref(),
        Some(said)
    );
    assert_eq!(gap(&of(r#"["int","long"]"#), &of("\"long\"")), None);
    // What is passed over has a place nowhere, and needs none.
    assert_eq!(gap(&two, &record("R", "")), None);
}

#[test]
fn nothing_is_noted_of_a_branch_that_was_tried_in_vain() {
    let writer = record(
        "R",
        &format!(
            r#"{{"name":"e","type":{}}},{{"name":"x","type":"string"}}"#,
            symbols(r#""A","B""#)
        ),
    );
    let fields = r#"{"name":"e","type":{"type":"enum","name":"m.E","symbols":["A"]}},{"name":"x","type":"int"}"#;
    let wrong = record("m.R", fields);
    let right = record("n.R", r#"{"name":"x","type":"string"}"#);
    assert_eq!(gap(&writer, &format!("[{wrong},{right}]")), None);
    // So it is with a branch of the writer's that cannot be read: it alone is noted.
    let said = "at field path `x`: string there cannot be read as int here";
    assert_eq!(
        gap(
            &format!("[\"null\",{writer}]"),
            &format!("[\"null\",{wrong}]")
        )
        .as_deref(),
        Some(said)
    );
}

#[test]
fn a_difference_has_its_cause_and_its_place_in_both_schemas() {
    let line = |name: &str, ty: &str, more: &str| {
        let field = format!(r#"{{"name":"{name}","type":{ty}{more}}}"#);
        record(
            "n.O",
            &format!(
                r#"{{"name":"lines","type":{{"type":"map","values":{}}}}}"#,
                record("L", &field)
            ),
        )
    };
    let wrong = plan(
        &line("old", "\"long\"", ""),
        &line("new", "\"int\"", r#","aliases":["old"]"#),
    )
    .expect_err("narrower");
    let there = "long".to_owned();
    assert_eq!(
        (wrong.path.as_str(), wrong.cause),
        ("lines{}.new", Cause::Type { there })
    );
    let sites = wrong.sites.expect("a place");
    let of = |record: &str, field: &str| (record.to_owned(), field.to_owned());
    assert_eq!(sites.here, of("n.L", "new"));
    assert_eq!(sites.there, ("n.L".to_owned(), Some("old".to_owned())));
    let wrong =
        plan(&line("old", "\"long\"", ""), &line("new", "\"long\"", "")).expect_err("missing");
    assert_eq!(wrong.cause, Cause::Missing);
    assert_eq!(
        wrong.sites.expect("a place").there,
        ("n.L".to_owned(), None)
    );

    let fixed = |name: &str, size: u8, more: &str| {
        format!(r#"{{"type":"fixed","name":"{name}","size":{size}{more}}}"#)
    };
    let decimal = |scale: u8| format!(r#","logicalType":"decimal","precision":4,"scale":{scale}"#);
    for (writer, reader, cause) in [
        (fixed("F", 4, ""), fixed("F", 5, ""), Cause::Size),
        (
            fixed("F", 4, &decimal(1)),
            fixed("F", 4, &decimal(2)),
            Cause::Logical,
        ),
        (
            fixed("n.F", 4, ""),
            fixed("G", 4, ""),
            Cause::Name {
                there: "n.F".to_owned(),
                here: "G".to_owned(),
            },
        ),
        (
            "\"boolean\"".to_owned(),
            r#"["null","int"]"#.to_owned(),
            Cause::Branch,
        ),
        (
            symbols(r#""A""#),
            symbols(r#""B""#),
            Cause::Symbols {
                here: "E".to_owned(),
            },
        ),
    ] {
        let wrong = plan(&writer, &reader).expect_err("a difference");
        assert_eq!((&wrong.cause, &wrong.sites), (&cause, &None), "{wrong}");
    }
    let scales =
        plan(&fixed("F", 4, &decimal(1)), &fixed("F", 4, &decimal(2))).expect_err("scales");
    let said = "at its top: fixed F of 4 bytes (decimal(4, 1)) there cannot be read as fixed F of 4 bytes (decimal(4, 2)) here";
    assert_eq!(scales.to_string(), said);
}

/// Two records of the reader's name on each of so many levels, none of which can be read, and both are named on the level above.
fn pairs(levels: usize) -> String {
    let mut fields = String::new();
    for level in (0..levels).rev() {
        let next = match level + 1 == levels {
            true => String::new(),
            false => format!(r#","a{0}.Node","b{0}.Node""#, level + 1),
        };
        for side in ["a", "b"] {
            let node = record(
                &format!("{side}{level}.Node"),
                &format!(r#"{{"name":"next","type":["null"{next}]}}"#),
            );
            fields.push_str(&format!(r#"{{"name":"{side}{level}","type":{node}}},"#));
        }
    }
    fields.push_str(r#"{"name":"n","type":["null","a0.Node","b0.Node"]}"#);
    record("R", &fields)
}

const NODE: &str = r#"{"name":"n","type":["null",{"type":"record","name":"Node","fields":[
    {"name":"next","type":["null","Node"]},{"name":"value","type":"long"}]}]}"#;

#[test]
fn records_that_cannot_be_read_are_tried_once_however_many_unions_have_them() {
    let plan = plan(&pairs(40), &record("R", NODE)).expect("a plan");
    assert!(plan.nodes.len() < 1000, "{}", plan.nodes.len());
}

#[test]
fn a_record_that_failed_before_says_where_it_is_now() {
    let reader = record(
        "R",
        &format!(
            r#"{{"name":"u","type":["null",{{"type":"record","name":"Node","fields":[{{"name":"value","type":"long"}}]}}]}},
        {{"name":"o","type":{}}}"#,
            record("O", r#"{"name":"n","type":"Node"}"#)
        ),
    );
    let writer = record(
        "R",
        &format!(
            r#"{{"name":"u","type":["null",{{"type":"record","name":"Node","fields":[{{"name":"value","type":"string"}}]}}]}},
        {{"name":"o","type":{}}}"#,
            record("O", r#"{"name":"n","type":"Node"}"#)
        ),
    );
    let error = plan(&writer, &reader).expect_err("a string is no long");
    assert_eq!(
        error.to_string(),
        "at field path `o.n.value`: string there cannot be read as long here"
    );
}

#[test]
fn a_record_that_contains_itself_with_nothing_between_is_counted_as_one_that_does() {
    let own = r#"{"name":"own","type":"Y"}"#;
    let y = format!(r#"{{"name":"y","type":{}}}"#, record("Y", own));
    for reader in ["", &y] {
        let plan = plan(&record("R", &y), &record("R", reader)).expect("a plan");
        let recursive = |node: &Node| {
            matches!(
                node,
                Node::Record {
                    recursive: true,
                    ..
                }
            )
        };
        assert!(plan.nodes.iter().any(recursive), "{reader}");
    }
}

#[test]
fn types_that_name_each_other_are_compared_in_bounded_stack() {
    let chain = |levels: usize| {
        let mut fields = String::new();
        let mut inner = "\"int\"".to_owned();
        for level in 0..levels {
            let of = record(
                &format!("L{level}"),
                &format!(r#"{{"name":"f","type":{inner}}}"#),
            );
            fields.push_str(&format!(r#"{{"name":"a{level}","type":{of}}},"#));
            inner = format!("\"L{level}\"");
        }
        // The reader's only field comes last, so that it is compared before what it names.
        let last = format!("L{}", levels - 1);
        let here = format!(r#"{{"name":"last","type":{}}}"#, record(&last, ""));
        (
            record("R", &format!(r#"{fields}{{"name":"last","type":{inner}}}"#)),
            record("R", &here),
        )
    };
    let (writer, reader) = chain(200);
    assert!(plan(&writer, &reader).is_ok());
    let (writer, reader) = chain(20_000);
    let error = plan(&writer, &reader).expect_err("too deep");
    assert_eq!(error.cause, Cause::Depth);
    let said = "at its top: types stand in each other more than 256 deep";
    assert_eq!(error.to_string(), said);
}
