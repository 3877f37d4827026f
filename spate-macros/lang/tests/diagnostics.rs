//! What `pipeline!` says about mistakes: each case is a source text and the errors at its lines and columns.
//!
//! The snapshots are the reference of the wording. A case without an error shows `ok`.

use std::fmt::Write as _;

use proc_macro2::TokenStream;
use spate_lang::diagnostic::Code;
use spate_lang::pipeline::{diagnose, expand};

const ALL_FEATURES: &str = "kafka avro clickhouse";

fn input(features: &str, source: &str) -> TokenStream {
    let mut input: TokenStream = format!("[::spate] [{features}]").parse().expect("a front");
    input.extend(source.parse::<TokenStream>().expect("tokens"));
    input
}

/// The case as it stands in the snapshot: source, then `line:column code text` with the advice below.
fn render(features: &str, source: &str) -> String {
    let source = source.trim_matches('\n');
    let mut text = String::new();
    for line in source.lines() {
        let _ = writeln!(text, "    {line}");
    }
    let found = diagnose(input(features, source));
    for diagnostic in &found {
        let start = diagnostic.span().start();
        let (line, column) = (start.line, start.column + 1);
        let _ = writeln!(
            text,
            "{line}:{column} {} {}",
            diagnostic.code().entry().id,
            diagnostic.message()
        );
        if !diagnostic.advice().is_empty() {
            let _ = writeln!(text, "    help: {}", diagnostic.advice());
        }
    }
    if found.is_empty() {
        text.push_str("ok\n");
    }
    let output = expand(input(features, source));
    let items = syn::parse2::<syn::File>(output.clone()).is_ok();
    assert!(
        items || syn::parse2::<syn::Block>(output).is_ok(),
        "the answer to this must be Rust:\n{source}"
    );
    text
}

fn cases(features: &str, sources: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (claim, source) in sources {
        let _ = writeln!(text, "## {claim}\n{}", render(features, source));
    }
    text
}

macro_rules! snapshot {
    ($test:ident, $($claim:literal: $source:literal,)*) => {
        #[test]
        fn $test() {
            let text = cases(ALL_FEATURES, &[$(($claim, $source),)*]);
            insta::assert_snapshot!(stringify!($test), text);
        }
    };
}

snapshot! { legal,
    "the shortest form": "kafka -> avro -> map(|o: Order<'_>| row(o)) -> filter(|r| r.n > 0) -> clickhouse",
    "an item with everything": r#"
/// Paid orders.
#[allow(dead_code)]
pub(crate) orders(min: i64, f: fn(i64) -> bool, names: HashMap<String, Vec<u8>>) {
    let mut seen = Recent::<u64>::new(100_000);
    let (a, b): (u8, fn(u8) -> u8) = pair()?;
    source: kafka(topic = "orders.v1")
    -> avro::<Order<'_>>(on_error = skip)
    -> filter(|o, meta| o.n > min && meta.offset() > 0)
    -> fresh: filter(|o| -> bool { seen.insert(o.id) })
    -> try_map(convert::to_row, on_error = skip)
    -> inspect(|_| {})
    -> flat_map(|o| o.lines.iter().map(move |l| (o.id, l)))
    -> filter_map(<Row as From<_>>::from)
    -> rows: clickhouse::<Row>(table = "db.orders", on_error = fail,)

    name = "paid-orders";
    on_error = fail;
}"#,
    "two pipelines of one call": "a { memory -> bytes -> capture } pub b() { memory -> bytes -> discard }",
    "commas at the end, and several type arguments of one's own": "a(n: u8,) { kafka -> avro::<Order,> -> my::tag::<u8, 5,>(7,) -> Table::<u8>::find::<'static>() -> clickhouse::<Row,> }",
    "a state that may not fit": "a { let Some(n) = first() else { return Err(StageError::new(\"none\")) }; memory -> bytes -> filter(|l| l.len() > n) -> capture }",
    "stages of one's own": "my::Source(path = \"x\") -> my::Decoder::<T>(on_error = skip) -> my::tag::<u8>(7, |x| x) -> my_sink",
    "an option's name is no clause": "p { memory -> bytes -> map(|x| { let on_error = 1; x }) -> capture on_error = skip; }",
}

