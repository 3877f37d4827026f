//! The record's type behind a decoder without a type argument: said by the first stage that touches the record, or by
//! nobody. rustc would say "type annotations needed" somewhere in generated code; here it can be said in the user's words.
//!
//! Only what is certain is refused: a closure that may tell the type in its own way is left to rustc.

use crate::diagnostic::{Code, Diagnostic, Errors};
use crate::pipeline::ast::FirstUse;
use crate::pipeline::plan::{Call, Carrier, Plan};
use crate::pipeline::registry::Transform;

/// Whether the record's type can be known.
pub(super) fn check(plan: &Plan, errors: &mut Errors) -> bool {
    let open = matches!(&plan.decoder.carrier, Carrier::Known(decoder) if decoder.record.is_none());
    if !open || plan.decoder.record.is_some() {
        return true;
    }
    let decoder = &plan.decoder.node;
    let mut written = plan.sink.row.is_some();
    for step in &plan.transforms {
        let Call::Stage(which, function) = &step.call else {
            return true;
        };
        match (function.first_use, which) {
            (FirstUse::Access, _) => {
                let message = format!(
                    "the type of the record is not known in this closure: `{}` decodes whatever is asked for",
                    decoder.stage
                );
                let help = format!(
                    "name it here, `|record: Record<'_>| ..`, or at the decoder, `{}::<Record>`",
                    decoder.stage
                );
                errors.push(
                    Diagnostic::spanned(Code::UnknownRecord, &function.head, message).help(help),
                );
                return false;
            }
            (FirstUse::Other, _) => return true,
            // Nothing said, and the next stage gets the same record.
            (FirstUse::Never, Transform::Filter | Transform::Inspect) => {}
            (FirstUse::Never, _) => {
                written = false;
                break;
            }
        }
    }
    if written {
        return true;
    }
    let message = format!("nothing tells what `{}` decodes", decoder.stage);
    let help = format!("name the type: `{}::<Record>`", decoder.stage);
    errors.push(Diagnostic::new(Code::UnknownRecord, decoder.span, message).help(help));
    false
}
