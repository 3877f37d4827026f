//! One stage as it is written: `[label:] path [::<Type>] [(args)] [{ arms }]`.
//!
//! What is wrong in one part is reported and the next part is read all the same, so that the cursor ends behind whatever
//! belongs to the stage.

use proc_macro2::{Delimiter, Span, TokenTree};

use super::args;
use super::ast::{Args, Bad, Stage, StagePath, Turbofish};
use super::branch;
use super::cursor::{Cursor, describe, mark, stream};
use super::fragment;
use super::registry::{self, Kind, StageDef};
use crate::diagnostic::{Code, Diagnostic, Errors};

/// Reads the stage at the cursor.
pub(super) fn stage(cursor: &mut Cursor<'_>, errors: &mut Errors) -> Result<Stage, Bad> {
    let label = cursor.label().then(|| cursor.ident(0).cloned()).flatten();
    if label.is_some() {
        cursor.take(2);
    }
    let path = path(cursor).map_err(|error| {
        let error = match (&label, cursor.done()) {
            (Some(label), true) => Diagnostic::new(
                Code::MissingStage,
                label.span(),
                format!("expected a stage after the label `{label}`"),
            ),
            _ => error,
        };
        errors.push(error);
        // The rest of the link belongs to what could not be read.
        cursor.take(usize::MAX);
        Bad
    })?;
    let turbofish = turbofish(cursor, &path, errors);
    let args = arguments(cursor, &path, errors);
    let arms = branch::arms(cursor, &path, errors);
    Ok(Stage {
        label,
        path,
        turbofish: turbofish?,
        args: args?,
        arms: arms?,
    })
}

/// `[::] name {:: name}`, up to the turbofish at its end.
pub(super) fn path(cursor: &mut Cursor<'_>) -> Result<StagePath, Diagnostic> {
    let begin = *cursor;
    let mut length = 0;
    if cursor.path_separator(0) {
        length += 2;
        cursor.take(2);
    }
    let mut span = None;
    while let Some(name) = cursor.ident(0).filter(|name| *name != "_") {
        span = Some(name.span());
        length += 1;
        cursor.take(1);
        // `Table::<u8>::find`: a type argument inside of a path belongs to it.
        if let Some(brackets) = cursor.angle_brackets(2)
            && cursor.path_separator(0)
            && cursor.path_separator(2 + brackets)
            && cursor.ident(4 + brackets).is_some()
        {
            length += 2 + brackets;
            cursor.take(2 + brackets);
        }
        if !cursor.path_separator(0) || cursor.ident(2).is_none() {
            break;
        }
        length += 2;
        cursor.take(2);
    }
    let Some(span) = span else {
        return Err(no_stage(cursor));
    };
    let tokens = { begin }.take(length).to_vec();
    if syn::parse2::<syn::Path>(stream(&tokens)).is_err() {
        let text: String = tokens.iter().map(ToString::to_string).collect();
        let message = format!("expected a stage, found the keyword `{text}`");
        let error = Diagnostic::spanned(Code::UnexpectedToken, stream(&tokens), message);
        return Err(error.help(match text.as_str() {
            "if" => "write `filter(|record| ..)` to drop records, or `route` for several ways",
            "match" => "write `route(|record| ..) { pattern => chain, _ => drop }`",
            "for" | "while" | "loop" => {
                "write `flat_map(|record| ..)`: a record becomes any number of others"
            }
            _ => "",
        }));
    }
    let plain = match tokens.as_slice() {
        [TokenTree::Ident(name)] => Some(name.to_string()),
        _ => None,
    };
    let text = tokens.iter().map(ToString::to_string).collect();
    Ok(StagePath {
        tokens: stream(&tokens),
        plain,
        text,
        span,
    })
}

fn no_stage(cursor: &Cursor<'_>) -> Diagnostic {
    let Some(token) = cursor.peek(0).or(cursor.previous()) else {
        return Diagnostic::new(Code::MissingStage, Span::call_site(), "expected a stage");
    };
    if cursor.attribute() {
        return attribute_on_a_stage(token);
    }
    let (message, help) = match cursor.punct(0, '|') {
        true => (
            "expected a stage, found a closure".to_owned(),
            "a closure is given to a stage: `map(|record| ..)`",
        ),
        false => (
            format!("expected a stage, found {}", describe(token)),
            "a stage is a name with its arguments: `map(|record| ..)`",
        ),
    };
    Diagnostic::new(Code::UnexpectedToken, mark(token), message).help(help)
}

