//! The order of a chain: a source, a decoder, transforms, a sink; in the arms of a branch transforms and a sink.
//!
//! A stage that could not be read, or whose name is unknown, may have been anything. From there on nothing is said that
//! depends on what it was.

use crate::diagnostic::{Code, Diagnostic, Errors, list, suggest};
use crate::pipeline::ast::{ArmBody, Slot, Stage};
use crate::pipeline::registry::{self, Part, StageDef};

/// What a stage is, as far as its name and its place tell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// An entry of the registry.
    Known(&'static StageDef),
    /// The user's own, in a part that follows from its place.
    Own(Part),
    /// Reserved, misspelt, or not read at all.
    Unknown,
}

impl Role {
    pub(super) fn part(self) -> Option<Part> {
        match self {
            Role::Known(stage) => Some(stage.part()),
            Role::Own(part) => Some(part),
            Role::Unknown => None,
        }
    }

    fn is_planned(self) -> bool {
        matches!(self, Role::Known(stage) if stage.is_planned())
    }
}

/// The name that a plain stage name was probably meant to be.
pub(super) fn meant(name: &str) -> Option<&'static str> {
    let stages = registry::stages().map(|stage| stage.name);
    suggest(name, stages.chain([DROP]))
}

/// A word that is a whole arm, and no stage.
pub(super) const DROP: &str = "drop";

/// The role of every stage of a chain: the pipeline's own (`front`), or one behind an arm.
pub(super) fn parts(chain: &[Slot], front: bool) -> Vec<Role> {
    let known = |at: usize, slot: &Slot| {
        let name = slot.as_ref().ok()?.path.plain.as_deref()?;
        registry::find(name, (at > 0 || !front) && at + 1 == chain.len())
    };
    let decodes = chain
        .iter()
        .enumerate()
        .any(|(at, slot)| known(at, slot).is_some_and(|stage| stage.part() == Part::Decoder));
    let mut own_decoder = decodes || !front;
    let mut roles = Vec::new();
    for (at, slot) in chain.iter().enumerate() {
        let Ok(stage) = slot else {
            roles.push(Role::Unknown);
            // It may have been the decoder.
            own_decoder = true;
            continue;
        };
        let role = match (known(at, slot), &stage.path.plain) {
            (Some(stage), _) => Role::Known(stage),
            (None, Some(name))
                if registry::RESERVED.contains(&name.as_str())
                    || name == DROP
                    || meant(name).is_some() =>
            {
                Role::Unknown
            }
            (None, _) if front && at == 0 => Role::Own(Part::Source),
            (None, _) if at + 1 == chain.len() => Role::Own(Part::Sink),
            (None, _) if !own_decoder => Role::Own(Part::Decoder),
            (None, _) => Role::Own(Part::Transform),
        };
        own_decoder |= matches!(role, Role::Unknown | Role::Own(Part::Decoder));
        roles.push(role);
    }
    roles
}

/// Checks the order of a pipeline's chain, and of the chains in it.
pub(super) fn check(chain: &[Slot], errors: &mut Errors) {
    walk(chain, true, Walk::default(), errors);
}

fn walk(chain: &[Slot], front: bool, mut walk: Walk, errors: &mut Errors) {
    let roles = parts(chain, front);
    for (at, (slot, role)) in chain.iter().zip(&roles).enumerate() {
        let first = front && at == 0;
        match (slot, role.part()) {
            // That it is not available is reported; where it belongs is said when it is.
            (Ok(_), Some(Part::Source)) if !first && role.is_planned() => {
                walk.unknown();
                walk.silent_about_end = true;
            }
            (Ok(stage), Some(part)) => {
                walk.silent_about_end = false;
                walk.step(first, stage, part, errors);
            }
            _ => walk.unknown(),
        }
        walk.goes_on = at + 1 < chain.len();
        let arms = slot.iter().filter_map(|stage| stage.arms.as_ref());
        for arm in arms.flatten() {
            if let ArmBody::Chain(chain) = &arm.body {
                self::walk(chain, false, walk.arm(), errors);
            }
        }
    }
    let last = chain.last().and_then(|slot| slot.as_ref().ok());
    if let (Some(last), Some(part), None) =
        (last, roles.last().and_then(|role| role.part()), &walk.sink)
        && !matches!(part, Part::Sink | Part::Branch)
        && !walk.silent_about_end
        && !walk.joined
    {
        let message = format!(
            "the chain ends in `{}`; its last stage must be a sink",
            last.path.text
        );
        let help = format!("sinks are {}", list(&registry::names(Part::Sink), "and"));
        errors.push(Diagnostic::new(Code::NoSink, last.path.span, message).help(help));
    }
}

