//! What `pipeline!` writes, pretty-printed, beside what was written.
//!
//! The snapshots are for review: whoever changes the generated code sees the change as a reader of it would.

use proc_macro2::TokenStream;
use spate_lang::pipeline::expand;

fn output(source: &str) -> String {
    let mut input: TokenStream = "[spate] [kafka avro clickhouse]".parse().expect("a front");
    input.extend(source.parse::<TokenStream>().expect("tokens"));
    let output = expand(input);
    let file = syn::parse2::<syn::File>(output.clone()).unwrap_or_else(|_| {
        // The expression form: shown as the body of a function.
        syn::parse2(quote::quote!(fn expression_form() { #output })).expect("an expression")
    });
    let printed = prettyplease::unparse(&file);
    assert!(!printed.contains("compile_error"), "{printed}");
    for word in ["dyn", "Box"] {
        let found = printed
            .split(|ch: char| !ch.is_alphanumeric())
            .any(|part| part == word);
        assert!(!found, "generated code has no `{word}`:\n{printed}");
    }
    format!("{}\n\n// becomes\n\n{printed}", source.trim_matches('\n'))
}

macro_rules! snapshot {
    ($test:ident, $source:literal) => {
        #[test]
        fn $test() {
            let text = output($source);
            insta::assert_snapshot!(stringify!($test), text);
        }
    };
}

snapshot! { the_example_of_the_architecture, r#"
/// Orders worth something.
pub orders(min_cents: i64) {
    let mut seen = Recent::new(100_000);
    kafka(topic = "orders")
    -> avro::<Order>(on_error = skip)
    -> filter(|o| o.total_cents >= min_cents)
    -> fresh: filter(|o| seen.insert(o.order_id))
    -> try_map(|o, meta| to_row(o, meta), on_error = skip)
    -> clickhouse::<OrderRow>
}
"# }

snapshot! { types_named_by_closures_alone, r#"
kafka -> avro -> map(|o: Order<'_>| row(o)) -> filter(keep) -> clickhouse
"# }

snapshot! { every_transform, r#"
all {
    memory
    -> bytes
    -> inspect(|line, meta| log(line, meta))
    -> filter_map(|line| line.first())
    -> flat_map(|n| 0..n)
    -> filter(|n| n % 2 == 0)
    -> flat_map(|n| [n, n])
    -> try_map(checked)
    -> map(text::<u8>)
    -> capture(on_error = skip)
}
"# }

snapshot! { stages_of_ones_own, r##"
custom {
    crate::io::Source(path = "in")
    -> crate::io::Lines::<Line>(on_error = skip, comment = "#")
    -> crate::ops::tag(7, |x| x + 1)
    -> crate::io::Sink::<Row>(path = "out")

    on_error = skip;
    name = "custom-lines";
}
"## }

snapshot! { a_route_with_a_drop, r#"
by_size {
    memory
    -> bytes
    -> route(|line, meta| size(line, meta)) {
        0 => empty: drop,
        n if n > 9 => filter_map(|line| short(line)) -> long: capture,
        _ => capture(on_error = skip),
    }
}
"# }

snapshot! { a_tee_with_branches_inside, r#"
fan_out {
    memory
    -> bytes
    -> flat_map(|line| words(line))
    -> tee {
        all: capture,
        some: try_filter(|word| wanted(word), on_error = skip)
            -> route(|word| word.len()) {
                1 => drop,
                _ => try_flat_map(|word| letters(word), on_error = skip) -> filter(|l| l != 'x') -> letters: capture,
            },
        last: filter(|word| word != "") -> discard,
    }
}
"# }

snapshot! { a_filter_asked_early, r#"
orders(limit: i64) {
    kafka
    -> avro::<Order<'_>>(on_error = skip)
    -> filter(|o| o.total > limit && o.region != "test")
    -> clickhouse::<OrderRow>
}
"# }

snapshot! { a_bare_chain_with_a_state, r#"
let mut seen = HashSet::new();
let least = least.clone();
memory
-> bytes
-> filter(|line| line.len() >= least.size())
-> try_filter(|line, meta| fresh(&mut seen, line, meta.key()), on_error = skip)
-> filter(is_wanted)
-> capture
name = "fresh-lines";
"# }

snapshot! { a_tee_in_a_route, r#"
events(home: String, keys: Arc<Keys>) {
    let mut count = 0_u64;
    kafka(topic = "events")
    -> avro::<Event<'_>>(on_error = skip)
    -> inspect(|_| count += 1)
    -> route(|event, meta| (event.kind, meta.partition())) {
        (Kind::Order, _) => tee {
            rows: try_map(to_row, on_error = skip) -> clickhouse::<Row<'_>>(table = "orders"),
            keys: map(|event| keys.of(event)) -> capture,
        },
        (Kind::Refund | Kind::Return, 0..=9) if count > 9 => refunds: map(refund) -> clickhouse::<Refund>,
        _ => other: drop,
    }
}
"# }

snapshot! { what_could_leave_the_loop, r#"
lines(mark: Vec<u8>) {
    memory
    -> bytes
    -> crate::ops::after(&mark, matches!(mark.len(), 1 | 2))
    -> route(|line| line.first().copied()) {
        None => drop,
        Some(byte) if let Some(first) = mark.first() && matches!(byte, b'a'..=b'z') => capture,
        Some(byte) if mark.get(usize::from(byte))? == &byte => second: capture,
        _ => discard,
    }
}
"# }

#[test]
fn user_tokens_come_out_with_their_own_spans() {
    let mut input: TokenStream = "[spate] []".parse().expect("a front");
    let source: TokenStream = "a {\n memory -> bytes -> map(|marker| marker)\n -> capture }"
        .parse()
        .expect("tokens");
    input.extend(source);
    let mut places = Vec::new();
    collect(expand(input), "marker", &mut places);
    assert_eq!(places, [(2, 26), (2, 34)]);
}

#[test]
fn generated_tokens_are_located_at_their_stage() {
    let mut input: TokenStream = "[spate] []".parse().expect("a front");
    let source: TokenStream = "a {\n memory\n -> bytes\n -> map(|x: &[u8]| x)\n -> capture }"
        .parse()
        .expect("tokens");
    input.extend(source);
    let output = expand(input);
    for (word, line) in [
        ("PipelineBuilder", 2),
        ("decode", 3),
        ("map", 4),
        ("encode", 5),
    ] {
        let mut places = Vec::new();
        collect(output.clone(), word, &mut places);
        assert!(
            !places.is_empty() && places.iter().all(|(at, _)| *at == line),
            "{word}: {places:?}"
        );
    }
}

/// Lines and columns of an identifier.
fn collect(stream: TokenStream, word: &str, places: &mut Vec<(usize, usize)>) {
    for token in stream {
        match token {
            proc_macro2::TokenTree::Group(group) => collect(group.stream(), word, places),
            proc_macro2::TokenTree::Ident(ident) if ident == word => {
                let start = ident.span().start();
                places.push((start.line, start.column + 1));
            }
            _ => {}
        }
    }
}
