//! What holds for every input of the language, one function for each way in.
//!
//! `cargo test` calls them over the kept corpus and mutations of it, the targets in `fuzz/` over whatever a fuzzer finds:
//! the same functions, so the two cannot come to mean different things. See `docs/fuzzing.md`.

// Each of the crates that share this file uses some of it.
#![allow(dead_code)]

use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use spate_lang::avro::{self, Schema};
use spate_lang::diagnostic::LIMIT;
use spate_lang::files::{Finding, SourceFile};
use spate_lang::sql::{self, ColumnType};
use spate_lang::{derive, pipeline};

/// Longer inputs say nothing that shorter ones do not.
const LONGEST: usize = 64 * 1024;

/// A `pipeline!` block as text. What is no tokens is passed over: rustc refuses it before the macro is asked.
pub(crate) fn pipeline(bytes: &[u8]) {
    if let Some(tokens) = tokens(bytes) {
        pipeline_tokens(tokens);
    }
    forget_spans();
}

/// The struct behind a derive, as text. Files that it names are looked for in `dir`; both derives are asked.
pub(crate) fn derive(bytes: &[u8], dir: &Path) {
    if let Some(tokens) = tokens(bytes) {
        derive_tokens(tokens, dir);
    }
    forget_spans();
}

/// A schema file.
pub(crate) fn schema(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let file = SourceFile::in_memory("fuzz.avsc", text);
    match avro::parse(&file) {
        Ok(schema) => schema_is_usable(&schema),
        Err(found) => {
            assert!(!found.is_empty(), "refused, and nothing was said: {text}");
            found
                .iter()
                .for_each(|finding| finding_is_sound(finding, &file));
        }
    }
}

/// A file of table definitions.
pub(crate) fn table(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let file = SourceFile::in_memory("fuzz.sql", text);
    let tables = match sql::parse(&file) {
        Ok(tables) => tables,
        Err(finding) => return finding_is_sound(&finding, &file),
    };
    for table in tables {
        assert!(!table.columns.is_empty(), "a table without columns: {text}");
        let types = table.columns.iter().map(|column| &column.ty);
        // The others are quoted in messages only.
        types
            .filter(|ty| ty.later().is_none())
            .for_each(column_type_is_usable);
    }
}

/// The answer is Rust, holds an error exactly where something was found, and is not out of proportion to the question.
/// Returns how many mistakes were found.
pub(crate) fn pipeline_tokens(source: TokenStream) -> usize {
    let mut input: TokenStream = "[::spate] [kafka avro clickhouse]"
        .parse()
        .expect("a front");
    input.extend(source.clone());
    let found = pipeline::diagnose(input.clone());
    let output = pipeline::expand(input);
    let is_rust = syn::parse2::<syn::File>(output.clone())
        .map(drop)
        .or_else(|_| syn::parse2::<syn::Expr>(output.clone()).map(drop));
    assert!(
        is_rust.is_ok(),
        "not Rust: {is_rust:?}\ninput: {source}\noutput: {output}"
    );
    let reported = found.len().min(LIMIT) + usize::from(found.len() > LIMIT);
    assert_eq!(errors(output.clone()), reported, "{source}\n{output}");
    for diagnostic in &found {
        assert!(!diagnostic.message().is_empty(), "{source}");
    }
    proportionate(&source, &output);
    found.len()
}

/// As [`pipeline_tokens`], for all derives. Returns how many mistakes each has found.
pub(crate) fn derive_tokens(source: TokenStream, dir: &Path) -> [usize; 4] {
    let asked = [
        derive::avro_record,
        derive::row,
        derive::avro_enum,
        derive::avro_union,
    ];
    asked.map(|ask| {
        let output = ask(source.clone(), dir);
        let items = syn::parse2::<syn::File>(output.clone());
        assert!(
            items.is_ok(),
            "not Rust: {:?}\ninput: {source}\noutput: {output}",
            items.err()
        );
        let errors = errors(output.clone());
        let is_struct = syn::parse2::<syn::DeriveInput>(source.clone()).is_ok();
        let implements = output.to_string().contains("automatically_derived");
        assert!(
            implements == is_struct || is_too_deep(&output),
            "an implementation for every type, and for nothing else: {source}\n{output}"
        );
        assert!(implements || errors > 0, "no answer: {source}");
        errors
    })
}