snapshot! { shape,
    "an empty block": "",
    "an empty pipeline": "orders { }",
    "only a state": "orders { let x = 1; }",
    "no braces after the name": "pub orders(min: i64) kafka -> avro -> clickhouse",
    "no braces, no parameters": "orders kafka -> avro -> clickhouse",
    "a dangling arrow": "orders { kafka -> avro -> }",
    "a dangling arrow before a clause": "orders { kafka -> avro -> clickhouse -> name = \"x\"; }",
    "a doubled arrow": "orders { kafka -> -> avro -> clickhouse }",
    "a leading arrow": "orders { -> avro -> clickhouse }",
    "a missing arrow": "orders { kafka -> avro map(|o| o) -> clickhouse }",
    "a fat arrow": "orders { kafka => avro -> clickhouse }",
    "a pipe": "orders { kafka |> avro | map(|o| o) -> clickhouse }",
    "method calls": "orders { kafka.avro().clickhouse() }",
    "an arrow with a space": "orders { kafka - > avro -> clickhouse }",
    "arguments in brackets and braces": "orders { kafka -> avro -> map[|o| o] -> filter{|o| true} -> clickhouse }",
    "a type argument without colons": "orders { kafka -> avro<Order> -> clickhouse }",
    "a type argument that is not closed": "orders { kafka -> avro<Order -> clickhouse }",
    "two type arguments": "orders { kafka -> avro::<A, B> -> clickhouse::<> }",
    "no type": "a { memory -> bytes -> my::Sink::<A, B> } b { memory -> avro::<5> -> discard::<'a> } c { memory -> avro::<,> -> discard::<A,,> }",
    "a type argument on a stage without one": "orders { kafka -> avro -> map::<X>(|o| o) -> bytes::<u8> -> clickhouse }",
    "reserved words": "orders { kafka -> avro -> join(x) -> window: map(|o| o) -> merge { a: b -> c } batch = 5; }",
    "a semicolon in the chain": "orders { kafka -> avro; -> clickhouse }",
    "a semicolon after the chain": "orders { kafka -> avro -> clickhouse; }",
    "a semicolon for an arrow": "a { kafka; avro::<Order> -> filter(|o| true); my::tag -> clickhouse } b { kafka -> avro; -> clickhouse; } c { kafka -> x: avro::<A>; y: map(f) -> clickhouse }",
    "a semicolon between chains": "a { my::Source -> avro -> clickhouse; my::Source -> avro -> clickhouse } b { kafka -> avro -> clickhouse; map(f) } c { kafka -> avro; kafka -> avro -> clickhouse }",
    "a second chain": "orders { kafka -> avro -> clickhouse; kafka -> avro -> clickhouse name = \"x\"; }",
    "a clause before the chain": "orders { name = \"x\"; kafka -> avro -> clickhouse }",
    "a state after the chain": "orders { kafka -> avro -> clickhouse let x = 1; }",
    "a number for a stage": "orders { kafka -> 5 -> clickhouse }",
    "a closure for a stage": "orders { kafka -> avro -> |o| o -> clickhouse }",
    "a label alone": "orders { kafka -> avro -> clean: -> clickhouse }",
    "a label without a name": "orders { kafka -> avro -> _: map(|o| o) -> clickhouse }",
    "an attribute on a stage": "orders { kafka -> avro -> #[cfg(x)] map(|o| o) -> clickhouse }",
    "attributes and doc comments behind stages": "a { memory -> bytes #[cfg(x)] -> map(f) -> capture } b { memory -> bytes #[doc = \"x\"] filter(f) -> capture }",
    "an attribute on a bare chain": "#[allow(x)] kafka -> avro -> clickhouse",
    "an inner attribute": "#![allow(x)] orders { kafka -> avro -> clickhouse }",
    "junk between pipelines": "a { memory -> bytes -> capture } , b { memory -> bytes -> capture }",
    "an attribute before nothing": "a { memory -> bytes -> capture } #[doc = \"x\"]",
    "keywords for names": "fn { memory -> bytes -> capture } b { memory -> if -> capture }",
    "attributes and visibilities that are none": "#[5] pub(x y) a { memory -> bytes -> capture }",
    "type parameters and a where clause": "a<T: Clone>(x: T) where T: Send { memory -> bytes -> capture } pub b(x: u8) where u8: Copy { memory -> bytes -> mpa(f) -> capture } pub c<const N: usize> { memory -> bytes -> capture }",
    "a stray group behind a stage": "orders { kafka -> avro(on_error = skip)(x) -> clickhouse }",
}

