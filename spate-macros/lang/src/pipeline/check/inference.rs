//! The record's type behind a decoder without a type argument: said by the first stage that touches the record, or by
//! nobody. rustc would say "type annotations needed" somewhere in generated code; here it can be said in the user's words.
//!
//! Only what is certain is refused: a closure that may tell the type in its own way is left to rustc.

use crate::diagnostic::{Code, Diagnostic, Errors};
use crate::pipeline::ast::FirstUse;
use crate::pipeline::fragment;
use crate::pipeline::plan::{Call, Carrier, End, Function, Node, Plan, Tail, Target};
use crate::pipeline::registry::Transform;

/// Whether the record's type can be known.
pub(super) fn check(plan: &Plan, errors: &mut Errors) -> bool {
    let open = matches!(&plan.decoder.carrier, Carrier::Known(decoder) if decoder.record.is_none());
    if !open || plan.decoder.record.is_some() {
        return true;
    }
    match tail(&plan.tail, &plan.decoder.node, errors) {
        Told::Yes => true,
        Told::Reported => false,
        Told::No => {
            let decoder = &plan.decoder.node;
            let message = format!("nothing tells what `{}` decodes", decoder.stage);
            let help = format!("name the type: `{}::<Record>`", decoder.stage);
            errors.push(Diagnostic::new(Code::UnknownRecord, decoder.span, message).help(help));
            false
        }
    }
}

/// What a chain tells of the record's type.
enum Told {
    Yes,
    No,
    Reported,
}

fn tail(tail: &Tail, decoder: &Node, errors: &mut Errors) -> Told {
    for step in &tail.transforms {
        let Call::Stage(which, function) = &step.call else {
            return Told::Yes;
        };
        let told = told(function, decoder, errors);
        if !matches!(told, Told::No) {
            return told;
        }
        // Nothing said; behind these the next stage gets the same record.
        let same = matches!(
            which,
            Transform::Filter | Transform::Inspect | Transform::TryFilter
        );
        if !same {
            return Told::No;
        }
    }
    match &tail.end {
        End::Sink(sink) if sink.row.is_some() => Told::Yes,
        End::Sink(_) => Told::No,
        End::Route(route) => {
            let told = told(&route.function, decoder, errors);
            if !matches!(told, Told::No) {
                return told;
            }
            let chains = route.arms.iter().filter_map(|arm| match &arm.target {
                Target::Chain(tail) => Some(&**tail),
                Target::Drop(_) => None,
            });
            first_to_tell(chains, decoder, errors)
        }
        End::Tee(tee) => first_to_tell(tee.arms.iter().map(|(_, tail)| tail), decoder, errors),
    }
}

/// rustc reads the arms in their order: the first that says anything tells the others.
fn first_to_tell<'a>(
    tails: impl Iterator<Item = &'a Tail>,
    decoder: &Node,
    errors: &mut Errors,
) -> Told {
    for arm in tails {
        let told = tail(arm, decoder, errors);
        if !matches!(told, Told::No) {
            return told;
        }
    }
    Told::No
}

fn told(function: &Function, decoder: &Node, errors: &mut Errors) -> Told {
    match fragment::first_use(&function.tokens) {
        FirstUse::Other => Told::Yes,
        FirstUse::Never => Told::No,
        FirstUse::Access => {
            let message = format!(
                "the type of the record is not known in this closure: `{}` decodes whatever is asked for",
                decoder.stage
            );
            let help = format!(
                "name it here, `|record: Record<'_>| ..`, or at the decoder, `{}::<Record>`",
                decoder.stage
            );
            let head = fragment::head(&function.tokens);
            errors.push(Diagnostic::spanned(Code::UnknownRecord, head, message).help(help));
            Told::Reported
        }
    }
}
