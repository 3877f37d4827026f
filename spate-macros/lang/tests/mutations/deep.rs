//! Nesting far beyond what anybody writes is an error, not the end of the compiler: an overflow of the stack is no panic
//! that could be caught.
//!
//! Each input is answered on half the stack that rustc gives to a macro, unoptimised, and its answer judged with plenty.

use proc_macro2::TokenStream;
use spate_lang::derive::{avro_enum, avro_record, avro_union, row};
use spate_lang::files::SourceFile;
use spate_lang::{avro, pipeline, sql};

use crate::claims;
use crate::claims::{derive_tokens, pipeline_tokens};
use crate::corpus::dir;

/// rustc runs macros on a stack of 8 MiB.
const STACK: usize = 4 << 20;
/// For what the test itself does by recursion.
const PLENTY: usize = 1 << 30;

/// Written by hand, by a generator, just too much, and much too much.
const DEPTHS: [usize; 4] = [10, 50, 70, TOO_MUCH];
const TOO_MUCH: usize = 1_500;

fn on_a_stack(size: usize, run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(size).spawn(run);
    thread.expect("a thread").join().expect("no panic");
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

/// Asks for each depth of a text. Where it is much too deep nothing more than an answer is asked for.
fn at_every_depth(text: impl Fn(usize) -> String, ask: fn(&str), judge: fn(&str)) {
    for depth in DEPTHS {
        let text = text(depth);
        let asked = text.clone();
        on_a_stack(STACK, move || ask(&asked));
        if depth < TOO_MUCH {
            on_a_stack(PLENTY, move || judge(&text));
        }
    }
}

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("tokens")
}

/// A block is answered at any depth. One that `nests` is refused where that is much too deep; others are long only.
fn block(nests: bool, text: impl Fn(usize) -> String) {
    let ask = |text: &str| {
        pipeline::expand(tokens(&format!("[::spate] [avro] {text}")));
    };
    if nests {
        let much = format!("[::spate] [avro] {}", text(TOO_MUCH));
        assert_eq!(
            pipeline::diagnose(tokens(&much)).len(),
            1,
            "{}",
            &much[..200]
        );
    }
    at_every_depth(text, ask, |text| {
        pipeline_tokens(tokens(text));
    });
}

/// What stands behind an operand, and attributes, are read in a row.
fn nests(open: &str) -> bool {
    !open.is_empty() && !open.starts_with('#')
}

#[test]
fn an_expression_may_be_nested_as_deep_as_it_likes() {
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("[", "]"),
        ("f(", ")"),
        ("m!(", ")"),
        ("S { a: ", "}"),
        ("!", ""),
        ("&", ""),
        ("*", ""),
        ("-", ""),
        ("&mut ", ""),
        ("|x| ", ""),
        ("|x, y| ", ""),
        ("|| ", ""),
        ("x = ", ""),
        ("x += ", ""),
        ("return ", ""),
        ("break ", ""),
        (".. ", ""),
        ("if a {} else ", "{}"),
        ("if let a = ", "{}"),
        ("match ", "{}"),
        ("move || ", ""),
        ("async move { ", "}"),
        ("a::<A<", ">>::b"),
        ("", ".a()"),
        ("", " as a"),
        ("", "?"),
        ("", "[0]"),
        ("", "(0)"),
        ("", " + a"),
        ("", " && a"),
        ("", " == a"),
        ("", " < a"),
        ("", "..a"),
        ("unsafe { ", "}"),
        ("loop { ", "}"),
        ("'a: loop { ", "}"),
        ("let x = ", ";"),
        ("fn f() { ", "}"),
        ("#[a] ", ""),
        ("const { ", "}"),
    ] {
        block(nests(open), move |depth| {
            format!(
                "memory -> bytes -> map(|r| {}) -> capture",
                nested(open, "r", close, depth)
            )
        });
        block(nests(open), move |depth| {
            format!(
                "a {{ let x = {}; memory -> bytes -> capture }}",
                nested(open, "1", close, depth)
            )
        });
    }
}