snapshot! { states_and_parameters,
    "a state without a semicolon": "orders {\n    let mut seen = Recent::new(5)\n    kafka -> avro -> clickhouse\n}",
    "a state without a value": "orders { let x; kafka -> avro -> clickhouse }",
    "attributes on states": "a { #[allow(x)] #[cfg(y)] let a = 1; let b = 2; memory -> bytes -> capture } b { let a = 1; #[doc = \"b\"] let b = ; memory -> bytes -> capture }",
    "a state behind a semicolon": "orders { kafka -> avro -> clickhouse; let x = 1; name = \"x\"; }",
    "a state with half of an else": "orders { let Some(x) = y else z; kafka -> avro -> clickhouse }",
    "a state that breaks off": "orders {\n    let x = Recent::new(\n    5).;\n    kafka -> avro -> clickhouse\n}",
    "a state that breaks off without a semicolon": "orders {\n    let x = \n    kafka -> avro -> clickhouse\n}",
    "a broken parameter does not hide the next": "orders(a, b: i64, mut c: u8, self, _: u8, d:) { kafka -> avro -> clickhouse }",
    "a clause without a semicolon": "orders { kafka -> avro -> clickhouse name = \"x\" on_error = skip }",
    "junk among the clauses": "orders { kafka -> avro -> clickhouse name = \"x\"; -> map(|o| o); on_error = skip; }",
    "a clause with too much": "orders { kafka -> avro -> clickhouse name = \"x\" \"y\"; }",
    "unknown clauses": "orders { kafka -> avro -> clickhouse nam = \"x\"; topic = \"t\"; colour = 1; }",
    "a clause twice": "orders { kafka -> avro -> clickhouse on_error = skip; on_error = fail; }",
    "a clause of the wrong kind": "orders { kafka -> avro -> clickhouse name = 5; on_error = \"skip\"; }",
    "an empty name": "orders { kafka -> avro -> clickhouse name = \"\"; }",
}

