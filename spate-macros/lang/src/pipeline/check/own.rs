//! A stage of the user's own, by its path: what it is follows from its place in the chain.

use super::chain::Numbering;
use super::stage::{Given, Step, one_type, repeated, twice};
use super::{Context, options};
use crate::diagnostic::{Code, Diagnostic, Errors};
use crate::pipeline::ast::{Args, Bad, Named, Shape, Stage};
use crate::pipeline::plan::{
    Call, Carrier, DecoderStep, Node, Policy, SinkStep, SourceStep, TransformStep,
};
use crate::pipeline::registry::{self, Part};

/// A path of the user's: a type that implements a trait of the runtime, or a function of the record.
pub(super) fn check(
    stage: Stage,
    part: Part,
    (index, name): (usize, String),
    context: &Context<'_>,
    numbering: &mut Numbering,
    errors: &mut Errors,
) -> Result<Step, Bad> {
    let text = stage.path.text.clone();
    let args = stage.args.unwrap_or_else(|| Args {
        close: stage.path.span,
        positional: Vec::new(),
        named: Vec::new(),
    });
    let ty = stage.turbofish;
    let mut node = Node {
        index,
        name,
        stage: text.clone(),
        span: stage.path.span,
        on_error: None,
    };
    if part == Part::Transform {
        for Named { name, .. } in &args.named {
            let message = format!("`{text}` is a function of yours, whose arguments have no names");
            errors.push(
                Diagnostic::new(Code::UnknownOption, name.span(), message)
                    .help("write the value alone"),
            );
        }
        let mut path = stage.path.tokens;
        path.extend(ty.map(|turbofish| turbofish.tokens));
        let args = args
            .positional
            .into_iter()
            .map(|value| value.tokens)
            .collect();
        return Ok(Step::Transform(TransformStep {
            node,
            call: Call::Own { path, args },
        }));
    }
    if let Some(extra) = args.positional.first() {
        let message = format!(
            "`{text}` stands in the place of a {}, which takes named settings only",
            place(part)
        );
        let help = "a function of the record stands behind the decoder and before the sink";
        errors.push(Diagnostic::spanned(Code::ExtraArgument, &extra.tokens, message).help(help));
    }
    let mut given = Given::default();
    for (n, Named { name, value }) in args.named.iter().enumerate() {
        let word = name.to_string();
        if repeated(&args.named[..n], name) {
            errors.push(twice(name.span(), &word, &text));
        } else if word == registry::ON_ERROR.name && part == Part::Source {
            let message = format!("`{text}` is a source, so `on_error` has nothing to decide");
            errors.push(Diagnostic::new(Code::NeverFails, name.span(), message));
        } else if word == registry::ON_ERROR.name {
            given.policy = options::policy(value, context.dead_letters, errors);
        } else {
            match &value.shape {
                Ok(Shape::Str(text)) => given.settings.push((word, text.clone())),
                Ok(other) => {
                    let message = format!(
                        "`{word}` expects a string literal, found {}",
                        options::found(other)
                    );
                    errors.push(Diagnostic::spanned(
                        Code::WrongValue,
                        &value.tokens,
                        message,
                    ));
                }
                Err(Bad) => {}
            }
        }
    }
    node.on_error = (part != Part::Source).then(|| {
        given
            .policy
            .or(context.default_policy)
            .unwrap_or(Policy::Fail)
    });
    let (settings, path) = (given.settings, stage.path.tokens);
    let type_argument = match (&ty, part) {
        (Some(turbofish), Part::Decoder | Part::Sink) => {
            Some(one_type(turbofish, &text, errors).ok_or(Bad)?)
        }
        _ => None,
    };
    Ok(match part {
        Part::Source => {
            let mut path = path;
            path.extend(ty.map(|turbofish| turbofish.tokens));
            Step::Source(SourceStep {
                node,
                carrier: Carrier::Own(path),
                settings,
            })
        }
        Part::Decoder => Step::Decoder(DecoderStep {
            node,
            carrier: Carrier::Own(path),
            record: type_argument,
            whole: true,
            settings,
        }),
        Part::Sink => Step::Sink(SinkStep {
            node,
            slot: numbering.slot(),
            carrier: Carrier::Own(path),
            row: type_argument,
            settings,
        }),
        Part::Transform | Part::Branch => return Err(Bad),
    })
}

fn place(part: Part) -> &'static str {
    match part {
        Part::Source => "source",
        Part::Decoder => "decoder",
        Part::Transform => "transform",
        Part::Sink => "sink",
        Part::Branch => "branch",
    }
}
