//! One stage against its entry of the registry: arguments, options, type argument, feature.
//!
//! The match over [`Kind`] is exhaustive: a new kind of stage does not compile until it is decided what it is checked for.

use proc_macro2::{Span, TokenStream};

use super::chain::{self, Numbering};
use super::order::{DROP, Role, meant};
use super::{Context, options, own};
use crate::diagnostic::{Code, Diagnostic, Errors, list, suggest};
use crate::pipeline::ast::{Args, Bad, Closure, Named, Shape, Stage, Turbofish, Value};
use crate::pipeline::plan::{
    Call, Carrier, DecoderStep, End, Function, Node, Policy, Settings, SinkStep, SourceStep,
    TransformStep,
};
use crate::pipeline::registry::{self, ArgKind, Branch, Kind, OptionDef, OptionKind, StageDef};
use crate::pipeline::{fragment, leaving};

/// A checked stage.
pub(super) enum Step {
    Source(SourceStep),
    Decoder(DecoderStep),
    Transform(TransformStep),
    Sink(SinkStep),
    Branch(End),
}

/// Checks one stage of the chain, and the chains in it; `node` is the number and the name of its node.
pub(super) fn check(
    stage: Stage,
    role: Role,
    node: (usize, String),
    context: &Context<'_>,
    numbering: &mut Numbering,
    errors: &mut Errors,
) -> Result<Step, Bad> {
    match role {
        Role::Known(def) => known(stage, def, node, context, numbering, errors),
        Role::Own(part) => own::check(stage, part, node, context, numbering, errors),
        Role::Unknown => {
            errors.push(unknown(&stage));
            Err(Bad)
        }
    }
}

fn known(
    stage: Stage,
    def: &StageDef,
    (index, name): (usize, String),
    context: &Context<'_>,
    numbering: &mut Numbering,
    errors: &mut Errors,
) -> Result<Step, Bad> {
    let span = stage.path.span;
    if def.is_planned() {
        let role = if def.name == "kafka" {
            " as a sink"
        } else {
            ""
        };
        let message = format!("`{}`{role} is not available yet", def.name);
        errors.push(Diagnostic::new(Code::NotAvailable, span, message));
        return Err(Bad);
    }
    if let Some(feature) = def
        .feature
        .filter(|feature| !context.features.iter().any(|on| on == feature))
    {
        errors.push(Diagnostic::feature_off(span, def.name, feature));
    }
    if let (Some(turbofish), None) = (&stage.turbofish, def.type_argument) {
        let message = format!("`{}` takes no type argument", def.name);
        let help = match def.kind {
            Kind::Transform(_) => format!(
                "annotate the closure instead: `{}(|record: Type| ..)`",
                def.name
            ),
            _ => format!("write `{}`", def.usage),
        };
        errors.push(Diagnostic::spanned(Code::TypeArgument, &turbofish.tokens, message).help(help));
    }
    let ty = stage.turbofish.as_ref();
    let ty = ty.and_then(|turbofish| match def.type_argument {
        Some(_) => one_type(turbofish, def.name, errors),
        None => None,
    });
    let arguments = positional(&stage, def, context, errors);
    let given = named(&stage, def, context, errors);
    let policy = def.fallible.then(|| {
        given
            .policy
            .or(context.default_policy)
            .unwrap_or(Policy::Fail)
    });
    let node = Node {
        index,
        name,
        stage: stage.path.text,
        span,
        on_error: policy,
    };
    let (settings, whole) = (given.settings, given.whole);
    Ok(match def.kind {
        Kind::Source(path) => Step::Source(SourceStep {
            node,
            carrier: Carrier::Known(path),
            settings,
        }),
        Kind::Decoder(decoder) => Step::Decoder(DecoderStep {
            node,
            carrier: Carrier::Known(decoder),
            record: ty,
            whole,
            settings,
        }),
        Kind::Transform(which) => {
            let function = arguments.into_iter().next().ok_or(Bad)?;
            Step::Transform(TransformStep {
                node,
                call: Call::Stage(which, function),
            })
        }
        Kind::Sink(path) => Step::Sink(SinkStep {
            node,
            slot: numbering.slot(),
            carrier: Carrier::Known(path),
            row: ty,
            settings,
        }),
        Kind::Branch(which) => {
            let arms = stage.arms.filter(|arms| !arms.is_empty());
            let Some(arms) = arms else {
                let message = format!("`{}` has no arms", def.name);
                let help = format!("write `{}`", def.usage);
                errors.push(Diagnostic::new(Code::NoArms, span, message).help(help));
                return Err(Bad);
            };
            Step::Branch(match which {
                Branch::Route => {
                    let function = arguments.into_iter().next();
                    chain::route(node, function, arms, context, numbering, errors)?
                }
                Branch::Tee => chain::tee(node, arms, context, numbering, errors)?,
            })
        }
        Kind::Planned(_) => return Err(Bad),
    })
}

