//! The schema text that a derive compiles in, read as the decoder reads it.

use proptest::prelude::*;
use spate_avro_schema::{canonical_form, parse as read};
use spate_lang::avro::{Schema, parse};
use spate_lang::files::SourceFile;

use crate::draw::Draw;

fn schema(text: &str) -> Schema {
    let file = SourceFile::in_memory("x.avsc", text);
    parse(&file).unwrap_or_else(|found| panic!("{found:?}\n{text}"))
}

/// Of every record in the text.
fn the_printed_text_means_the_same(text: &str) {
    let schema = schema(text);
    let original = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let printed =
        read(&schema.self_contained_of(schema.root())).expect("what is printed is a schema");
    assert_eq!(printed, original, "{text}");
    assert_eq!(printed.fingerprint(), original.fingerprint(), "{text}");
    for (id, named) in schema.records() {
        let printed = schema.self_contained(id);
        let form = canonical_form(&printed)
            .unwrap_or_else(|error| panic!("{}: {error}\n{text}\n{printed}", named.name));
        assert_eq!(
            form,
            schema.canonical(id),
            "{}\n{text}\n{printed}",
            named.name
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_compiled_schema_text_has_the_fingerprint_of_the_file(choices in prop::collection::vec(any::<u8>(), 0..120)) {
        the_printed_text_means_the_same(&Draw::new(&choices).record());
    }
}

#[test]
fn a_type_without_a_namespace_stays_without_one_inside_of_a_namespace() {
    let text = r#"{"type":"record","name":"Order","namespace":"shop","fields":[
        {"name":"digest","type":{"type":"fixed","name":"Digest","namespace":"","size":16}},
        {"name":"buyer","type":{"type":"record","name":"Buyer","namespace":"","fields":[
            {"name":"digest","type":"Digest"},
            {"name":"line","type":{"type":"record","name":"shop.Line","fields":[]}}]}},
        {"name":"again","type":"Digest"}]}"#;
    let schema = schema(text);
    let (order, _) = schema.records().next().expect("a record");
    assert_eq!(
        schema.self_contained(order),
        concat!(
            r#"{"name":"shop.Order","type":"record","fields":[{"name":"digest","type":"#,
            r#"{"name":"Digest","namespace":"","type":"fixed","size":16}},{"name":"buyer","type":"#,
            r#"{"name":"Buyer","namespace":"","type":"record","fields":[{"name":"digest","type":"Digest"},"#,
            r#"{"name":"line","type":{"name":"shop.Line","type":"record","fields":[]}}]}},{"name":"again","type":"Digest"}]}"#
        )
    );
    the_printed_text_means_the_same(text);
}

#[test]
fn a_name_without_a_namespace_is_not_taken_for_one_of_the_namespace_around() {
    // Where `n.B` is printed by itself, `n.Foo` is defined before `n.A` refers to the other `Foo`.
    the_printed_text_means_the_same(
        r#"[{"type":"record","name":"A","namespace":"n","fields":[
                {"name":"f","type":{"type":"fixed","name":"Foo","namespace":"","size":1}},{"name":"g","type":"Foo"}]},
            {"type":"record","name":"B","namespace":"n","fields":[
                {"name":"h","type":{"type":"fixed","name":"Foo","size":2}},{"name":"i","type":"A"},{"name":"j","type":".Foo"}]}]"#,
    );
}