snapshot! { arguments,
    "no closure": "orders { kafka -> avro -> map() -> clickhouse }",
    "no parentheses": "orders { kafka -> avro -> filter -> clickhouse }",
    "closures without parentheses": "a { memory -> bytes -> map |o| o.len() -> discard } b { memory -> bytes -> route |o| o.len() { 0 => drop, _ => capture } } c { memory -> bytes -> try_map move |o| Ok(o) -> inspect async |o| o -> capture }",
    "two closures": "orders { kafka -> avro -> map(|a| a, |b| b) -> clickhouse }",
    "an unfinished closure": "orders { kafka -> avro -> map(|o| o.) -> clickhouse }",
    "an unfinished closure with an option": "orders { kafka -> avro -> try_map(|o| o.x +, on_error = skip) -> clickhouse }",
    "an unfinished block": "orders { kafka -> avro -> map(|o| { let x = ; o }) -> clickhouse }",
    "commas inside closures and generics": "orders { kafka -> avro -> try_map(|(a, b), m| f::<A, B>(a, b), on_error = fail) -> map(g::<A, B>) -> clickhouse }",
    "a missing comma": "orders { kafka -> avro -> try_map(|o| f(o) on_error = skip) -> clickhouse }",
    "a doubled comma": "orders { kafka -> avro -> try_map(|o| f(o),, on_error = skip) -> clickhouse }",
    "a named argument without a value": "orders { kafka(topic = ) -> avro(on_error = ,) -> clickhouse }",
    "a positional after a named": "orders { kafka -> avro -> try_map(on_error = skip, |o| f(o)) -> clickhouse }",
    "a positional where none is taken": "orders { kafka(\"orders\") -> avro -> memory(1) -> clickhouse }",
    "a closure with three parameters and one with none": "orders { kafka -> avro -> filter(|a, b, c| true) -> map(|| 1) -> clickhouse }",
    "something that is no function": "orders { kafka -> avro -> map(5) -> map(make(3)) -> map({ let mut n = 0; |o| o }) -> clickhouse }",
    "an async closure and an async body": "orders { kafka -> avro -> map(async |o| o) -> map(|o| async { o }) -> clickhouse }",
    "closures that wait": "orders { kafka -> avro -> filter(|o| known(o).await) -> map(|o| { let x = async { f().await }; o }) -> clickhouse }",
    "a closure that yields": "orders { kafka -> avro -> flat_map(|o| { for l in o.lines { yield l; } }) -> map(|r#yield| r#yield) -> clickhouse }",
    "a move closure": "orders { let mut n = 0; kafka -> avro -> map(move |o| { n += 1; (n, o) }) -> clickhouse }",
    "a state passed as a function": "orders(g: fn(i64) -> i64) { let (mut f, Wrap { x: h, .. }) = make(); kafka -> avro -> map(f) -> map(h) -> map(g) -> map(x) -> clickhouse }",
}

snapshot! { options,
    "an unknown option": "orders { kafka(topik = \"x\", group = \"y\") -> avro -> try_map(f, on_eror = skip) -> memory(x = 1) -> clickhouse }",
    "an option twice": "orders { kafka -> avro(on_error = skip, on_error = fail) -> clickhouse }",
    "a topic that is no string": "orders { kafka(topic = 5) -> avro -> clickhouse(table = name) }",
    "topics that Kafka refuses": "a { kafka(topic = \"\") -> avro -> clickhouse(table = \"a.b.c\") } b { kafka(topic = \"or ders\") -> avro -> clickhouse(table = \"\") }",
    "a policy that is none": "orders { kafka -> avro(on_error = ignore) -> try_map(f, on_error = retry(3)) -> clickhouse(on_error = skp) }",
    "a policy in quotes": "orders { kafka -> avro(on_error = \"skip\") -> clickhouse }",
    "a policy on what cannot fail": "orders { kafka(on_error = skip) -> bytes(on_error = skip) -> map(|o| o, on_error = skip) -> clickhouse }",
}

snapshot! { order,
    "no source": "orders { map(|o| o) -> clickhouse }",
    "a decoder first": "orders { avro -> clickhouse }",
    "a source inside": "orders { kafka -> avro -> memory -> clickhouse }",
    "a source at the end": "orders { kafka -> avro -> memory }",
    "no sink": "orders { kafka -> avro -> filter(|o| true) }",
    "a source alone": "orders { kafka }",
    "a stage after the sink": "orders { kafka -> avro -> clickhouse -> map(|o| o) -> capture }",
    "a record stage before the decoder": "orders { kafka -> filter(|o| true) -> avro -> clickhouse }",
    "a sink of payloads": "orders { kafka -> clickhouse }",
    "two decoders": "orders { kafka -> avro -> bytes -> clickhouse }",
    "a label twice": "orders {\n    kafka -> avro\n    -> clean: filter(|o| true)\n    -> clean: map(|o| o)\n    -> clickhouse\n}",
    "a function of one's own before the decoder": "orders { kafka -> my::unpack -> avro -> clickhouse }",
    "a function's arguments where a decoder stands": "orders { kafka -> my::unpack(|x| x) -> clickhouse }",
    "settings of one's own": "orders { my::Source(on_error = skip, path = 5) -> my::Dec -> my::tag(a = 1) -> my::Sink(on_error = skp, x = \"1\", x = \"2\") }",
}

