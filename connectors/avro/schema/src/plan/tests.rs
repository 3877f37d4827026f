//! What a plan says of what it cannot read; what it does with bytes is tested where they are read, in `spate-avro`.

use super::{Cause, Differences, Incompatible, Node, Plan, Step, Wanted};
use crate::canonical::{parse, parse_reader};

fn plan(writer: &str, reader: &str) -> Result<Plan, Differences> {
    let (reader, extras) = parse_reader(reader).expect("the reader's schema");
    Plan::new(
        &parse(writer).expect("the writer's schema"),
        &reader,
        &extras,
    )
}

fn gap(writer: &str, reader: &str) -> Option<String> {
    let plan = plan(writer, reader).expect("a plan");
    let gaps = plan.gaps.to_string();
    (!gaps.is_empty()).then_some(gaps)
}

/// The only difference.
fn only(writer: &str, reader: &str) -> Incompatible {
    let differences = plan(writer, reader).expect_err("a difference");
    match differences.told() {
        [only] => only.clone(),
        _ => panic!("several: {differences}"),
    }
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
    let wrong = only(
        &line("old", "\"long\"", ""),
        &line("new", "\"int\"", r#","aliases":["old"]"#),
    );
    let there = "long".to_owned();
    assert_eq!(
        (wrong.path.as_str(), wrong.cause),
        ("lines{}.new", Cause::Type { there })
    );
    let sites = wrong.sites.expect("a place");
    let of = |record: &str, field: &str| (record.to_owned(), field.to_owned());
    assert_eq!(sites.here, of("n.L", "new"));
    assert_eq!(sites.there, ("n.L".to_owned(), Some("old".to_owned())));
    let wrong = only(&line("old", "\"long\"", ""), &line("new", "\"long\"", ""));
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
        let wrong = only(&writer, &reader);
        assert_eq!((&wrong.cause, &wrong.sites), (&cause, &None), "{wrong}");
    }
    let scales = only(&fixed("F", 4, &decimal(1)), &fixed("F", 4, &decimal(2)));
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
    let error = only(&writer, &reader);
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
    let error = only(&writer, &reader);
    assert_eq!(error.cause, Cause::Depth);
    let said = "at its top: types stand in each other more than 256 deep";
    assert_eq!(error.to_string(), said);
}

