//! What is mutated: every block and every derived struct of the cases in `trybuild-tests/ui`, the examples and the pages.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proc_macro2::{TokenStream, TokenTree};

/// Written for this: much in little.
pub(crate) const OWN: &[&str] = &[
    "kafka -> avro -> map(|o: Order<'_>| row(o)) -> filter(|r| r.n > 0) -> clickhouse",
    r#"/// Doc.
    #[allow(dead_code)]
    pub(crate) orders(min: i64, f: fn(i64) -> bool) {
        let mut seen = Recent::<u64>::new(100_000);
        let (a, b): (u8, fn(u8) -> u8) = pair()?;
        source: kafka(topic = "orders")
        -> avro::<Order<'_>>(on_error = skip)
        -> filter(|o, meta| o.n > min && meta.offset() > 0)
        -> try_map(convert::to_row::<A, B>, on_error = skip)
        -> flat_map(|o| o.lines.iter().map(move |l| (o.id, l)))
        -> rows: clickhouse::<Row>(table = "db.orders", on_error = fail,)
        name = "paid-orders";
        on_error = fail;
    }"#,
    "a { memory -> bytes -> capture } pub b() { memory -> bytes -> inspect(|x| { dbg!(x); }) -> discard }",
    "my::Source(path = \"x\") -> my::Decoder::<T>(on_error = skip) -> my::tag::<u8>(7, |x| x) -> my_sink",
    "a { kafka -> avro -> route(|o| &o.kind) { Kind::A => clickhouse, _ => drop, } dead_letter = kafka(\"dlq\"); }",
    "memory -> bytes -> tee { all: capture, some: filter(keep) -> route(|b| b[0]) { b'a' | b'b' if ok() => tee { x: capture, y: discard }, _ => rest: drop } }",
];

/// Blocks as they stand behind `pipeline!`.
pub(crate) static PIPELINES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut found: Vec<String> = OWN.iter().map(|text| (*text).to_owned()).collect();
    for file in rust() {
        found.extend(blocks(&file));
    }
    for page in [
        "docs/language.md",
        "README.md",
        "ARCHITECTURE.md",
        "spate-macros/lang/src/diagnostic/explanations.md",
    ] {
        for snippet in snippets(page) {
            let inside = blocks(&snippet);
            found.extend(if inside.is_empty() {
                vec![snippet]
            } else {
                inside
            });
        }
    }
    unique(found)
});

/// Structs and enums with their `#[avro(..)]` or `#[row(..)]`.
pub(crate) static DERIVES: LazyLock<Vec<String>> =
    LazyLock::new(|| unique(rust().iter().flat_map(|file| derives(file)).collect()));

/// The directory that the files named by [`DERIVES`] are in.
pub(crate) fn dir() -> PathBuf {
    root().join("trybuild-tests/ui")
}

/// The files of a kind that the cases read.
pub(crate) fn files(extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    read_all(&dir().join("files"), extension, &mut found);
    assert!(!found.is_empty(), "no files");
    found
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rust() -> Vec<String> {
    let mut found = Vec::new();
    for dir in ["trybuild-tests/ui", "examples/src"] {
        read_all(&root().join(dir), "rs", &mut found);
    }
    assert!(found.len() > 100, "{} files", found.len());
    found
}

fn read_all(dir: &Path, extension: &str, found: &mut Vec<String>) {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{dir:?}: {error}"));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read_all(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(std::fs::read_to_string(&path).expect("text"));
        }
    }
}

/// The code of a page that is tokens.
fn snippets(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(page)).expect("a page");
    let code = text.split("```").skip(1).step_by(2);
    code.filter_map(|block| block.split_once('\n'))
        .filter(|(kind, _)| matches!(*kind, "" | "text" | "rust" | "rust,ignore"))
        .map(|(_, code)| code.to_owned())
        .filter(|code| code.parse::<TokenStream>().is_ok())
        .collect()
}

/// The insides of `pipeline! { .. }`, at any depth.
fn blocks(text: &str) -> Vec<String> {
    fn look(stream: TokenStream, found: &mut Vec<String>) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        for (n, token) in tokens.iter().enumerate() {
            let TokenTree::Group(group) = token else {
                continue;
            };
            let called = match &tokens[..n] {
                [.., TokenTree::Ident(name), TokenTree::Punct(bang)] => {
                    name == "pipeline" && bang.as_char() == '!'
                }
                _ => false,
            };
            if called {
                found.push(group.stream().to_string());
            } else {
                look(group.stream(), found);
            }
        }
    }
    let mut found = Vec::new();
    if let Ok(stream) = text.parse() {
        look(stream, &mut found);
    }
    found
}

fn derives(text: &str) -> Vec<String> {
    let attributed = |attributes: &[syn::Attribute]| {
        let known = ["avro", "row", "derive"];
        attributes
            .iter()
            .any(|attribute| known.iter().any(|name| attribute.path().is_ident(name)))
    };
    let Ok(file) = syn::parse_str::<syn::File>(text) else {
        return Vec::new();
    };
    let items = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Struct(mut item) if attributed(&item.attrs) => {
            item.attrs
                .retain(|attribute| !attribute.path().is_ident("derive"));
            Some(quote::quote!(#item).to_string())
        }
        syn::Item::Enum(mut item) if attributed(&item.attrs) => {
            item.attrs
                .retain(|attribute| !attribute.path().is_ident("derive"));
            Some(quote::quote!(#item).to_string())
        }
        _ => None,
    });
    items.collect()
}

fn unique(texts: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts
        .into_iter()
        .filter(|text| !text.trim().is_empty() && seen.insert(text.clone()))
        .collect()
}