/// Each way of using a schema ends, and its text says the same as the file.
fn schema_is_usable(schema: &Schema) {
    let written = schema.file().text();
    schema.describe(schema.root());
    for (id, named) in schema.records() {
        schema.least(id);
        schema.is_recursive(id);
        if schema.is_too_deep(id) {
            continue;
        }
        let again = |text: &str| {
            let file = SourceFile::in_memory("again.avsc", text);
            avro::parse(&file)
                .unwrap_or_else(|found| panic!("{} of {written}: {found:?}\n{text}", named.name))
        };
        let canonical = schema.canonical(id);
        let full = again(&schema.self_contained(id));
        let (top, _) = full.records().next().expect("a record");
        assert_eq!(full.canonical(top), canonical, "{written}");
        assert_eq!(full.is_recursive(top), schema.is_recursive(id), "{written}");
        assert_eq!(full.least(top), schema.least(id), "{written}");
        again(&canonical);
    }
}

/// A type's spelling is the type.
fn column_type_is_usable(ty: &ColumnType) {
    let spelling = ty.spelling();
    let text = format!("CREATE TABLE t (c {spelling})");
    let again = sql::parse(&SourceFile::in_memory("again.sql", &text));
    let tables = again.unwrap_or_else(|finding| panic!("{finding:?}\n{text}"));
    assert_eq!(&tables[0].columns[0].ty, ty, "{text}");
    ty.is_nullable();
}

/// A finding is at a place of the file, and its report can be written.
fn finding_is_sound(finding: &Finding, file: &SourceFile) {
    assert!(!finding.message.is_empty(), "{finding:?}");
    let end = file.place(file.text().len());
    assert!(finding.place <= end, "{finding:?} is behind {end:?}");
    assert!(
        finding.place.line > 0 && finding.place.column > 0,
        "{finding:?}"
    );
    file.report(finding.place, &finding.message);
}

/// How many tokens there are, groups and their insides counted.
pub(crate) fn count(stream: TokenStream) -> usize {
    let inside = |token: TokenTree| match token {
        TokenTree::Group(group) => 1 + count(group.stream()),
        _ => 1,
    };
    stream.into_iter().map(inside).sum()
}

/// So many tokens are written for one that is read, and so many in any case.
const PER_TOKEN: usize = 150;
const ALWAYS: usize = 3_000;

fn proportionate(source: &TokenStream, output: &TokenStream) {
    let (read, written) = (count(source.clone()), count(output.clone()));
    assert!(
        written <= ALWAYS + PER_TOKEN * read,
        "{written} tokens for {read}: {source}"
    );
}

/// What is nested too deep is not read at all.
fn is_too_deep(output: &TokenStream) -> bool {
    output.to_string().contains("levels deep")
}

/// The calls of `compile_error!` in an answer.
fn errors(output: TokenStream) -> usize {
    let inside = |token: TokenTree| match token {
        TokenTree::Group(group) => errors(group.stream()),
        TokenTree::Ident(word) => usize::from(word == "compile_error"),
        _ => 0,
    };
    output.into_iter().map(inside).sum()
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes)
        .ok()
        .filter(|text| text.len() <= LONGEST)
}

fn tokens(bytes: &[u8]) -> Option<TokenStream> {
    let text = text(bytes)?;
    // An answer is told by this word.
    if text.contains("compile_error") || text.contains("automatically_derived") {
        return None;
    }
    text.parse().ok()
}

/// Places of tokens are kept for a whole thread, which a fuzzer would fill. No token of this call is left.
fn forget_spans() {
    proc_macro2::extra::invalidate_current_thread_spans();
}