/// A name that nobody knows but that is nearly one, or that is reserved.
pub(super) fn unknown(stage: &Stage) -> Diagnostic {
    let name = stage.path.text.as_str();
    if registry::RESERVED.contains(&name) {
        let message = format!("`{name}` is reserved for a stage of a later version");
        return Diagnostic::new(Code::Reserved, stage.path.span, message).help("");
    }
    if name == DROP {
        let message = "`drop` is not a stage";
        return Diagnostic::new(Code::DropPlace, stage.path.span, message);
    }
    let message = match meant(name) {
        Some(meant) => format!("unknown stage `{name}`; did you mean `{meant}`?"),
        None => format!("unknown stage `{name}`"),
    };
    let help = format!("a function or type of your own is named by its path: `self::{name}`");
    Diagnostic::new(Code::UnknownStage, stage.path.span, message).help(help)
}

/// The type of a turbofish that has to be one type.
pub(super) fn one_type(
    turbofish: &Turbofish,
    stage: &str,
    errors: &mut Errors,
) -> Option<TokenStream> {
    if turbofish.ty.is_none() {
        let given = fragment::generic_arguments(&turbofish.tokens);
        let message = match given {
            2.. => format!("`{stage}` takes one type, found {given}"),
            _ => format!("`{stage}` takes a type, `{stage}::<Type>`, and this is none"),
        };
        errors.push(Diagnostic::spanned(
            Code::TypeArgument,
            &turbofish.tokens,
            message,
        ));
    }
    turbofish.ty.clone()
}

/// The positional arguments, by number and kind.
fn positional(
    stage: &Stage,
    def: &StageDef,
    context: &Context<'_>,
    errors: &mut Errors,
) -> Vec<Function> {
    let (span, name) = (stage.path.span, def.name);
    let Some(Args {
        close, positional, ..
    }) = &stage.args
    else {
        if !def.positional.is_empty() {
            let message = format!("stage `{name}` needs its arguments: `{}`", def.usage);
            errors.push(Diagnostic::new(Code::NeedsArguments, span, message));
        }
        return Vec::new();
    };
    if positional.len() < def.positional.len() {
        let missing: Vec<&str> = def.positional[positional.len()..]
            .iter()
            .map(|arg| arg.name)
            .collect();
        let message = format!(
            "`{name}` takes one {}: `{}`",
            missing.join(" and one "),
            def.usage
        );
        let at = if positional.is_empty() { span } else { *close };
        errors.push(Diagnostic::new(Code::MissingArgument, at, message));
    }
    if let Some(extra) = positional.get(def.positional.len()) {
        let message = match def.positional.len() {
            0 => format!("`{name}` takes no positional argument"),
            most => format!(
                "`{name}` takes {most} positional argument, found {}",
                positional.len()
            ),
        };
        let help = match def.options.len() {
            0 => String::new(),
            _ => format!("its options are named: {}", option_names(def)),
        };
        errors.push(Diagnostic::spanned(Code::ExtraArgument, &extra.tokens, message).help(help));
    }
    let expected = positional.iter().zip(def.positional);
    expected
        .filter_map(|(value, arg)| match arg.kind {
            ArgKind::Function => function(name, value, context, errors),
        })
        .collect()
}

