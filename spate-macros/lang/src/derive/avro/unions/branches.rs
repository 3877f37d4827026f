//! Branches of a union to variants of a Rust enum, all of them, by type.
//!
//! A variant that holds nothing is the branch null; an enum without one stands in an `Option`. For another, three rounds look for its
//! branch, each among those that are left: of its very type, of one that converts into its type, of any that rustc has to judge. What is
//! still open is said with `branch = ".."`.

use syn::Type as RustType;

use crate::avro::{Definition, Kind, Schema, Type};
use crate::derive::avro::matching::compare;
use crate::derive::avro::naming::camel;
use crate::derive::avro::shape::{Shape, shape};
use crate::derive::avro::variants::{Input, Variant};
use crate::derive::input::did_you_mean;
use crate::diagnostic::{Code, Diagnostic, Errors, list};

/// What a branch is called: its type's name, without a namespace.
pub(in crate::derive::avro) fn branch_name<'a>(schema: &'a Schema, branch: &Type) -> &'a str {
    match &branch.kind {
        Kind::Null => "null",
        Kind::Boolean => "boolean",
        Kind::Int => "int",
        Kind::Long => "long",
        Kind::Float => "float",
        Kind::Double => "double",
        Kind::Bytes => "bytes",
        Kind::String => "string",
        Kind::Array(_) => "array",
        Kind::Map(_) => "map",
        Kind::Union(_) => "union",
        Kind::Named(id) => schema.named(*id).short(),
    }
}

/// Whether `branch = ".."` means this branch.
pub(super) fn is_called(schema: &Schema, branch: &Type, text: &str) -> bool {
    let full = match &branch.kind {
        Kind::Named(id) => schema.named(*id).name == text,
        _ => false,
    };
    full || branch_name(schema, branch) == text
}

/// The rounds in which a variant's branch is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Same,
    Converts,
    Open,
}

/// In which round a branch is the one of a type.
fn round(schema: &Schema, branch: &Type, held: &RustType) -> Option<Round> {
    let shape = shape(held);
    if matches!(branch.kind, Kind::Null) || compare(schema, branch, &shape).is_err() {
        return None;
    }
    let called = match held {
        RustType::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    };
    let by_name = |name: &str| match called.as_deref() == Some(name) {
        true => Round::Same,
        false => Round::Open,
    };
    Some(match (&branch.kind, &shape) {
        (Kind::Named(id), Shape::Other) => by_name(schema.named(*id).short()),
        (Kind::Named(id), Shape::Box(_)) => {
            match held_name(held).as_deref() == Some(schema.named(*id).short()) {
                true => Round::Same,
                false => Round::Open,
            }
        }
        (Kind::Named(id), Shape::ByteArray(_)) => match schema.named(*id).definition {
            Definition::Fixed { .. } => Round::Same,
            _ => Round::Converts,
        },
        (Kind::Named(_), _) => Round::Converts,
        (_, Shape::Other) => match branch.logical {
            Some(logical) => by_name(&camel(logical.name())),
            None => Round::Open,
        },
        (Kind::Int, Shape::Primitive(name)) if name != "i32" => Round::Converts,
        (Kind::Float, Shape::Primitive(name)) if name != "f32" => Round::Converts,
        _ => Round::Same,
    })
}

/// The name of what a `Box` holds.
fn held_name(ty: &RustType) -> Option<String> {
    let RustType::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(RustType::Path(inner)) => inner
            .path
            .segments
            .last()
            .map(|last| last.ident.to_string()),
        _ => None,
    })
}

