//! The names of stages: labels, and what a stage without one is called.

use std::collections::{HashMap, HashSet};

use proc_macro2::Ident;

use super::order;
use super::unraw;
use crate::diagnostic::{Code, Diagnostic, Errors};
use crate::pipeline::ast::{ArmBody, ArmHead, Slot, Stage};
use crate::pipeline::registry::{self, Part};

/// Something that becomes a node of the graph.
pub(super) struct Place<'a> {
    label: Option<&'a Ident>,
    what: What<'a>,
}

enum What<'a> {
    /// A stage; in a chain behind an arm of `tee`, with the place of that branch and the arm's name.
    Stage {
        stage: &'a Stage,
        sink: bool,
        arm: Option<(usize, &'a Ident)>,
    },
    /// `drop`: the place of its branch, and the number of the arm.
    Drop { branch: usize, arm: usize },
    /// Something that could not be read.
    Unread,
}

/// All places of a chain and the chains in it, in the order of the text.
pub(super) fn places(chain: &[Slot]) -> Vec<Place<'_>> {
    let mut places = Vec::new();
    walk(chain, true, None, &mut places);
    places
}

fn walk<'a>(
    chain: &'a [Slot],
    front: bool,
    arm: Option<(usize, &'a Ident)>,
    places: &mut Vec<Place<'a>>,
) {
    let roles = order::parts(chain, front);
    for (slot, role) in chain.iter().zip(roles) {
        let Ok(stage) = slot else {
            places.push(Place {
                label: None,
                what: What::Unread,
            });
            continue;
        };
        let branch = places.len();
        places.push(Place {
            label: stage.label.as_ref(),
            what: What::Stage {
                stage,
                sink: role.part() == Some(Part::Sink),
                arm,
            },
        });
        for (n, arm) in stage.arms.iter().flatten().enumerate() {
            let name = match &arm.head {
                ArmHead::Name(name) => Some((branch, name)),
                ArmHead::Pattern(_) | ArmHead::Bad => None,
            };
            match &arm.body {
                ArmBody::Chain(chain) => walk(chain, false, name, places),
                ArmBody::Drop { label, .. } => places.push(Place {
                    label: label.as_ref(),
                    what: What::Drop { branch, arm: n + 1 },
                }),
            }
        }
    }
}

/// Labels are used once, and are no words that a later version will need.
pub(super) fn labels(places: &[Place<'_>], errors: &mut Errors) {
    for (n, place) in places.iter().enumerate() {
        let Some(label) = place.label else { continue };
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
        let same = |other: &&Place<'_>| other.label.is_some_and(|other| unraw(other) == name);
        if let Some(first) = places[..n].iter().find(same) {
            let what = match &first.what {
                What::Stage { stage, .. } => stage.path.text.as_str(),
                What::Drop { .. } | What::Unread => "drop",
            };
            let line = first.label.map_or(0, |label| label.span().start().line);
            let message = format!("label `{name}` is already used (`{what}`, line {line})");
            errors.push(Diagnostic::new(Code::DuplicateLabel, label.span(), message));
        }
    }
}

/// A unique name for every place: its label, else what follows from the kind of it.
///
/// A sink's name is a contract with the configuration and the metrics, so two of one name are an error; any other stage
/// gets a number from the second of its name on.
pub(super) fn nodes(places: &[Place<'_>], errors: &mut Errors) -> Vec<String> {
    let sink_name = |place: &Place<'_>| match &place.what {
        What::Stage {
            stage,
            sink: true,
            arm,
        } => Some(
            place
                .label
                .or(arm.map(|(_, name)| name))
                .map_or_else(|| last_segment(stage).to_owned(), unraw),
        ),
        _ => None,
    };
    duplicate_sinks(places, sink_name, errors);
    let fixed = |place: &Place<'_>| place.label.map(unraw).or_else(|| sink_name(place));
    let mut taken: HashSet<String> = places.iter().filter_map(fixed).collect();
    let mut names: Vec<String> = Vec::new();
    // The number that a name got last: the next one is not looked for from the beginning.
    let mut last: HashMap<String, usize> = HashMap::new();
    for place in places {
        let name = fixed(place).unwrap_or_else(|| {
            let base = match &place.what {
                What::Stage { stage, .. } => last_segment(stage).to_owned(),
                What::Drop { branch, arm } => format!("{}.{arm}", names[*branch]),
                What::Unread => String::new(),
            };
            free(base, &taken, &mut last)
        });
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

fn last_segment(stage: &Stage) -> &str {
    let text = stage.path.text.as_str();
    text.rsplit("::").next().unwrap_or(text)
}

fn free(base: String, taken: &HashSet<String>, last: &mut HashMap<String, usize>) -> String {
    if !taken.contains(&base) {
        return base;
    }
    let number = last.entry(base.clone()).or_insert(1);
    loop {
        *number += 1;
        let name = format!("{base}_{number}");
        if !taken.contains(&name) {
            return name;
        }
    }
}

/// The `tee` whose arm a sink ends.
fn branch(place: &Place<'_>) -> Option<usize> {
    match place.what {
        What::Stage { arm, .. } => arm.map(|(branch, _)| branch),
        What::Drop { .. } | What::Unread => None,
    }
}

fn duplicate_sinks(
    places: &[Place<'_>],
    name: impl Fn(&Place<'_>) -> Option<String>,
    errors: &mut Errors,
) {
    for (n, place) in places.iter().enumerate() {
        let What::Stage { stage, .. } = &place.what else {
            continue;
        };
        let Some(own) = name(place) else { continue };
        let first = places[..n]
            .iter()
            .find(|other| name(other).as_ref() == Some(&own));
        let Some(first) = first else { continue };
        // Two equal labels, or arms of one branch, are reported as such.
        let labels = first.label.is_some() && place.label.is_some();
        let arms = first.label.is_none() && place.label.is_none() && branch(first) == branch(place);
        if labels || (arms && branch(first).is_some()) {
            continue;
        }
        let message = format!("two sinks of this pipeline are called `{own}`");
        let help = format!(
            "a label tells them apart, in the configuration as well: `archive: {}`",
            stage.path.text
        );
        errors.push(Diagnostic::new(Code::DuplicateSink, stage.path.span, message).help(help));
    }
}
