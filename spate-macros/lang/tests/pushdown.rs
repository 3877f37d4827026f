//! Which filters are asked before the rest of the record is decoded: those that are seen to look at fields, and no others.

use proc_macro2::TokenStream;
use spate_lang::pipeline::{diagnose, expand};

/// The fields after which the filter is asked; `None` where everything is decoded first.
fn fields(chain: &str) -> Option<String> {
    let source =
        format!("a(limit: i64, home: String) {{ let mut seen = Recent::new(9); {chain} }}");
    let mut input: TokenStream = "[spate] [kafka avro clickhouse]".parse().expect("a front");
    input.extend(source.parse::<TokenStream>().expect("tokens"));
    assert_eq!(diagnose(input.clone()).len(), 0, "{source}");
    let output = expand(input).to_string();
    let (_, rest) = output.split_once("pushdown :: fields_upto")?;
    let (_, list) = rest.split_once("(& [")?;
    let (list, _) = list.split_once(']')?;
    Some(list.replace([' ', '"'], ""))
}

fn of_closure(closure: &str) -> Option<String> {
    fields(&format!(
        "kafka -> avro::<Order<'_>> -> filter({closure}) -> clickhouse"
    ))
}

#[test]
fn a_closure_that_only_looks_at_fields_is_asked_early() {
    for (closure, expected) in [
        ("|o| o.total > limit", "total"),
        ("|o| o.total > limit && o.region == home", "total,region"),
        ("|o| o.total == o.total", "total"),
        (
            "|o| o.region.starts_with(\"eu\") || o.note.is_none()",
            "region,note",
        ),
        ("|o: &Order<'_>| { o.total != 0 }", "total"),
        (
            "|o| matches!(o.status, Status::New | Status::Paid)",
            "status",
        ),
        ("|o| o.at.0 % 2 == 0", "at"),
        ("|o| i64::from(o.qty) < crate::LIMIT", "qty"),
        (
            "|o| o.note == Some(\"x\") || (o.total as u64).count_ones() == 1",
            "note,total",
        ),
        (
            "|o| if let Some(note) = o.note { note == \"x\" } else { o.total <= 1 }",
            "note,total",
        ),
        (
            "|o| match o.kind { Kind::A => true, _ => o.total >= 5 }",
            "kind,total",
        ),
        ("|o, meta| o.total > meta.offset()", "total"),
        ("|o, _| o.r#type", "type"),
        ("|o| !o.gone", "gone"),
        ("|o| o.a.b.c() == 1", "a"),
        ("|o| (o.total as u64) < u64::MAX", "total"),
    ] {
        assert_eq!(of_closure(closure).as_deref(), Some(expected), "{closure}");
    }
}

#[test]
fn a_closure_that_may_do_more_is_asked_when_the_record_is_whole() {
    for closure in [
        // A state would see records that turn out to be damaged.
        "|o| seen.insert(o.id)",
        "|o| o.total > 1 && seen.contains(&o.id)",
        // What a call does is not known.
        "|o| keep(o.total)",
        "|o| crate::rules::keep(o.total)",
        "|o| home.is_empty() || o.total > 1",
        "|o| COUNTER.fetch_add(o.total) > 1",
        "|o| (0..count(o.total)).len() > 1",
        "|o| SEEN[o.shard].swap(true) || o.total > 1",
        // The record as a whole, or a method of it.
        "|o| o.is_good()",
        "|o| good(o)",
        "|o| o.total > 1 && *o == other",
        "|o| o == o",
        // Macros see what they like: here the whole record.
        "|o| { println!(\"{o:?}\"); o.total > 1 }",
        "|o| dbg!(o.total) > 1",
        // Changes.
        "|o| { last = o.total; true }",
        "|o| { last += o.total; true }",
        "|o| o.region.read(&mut last) > 1",
        "|o| { let x = o.total; last = x; true }",
        // Nothing of the record at all, or not by name.
        "|o| true",
        "|_| true",
        "|Order { total, .. }| *total > 1",
        "|mut o| o.total > 1",
        "keep",
        // Code that runs elsewhere or never ends.
        "|o| loop { if o.total > 1 { break true } }",
        "|o| unsafe { o.total > 1 }",
    ] {
        assert_eq!(of_closure(closure), None, "{closure}");
    }
}

#[test]
fn the_record_has_to_have_a_plain_name_and_the_filter_to_come_first() {
    let some = Some("total".to_owned());
    for (chain, expected) in [
        (
            "kafka -> avro -> filter(|o: &Order<'_>| o.total > 1) -> clickhouse",
            &some,
        ),
        (
            "kafka -> avro -> filter(|o: &crate::x::Order| o.total > 1) -> clickhouse",
            &some,
        ),
        (
            "kafka -> avro::<Order>(pushdown = on, on_error = skip) -> filter(|o| o.total > 1) -> clickhouse",
            &some,
        ),
        (
            "kafka -> avro::<Order>(pushdown = off) -> filter(|o| o.total > 1) -> clickhouse",
            &None,
        ),
        (
            "kafka -> avro::<Order<u8>> -> filter(|o| o.total > 1) -> clickhouse",
            &None,
        ),
        (
            "kafka -> avro::<Order<'static>> -> filter(|o| o.total > 1) -> clickhouse",
            &None,
        ),
        (
            "kafka -> avro::<Order> -> map(|o| o) -> filter(|o| o.total > 1) -> clickhouse",
            &None,
        ),
        (
            "kafka -> avro::<Order> -> inspect(|o| log(o)) -> filter(|o| o.total > 1) -> clickhouse",
            &None,
        ),
        (
            "kafka -> avro::<Order> -> try_filter(|o| Ok(o.total > 1)) -> clickhouse",
            &None,
        ),
        (
            "kafka -> my::Decoder::<Order> -> filter(|o| o.total > 1) -> clickhouse",
            &None,
        ),
        (
            "kafka -> avro::<Order> -> filter(|o| o.total > 1) -> tee { a: capture, b: discard }",
            &some,
        ),
    ] {
        assert_eq!(fields(chain), *expected, "{chain}");
    }
}

#[test]
fn a_bare_chain_decodes_everything_because_it_may_stand_in_a_generic_function() {
    let mut input: TokenStream = "[spate] [avro]".parse().expect("a front");
    let source = "memory -> avro::<T> -> filter(|o| o.total > 1) -> capture";
    input.extend(source.parse::<TokenStream>().expect("tokens"));
    assert!(!expand(input).to_string().contains("fields_upto"));
}
