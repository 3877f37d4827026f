//! What the schema model understands and what it says about mistakes.

use std::sync::Arc;

use super::*;
use crate::files::{Finding, SourceFile};

fn schema(text: &str) -> Schema {
    parse(&SourceFile::in_memory("x.avsc", text)).unwrap_or_else(|found| panic!("{found:#?}"))
}

fn mistakes(text: &str) -> Vec<String> {
    let file = SourceFile::in_memory("x.avsc", text);
    let found: Vec<Finding> = parse(&file).expect_err("mistakes");
    let line = |finding: &Finding| {
        format!(
            "{} {}",
            finding.code.entry().id,
            file.report(finding.place, &finding.message)
        )
    };
    found.iter().map(line).collect()
}

fn canonical(text: &str) -> String {
    let schema = schema(text);
    let (id, _) = schema.records().next().expect("a record");
    schema.canonical(id)
}

#[test]
fn names_inherit_namespaces_and_references_find_them() {
    let canonical = canonical(
        r#"{"type":"record","name":"Sample","namespace":"test","fields":[
            {"name":"nested","type":{"type":"record","name":"Nested","fields":[
                {"name":"top","type":{"type":"record","name":"Top","namespace":"","fields":[]}}]}},
            {"name":"again","type":"Nested"},
            {"name":"full","type":"test.Nested"},
            {"name":"list","type":{"type":"array","items":"Nested"}},
            {"name":"map","type":{"type":"map","values":"Nested"}},
            {"name":"outside","type":"Top"},
            {"name":"dotted","type":{"type":"fixed","name":"a.b.C","namespace":"other","size":2}}]}"#,
    );
    assert_eq!(
        canonical,
        concat!(
            r#"{"name":"test.Sample","type":"record","fields":["#,
            r#"{"name":"nested","type":{"name":"test.Nested","type":"record","fields":["#,
            r#"{"name":"top","type":{"name":"Top","type":"record","fields":[]}}]}},"#,
            r#"{"name":"again","type":"test.Nested"},{"name":"full","type":"test.Nested"},"#,
            r#"{"name":"list","type":{"type":"array","items":"test.Nested"}},"#,
            r#"{"name":"map","type":{"type":"map","values":"test.Nested"}},{"name":"outside","type":"Top"},"#,
            r#"{"name":"dotted","type":{"name":"a.b.C","type":"fixed","size":2}}]}"#,
        )
    );
}

#[test]
fn the_canonical_form_keeps_logical_types_and_drops_what_does_not_matter() {
    let one = canonical(
        r#"{"doc":"d","fields":[{"default":0,"doc":"x","name":"at","type":{"logicalType":"timestamp-millis","type":"long"}},
            {"name":"n","type":{"type":"int","x":1}}, {"name":"odd","type":{"type":"int","logicalType":"mine"}}],
            "name":"R","aliases":["Q"],"type":"record"}"#,
    );
    assert_eq!(
        one,
        concat!(
            r#"{"name":"R","type":"record","fields":[{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},"#,
            r#"{"name":"n","type":"int"},{"name":"odd","type":"int"}]}"#
        )
    );
}