/// What is known on the way through a chain.
#[derive(Default)]
struct Walk {
    decoder: Option<String>,
    sink: Option<String>,
    /// Something unknown came by, or what is missing here was reported.
    silent_about_decoder: bool,
    silent_about_source: bool,
    silent_about_sink: bool,
    /// What was wrong with the last stage was reported.
    silent_about_end: bool,
    /// A stage follows the one that was looked at.
    goes_on: bool,
    /// An arm of a branch that something follows, where that was reported.
    joined: bool,
}

impl Walk {
    /// At the start of an arm: what was decoded stays so, and a sink is still to come.
    fn arm(&self) -> Walk {
        Walk {
            decoder: self.decoder.clone(),
            sink: None,
            silent_about_decoder: self.silent_about_decoder,
            silent_about_source: self.silent_about_source,
            silent_about_sink: false,
            silent_about_end: false,
            goes_on: false,
            joined: self.goes_on,
        }
    }

    fn unknown(&mut self) {
        self.silent_about_decoder = true;
        self.silent_about_source = true;
    }

    fn step(&mut self, first: bool, stage: &Stage, part: Part, errors: &mut Errors) {
        let name = &stage.path.text;
        let mut report = |code, message: String, help: Option<String>| {
            let error = Diagnostic::new(code, stage.path.span, message);
            errors.push(match help {
                Some(help) => error.help(help),
                None => error,
            });
        };
        if let (Some(sink), false) = (&self.sink, self.silent_about_sink) {
            report(
                Code::AfterSink,
                format!("`{name}` follows {sink}; nothing can"),
                sink.starts_with("the branch")
                    .then(|| "what should follow goes into its arms".to_owned()),
            );
            self.silent_about_sink = true;
            return;
        }
        if self.sink.is_some() {
            return;
        }
        if first && part != Part::Source {
            let sources = list(&registry::names(Part::Source), "or");
            let message = format!("`{name}` cannot start a pipeline; the first stage is a source");
            report(
                Code::NoSource,
                message,
                Some(format!("start with {sources}")),
            );
            // One sentence is enough for a chain that lacks its whole front.
            self.silent_about_decoder = true;
        }
        match part {
            Part::Source if !first && !self.silent_about_source => {
                report(
                    Code::SourceInside,
                    format!("`{name}` is a source and stands inside the chain"),
                    None,
                );
                self.silent_about_end = true;
            }
            Part::Source => {}
            Part::Decoder => match &self.decoder {
                Some(first) => {
                    report(
                        Code::TwoDecoders,
                        format!("`{name}` follows the decoder `{first}`; a pipeline has one"),
                        None,
                    );
                }
                None => self.decoder = Some(name.clone()),
            },
            Part::Transform | Part::Sink | Part::Branch => {
                if self.decoder.is_none() && !self.silent_about_decoder {
                    let decoders = list(&registry::names(Part::Decoder), "or");
                    let message =
                        format!("`{name}` would get raw payloads here; a decoder goes before it");
                    report(
                        Code::NotDecoded,
                        message,
                        Some(format!("put {decoders} right behind the source")),
                    );
                    self.silent_about_decoder = true;
                }
            }
        }
        match part {
            Part::Sink => self.sink = Some(format!("the sink `{name}`")),
            Part::Branch => self.sink = Some(format!("the branch `{name}`")),
            Part::Source | Part::Decoder | Part::Transform => {}
        }
    }
}
