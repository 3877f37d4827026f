//! A chain of stages, and the chains in the arms of a branch: each stage is checked for itself, then they are sorted.

use proc_macro2::Ident;

use super::stage::{self, Step};
use super::{Context, order, unraw};
use crate::diagnostic::{Code, Diagnostic, Errors};
use crate::pipeline::ast::{Arm, ArmBody, ArmHead, Bad, Slot};
use crate::pipeline::plan::{End, Function, Node, RouteArm, RouteStep, Tail, Target, TeeStep};

/// Hands out names and numbers in the order of the text.
pub(super) struct Numbering {
    names: std::vec::IntoIter<String>,
    next: usize,
    slots: usize,
}

impl Numbering {
    pub(super) fn new(names: Vec<String>) -> Self {
        Numbering {
            names: names.into_iter(),
            next: 0,
            slots: 0,
        }
    }

    fn node(&mut self) -> (usize, String) {
        let index = self.next;
        self.next += 1;
        (index, self.names.next().unwrap_or_default())
    }

    pub(super) fn slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }
}

/// Checks the stages of one chain, each for itself.
pub(super) fn check(
    chain: Vec<Slot>,
    front: bool,
    context: &Context<'_>,
    numbering: &mut Numbering,
    errors: &mut Errors,
) -> Result<Vec<Step>, Bad> {
    let parts = order::parts(&chain, front);
    let mut steps = Vec::new();
    for (slot, part) in chain.into_iter().zip(parts) {
        let node = numbering.node();
        let step =
            slot.and_then(|stage| stage::check(stage, part, node, context, numbering, errors));
        steps.push(step);
    }
    steps.into_iter().collect()
}

/// Transforms and an end. `None` when the steps are no such chain.
pub(super) fn tail(mut steps: Vec<Step>) -> Option<Tail> {
    let end = match steps.pop()? {
        Step::Sink(sink) => End::Sink(sink),
        Step::Branch(end) => end,
        Step::Source(_) | Step::Decoder(_) | Step::Transform(_) => return None,
    };
    let transforms = steps.into_iter().map(|step| match step {
        Step::Transform(step) => Some(step),
        Step::Source(_) | Step::Decoder(_) | Step::Sink(_) | Step::Branch(_) => None,
    });
    Some(Tail {
        transforms: transforms.collect::<Option<Vec<_>>>()?,
        end,
    })
}

/// The arms of `route`.
pub(super) fn route(
    node: Node,
    function: Option<Function>,
    arms: Vec<Arm>,
    context: &Context<'_>,
    numbering: &mut Numbering,
    errors: &mut Errors,
) -> Result<End, Bad> {
    let mut read = Vec::new();
    for arm in arms {
        let target = match arm.body {
            ArmBody::Chain(stages) => check(stages, false, context, numbering, errors)
                .and_then(|steps| tail(steps).ok_or(Bad))
                .map(|tail| Target::Chain(Box::new(tail))),
            ArmBody::Drop { span, .. } => {
                let (index, name) = numbering.node();
                Ok(Target::Drop(Node {
                    index,
                    name,
                    stage: order::DROP.to_owned(),
                    span,
                    on_error: None,
                }))
            }
        };
        let pattern = match arm.head {
            ArmHead::Pattern(pattern) => Ok(pattern),
            ArmHead::Name(_) | ArmHead::Bad => Err(Bad),
        };
        let end = arm.end;
        read.push(pattern.and_then(|pattern| {
            target.map(|target| RouteArm {
                pattern,
                target,
                end,
            })
        }));
    }
    Ok(End::Route(RouteStep {
        node,
        function: function.ok_or(Bad)?,
        arms: read.into_iter().collect::<Result<_, _>>()?,
    }))
}

/// The arms of `tee`.
pub(super) fn tee(
    node: Node,
    arms: Vec<Arm>,
    context: &Context<'_>,
    numbering: &mut Numbering,
    errors: &mut Errors,
) -> Result<End, Bad> {
    let mut read = Vec::new();
    let mut names: Vec<Ident> = Vec::new();
    for arm in arms {
        let name = match arm.head {
            ArmHead::Name(name) => Ok(name),
            ArmHead::Pattern(_) | ArmHead::Bad => Err(Bad),
        };
        if let Ok(name) = &name {
            if names.iter().any(|other| unraw(other) == unraw(name)) {
                let message = format!("two arms of this `tee` are called `{}`", unraw(name));
                errors.push(Diagnostic::new(Code::DuplicateArm, name.span(), message));
            }
            names.push(name.clone());
        }
        let target = match arm.body {
            ArmBody::Chain(stages) => check(stages, false, context, numbering, errors)
                .and_then(|steps| tail(steps).ok_or(Bad)),
            ArmBody::Drop { span, .. } => {
                numbering.node();
                let message = "`drop` in an arm of `tee` does nothing: every arm gets every record";
                errors.push(
                    Diagnostic::new(Code::DropPlace, span, message).help("leave the arm out"),
                );
                Err(Bad)
            }
        };
        read.push(name.and_then(|name| target.map(|target| (name, target))));
    }
    Ok(End::Tee(TeeStep {
        node,
        arms: read.into_iter().collect::<Result<_, _>>()?,
    }))
}
