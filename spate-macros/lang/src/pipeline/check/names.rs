//! The names of stages: labels, and what a stage without one is called.

use std::collections::HashSet;

use super::{Slot, unraw};
use crate::diagnostic::{Code, Diagnostic, Errors};
use crate::pipeline::registry;

/// Labels are used once, and are no words that a later version will need.
pub(super) fn labels(chain: &[Slot], errors: &mut Errors) {
    for (n, slot) in chain.iter().enumerate() {
        let Ok(stage) = slot else { continue };
        let Some(label) = &stage.label else { continue };
        let name = unraw(label);
        if name == "_" {
            let message = "a label needs a name";
            errors.push(
                Diagnostic::new(Code::UnexpectedToken, label.span(), message)
                    .help("leave it out: `_:` names nothing"),
            );
            continue;
        }
        if registry::RESERVED.contains(&name.as_str()) {
            let message = format!("`{name}` is reserved for a later version and cannot be a label");
            errors.push(Diagnostic::new(Code::Reserved, label.span(), message));
        }
        let first = chain[..n].iter().enumerate().find_map(|(at, slot)| {
            let stage = slot.as_ref().ok()?;
            let same = stage
                .label
                .as_ref()
                .is_some_and(|other| unraw(other) == name);
            same.then_some((at + 1, stage))
        });
        if let Some((at, stage)) = first {
            let line = stage.path.span.start().line;
            let message = format!(
                "label `{name}` is already used by stage {at} (`{}`, line {line})",
                stage.path.text
            );
            errors.push(Diagnostic::new(Code::DuplicateLabel, label.span(), message));
        }
    }
}

/// A unique name for every stage: its label, else its own name, with a number from the second of that name on.
pub(super) fn nodes(chain: &[Slot]) -> Vec<String> {
    let label = |slot: &Slot| {
        slot.as_ref()
            .ok()
            .and_then(|stage| stage.label.as_ref())
            .map(unraw)
    };
    let mut taken: HashSet<String> = chain.iter().filter_map(label).collect();
    let mut names = Vec::new();
    for slot in chain {
        let name = label(slot).unwrap_or_else(|| {
            let text = slot.as_ref().map_or("", |stage| stage.path.text.as_str());
            let base = text.rsplit("::").next().unwrap_or(text);
            let numbered = (2..).map(|n| format!("{base}_{n}"));
            let free = [base.to_owned()]
                .into_iter()
                .chain(numbered)
                .find(|name| !taken.contains(name));
            free.unwrap_or_else(|| base.to_owned())
        });
        taken.insert(name.clone());
        names.push(name);
    }
    names
}
