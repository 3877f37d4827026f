//! The second pass: from token runs to the tree of [`ast`](super::ast).
//!
//! Each stage is read on its own: one that cannot be read is reported and stands as `Bad`, the next is read as if nothing
//! had been. Two stages side by side, or joined by something else than `->`, are told apart here.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};

use super::args;
use super::ast::{Bad, Clause, ClauseValue, Head, Param, Pipeline, Slot, State, Value};
use super::body::{self, Link, RawClause, RawState};
use super::cursor::{Cursor, describe, is_name, mark, open_path, stream};
use super::link::{attribute_on_a_stage, path, stage};
use super::registry::{self, StageDef};
use super::split::RawPipeline;
use crate::diagnostic::{Code, Diagnostic, Errors};

/// Reads one pipeline.
pub(crate) fn pipeline(raw: RawPipeline, errors: &mut Errors) -> Pipeline {
    let before = errors.count();
    let params = raw
        .params
        .as_ref()
        .map(|group| parameters(group.stream(), errors))
        .unwrap_or_default();
    let head = Head {
        attrs: stream(&raw.attrs),
        vis: stream(&raw.vis),
        name: raw.name,
        params,
    };
    let body = raw.body.unwrap_or_default();
    let chain = chain(&body.links, errors);
    let states = body.states.into_iter().filter_map(state).collect();
    let clauses = body
        .clauses
        .into_iter()
        .map(|raw| clause(raw, errors))
        .collect();
    let broken = raw.broken || errors.count() > before;
    if chain.is_empty() && !broken {
        let (span, message) = match &head.name {
            Some(name) => (name.span(), format!("pipeline `{name}` has no stages")),
            None => (Span::call_site(), "the block has no stages".to_owned()),
        };
        errors.push(
            Diagnostic::new(Code::Empty, span, message)
                .help("write `kafka -> avro::<Record> -> clickhouse::<Row>`"),
        );
    }
    let broken = broken || chain.is_empty();
    Pipeline {
        head,
        states,
        chain,
        clauses,
        broken,
    }
}

/// The stages of one chain.
pub(super) fn chain(links: &[Link], errors: &mut Errors) -> Vec<Slot> {
    let mut chain = Vec::new();
    for (n, link) in links.iter().enumerate() {
        if link.tokens.is_empty() {
            missing_stage(link, links.get(n + 1), errors);
            chain.push(Err(Bad));
        } else {
            stages(&link.tokens, &mut chain, errors);
        }
    }
    chain
}

/// Blames the arrow before the gap, else the arrow after it.
fn missing_stage(link: &Link, next: Option<&Link>, errors: &mut Errors) {
    let (arrow, message) = match (&link.arrow, next.and_then(|next| next.arrow.as_ref())) {
        // In `-> ->` the second arrow is the one too many.
        (Some(_), Some(second)) => (second, "expected a stage before this `->`"),
        (None, Some(first)) => (first, "expected a source before the first `->`"),
        (Some(arrow), None) => (arrow, "expected a stage after `->`"),
        (None, None) => return,
    };
    errors.push(Diagnostic::spanned(
        Code::MissingStage,
        stream(arrow),
        message,
    ));
}