#[test]
fn a_record_inside_is_self_contained_with_defaults_and_aliases() {
    let schema = schema(
        r#"{"type":"record","name":"o.Order","fields":[
            {"name":"kind","type":{"type":"enum","name":"Kind","symbols":["A","B"],"default":"A"}},
            {"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","aliases":["Row"],"fields":[
                {"name":"kind","type":"Kind","default":"B"},
                {"name":"next","type":["null","Line"],"default": null,"aliases":["n"]},
                {"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}}]}}}]}"#,
    );
    let (line, _) = schema
        .records()
        .find(|(_, named)| named.name == "o.Line")
        .expect("Line");
    assert_eq!(
        schema.self_contained(line),
        concat!(
            r#"{"name":"o.Line","type":"record","fields":["#,
            r#"{"name":"kind","type":{"name":"o.Kind","type":"enum","symbols":["A","B"],"default":"A"},"default":"B"},"#,
            r#"{"name":"next","type":["null","o.Line"],"default":null,"aliases":["n"]},"#,
            r#"{"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}}],"aliases":["o.Row"]}"#,
        )
    );
    assert!(schema.is_recursive(line));
    let (order, _) = schema.records().next().expect("Order");
    assert!(
        !schema.is_recursive(order),
        "it contains a recursive record and is none"
    );
}

#[test]
fn invalid_logical_types_are_ignored_and_remembered() {
    let schema = schema(
        r#"{"type":"record","name":"R","fields":[
            {"name":"a","type":{"type":"long","logicalType":"timestamp-milis"}},
            {"name":"b","type":{"type":"bytes","logicalType":"decimal"}},
            {"name":"c","type":{"type":"fixed","name":"F","size":2,"logicalType":"decimal","precision":5}},
            {"name":"d","type":{"type":"fixed","name":"G","size":2,"logicalType":"decimal","precision":4}}]}"#,
    );
    let (id, _) = schema.records().next().expect("R");
    let fields = schema.fields(id);
    assert_eq!(
        fields[0].ty.ignored_logical.as_deref(),
        Some("timestamp-milis")
    );
    assert_eq!(fields[1].ty.ignored_logical.as_deref(), Some("decimal"));
    let logical = |n: usize| match &fields[n].ty.kind {
        Kind::Named(id) => match schema.named(*id).definition {
            Definition::Fixed { logical, .. } => logical,
            _ => None,
        },
        _ => None,
    };
    assert_eq!(logical(2), None, "two bytes hold four digits");
    assert_eq!(
        logical(3),
        Some(Logical::Decimal {
            precision: 4,
            scale: 0
        })
    );
}

#[test]
fn the_fingerprint_is_the_specifications() {
    // From the test data of Apache Avro (share/test/data/schema-tests.txt).
    assert_eq!(fingerprint(r#""null""#) as i64, 7195948357588979594);
    assert_eq!(fingerprint(r#""long""#) as i64, -3434872931120570953);
    assert_eq!(
        fingerprint(r#"{"name":"foo","type":"record","fields":[{"name":"f1","type":"boolean"}]}"#)
            as i64,
        7843277075252814651
    );
}

#[test]
fn what_is_no_json_is_shown_with_line_and_column() {
    assert_eq!(
        mistakes("{\n  \"type\": \"record\"\n  \"name\": \"R\"\n}"),
        ["SP071 x.avsc:2:19: expected comma\n    \"type\": \"record\"\n                    ^"]
    );
    assert_eq!(
        mistakes("{\"a\": 1,}").len(),
        1,
        "a trailing comma is no JSON"
    );
    assert_eq!(mistakes("// c\n{}").len(), 1, "a comment is no JSON");
    assert_eq!(mistakes(""), ["SP071 x.avsc:1:1: the file is empty"]);
    assert_eq!(mistakes(&"[".repeat(100_000)).len(), 1, "depth is bounded");
}

#[test]
fn every_mistake_of_a_schema_is_reported_at_its_place() {
    let found = mistakes(
        r#"{"type":"record","name":"R","fields":[
{"name":"a","type":"Adress"},
{"name":"b","type":{"type":"record","name":"Address","fields":[]}},
{"name":"c","type":"Adress"},
{"name":"b","type":"int"},
{"name":"d","type":["int","null","int"]},
{"name":"e","type":{"type":"enum","name":"E","symbols":["A","A","x-y"]}},
{"name":"f","type":{"type":"record","name":"Address","fields":[]}},
{"name":"g","type":{"type":"fixed","name":"G"}},
{"name":"h","type":{"type":"array"}},
{"name":"i","type":["int",["long"]]},
{"name":"1j","type":"int"},
{"name":"k"}]}"#,
    );
    let heads: Vec<&str> = found
        .iter()
        .map(|text| text.lines().next().unwrap_or_default())
        .collect();
    assert_eq!(
        heads,
        [
            "SP073 x.avsc:2:20: unknown type `Adress`",
            "SP073 x.avsc:4:20: unknown type `Adress`",
            "SP074 x.avsc:5:1: there are two fields `b`",
            "SP074 x.avsc:6:34: this type is in the union twice",
            "SP074 x.avsc:7:61: symbol `A` is there twice",
            "SP075 x.avsc:7:65: `x-y` is not a name: letters, digits and `_`, not beginning with a digit",
            "SP074 x.avsc:8:20: `Address` is defined a second time",
            "SP075 x.avsc:9:20: a fixed needs a `size`, a number of bytes",
            "SP075 x.avsc:10:20: an array needs `items`",
            "SP075 x.avsc:11:27: a union may not contain another union directly",
            "SP075 x.avsc:12:9: `1j` is not a name: letters, digits and `_`, not beginning with a digit",
            "SP075 x.avsc:13:1: field `k` needs a `type`",
        ]
    );
}

/// The first advice about a record with the field `a` of the type.
fn advice(namespace: &str, before: &str, ty: &str) -> String {
    let text = format!(
        r#"{{"type":"record","name":"R","namespace":"{namespace}","fields":[{before}
{{"name":"a","type":{ty}}},
{{"name":"z","type":{{"type":"record","name":"Late","fields":[]}}}}]}}"#
    );
    let found = parse(&SourceFile::in_memory("x.avsc", &text)).expect_err("unknown type");
    found[0].help.clone()
}

#[test]
fn a_near_miss_of_a_type_name_is_suggested() {
    let address = r#"{"name":"x","type":{"type":"record","name":"Address","fields":[]}},"#;
    for (ty, help) in [
        (r#""strin""#, "did you mean `string`?"),
        (r#""Adress""#, "did you mean `Address`?"),
        (r#""shop.Adress""#, "did you mean `shop.Address`?"),
        (r#"["null", "Addres"]"#, "did you mean `Address`?"),
        (r#"{"type":"array","items":"lnog"}"#, "did you mean `long`?"),
        (
            r#"{"type":"recrd","name":"I","fields":[]}"#,
            "did you mean `record`?",
        ),
        (r#"{"type":"aray","items":"int"}"#, "did you mean `array`?"),
        (r#""Lat""#, "did you mean `Late`?"),
        (
            r#""Late""#,
            "`Late` is defined further down, in line 3: define it where it is used first",
        ),
        (
            r#""Nothing""#,
            "a named type is defined where it is used first, in the order of the file",
        ),
    ] {
        assert_eq!(advice("shop", address, ty), help, "{ty}");
    }
}

/// What is said of a field of this type with this default; empty for nothing.
fn of_default(ty: &str, default: &str) -> String {
    let text = format!(
        r#"{{"type":"record","name":"R","fields":[
{{"name":"k","type":{{"type":"enum","name":"K","symbols":["A","B"]}}}},
{{"name":"f","type":{{"type":"fixed","name":"F","size":2}}}},
{{"name":"p","type":{{"type":"record","name":"P","fields":[{{"name":"x","type":"int"}},{{"name":"y","type":"int","default":1}}]}}}},
{{"name":"d","type":{ty},"default":{default}}}]}}"#
    );
    let file = SourceFile::in_memory("x.avsc", &text);
    let Err(found) = parse(&file) else {
        return String::new();
    };
    assert_eq!(
        (found.len(), found[0].code.entry().id),
        (1, "SP075"),
        "{text}"
    );
    assert_eq!(found[0].place.line, 5, "{text}");
    let message = &found[0].message;
    let column = found[0].place.column - (r#"{"name":"d","type":,"default":"#.len() + ty.len());
    let prefix = "the default of field `d` ";
    let message = message.strip_prefix(prefix).expect("its beginning");
    match found[0].help.as_str() {
        "" => format!("{column}: {message}"),
        help => format!("{column}: {message}; {help}"),
    }
}

#[test]
fn a_default_is_a_value_of_its_field() {
    let maybe = r#"["null","string"]"#;
    for (ty, default, said) in [
        (r#""null""#, "null", ""),
        (r#""boolean""#, "true", ""),
        (r#""int""#, "-2147483648", ""),
        (r#""long""#, "9223372036854775807", ""),
        (r#""double""#, "1e3", ""),
        (r#""float""#, "1", ""),
        (r#""float""#, "3.4e38", ""),
        (r#""double""#, "1.7e308", ""),
        (
            r#""float""#,
            "3.5e38",
            "1: is `3.5e38`, not a number in the range of a float",
        ),
        (
            r#""double""#,
            "1e999",
            "1: is `1e999`, not a number in the range of a double",
        ),
        (r#""string""#, r#""x""#, ""),
        (r#""bytes""#, r#""\u00ff""#, ""),
        (r#"{"type":"array","items":"int"}"#, "[1,2]", ""),
        (r#"{"type":"map","values":"int"}"#, r#"{"a":1}"#, ""),
        (r#""K""#, r#""B""#, ""),
        (r#""F""#, r#""ab""#, ""),
        (r#""P""#, r#"{"x":1}"#, ""),
        (r#""P""#, r#"{"x":1,"y":2,"z":3}"#, ""),
        (maybe, "null", ""),
        (maybe, r#""x""#, ""),
        (r#"["string","null"]"#, r#""x""#, ""),
        (r#"["string","null"]"#, "null", ""),
        (r#"["string","P"]"#, r#"{"x":1}"#, ""),
        (
            r#""int""#,
            r#""1""#,
            "1: is a string, not an integer of 32 bits",
        ),
        (r#""int""#, "1.5", "1: is `1.5`, not an integer of 32 bits"),
        (
            r#""int""#,
            "2147483648",
            "1: is `2147483648`, not an integer of 32 bits",
        ),
        (
            r#""long""#,
            "9223372036854775808",
            "1: is `9223372036854775808`, not an integer of 64 bits",
        ),
        (r#""boolean""#, "0", "1: is `0`, not `true` or `false`"),
        (r#""string""#, "null", "1: is null, not a string"),
        (r#""double""#, "false", "1: is `false`, not a number"),
        (
            r#""bytes""#,
            r#""€""#,
            "1: contains '€', which is no byte: they go up to \\u00ff",
        ),
        (
            r#"{"type":"array","items":"int"}"#,
            r#"[1, "2"]"#,
            "5: is a string, not an integer of 32 bits",
        ),
        (
            r#"{"type":"map","values":"int"}"#,
            r#"{"a":[]}"#,
            "6: is a list, not an integer of 32 bits",
        ),
        (r#""K""#, r#""C""#, "1: is \"C\", no symbol of `K`"),
        (r#""K""#, "1", "1: is `1`, not a symbol of `K`"),
        (r#""F""#, r#""abc""#, "1: has 3 bytes, and `F` has 2"),
        (r#""P""#, r#"{"y":1}"#, "1: has no value for field `x`"),
        (
            r#""P""#,
            r#"{"x":{}}"#,
            "6: is an object, not an integer of 32 bits",
        ),
        (
            maybe,
            "1",
            "1: is `1`, not null; the default of a union is a value of one of its branches",
        ),
        (
            r#"["string","P"]"#,
            r#"{"x":"y"}"#,
            "6: is a string, not an integer of 32 bits",
        ),
        (
            r#"["string","P"]"#,
            r#"{"y":1}"#,
            "1: is an object, not a string; the default of a union is a value of one of its branches",
        ),
    ] {
        assert_eq!(of_default(ty, default), said, "{ty} {default}");
    }
}

#[test]
fn a_default_that_leads_back_to_itself_or_stands_for_too_much_is_refused() {
    let node = |next: &str| {
        format!(
            r#"{{"type":"record","name":"N","fields":[{{"name":"v","type":"int"}},{{"name":"next","type":["N","null"],"default":{next}}}]}}"#
        )
    };
    let endless = "leaves fields to their defaults without end";
    let found = mistakes(&node(r#"{"v":1}"#));
    assert!(
        found.len() == 1 && found[0].contains("field `next`") && found[0].contains(endless),
        "{found:?}"
    );
    schema(&node(r#"{"v":1,"next":null}"#));
    // Each leaves two of the next one: short, and 131,072 values in all.
    let mut inner = r#"{"type":"record","name":"R17","fields":[]}"#.to_owned();
    for n in (0..17).rev() {
        inner = format!(
            r#"{{"type":"record","name":"R{n}","fields":[{{"name":"a","type":{inner},"default":{{}}}},{{"name":"b","type":"R{}","default":{{}}}}]}}"#,
            n + 1
        );
    }
    let text = format!(
        r#"{{"type":"record","name":"R","fields":[{{"name":"f","type":{inner},"default":{{}}}}]}}"#
    );
    let found = mistakes(&text);
    assert!(
        found.iter().all(|found| found.contains(endless)),
        "{found:?}"
    );
}

#[test]
fn the_default_of_an_enum_is_a_symbol() {
    let file = SourceFile::in_memory(
        "x.avsc",
        r#"{"type":"enum","name":"E","symbols":["FIRST","SECOND"],"default":"SECNOD"}"#,
    );
    let found = parse(&file).expect_err("no symbol");
    assert_eq!(
        found[0].message,
        "the default of an enum is one of its symbols"
    );
    assert_eq!(found[0].help, "did you mean `SECOND`?");
}

#[test]
fn a_record_without_end_is_refused_and_a_recursive_one_is_not() {
    assert_eq!(
        mistakes(r#"{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}"#)[0]
            .lines()
            .next(),
        Some("SP075 x.avsc:1:25: `R` contains itself without end")
    );
    schema(r#"{"type":"record","name":"R","fields":[{"name":"r","type":["null","R"]}]}"#);
    schema(
        r#"{"type":"record","name":"R","fields":[{"name":"r","type":{"type":"array","items":"R"}}]}"#,
    );
}

proptest::proptest! {
    #[test]
    fn any_text_is_answered_without_a_panic(text in r#"[\[\]{}",:a-z0-9 .\n]{0,200}"#) {
        let _ = parse(&SourceFile::in_memory("x.avsc", &text));
    }

    #[test]
    fn a_schema_cut_anywhere_is_answered_without_a_panic(cut in 0usize..200) {
        let text = r#"{"type":"record","name":"a.R","fields":[{"name":"r","type":["null",{"type":"map","values":"R"}],"default":null}]}"#;
        let _ = parse(&SourceFile::in_memory("x.avsc", text.get(..cut).unwrap_or(text)));
    }
}

#[test]
fn a_schema_may_use_types_of_files_that_are_read_before_it() {
    let file = SourceFile::in_memory;
    let line = file(
        "line.avsc",
        r#"{"type":"record","name":"Line","namespace":"shop","fields":[
            {"name":"unit","type":{"type":"enum","name":"Unit","symbols":["KG","M"]}}]}"#,
    );
    let part = file(
        "part.avsc",
        r#"{"type":"record","name":"Part","namespace":"shop","fields":[{"name":"line","type":"Line"}]}"#,
    );
    let order = file(
        "order.avsc",
        r#"{"type":"record","name":"Order","namespace":"shop","fields":[
            {"name":"lines","type":{"type":"array","items":"shop.Line"}},
            {"name":"part","type":"Part"},{"name":"unit","type":"Unit"}]}"#,
    );
    let schema = parse_with(&order, &[line.clone(), part.clone()]).expect("a schema");
    let find = |name: &str| schema.all().find(|(_, named)| named.name == name);
    let (id, named) = find("shop.Order").expect("the record");
    assert_eq!(named.file.written(), "order.avsc");
    let (_, unit) = find("shop.Unit").expect("the enum");
    assert_eq!((unit.file.written(), unit.short()), ("line.avsc", "Unit"));
    assert_eq!(
        schema.canonical(id),
        concat!(
            r#"{"name":"shop.Order","type":"record","fields":[{"name":"lines","type":{"type":"array","items":"#,
            r#"{"name":"shop.Line","type":"record","fields":[{"name":"unit","type":{"name":"shop.Unit","type":"enum","symbols":["KG","M"]}}]}}},"#,
            r#"{"name":"part","type":{"name":"shop.Part","type":"record","fields":[{"name":"line","type":"shop.Line"}]}},"#,
            r#"{"name":"unit","type":"shop.Unit"}]}"#
        ),
        "as one text that needs no other file"
    );
    let wrong = |file: &Arc<SourceFile>, with: &[Arc<SourceFile>]| {
        let (file, found) = parse_with(file, with).expect_err("mistakes");
        let found = &found[0];
        format!(
            "{} {} {}",
            file.written(),
            found.code.entry().id,
            found.message
        )
    };
    assert_eq!(
        wrong(&order, &[part.clone(), line.clone()]),
        "part.avsc SP073 unknown type `Line`"
    );
    assert_eq!(
        wrong(&order, &[line.clone(), line.clone()]),
        "line.avsc SP074 `shop.Line` is defined a second time"
    );
    assert_eq!(wrong(&part, &[]), "part.avsc SP073 unknown type `Line`");
}

#[test]
fn what_a_file_defines_itself_comes_before_the_files_below_it() {
    let file = SourceFile::in_memory;
    let line = |name: &str, field: &str| {
        let text = r#"{"type":"record","name":"Line","namespace":"shop","fields":[{"name":"FIELD","type":"int"}]}"#;
        file(name, &text.replace("FIELD", field))
    };
    let unit = file(
        "unit.avsc",
        r#"{"type":"enum","name":"shop.Unit","symbols":["KG"]}"#,
    );
    let order = file(
        "order.avsc",
        r#"{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"line","type":"Line"},{"name":"unit","type":"Unit"}]}"#,
    );
    let whole = file(
        "whole.avsc",
        r#"{"type":"record","name":"Order","namespace":"shop","fields":[
            {"name":"line","type":{"type":"record","name":"Line","fields":[{"name":"own","type":"int"}]}},{"name":"unit","type":"Unit"}]}"#,
    );
    let below = [line("line.avsc", "below"), unit];
    let fields = |schema: &Schema| {
        let text = schema.self_contained_of(schema.root());
        let has = |name: &&str| text.contains(&format!("{{\"name\":\"{name}\",\"type\":\"int\"}}"));
        ["below", "beside", "own"]
            .into_iter()
            .filter(|name| has(name))
            .collect::<Vec<_>>()
    };
    let read = |top: &Arc<SourceFile>, with: &[Arc<SourceFile>]| {
        fields(&parse_over(top, with, &below).expect("a schema"))
    };
    assert_eq!(read(&order, &[]), ["below"]);
    assert_eq!(read(&order, &[line("line_v1.avsc", "beside")]), ["beside"]);
    assert_eq!(read(&whole, &[]), ["own"]);
    // Beside it, twice is a mistake as ever.
    let (_, found) =
        parse_over(&whole, &[line("line_v1.avsc", "beside")], &below).expect_err("twice");
    assert_eq!(found[0].message, "`shop.Line` is defined a second time");
}