/// For each branch its variant, in the order of the branches. Null has none where no variant holds nothing.
pub(super) fn variants<'a>(
    input: &'a Input,
    schema: &'a Schema,
    union: &Type,
    branches: &'a [Type],
    errors: &mut Errors,
) -> Vec<(&'a Type, Option<&'a Variant>)> {
    let mut found: Vec<Option<&Variant>> = vec![None; branches.len()];
    let mut open: Vec<&Variant> = Vec::new();
    let names: Vec<&str> = branches
        .iter()
        .map(|branch| branch_name(schema, branch))
        .collect();
    let describe = schema.describe(union);
    let take = |n: usize,
                variant: &'a Variant,
                found: &mut Vec<Option<&'a Variant>>,
                errors: &mut Errors| {
        if let Some(first) = found[n] {
            let message = format!(
                "`{}` and `{}` are the same branch `{}`",
                first.ident, variant.ident, names[n]
            );
            errors.push(
                Diagnostic::new(Code::UnionBranch, variant.span(), message)
                    .help("keep one of the two"),
            );
        }
        found[n] = Some(variant);
    };
    for variant in &input.variants {
        let named = match (&variant.stands_for, &variant.held) {
            (Some(text), _) => {
                let named = text.value();
                let Some(n) =
                    (0..branches.len()).find(|n| is_called(schema, &branches[*n], &named))
                else {
                    let message = format!("the union has no branch `{named}`: it is a {describe}");
                    let help = did_you_mean(&named, &names, "it");
                    errors
                        .push(Diagnostic::new(Code::UnionBranch, text.span(), message).help(help));
                    continue;
                };
                n
            }
            (None, None) => {
                let Some(n) = branches
                    .iter()
                    .position(|branch| matches!(branch.kind, Kind::Null))
                else {
                    let message = format!(
                        "`{}` holds nothing, and the union has no null: it is a {describe}",
                        variant.ident
                    );
                    errors.push(
                        Diagnostic::new(Code::UnionBranch, variant.span(), message)
                            .help("a variant of another branch holds its value"),
                    );
                    continue;
                };
                n
            }
            (None, Some(_)) => {
                open.push(variant);
                continue;
            }
        };
        if let Err((message, help)) = fits(schema, &branches[named], variant, names[named]) {
            let diagnostic = Diagnostic::new(Code::UnionBranch, variant.span(), message);
            errors.push(diagnostic.help(help));
        }
        take(named, variant, &mut found, errors);
    }
    for wanted in [Round::Same, Round::Converts, Round::Open] {
        let mut left = Vec::new();
        for variant in open {
            let candidates: Vec<usize> = match &variant.held {
                Some(held) => (0..branches.len())
                    .filter(|n| {
                        found[*n].is_none() && round(schema, &branches[*n], held) == Some(wanted)
                    })
                    .collect(),
                None => Vec::new(),
            };
            match candidates.as_slice() {
                [] => left.push(variant),
                [only] => take(*only, variant, &mut found, errors),
                several => {
                    let several: Vec<&str> = several.iter().map(|n| names[*n]).collect();
                    let message = format!(
                        "`{}` may be the branch {} of the union",
                        variant.ident,
                        list(&several, "or")
                    );
                    let help = format!("say which: `#[avro(branch = \"{}\")]`", several[0]);
                    errors.push(
                        Diagnostic::new(Code::UnionBranch, variant.span(), message).help(help),
                    );
                }
            }
        }
        open = left;
    }
    for variant in &open {
        let message = format!(
            "`{}` holds a type that no branch is read into, or one that has its variant: the union is a {describe}",
            variant.ident
        );
        errors.push(Diagnostic::new(Code::UnionBranch, variant.span(), message));
    }
    let missing: Vec<&str> = names
        .iter()
        .zip(&found)
        .filter(|(name, variant)| variant.is_none() && **name != "null")
        .map(|(name, _)| *name)
        .collect();
    if !missing.is_empty() && !errors.has() {
        let message = format!(
            "the union has branches without a variant: {}",
            list(&missing, "and")
        );
        let help = "every branch needs a variant: a writer may write any of them";
        errors.push(Diagnostic::new(Code::UnionBranch, input.ident.span(), message).help(help));
    }
    branches.iter().zip(found).collect()
}

/// Whether a variant can be the branch that it names.
fn fits(
    schema: &Schema,
    branch: &Type,
    variant: &Variant,
    name: &str,
) -> Result<(), (String, String)> {
    match (&branch.kind, &variant.held) {
        (Kind::Null, None) => Ok(()),
        (_, None) => Err((
            format!(
                "`{}` holds nothing, and the branch {name} has a value",
                variant.ident
            ),
            "only null has none".to_owned(),
        )),
        (_, Some(held)) => compare(schema, branch, &shape(held)).map_err(|problem| {
            let ty = schema.describe(branch);
            (
                format!("the branch is {ty} in the schema, {}", problem.message),
                problem.help,
            )
        }),
    }
}