/// An attribute or a doc comment in a chain, `at` its first token.
pub(super) fn attribute_on_a_stage(at: &TokenTree) -> Diagnostic {
    let message = "attributes and doc comments do not go on stages";
    Diagnostic::new(Code::UnexpectedToken, mark(at), message).help(Code::Attribute.entry().help)
}

/// `::<Type>`, and the two ways in which it is usually misspelt.
fn turbofish(
    cursor: &mut Cursor<'_>,
    path: &StagePath,
    errors: &mut Errors,
) -> Result<Option<Turbofish>, Bad> {
    let colons = if cursor.path_separator(0) { 2 } else { 0 };
    let Some(brackets) = cursor.angle_brackets(colons) else {
        if colons == 0 && !cursor.punct(0, '<') {
            return Ok(None);
        }
        let at = cursor.peek(0).map_or(path.span, mark);
        let message = format!("the type argument of `{}` is not closed", path.text);
        errors.push(
            Diagnostic::new(Code::TypeArgument, at, message)
                .help(format!("write `{}::<Type>`", path.text)),
        );
        cursor.take(usize::MAX);
        return Err(Bad);
    };
    let tokens = cursor.take(colons + brackets).to_vec();
    let mut inner = &tokens[colons + 1..tokens.len() - 1];
    if let [types @ .., TokenTree::Punct(comma)] = inner
        && comma.as_char() == ','
    {
        inner = types;
    }
    let inner = stream(inner);
    if colons == 0 {
        let message = format!(
            "a type argument is written with `::`: `{}::<{inner}>`",
            path.text
        );
        errors.push(Diagnostic::spanned(
            Code::TypeArgument,
            stream(&tokens),
            message,
        ));
        return Err(Bad);
    }
    let ty = syn::parse2::<syn::Type>(inner.clone());
    if let Err(error) = &ty
        && fragment::generic_arguments(&stream(&tokens)) == 0
    {
        let message = match inner.is_empty() {
            true => format!(
                "expected a type between the brackets: `{}::<Type>`",
                path.text
            ),
            false => format!("this is not a type: {error}"),
        };
        errors.push(Diagnostic::spanned(
            Code::TypeArgument,
            stream(&tokens),
            message,
        ));
        return Err(Bad);
    }
    Ok(Some(Turbofish {
        ty: ty.is_ok().then_some(inner),
        tokens: stream(&tokens),
    }))
}

/// `(args)`, or the brackets that somebody took for them.
fn arguments(
    cursor: &mut Cursor<'_>,
    path: &StagePath,
    errors: &mut Errors,
) -> Result<Option<Args>, Bad> {
    let braces = cursor.group(0, Delimiter::Brace).is_some();
    if braces && path.plain.as_deref().is_some_and(registry::may_be_branch) {
        return Ok(None);
    }
    match cursor.peek(0) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            cursor.take(1);
            if let Some(branch) = takes_arms_only(path)
                && !group.stream().is_empty()
                && cursor.group(0, Delimiter::Brace).is_none()
            {
                let message = format!("the arms of `{}` go in braces", branch.name);
                errors.push(
                    Diagnostic::new(Code::WrongBrackets, group.span_open(), message)
                        .help(format!("write `{}`", branch.usage)),
                );
                return Err(Bad);
            }
            Ok(Some(args::parse(group, path, errors)))
        }
        Some(TokenTree::Group(group)) if group.delimiter() != Delimiter::None => {
            cursor.take(1);
            let message = format!("the arguments of `{}` go in parentheses", path.text);
            let known = path
                .plain
                .as_deref()
                .and_then(|name| registry::find(name, false));
            let help = known.map_or_else(
                || format!("write `{}(..)`", path.text),
                |stage| format!("write `{}`", stage.usage),
            );
            errors
                .push(Diagnostic::new(Code::WrongBrackets, group.span_open(), message).help(help));
            Err(Bad)
        }
        _ => Ok(None),
    }
}

/// The branch of this name, if it has arms and no arguments.
fn takes_arms_only(path: &StagePath) -> Option<&'static StageDef> {
    registry::find(path.plain.as_deref()?, false).filter(|stage| {
        matches!(stage.kind, Kind::Branch(_))
            && stage.positional.is_empty()
            && stage.options.is_empty()
    })
}