snapshot! { inference,
    "a field of a record that nobody named": "kafka -> avro -> filter(|o| o.n > 1) -> map(|o: Order<'_>| o) -> clickhouse",
    "a method and a meta parameter": "kafka -> avro -> filter(|_| true) -> map(|o, m| o.get(m)) -> clickhouse",
    "no type anywhere": "a { kafka -> avro -> clickhouse } b { kafka -> avro -> map(|_| 1) -> clickhouse::<Row> }",
    "types that are said somehow": r#"
a { kafka -> avro::<Order> -> filter(|o| o.n > 1) -> clickhouse }
b { kafka -> avro -> clickhouse::<Row> }
c { kafka -> avro -> filter(|o| paid(o) && o.n > 1) -> clickhouse }
d { kafka -> avro -> map(to_row) -> clickhouse }
e { kafka -> avro -> map(|Order { n, .. }| x.n.o(n)) -> clickhouse }
f { kafka -> avro -> inspect(|o| list.iter().map(|o| o.n)) -> clickhouse }
g { kafka -> avro -> filter(|r| x.r.y(r)) -> clickhouse }
h { kafka -> avro -> own::stage -> clickhouse }
i { kafka -> bytes -> filter(|o| o.len() > 1) -> clickhouse }
j { kafka -> own::Decoder -> filter(|o| o.len() > 1) -> clickhouse }"#,
}

snapshot! { switches,
    "a switch that is neither on nor off": "a { kafka -> avro::<A>(pushdown = skip) -> clickhouse } b { kafka -> avro::<A>(pushdown = true) -> clickhouse } c { kafka -> bytes(pushdown = off) -> capture }",
}

snapshot! { not_yet,
    "planned stages": "a { s3 -> json::<Order>(on_error = skip) -> filter(|o| true) -> kafka(topic = \"out\") }",
    "a planned source in the wrong place": "a { kafka -> avro::<A> -> s3 } b { kafka -> s3 -> avro::<A> -> map(f) }",
    "dead letters that nobody takes": "a { kafka -> avro::<A>(on_error = dead_letter) -> clickhouse on_error = dead_letter; }",
    "dead letters that go nowhere": "a { kafka -> avro::<A> -> clickhouse dead_letter = map(f); } b { kafka -> avro::<A> -> clickhouse dead_letter = ; } c { kafka -> avro::<A> -> clickhouse dead_letter = filter(f) -> capture; }",
    "dead letters": "a { kafka -> avro(on_error = dead_letter) -> clickhouse dead_letter = kafka(\"orders.dlq\"); }",
}