/// A closure of the record or the path of a function.
fn function(
    stage: &str,
    value: &Value,
    context: &Context<'_>,
    errors: &mut Errors,
) -> Option<Function> {
    let function = |with_meta, is_name| Function {
        tokens: value.tokens.clone(),
        with_meta,
        is_name,
        inline: None,
    };
    let error = match value.shape.as_ref().ok()? {
        Shape::Closure(Closure {
            inline: Some(parts),
            ..
        }) => {
            let inline = Some(parts.clone());
            return Some(Function {
                inline,
                ..function(false, false)
            });
        }
        Shape::Closure(closure) => {
            let before = errors.count();
            if let Some(waits) = closure.waits {
                errors.push(Diagnostic::new(
                    Code::AsyncClosure,
                    waits,
                    format!("the closure of `{stage}` is asynchronous"),
                ));
            }
            if closure.waits.is_none()
                && let Some(waits) = leaving::awaits(&value.tokens)
            {
                let message = format!("the closure of `{stage}` waits");
                errors.push(Diagnostic::new(Code::AsyncClosure, waits, message));
            }
            if let Some(moves) = closure.moves {
                errors.push(Diagnostic::new(
                    Code::MoveClosure,
                    moves,
                    format!("the closure of `{stage}` is `move`"),
                ));
            }
            if let Some(span) = leaving::yields(&value.tokens) {
                let message = format!("the closure of `{stage}` is a coroutine: it has a `yield`");
                let help = "a closure returns what it makes; `flat_map` takes an iterator or a `Vec` of records";
                errors.push(Diagnostic::new(Code::NotAFunction, span, message).help(help));
            }
            if !(1..=2).contains(&closure.params) {
                let message = format!(
                    "the closure of `{stage}` takes the record, or the record and its metadata; this one takes {}",
                    match closure.params {
                        0 => "nothing".to_owned(),
                        n => format!("{n} parameters"),
                    }
                );
                let help = format!("write `{stage}(|record| ..)` or `{stage}(|record, meta| ..)`");
                let head = fragment::head(&value.tokens);
                errors.push(Diagnostic::spanned(Code::ClosureArity, head, message).help(help));
            }
            return (errors.count() == before).then(|| function(closure.params == 2, false));
        }
        Shape::Path(Some(name)) if context.variables.contains(name) => {
            let message = format!(
                "`{name}` is a variable of the pipeline, and `{stage}` would move it into the first record's call"
            );
            let help = format!("write `{stage}(|record| {name}(record))`, which borrows it");
            Diagnostic::spanned(Code::StateAsFunction, &value.tokens, message).help(help)
        }
        Shape::Path(name) => {
            return Some(function(false, name.is_some()));
        }
        other => {
            let message = format!(
                "`{stage}` takes a closure or the path of a function, found {}",
                options::found(other)
            );
            let error = Diagnostic::spanned(Code::NotAFunction, &value.tokens, message);
            match other {
                Shape::Other("a call" | "a block" | "a macro call" | "an expression") => error,
                _ => error.help(format!("write `{stage}(|record| ..)`")),
            }
        }
    };
    errors.push(error);
    None
}

/// What the named arguments of a stage say.
#[derive(Default)]
pub(super) struct Given {
    pub(super) policy: Option<Policy>,
    whole: bool,
    pub(super) settings: Settings,
}

/// The named arguments of a stage of ours.
fn named(stage: &Stage, def: &StageDef, context: &Context<'_>, errors: &mut Errors) -> Given {
    let mut given = Given::default();
    let arguments = stage.args.as_ref().map_or(&[][..], |args| &args.named);
    for (n, Named { name, value }) in arguments.iter().enumerate() {
        let word = name.to_string();
        if repeated(&arguments[..n], name) {
            errors.push(twice(name.span(), &word, def.name));
            continue;
        }
        let Some(option) = def.options.iter().find(|option| option.name == word) else {
            errors.push(unknown_option(name.span(), &word, def));
            continue;
        };
        match option.kind {
            OptionKind::Policy => {
                given.policy = options::policy(value, context.dead_letters, errors)
            }
            OptionKind::Switch => {
                given.whole = options::switch(&word, value, errors) == Some(false);
            }
            OptionKind::Setting { config, rule } => {
                let text = options::setting(&word, value, config, rule, errors);
                given.settings.extend(text.map(|text| (word, text)));
            }
        }
    }
    given
}

pub(super) fn repeated(earlier: &[Named], name: &proc_macro2::Ident) -> bool {
    earlier.iter().any(|other| other.name == *name)
}

pub(super) fn twice(span: Span, option: &str, stage: &str) -> Diagnostic {
    Diagnostic::new(
        Code::DuplicateOption,
        span,
        format!("`{option}` is given twice to `{stage}`"),
    )
}

fn unknown_option(span: Span, word: &str, def: &StageDef) -> Diagnostic {
    if word == registry::ON_ERROR.name {
        let message = format!(
            "`{}` cannot fail, so `on_error` has nothing to decide",
            def.name
        );
        let fallible: Vec<&str> = registry::stages()
            .filter(|stage| stage.fallible)
            .map(|stage| stage.name)
            .collect();
        let help = format!("stages that can fail are {}", list(&fallible, "and"));
        return Diagnostic::new(Code::NeverFails, span, message).help(help);
    }
    let names: Vec<&OptionDef> = def.options.iter().collect();
    let message = format!("unknown option `{word}` for `{}`", def.name);
    match suggest(word, names.iter().map(|option| option.name)) {
        Some(meant) => Diagnostic::new(
            Code::UnknownOption,
            span,
            format!("{message}; did you mean `{meant}`?"),
        )
        .help(""),
        None if names.is_empty() => {
            Diagnostic::new(Code::UnknownOption, span, message).help("it takes none")
        }
        None => {
            let help = format!("its options: {}", option_names(def));
            Diagnostic::new(Code::UnknownOption, span, message).help(help)
        }
    }
}

fn option_names(def: &StageDef) -> String {
    let names: Vec<String> = def
        .options
        .iter()
        .map(|option| format!("{} = ..", option.name))
        .collect();
    list(&names.iter().map(String::as_str).collect::<Vec<_>>(), "and")
}