#[test]
fn every_difference_is_told_once_wherever_it_is_and_of_very_many_ten() {
    let line = |a: &str, b: &str| {
        record(
            "L",
            &format!(r#"{{"name":"a","type":"{a}"}},{{"name":"b","type":"{b}"}}"#),
        )
    };
    let of = |a: &str, b: &str, more: &str| {
        let line = line(a, b);
        record(
            "R",
            &format!(
                r#"{{"name":"one","type":{line}}},{{"name":"two","type":{{"type":"array","items":"L"}}}},
                {{"name":"maybe","type":["null","L"]}},{{"name":"c","type":"{b}"}}{more}"#
            ),
        )
    };
    let wrong = plan(
        &of("long", "string", ""),
        &of("int", "long", r#",{"name":"d","type":"int"}"#),
    );
    let said = [
        "at field path `one.a`: long there cannot be read as int here",
        "at field path `one.b`: string there cannot be read as long here",
        // The two records are known to differ by now: where once more, and not all that does.
        "at field path `two[].a`: long there cannot be read as int here",
        "at field path `c`: string there cannot be read as long here",
        "at field path `d`: the writer does not have it, and it has no default here",
    ];
    assert_eq!(wrong.expect_err("differences").to_string(), said.join("; "));

    // A union that is optional has gaps where a record would have differences: all of them too.
    let maybe = |ty: &str| {
        let line = line(ty, ty);
        record(
            "R",
            &format!(
                r#"{{"name":"maybe","type":["null",{line}]}},{{"name":"e","type":["null","{ty}"]}}"#
            ),
        )
    };
    let said = [
        "at field path `maybe.a`: long there cannot be read as int here",
        "at field path `maybe.b`: long there cannot be read as int here",
        "at field path `e`: long there fits no branch of union of null, int here",
    ];
    assert_eq!(gap(&maybe("long"), &maybe("int")), Some(said.join("; ")));

    let many = |ty: &str| {
        let fields: Vec<String> = (0..12)
            .map(|n| format!(r#"{{"name":"f{n}","type":"{ty}"}}"#))
            .collect();
        record("R", &fields.join(","))
    };
    let wrong = plan(&many("long"), &many("int")).expect_err("twelve differences");
    assert_eq!((wrong.told().len(), wrong.more()), (10, true));
    let said = "at field path `f9`: long there cannot be read as int here; and more";
    assert!(wrong.to_string().ends_with(said), "{wrong}");
}

#[test]
fn every_field_of_very_many_is_found_wherever_the_writer_has_it() {
    const MANY: usize = 20_000;
    let fields = |order: &mut dyn Iterator<Item = usize>| {
        let fields: Vec<String> = order
            .map(|n| match n % 2 {
                0 => format!(r#"{{"name":"f{n}","type":"int"}}"#),
                _ => format!(r#"{{"name":"g{n}","type":"int","aliases":["f{n}"]}}"#),
            })
            .collect();
        record("R", &fields.join(","))
    };
    let writer = fields(&mut (0..MANY).rev()).replace("\"g", "\"f");
    let plan = plan(&writer, &fields(&mut (0..MANY))).expect("a plan");
    let Node::Reordered { wanted, .. } = &plan.nodes[plan.root] else {
        panic!("the other way round")
    };
    for (n, wanted) in wanted.iter().enumerate() {
        assert!(
            matches!(wanted, Wanted::Field(at, _) if *at == MANY - 1 - n),
            "{n}"
        );
    }
}

#[test]
fn a_default_without_end_is_an_error_and_takes_neither_the_stack_nor_the_memory() {
    let said = |reader: &str| only(&record("R", ""), reader);
    let field = r#"{"name":"next","type":["R","null"],"default":{}}"#;
    let endless = said(&record("R", field));
    let text = "at field path `next`: its default leaves fields to their defaults without end, or is larger than 1 MiB";
    assert_eq!(
        (endless.to_string().as_str(), endless.cause),
        (text, Cause::Default)
    );
    // Twice the next one, with a text at the end or with nothing that takes bytes.
    for last in [r#"{"name":"x","type":"string","default":"text"}"#, ""] {
        let mut inner = record("R30", last);
        for n in (0..30).rev() {
            let next = n + 1;
            let fields = format!(
                r#"{{"name":"a","type":{inner},"default":{{}}}},{{"name":"b","type":"R{next}","default":{{}}}}"#
            );
            inner = record(&format!("R{n}"), &fields);
        }
        let field = format!(r#"{{"name":"f","type":{inner},"default":{{}}}}"#);
        assert_eq!(said(&record("R", &field)).cause, Cause::Default);
    }
    let float = |default: &str| {
        record(
            "R",
            &format!(r#"{{"name":"f","type":"float","default":{default}}}"#),
        )
    };
    assert!(plan(&record("R", ""), &float("3.4e38")).is_ok());
    let text = "at field path `f`: its default is no value of its type";
    assert_eq!(said(&float("3.5e38")).to_string(), text);
}

#[test]
fn a_default_of_a_map_has_its_entries_in_the_order_of_their_keys() {
    let field = r#"{"name":"m","type":{"type":"map","values":"int"},"default":{"b":1,"a":2}}"#;
    let plan = plan(&record("R", ""), &record("R", field)).expect("a plan");
    let Node::Record { steps, .. } = &plan.nodes[plan.root] else {
        panic!("a record")
    };
    let bytes = vec![4, 2, b'a', 4, 2, b'b', 2, 0];
    assert_eq!(steps, &[Step::Default(bytes)]);
}