#[test]
fn a_type_may_be_nested_as_deep_as_it_likes() {
    for (open, close) in [
        ("A<", ">"),
        ("A<B, ", ">"),
        ("&", ""),
        ("&'a ", ""),
        ("&mut ", ""),
        ("*const ", ""),
        ("(", ")"),
        ("[", "]"),
        ("fn() -> ", ""),
        ("Fn() -> ", ""),
        ("dyn Fn() -> ", ""),
        ("impl Fn() -> ", ""),
        ("fn(", ")"),
        ("<", " as T>::A"),
        ("A<B = ", ">"),
        ("A<{ ", " }>"),
        ("dyn for<'a> A<", ">"),
        ("", " + A"),
        ("", "::A"),
        ("", "<A>"),
    ] {
        block(nests(open), move |depth| {
            format!(
                "kafka -> avro::<{}> -> capture",
                nested(open, "A", close, depth)
            )
        });
        block(nests(open), move |depth| {
            format!(
                "a(x: {}) {{ kafka -> avro::<A> -> capture }}",
                nested(open, "A", close, depth)
            )
        });
        block(nests(open), move |depth| {
            format!(
                "a {{ let x: {} = 1; kafka -> avro::<A> -> capture }}",
                nested(open, "A", close, depth)
            )
        });
        for attribute in [
            "avro(schema = \"files/order.avsc\")",
            "row(table = \"files/orders.sql\")",
        ] {
            let text = |depth| {
                format!(
                    "#[{attribute}] struct A {{ order_id: {} }}",
                    nested(open, "A", close, depth)
                )
            };
            let ask = |text: &str| {
                avro_record(tokens(text), &dir());
                row(tokens(text), &dir());
            };
            at_every_depth(text, ask, |text| {
                derive_tokens(tokens(text), &dir());
            });
        }
        let text = |depth| {
            format!(
                "#[avro(schema = \"files/shipment.avsc\", field = \"Shipment.origin\")] enum A {{ Text({}) }}",
                nested(open, "A", close, depth)
            )
        };
        let ask = |text: &str| {
            avro_enum(tokens(text), &dir());
            avro_union(tokens(text), &dir());
        };
        at_every_depth(text, ask, |text| {
            derive_tokens(tokens(text), &dir());
        });
    }
}

#[test]
fn a_pattern_may_be_nested_as_deep_as_it_likes() {
    for (open, close) in [
        ("&", ""),
        ("&mut ", ""),
        ("a @ ", ""),
        ("(", ")"),
        ("[", "]"),
        ("A(", ")"),
        ("A { a: ", "}"),
        ("| ", ""),
        ("", " | a"),
        ("ref ", ""),
        ("..=", ""),
    ] {
        block(nests(open), move |depth| {
            format!(
                "memory -> bytes -> route(|r| r) {{ {} => capture, _ => drop }}",
                nested(open, "x", close, depth)
            )
        });
        block(nests(open), move |depth| {
            format!(
                "a {{ let {} = 1; memory -> bytes -> capture }}",
                nested(open, "x", close, depth)
            )
        });
    }
}

#[test]
fn a_chain_may_be_nested_as_deep_as_it_likes() {
    for (open, close) in [
        ("tee { a: capture, b: ", "}"),
        ("route(|r| r) { 0 => drop, _ => ", "}"),
        ("flat_map(|r| r) -> ", ""),
        ("(", ")"),
        ("{", "}"),
        ("[", "]"),
    ] {
        block(nests(open), move |depth| {
            format!(
                "memory -> bytes -> {}",
                nested(open, "discard", close, depth)
            )
        });
        block(nests(open), move |depth| {
            nested(open, "discard", close, depth)
        });
    }
    block(true, |depth| {
        format!(
            "#[doc({})] a {{ memory -> bytes }}",
            nested("(", "", ")", depth)
        )
    });
}

#[test]
fn a_long_chain_is_not_deep() {
    let text = format!(
        "memory -> bytes {} -> capture",
        "-> map(|r| r) -> filter(|r| true)".repeat(500)
    );
    assert_eq!(pipeline_tokens(tokens(&text)), 0);
}

/// A schema: parsed and used on a small stack.
fn schema(text: impl Fn(usize) -> String) {
    let ask = |text: &str| {
        if let Ok(schema) = avro::parse(&SourceFile::in_memory("deep.avsc", text)) {
            for (id, _) in schema.records() {
                schema.least(id);
                if !schema.is_recursive(id) && !schema.is_too_deep(id) {
                    schema.self_contained(id);
                }
            }
        }
    };
    at_every_depth(text, ask, |text| claims::schema(text.as_bytes()));
}