snapshot! { branches,
    "a route with guards, alternatives, a drop with and without a label, and a chain behind it":
        "a { memory -> bytes -> route(|line| line.len()) { 0 => empty: drop, n @ 1..=8 if n % 2 == 0 => even: map(f) -> short: capture, 9 | 10 => capture, _ => drop, } }",
    "a tee whose arms name their sinks": "a { kafka -> avro::<Order> -> tee { raw: clickhouse::<RawRow>, rows: map(to_row) -> clickhouse::<Row>(table = \"rows\"), } }",
    "branches in branches, without trailing commas": "memory -> bytes -> tee { all: capture, some: filter(keep) -> route(|b| b[0]) { b'a' => tee { x: capture, y: discard }, _ => rest: capture } }",
    "a route by a path, and a record that only an arm names": "a { kafka -> avro -> route(kind) { Kind::A => map(|o: Order<'_>| o) -> clickhouse, _ => drop } }",
    "a tee whose first arm names the record": "a { kafka -> avro -> tee { a: map(|o: Order<'_>| o.n) -> capture, b: filter(|o| o.n > 1) -> clickhouse } }",
    "a tee whose second arm names it too late": "a { kafka -> avro -> tee { a: map(|o| o.n) -> capture, b: filter(|o: &Order| o.n > 1) -> clickhouse } }",
    "a route by a field of a record that nobody named": "a { kafka -> avro -> route(|o| &o.kind) { Kind::A => clickhouse, _ => drop } }",
    "no arms": "a { memory -> bytes -> route(f) {} } b { memory -> bytes -> tee {} } c { memory -> bytes -> route(f) } d { memory -> bytes -> tee }",
    "no closure": "a { memory -> bytes -> route { _ => capture } }",
    "arms in parentheses": "a { memory -> bytes -> tee(capture, discard) } b { memory -> bytes -> tee(a: capture, b: discard) } c { memory -> bytes -> tee() }",
    "attributes on arms": "a { memory -> bytes -> route(f) { #[cfg(x)] 0 => capture, #[doc = \"y\"] _ => drop } } b { memory -> bytes -> tee { #[a] #[b] x: capture, #[c] } }",
    "a closure in a tee": "a { memory -> bytes -> tee(|o| o) { a: capture } }",
    "a closure with three parameters": "a { memory -> bytes -> route(|a, b, c| a) { _ => capture } }",
    "a pattern without an arrow, and a missing comma": "a { memory -> bytes -> route(f) { 1, 2 => capture 3 => discard, _ => drop } }",
    "no pattern, no chain, a stray comma": "a { memory -> bytes -> route(f) { => capture, 2 =>, , _ => drop } }",
    "a pattern that cannot be read": "a { memory -> bytes -> route(f) { 1 + => capture, Some(1 2) => discard, x if => last: discard, _ => drop } }",
    "braces around a chain": "a { memory -> bytes -> route(f) { 1 => { map(g) -> capture } 2 => { capture }, _ => drop } }",
    "arms of the other branch": "a { memory -> bytes -> route(f) { a: capture, _ => drop } } b { memory -> bytes -> tee { 1 => capture, b: discard } }",
    "an arm without a sink, with a source, with a decoder, with a stage behind the sink":
        "a { memory -> bytes -> route(f) { 1 => map(g), 2 => memory -> capture, 3 => bytes -> two: capture, 4 => discard -> map(g) -> three: capture, _ => drop } }",
    "a misspelt stage and a bad option in two arms": "a { memory -> bytes -> tee { a: fliter(g) -> capture, b: try_map(g, on_error = skp) -> capture } }",
    "a stage behind a branch": "a { memory -> bytes -> tee { a: capture } -> map(f) -> discard }",
    "a stage behind a branch whose arms wait for it": "a { memory -> bytes -> route(f) { 0 => map(g), _ => drop } -> capture } b { memory -> bytes -> tee { a: map(f) } }",
    "drop where it is no arm": "a { memory -> bytes -> map(f) -> drop } b { memory -> bytes -> tee { a: drop, b: capture } } c { memory -> bytes -> route(f) { 1 => map(g) -> drop, _ => capture } }",
    "two sinks of one name": "a { memory -> bytes -> route(f) { 1 => capture, 2 => capture, _ => out: map(g) -> capture } }",
    "two arms of one name, and a label that is an arm's": "a { memory -> bytes -> tee { a: capture, a: discard, b: map(f) -> a: discard } }",
    "a branch before the decoder": "a { memory -> tee { a: capture } }",
    "a label twice across arms": "a { memory -> bytes -> tee { a: x: filter(f) -> capture, b: x: filter(f) -> capture } }",
    "missing commas between arms": "a { memory -> bytes -> tee { a: capture b: x: discard c: y: capture } }",
    "a semicolon and a clause in an arm": "a { memory -> bytes -> tee { a: capture; b: discard, } name = \"a\"; }",
    "policies of the new stages": "a { memory -> bytes -> try_filter(|b| Ok(b.len() > 1), on_error = skip) -> try_flat_map(split, on_error = fail) -> capture }",
}

snapshot! { poison,
    "an unknown stage and nothing after it": "orders { kafka -> avro -> mpa(|o| o.x) -> filter(|o| true) -> clickhouse }",
    "an unknown decoder": "orders { kafka -> avor::<Order> -> map(|o| o) -> clickhouse }",
    "an unknown source": "orders { kafak -> avro -> clickhouse }",
    "an unknown sink": "orders { kafka -> avro -> clickhuse::<Row> }",
    "three mistakes, three errors": "orders {\n    kafka(topik = \"x\")\n    -> avro\n    -> map(|a, b, c| a)\n    -> fliter(|o| true)\n    -> clickhouse\n}",
    "three syntax errors, three errors": "orders {\n    kafka avro\n    -> map[|a| a]\n    -> filter(|o| o.)\n    -> clickhouse;\n}",
    "mistakes in two pipelines": "a { kafka -> avro -> mpa(f) -> clickhouse } b { kafka -> avro } c { memory -> bytes -> capture }",
}