/// The stage of one link, or several when arrows are missing between them.
fn stages(tokens: &[TokenTree], chain: &mut Vec<Slot>, errors: &mut Errors) {
    let tokens = open_path(tokens);
    let mut cursor = Cursor::new(&tokens);
    loop {
        chain.push(stage(&mut cursor, errors));
        let Some(token) = cursor.peek(0) else { return };
        // What stands behind a stage that could not be read has no meaning of its own.
        if chain.last().is_some_and(Result::is_err) && cursor.ident(0).is_none() {
            return;
        }
        if cursor.attribute() {
            errors.push(attribute_on_a_stage(token));
            cursor.take(2);
            if cursor.done() {
                return;
            }
            continue;
        }
        if let Some(error) = bare_closure(&cursor, chain.last()) {
            errors.push(error);
            chain.pop();
            chain.push(Err(Bad));
            return;
        }
        if let TokenTree::Punct(_) = token {
            let operator = operator(&mut cursor);
            if cursor.keyword(0, "await") {
                let waits = [operator, cursor.take(1)].concat();
                let message = "a stage is not awaited: the pipeline's threads run it";
                errors
                    .push(Diagnostic::spanned(Code::WrongJoiner, stream(&waits), message).help(""));
                if cursor.done() {
                    return;
                }
                continue;
            }
            if cursor.done() || cursor.ident(0).is_some() || cursor.path_separator(0) {
                errors.push(wrong_joiner(operator));
                if cursor.done() {
                    return;
                }
                continue;
            }
            let message = format!(
                "expected `->` or the end of the chain, found `{}`",
                text(operator)
            );
            errors.push(Diagnostic::spanned(
                Code::UnexpectedToken,
                stream(operator),
                message,
            ));
            return;
        }
        if let Some(error) = bare_argument(&mut cursor, chain.last()) {
            errors.push(error);
            chain.pop();
            chain.push(Err(Bad));
            if cursor.done() {
                return;
            }
            continue;
        }
        if let Some(next) = cursor.ident(0) {
            let message = format!("missing `->` before stage `{next}`");
            errors.push(Diagnostic::new(Code::MissingArrow, next.span(), message));
            continue;
        }
        let message = format!(
            "expected `->` or the end of the chain, found {}",
            describe(token)
        );
        errors.push(Diagnostic::new(Code::UnexpectedToken, mark(token), message));
        return;
    }
}

/// `map |record| ..`: a closure behind a stage that takes one and has none. How far it reaches nobody knows.
fn bare_closure(cursor: &Cursor<'_>, stage: Option<&Slot>) -> Option<Diagnostic> {
    let word = cursor.keyword(0, "move") || cursor.keyword(0, "async");
    if !cursor.punct(usize::from(word), '|') {
        return None;
    }
    let known = lacks_arguments(stage)?;
    let at = cursor.peek(0).map_or_else(Span::call_site, mark);
    let message = format!("the closure of `{}` goes in parentheses", known.name);
    let error = Diagnostic::new(Code::NeedsArguments, at, message);
    Some(error.help(format!("write `{}`", known.usage)))
}

/// The stage, if it is one of ours that needs arguments and has none.
fn lacks_arguments(stage: Option<&Slot>) -> Option<&'static StageDef> {
    let stage = stage?.as_ref().ok()?;
    let known = registry::find(stage.path.plain.as_deref()?, false)?;
    (!known.positional.is_empty() && stage.args.is_none()).then_some(known)
}

/// `map to_row`: a function behind a stage that takes one and has none. The name of a stage is one that lacks its arrow.
fn bare_argument(cursor: &mut Cursor<'_>, stage: Option<&Slot>) -> Option<Diagnostic> {
    let name = cursor
        .ident(0)
        .filter(|name| !registry::is_known(&name.to_string()))?;
    let known = lacks_arguments(stage)?;
    let message = format!("the arguments of `{}` go in parentheses", known.name);
    let error = Diagnostic::new(Code::NeedsArguments, name.span(), message);
    path(cursor).ok()?;
    Some(error.help(format!("write `{}`", known.usage)))
}

/// A run of punctuation, three marks at most.
fn operator<'t>(cursor: &mut Cursor<'t>) -> &'t [TokenTree] {
    let length = (1..3)
        .find(|n| !matches!(cursor.peek(*n), Some(TokenTree::Punct(_))))
        .unwrap_or(3);
    cursor.take(length)
}

fn text(operator: &[TokenTree]) -> String {
    operator.iter().map(ToString::to_string).collect()
}

fn wrong_joiner(operator: &[TokenTree]) -> Diagnostic {
    let message = match text(operator).as_str() {
        "->" => "`->` is one token: write it without a space".to_owned(),
        other => format!("stages are joined with `->`, found `{other}`"),
    };
    Diagnostic::spanned(Code::WrongJoiner, stream(operator), message)
}

/// `name: Type {, name: Type}`; each on its own, so that a bad one does not hide the next.
fn parameters(tokens: TokenStream, errors: &mut Errors) -> Vec<Result<Param, Bad>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut cursor = Cursor::new(&tokens);
    let mut params = Vec::new();
    while !cursor.done() {
        let mut run = Vec::new();
        while !cursor.done() && !cursor.punct(0, ',') {
            let length = cursor.angle_brackets(0).unwrap_or(1);
            run.extend_from_slice(cursor.take(length));
        }
        let comma = cursor.take(1);
        params.push(parameter(&run, comma, errors));
    }
    params
}

