//! What `avro_schema!` declares is what the derives accept: for the schemas of this repository and for drawn ones.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use proc_macro2::TokenStream;
use proptest::prelude::*;
use quote::ToTokens;
use spate_lang::derive;
use syn::Item;

/// Expands the macro and every derive of what it declares. The number of types, or what was said.
fn declare(dir: &Path, file: &str, options: &str) -> Result<usize, String> {
    let call: TokenStream = format!("[::spate] {file:?} {options}")
        .parse()
        .expect("tokens");
    let items: syn::File =
        syn::parse2(derive::avro_schema(call, dir)).map_err(|e| e.to_string())?;
    for item in &items.items {
        let (mut tokens, attrs) = match item.clone() {
            Item::Struct(mut item) => {
                let attrs = std::mem::take(&mut item.attrs);
                (item.into_token_stream(), attrs)
            }
            Item::Enum(mut item) => {
                let attrs = std::mem::take(&mut item.attrs);
                (item.into_token_stream(), attrs)
            }
            other => return Err(other.into_token_stream().to_string()),
        };
        let mut derives = String::new();
        for attr in attrs {
            match attr.path().is_ident("derive") {
                true => derives = attr.into_token_stream().to_string(),
                false => tokens = [attr.into_token_stream(), tokens].into_iter().collect(),
            }
        }
        let ask = match &derives {
            derives if derives.contains("AvroRecord") => derive::avro_record,
            derives if derives.contains("AvroEnum") => derive::avro_enum,
            _ => derive::avro_union,
        };
        let answer = ask(tokens, dir).to_string();
        if answer.contains("compile_error") || !answer.contains("automatically_derived") {
            return Err(answer);
        }
    }
    Ok(items.items.len())
}

#[test]
fn the_derives_accept_what_is_declared_for_the_schemas_of_this_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (dir, file, types) in [
        ("connectors/avro", "tests/schemas/all.avsc", 6),
        ("connectors/avro", "tests/schemas/order.avsc", 6),
        ("trybuild-tests/ui", "files/all_types.avsc", 6),
        ("trybuild-tests/ui", "files/shipment.avsc", 3),
        ("docs-tests", "schemas/order.avsc", 2),
        ("examples", "schemas/flight.avsc", 1),
    ] {
        for options in ["", ", owned"] {
            let found = declare(&root.join(dir), file, options);
            assert_eq!(found, Ok(types), "{dir}/{file}{options}");
        }
    }
}

/// A type that needs no name, or the name of one; records are made around them.
fn ty(names: u32) -> impl Strategy<Value = String> {
    let plain = prop::sample::select(vec![
        r#""null""#,
        r#""boolean""#,
        r#""int""#,
        r#""long""#,
        r#""float""#,
        r#""double""#,
        r#""bytes""#,
        r#""string""#,
        r#"{"type":"int","logicalType":"date"}"#,
        r#"{"type":"long","logicalType":"timestamp-micros"}"#,
        r#"{"type":"string","logicalType":"uuid"}"#,
        r#"{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}"#,
        r#"{"type":"bytes","logicalType":"big-decimal"}"#,
    ]);
    let plain = plain.prop_map(str::to_owned);
    // `Enum` and `Fixed` are defined by the first field, a record by its place before this one.
    let named = (0..names + 2).prop_map(move |n| match n.checked_sub(names) {
        Some(0) => r#""Kind""#.to_owned(),
        Some(_) => r#""Hash""#.to_owned(),
        None => format!(r#""record_{n}""#),
    });
    let leaf = prop_oneof![plain, named.clone()];
    let branch = prop_oneof![
        leaf.clone(),
        leaf.clone()
            .prop_map(|items| format!(r#"{{"type":"array","items":{items}}}"#)),
    ];
    let union = prop::collection::vec(branch, 1..4)
        .prop_map(|branches| format!("[{}]", branches.join(",")));
    prop_oneof![leaf, union].prop_recursive(2, 4, 1, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|items| format!(r#"{{"type":"array","items":{items}}}"#)),
            inner.prop_map(|values| format!(r#"{{"type":"map","values":{values}}}"#)),
        ]
    })
}

fn schema() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "a", "type", "self", "_", "Self", "fooBar", "FOO", "x1",
    ]);
    let fields = |names: u32| prop::collection::vec((name.clone(), ty(names)), 0..3);
    (fields(1), fields(2), fields(3)).prop_map(|(first, second, third)| {
        let record = |n: usize, fields: Vec<(&str, String)>, last: &str| {
            let mut all = vec![last.to_owned()];
            for (m, (name, ty)) in fields.into_iter().enumerate() {
                let again = if m == 0 { String::new() } else { m.to_string() };
                all.push(format!(r#"{{"name":"{name}{again}","type":{ty}}}"#));
            }
            format!(
                r#"{{"type":"record","name":"record_{n}","fields":[{}]}}"#,
                all.join(",")
            )
        };
        let kinds = concat!(
            r#"{"name":"kind","type":{"type":"enum","name":"Kind","symbols":["A","b_c","SELF"]}},"#,
            r#"{"name":"hash","type":{"type":"fixed","name":"Hash","size":3}}"#
        );
        let first = record(0, first, kinds);
        let second = record(1, second, &format!(r#"{{"name":"before","type":{first}}}"#));
        record(2, third, &format!(r#"{{"name":"before","type":{second}}}"#))
    })
}

static FILES: AtomicUsize = AtomicUsize::new(0);

fn written(text: &str) -> (PathBuf, String) {
    let dir = std::env::temp_dir().join(format!("spate-lang-generated-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    let file = format!("{}.avsc", FILES.fetch_add(1, Ordering::Relaxed));
    std::fs::write(dir.join(&file), text).expect("a file");
    (dir, file)
}

proptest! {
    #[test]
    fn the_derives_accept_what_is_declared_for_any_schema(schema in schema()) {
        let (dir, file) = written(&schema);
        let model = spate_lang::files::read(&dir, &file).expect("the file");
        let is_schema = spate_lang::avro::parse(&model).is_ok();
        for options in ["", ", owned"] {
            let found = declare(&dir, &file, options);
            // A union with a branch twice, or a record that is its own field, is no schema.
            prop_assert_eq!(found.is_ok(), is_schema, "{}: {:?}", &schema, found);
            if let Ok(types) = found {
                prop_assert!(types >= 4, "{}", &schema);
            }
        }
    }
}

#[test]
fn fields_whose_names_are_no_names_in_rust_get_free_ones() {
    let fields: Vec<String> = [
        "_", "__", "self", "self_", "self__", "type", "Self", "crate",
    ]
    .iter()
    .map(|name| format!(r#"{{"name":"{name}","type":"int"}}"#))
    .collect();
    let text = format!(
        r#"{{"type":"record","name":"R","fields":[{}]}}"#,
        fields.join(",")
    );
    let dir = std::env::temp_dir();
    let file = format!("spate-lang-names-{}.avsc", std::process::id());
    std::fs::write(dir.join(&file), text).expect("a file");
    let call = format!("[::spate] {file:?}").parse().expect("tokens");
    let items = derive::avro_schema(call, &dir);
    std::fs::remove_file(dir.join(&file)).expect("the file");
    let items: syn::File = syn::parse2(items).expect("items");
    let Some(Item::Struct(record)) = items.items.first() else {
        panic!("a struct");
    };
    let names: Vec<String> = (record.fields.iter())
        .map(|field| field.ident.as_ref().expect("a name").to_string())
        .collect();
    assert_eq!(
        names,
        [
            "___", "__", "self___", "self_", "self__", "r#type", "Self_", "crate_"
        ]
    );
}