#[test]
fn features() {
    let sources = [
        (
            "a feature that is off is named",
            "orders { kafka -> avro -> clickhouse }",
        ),
        (
            "what needs no feature is always there",
            "orders { memory -> bytes -> capture }",
        ),
    ];
    let text = cases("avro", &sources);
    insta::assert_snapshot!("features", text);
}

#[test]
fn more_than_twenty_mistakes_are_twenty_and_a_count() {
    let stages = "-> map() ".repeat(30);
    let output = expand(input(
        ALL_FEATURES,
        &format!("orders {{ kafka -> avro {stages} -> clickhouse }}"),
    ))
    .to_string();
    assert_eq!(output.matches("compile_error").count(), 21);
    assert!(output.contains("and 10 more"), "{output}");
}

#[test]
fn columns_are_right_behind_carriage_returns_and_wide_letters() {
    let source = "orders {\r\n    kafka -> größe: avro -> mpa(f) -> clickhouse\r\n}";
    let found = diagnose(input(ALL_FEATURES, source));
    let start = found[0].span().start();
    assert_eq!((found.len(), start.line, start.column + 1), (1, 2, 29));
}

#[test]
fn a_call_that_did_not_come_through_the_front_says_so() {
    for source in ["", "orders { kafka }", "[spate]", "[] []"] {
        let found = diagnose(source.parse().expect("tokens"));
        assert_eq!(found.len(), 1, "{source}");
        assert_eq!(found[0].code(), Code::NoFront);
    }
}

#[test]
fn a_pipeline_with_errors_keeps_its_signature_and_its_neighbours() {
    let source =
        "/// Doc.\npub broken(a: i64, oops, c: u8) { mpa } fine { memory -> bytes -> capture }";
    let file: syn::File = syn::parse2(expand(input("", source))).expect("items");
    let printed = prettyplease::unparse(&file);
    assert!(printed.contains("/// Doc."), "{printed}");
    let signature =
        "pub fn broken(a: i64, __param1: impl ::core::marker::Sized, c: u8) -> ::spate::Pipeline {";
    assert!(printed.contains(signature), "{printed}");
    assert!(
        printed.contains("fn fine() -> ::spate::Pipeline {"),
        "{printed}"
    );
    assert_eq!(printed.matches("unreachable!").count(), 1, "{printed}");
}

#[test]
fn tokens_of_a_surrounding_macro_keep_their_invisible_groups() {
    use proc_macro2::{Delimiter, Group, TokenTree};
    let closure: TokenStream = "|o| o + 1".parse().expect("tokens");
    let path: TokenStream = "crate::stages::tag".parse().expect("tokens");
    let hidden = |stream| TokenStream::from(TokenTree::Group(Group::new(Delimiter::None, stream)));
    let (closure, path) = (hidden(closure), hidden(path));
    let source = quote::quote!(orders { kafka -> bytes -> map(#closure) -> #path(1) -> capture });
    let mut input = input(ALL_FEATURES, "");
    input.extend(source);
    assert!(diagnose(input).is_empty());
}

#[test]
fn every_code_of_the_language_has_a_case() {
    let snapshots = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots");
    let mut text = String::new();
    for entry in std::fs::read_dir(snapshots).expect("snapshots").flatten() {
        text.push_str(&std::fs::read_to_string(entry.path()).expect("a snapshot"));
    }
    for code in Code::ALL {
        let id = code.entry().id;
        let ours = id < "SP070" && *code != Code::NoFront;
        assert!(
            !ours || text.contains(&format!(" {id} ")),
            "{id} has no case"
        );
    }
}