#[test]
fn a_schema_may_be_nested_as_deep_as_it_likes() {
    for (open, close) in [
        ("[", "]"),
        ("{\"type\":", "}"),
        ("{\"type\":\"array\",\"items\":", "}"),
        ("{\"type\":\"map\",\"values\":", "}"),
        (
            "{\"type\":\"record\",\"name\":\"A\",\"fields\":[{\"name\":\"f\",\"type\":",
            "}]}",
        ),
    ] {
        schema(move |depth| nested(open, "\"int\"", close, depth));
    }
    // Records of their own names, one in the other.
    schema(|depth| {
        let open = |n| {
            format!(
                "{{\"type\":\"record\",\"name\":\"R{n}\",\"fields\":[{{\"name\":\"f\",\"type\":"
            )
        };
        let open: String = (0..depth).map(open).collect();
        format!("{open}\"int\"{}", "}]}".repeat(depth))
    });
    // A default.
    schema(|depth| {
        let value = nested("[{\"f\":", "[]", "}]", depth);
        format!(
            "{{\"type\":\"record\",\"name\":\"R\",\"fields\":[{{\"name\":\"f\",\"type\":{{\"type\":\"array\",\"items\":\"R\"}},\"default\":{value}}}]}}"
        )
    });
}

/// A union of records, each of which has the one before it as a field `count` times.
fn towers(depth: usize, count: usize) -> String {
    let mut records = vec!["{\"type\":\"fixed\",\"name\":\"R0\",\"size\":2147483647}".to_owned()];
    for n in 1..depth {
        let field = |m| format!("{{\"name\":\"f{m}\",\"type\":\"R{}\"}}", n - 1);
        let fields: Vec<String> = (0..count).map(field).collect();
        records.push(format!(
            "{{\"type\":\"record\",\"name\":\"R{n}\",\"fields\":[{}]}}",
            fields.join(",")
        ));
    }
    format!("[{}]", records.join(","))
}

#[test]
fn records_that_nest_by_name_are_counted_once_each() {
    // Of forty levels of two there are 2^40 leaves, whose sizes do not even fit a number.
    schema(|depth| towers(depth.min(600), 1));
    schema(|depth| towers(depth.min(600), 3));
    let text = towers(4, 2);
    let schema = avro::parse(&SourceFile::in_memory("small.avsc", &text)).expect("a schema");
    let least: Vec<usize> = schema.records().map(|(id, _)| schema.least(id)).collect();
    let fixed = 2_147_483_647;
    assert_eq!(least, [2 * fixed, 4 * fixed, 8 * fixed]);
}

#[test]
fn a_record_whose_text_no_reader_of_json_takes_is_refused() {
    for (depth, refused) in [(30, false), (60, true)] {
        let file = SourceFile::in_memory("towers.avsc", &towers(depth, 1));
        let schema = avro::parse(&file).expect("a schema");
        let (last, _) = schema.records().last().expect("a record");
        assert_eq!(schema.is_too_deep(last), refused, "{depth}");
    }
}

/// Each union could be compared with each branch of the next: the steps would double with every level.
#[test]
fn a_default_of_unions_in_unions_is_compared_once() {
    schema(|depth| {
        let value = nested("{\"f\":", "7", "}", depth);
        let inner = "{\"type\":\"record\",\"name\":\"B\",\"fields\":[{\"name\":\"f\",\"type\":[\"A\",\"B\"]}]}";
        format!(
            "{{\"type\":\"record\",\"name\":\"A\",\"fields\":[{{\"name\":\"f\",\"type\":[\"A\",{inner}],\"default\":{value}}}]}}"
        )
    });
}

#[test]
fn a_table_may_be_nested_as_deep_as_it_likes() {
    let ask = |text: &str| drop(sql::parse(&SourceFile::in_memory("deep.sql", text)));
    for open in [
        "Array(",
        "Nullable(",
        "LowCardinality(",
        "Map(String, ",
        "Tuple(",
        "FixedString(",
        "(",
    ] {
        let text = |depth| format!("CREATE TABLE t (c {})", nested(open, "String", ")", depth));
        at_every_depth(text, ask, |text| claims::table(text.as_bytes()));
        let text = |depth| {
            format!(
                "CREATE TABLE t (c String DEFAULT {})",
                nested(open, "1", ")", depth)
            )
        };
        at_every_depth(text, ask, |text| claims::table(text.as_bytes()));
    }
    for (open, close) in [
        ("(", ")"),
        ("/*", "*/"),
        ("{", "}"),
        ("[", "]"),
        ("'", "'"),
        ("`", "`"),
        ("$$", "$$"),
    ] {
        at_every_depth(
            |depth| nested(open, "", close, depth),
            ask,
            |text| claims::table(text.as_bytes()),
        );
    }
}
