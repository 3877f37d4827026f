//! Runs the macros over an example as rustc would, and takes the errors out of what they emit.

use std::path::{Path, PathBuf};

use proc_macro2::{Ident, LineColumn, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use spate_lang::{derive, pipeline};
use syn::parse::Parser as _;
use syn::{Attribute, Block as Statements, Item, Stmt};

use crate::explanation::{Block, Entry, Explanations, Role};

/// The directory that stands for the one of the example's crate.
pub(crate) const CRATE: &str = "/path/of/the/crate";

/// One error: what it says, and the underlined part of the example.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) text: String,
    /// `None` for the whole call.
    pub(crate) place: Option<(LineColumn, LineColumn)>,
}

impl Said {
    /// `SP017`
    pub(crate) fn code(&self) -> String {
        let code = self.text.strip_prefix('[').and_then(|rest| rest.get(..5));
        code.unwrap_or(&self.text).to_owned()
    }
}

/// The blocks of an example: those of the role, and of a fix also what it leaves as it was.
pub(crate) fn blocks(entry: &Entry, role: Role) -> Vec<&Block> {
    let of = |role: Role| entry.blocks.iter().filter(move |block| block.role == role);
    let same = |a: &Block, b: &Block| a.language == b.language && a.path == b.path;
    let kept = of(Role::Mistake)
        .filter(|block| role == Role::Fix && !of(role).any(|own| same(own, block)));
    kept.chain(of(role)).collect()
}

/// The errors of an example, in the order of the text.
pub(crate) fn example(explanations: &Explanations, entry: &Entry, role: Role) -> Vec<Said> {
    let blocks = blocks(entry, role);
    let directory = directory(entry, role);
    let files = explanations.files.iter();
    for block in files.chain(blocks.iter().copied()) {
        if !block.path.is_empty() {
            let path = directory.join(&block.path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            std::fs::write(path, &block.text).expect("a file");
        }
    }
    let text = |language: &str| {
        let mut found = blocks.iter().filter(|block| block.language == language);
        found.next().map(|block| block.text.as_str())
    };
    let features = match text("toml") {
        Some(toml) => toml
            .split('[')
            .nth(1)
            .unwrap_or_default()
            .replace([']', '}'], ""),
        None => "kafka, avro, clickhouse".to_owned(),
    };
    let source = text("rust").expect("an example has Rust in it");
    let mut said = macros(source, &features, &directory);
    for said in &mut said {
        said.text = said.text.replace(&*directory.to_string_lossy(), CRATE);
    }
    std::fs::remove_dir_all(directory).expect("the directory is there");
    said
}

/// A directory of its own: the files of another example would be suggested for those that are missing.
fn directory(entry: &Entry, role: Role) -> PathBuf {
    let name = format!("spate-errors-{}-{}-{role:?}", std::process::id(), entry.id);
    // Tests of one process run side by side.
    let thread = format!("{:?}", std::thread::current().id());
    let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
    let directory = std::env::temp_dir().join(format!("{name}-{thread}"));
    std::fs::create_dir_all(&directory).expect("a directory");
    directory
}

fn macros(source: &str, features: &str, directory: &Path) -> Vec<Said> {
    let tokens: TokenStream = source.parse().expect("an example is made of Rust tokens");
    let mut said = Vec::new();
    calls(tokens.clone(), features, &mut said);
    let statements = Statements::parse_within
        .parse2(tokens)
        .expect("an example is Rust outside of the macros");
    for statement in statements {
        let (attrs, tokens) = match statement {
            Stmt::Item(Item::Struct(mut item)) => {
                (derives(&mut item.attrs), item.to_token_stream())
            }
            Stmt::Item(Item::Enum(mut item)) => (derives(&mut item.attrs), item.to_token_stream()),
            Stmt::Macro(call)
                if call
                    .mac
                    .path
                    .segments
                    .last()
                    .is_some_and(|last| last.ident == "avro_schema") =>
            {
                let inside = call.mac.tokens;
                let answer = derive::avro_schema(quote::quote!([::spate] #inside), directory);
                errors(answer, &mut said);
                continue;
            }
            _ => continue,
        };
        if attrs.contains("AvroRecord") {
            errors(derive::avro_record(tokens.clone(), directory), &mut said);
        }
        if attrs.contains("AvroEnum") {
            errors(derive::avro_enum(tokens.clone(), directory), &mut said);
        }
        if attrs.contains("AvroUnion") {
            errors(derive::avro_union(tokens.clone(), directory), &mut said);
        }
        if attrs.contains("Row") {
            errors(derive::row(tokens, directory), &mut said);
        }
    }
    said
}

/// Takes the derives off an item, as rustc does before it calls them.
fn derives(attrs: &mut Vec<Attribute>) -> String {
    let is_derive = |attribute: &Attribute| attribute.path().is_ident("derive");
    let derives = attrs.iter().filter(|attribute| is_derive(attribute));
    let derives = derives.map(|attribute| attribute.to_token_stream().to_string());
    let derives = derives.collect();
    attrs.retain(|attribute| !is_derive(attribute));
    derives
}

/// Expands `pipeline!` and what it calls, wherever they stand.
fn calls(tokens: TokenStream, features: &str, said: &mut Vec<Said>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (n, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let input = match name(&tokens[..n]).as_deref() {
            Some("pipeline") => {
                let mut front: TokenStream =
                    format!("[::spate] [{features}]").parse().expect("tokens");
                front.extend(group.stream());
                front
            }
            Some("pipeline_impl") => group.stream(),
            _ => {
                calls(group.stream(), features, said);
                continue;
            }
        };
        errors(pipeline::expand(input), said);
    }
}

/// The name of the macro that a group belongs to.
fn name(before: &[TokenTree]) -> Option<String> {
    match before {
        [.., TokenTree::Ident(name), TokenTree::Punct(bang)] if bang.as_char() == '!' => {
            Some(name.to_string())
        }
        _ => None,
    }
}

/// The `compile_error!` calls of an expansion.
fn errors(tokens: TokenStream, said: &mut Vec<Said>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (n, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        match &tokens[..n] {
            [.., TokenTree::Ident(name), TokenTree::Punct(_)] if name == "compile_error" => {
                let text: syn::LitStr = syn::parse2(group.stream()).expect("a text");
                said.push(Said {
                    text: text.value(),
                    place: place(name, group.span()),
                });
            }
            _ => errors(group.stream(), said),
        }
    }
}

fn place(first: &Ident, last: Span) -> Option<(LineColumn, LineColumn)> {
    // A token of the text is not empty; the call's own place is.
    (!first.span().byte_range().is_empty()).then(|| (first.span().start(), last.end()))
}