fn parameter(run: &[TokenTree], comma: &[TokenTree], errors: &mut Errors) -> Result<Param, Bad> {
    let cursor = Cursor::new(run);
    let name = cursor
        .ident(0)
        .filter(|name| cursor.label() && is_name(name));
    let problem = match name {
        Some(name) => match syn::parse2::<syn::Type>(stream(&run[2..])) {
            Ok(_) => {
                return Ok(Param {
                    name: name.clone(),
                    tokens: stream(run),
                });
            }
            Err(_) if run.len() == 2 => format!("the parameter `{name}` has no type"),
            Err(error) => format!("the type of parameter `{name}` cannot be read: {error}"),
        },
        None if cursor.keyword(0, "mut") => {
            "a parameter is shared by all threads and cannot be `mut`".to_owned()
        }
        None => "expected a parameter `name: Type`".to_owned(),
    };
    let mut error = Diagnostic::spanned(
        Code::BadParameter,
        stream(if run.is_empty() { comma } else { run }),
        problem,
    );
    if cursor.keyword(0, "mut") {
        error = error.help("copy it into a state of each thread: `let mut name = name;`");
    }
    errors.push(error);
    Err(Bad)
}

fn state(raw: RawState) -> Option<State> {
    let tokens = raw.tokens?;
    let cursor = Cursor::new(&tokens);
    let type_or_value = |n: &usize| {
        cursor.punct(*n, '=')
            || (cursor.punct(*n, ':')
                && !cursor.path_separator(*n)
                && !cursor.path_separator(*n - 1))
    };
    let end = (1..tokens.len()).find(type_or_value).unwrap_or(1);
    let mut names = Vec::new();
    bound_names(&tokens[1..end], &mut names);
    Some(State {
        tokens: stream(&tokens),
        names,
    })
}

/// The names that a pattern binds: its identifiers, without keywords, constructors, paths and field names.
fn bound_names(pattern: &[TokenTree], names: &mut Vec<String>) {
    let cursor = Cursor::new(pattern);
    for (n, token) in pattern.iter().enumerate() {
        match token {
            TokenTree::Ident(ident) if ident != "mut" && ident != "ref" => {
                let binds = !cursor.punct(n + 1, ':')
                    && !matches!(cursor.peek(n + 1), Some(TokenTree::Group(_)));
                names.extend(binds.then(|| ident.to_string()));
            }
            TokenTree::Group(group) => {
                bound_names(&group.stream().into_iter().collect::<Vec<_>>(), names)
            }
            _ => {}
        }
    }
}

/// Only known clauses are read; the checks tell what the others are.
fn clause(raw: RawClause, errors: &mut Errors) -> Clause {
    let RawClause { name, value } = raw;
    let value = match name.to_string().as_str() {
        "name" | "on_error" => ClauseValue::Expression(expression(&name, &value, errors)),
        "dead_letter" => ClauseValue::Stage(Box::new(one_stage(&name, &value, errors))),
        _ => ClauseValue::Unread,
    };
    Clause { name, value }
}

fn expression(name: &Ident, value: &[TokenTree], errors: &mut Errors) -> Value {
    let mut cursor = Cursor::new(value);
    let read = args::value(&mut cursor, name.span(), errors);
    if let (Ok(_), Some(token)) = (&read.shape, cursor.peek(0)) {
        let message = format!(
            "expected `;` after the clause `{name}`, found {}",
            describe(token)
        );
        errors.push(Diagnostic::new(Code::BadClause, mark(token), message));
    }
    read
}

fn one_stage(name: &Ident, value: &[TokenTree], errors: &mut Errors) -> Slot {
    if value.is_empty() {
        let message = format!("expected a sink after `{name} =`");
        errors.push(Diagnostic::new(Code::BadClause, name.span(), message));
        return Err(Bad);
    }
    let mut chain = chain(&body::links(value), errors);
    if chain.len() > 1 {
        let message = format!("the clause `{name}` is one sink, not a chain");
        errors.push(Diagnostic::new(Code::BadClause, name.span(), message));
        return Err(Bad);
    }
    chain.pop().unwrap_or(Err(Bad))
}
