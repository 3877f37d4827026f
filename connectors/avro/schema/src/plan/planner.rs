//! Two schemas to a plan.

use std::collections::HashMap;
use std::mem::{replace, take};

use super::promotion::{logical, promotion, short};
use super::{Cause, Differences, Incompatible, Node, NodeId, Plan, Sites};
use crate::canonical::{Canonical, Extras, MAX_LEVELS};

impl Plan {
    /// Compares the writer's schema with the reader's, of which `extras` has aliases and defaults.
    ///
    /// # Errors
    /// No record of the writer's can be read: everywhere that is so, and why. At least one difference.
    pub fn new(
        writer: &Canonical,
        reader: &Canonical,
        extras: &Extras,
    ) -> Result<Self, Differences> {
        let mut planner = Planner {
            theirs: definitions(writer),
            ours: definitions(reader),
            extras,
            nodes: Vec::new(),
            made: HashMap::new(),
            path: Vec::new(),
            gaps: Differences::default(),
            found: Differences::default(),
            least: HashMap::new(),
            failed: HashMap::new(),
            level: 0,
            too_deep: false,
        };
        let root = planner.attempt(writer, reader);
        if planner.too_deep {
            let what = format!("types stand in each other more than {MAX_LEVELS} deep");
            let mut only = Differences::default();
            only.add(planner.wrong(Cause::Depth, what));
            return Err(only);
        }
        let root = root.map_err(|failed| failed.all)?;
        Ok(Plan {
            nodes: planner.nodes,
            root,
            gaps: planner.gaps,
        })
    }
}

/// Named types by their full names.
fn definitions(schema: &Canonical) -> HashMap<&str, &Canonical> {
    fn collect<'s>(ty: &'s Canonical, found: &mut HashMap<&'s str, &'s Canonical>) {
        match ty {
            Canonical::Primitive(..) | Canonical::Named(_) => {}
            Canonical::Array(inner) | Canonical::Map(inner) => collect(inner, found),
            Canonical::Union(branches) => branches.iter().for_each(|branch| collect(branch, found)),
            Canonical::Record(name, fields) => {
                found.insert(name, ty);
                fields.iter().for_each(|(_, ty)| collect(ty, found));
            }
            Canonical::Enum(name, _) | Canonical::Fixed(name, ..) => {
                found.insert(name, ty);
            }
        }
    }
    let mut found = HashMap::new();
    collect(schema, &mut found);
    found
}

/// A step of the way to where the planner is.
pub(super) enum Part<'s> {
    Items,
    Values,
    /// The reader's record and its field; the writer's, where that has it.
    Field {
        here: (&'s str, &'s str),
        there: (&'s str, Option<&'s str>),
    },
}

/// What came of an attempt that failed.
pub(super) struct Failed {
    pub(super) first: Incompatible,
    /// With the first one.
    pub(super) all: Differences,
}

pub(super) struct Planner<'s> {
    theirs: HashMap<&'s str, &'s Canonical>,
    pub(super) ours: HashMap<&'s str, &'s Canonical>,
    pub(super) extras: &'s Extras,
    pub(super) nodes: Vec<Node>,
    /// Records that have a node: by the writer's name, and the reader's or none where it is passed over.
    pub(super) made: HashMap<(&'s str, Option<&'s str>), NodeId>,
    path: Vec<Part<'s>>,
    /// Values that the reader has nothing for.
    gaps: Differences,
    /// What is wrong with the fields of records that cannot be read, each at its innermost field; empty where nothing failed.
    pub(super) found: Differences,
    /// The fewest bytes that a record of the writer's takes, by its name.
    pub(super) least: HashMap<&'s str, usize>,
    /// Records that cannot be read, by the writer's name and the reader's, each with its error from the record on: every other union that
    /// has it would try it again, and the tries inside of it.
    pub(super) failed: HashMap<(&'s str, &'s str), Incompatible>,
    /// How deep inside types, by their names as well: a text names a type in a later one as often as it likes.
    level: usize,
    /// Whether that was too deep anywhere: then there is no plan, whatever came of it.
    pub(super) too_deep: bool,
}

impl<'s> Planner<'s> {
    pub(super) fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Where the planner is.
    pub(super) fn path(&self) -> String {
        let mut path = String::new();
        for part in &self.path {
            match part {
                Part::Items => path.push_str("[]"),
                Part::Values => path.push_str("{}"),
                Part::Field {
                    here: (_, name), ..
                } => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
            }
        }
        path
    }

    /// What is wrong where the planner is.
    pub(super) fn wrong(&self, cause: Cause, what: impl Into<String>) -> Incompatible {
        let sites = self.path.iter().rev().find_map(|part| match part {
            Part::Field { here, there } => Some(Box::new(Sites {
                here: (here.0.to_owned(), here.1.to_owned()),
                there: (there.0.to_owned(), there.1.map(str::to_owned)),
            })),
            _ => None,
        });
        Incompatible {
            path: self.path(),
            what: what.into(),
            cause,
            sites,
        }
    }

    pub(super) fn fail<T>(&self, cause: Cause, what: impl Into<String>) -> Result<T, Incompatible> {
        Err(self.wrong(cause, what))
    }

    /// Notes values of the writer's that the reader has nothing for.
    pub(super) fn note(&mut self, gaps: Differences) {
        self.gaps.extend(gaps);
    }

    pub(super) fn within<T>(&mut self, part: Part<'s>, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(part);
        let result = inside(self);
        self.path.pop();
        result
    }

    /// As [`resolve`](Self::resolve), for what may be tried otherwise: of what fails nothing is left.
    pub(super) fn attempt(
        &mut self,
        writer: &'s Canonical,
        reader: &'s Canonical,
    ) -> Result<NodeId, Box<Failed>> {
        let (gaps, found) = (take(&mut self.gaps), take(&mut self.found));
        let result = self.resolve(writer, reader);
        let inside = replace(&mut self.gaps, gaps);
        let mut all = replace(&mut self.found, found);
        match result {
            Ok(node) => {
                self.note(inside);
                Ok(node)
            }
            Err(first) => {
                if all.told().is_empty() {
                    all.add(first.clone());
                }
                Err(Box::new(Failed { first, all }))
            }
        }
    }

    /// Fails as an attempt did.
    pub(super) fn fail_as<T>(&mut self, failed: Failed) -> Result<T, Incompatible> {
        self.found.extend(failed.all);
        Err(failed.first)
    }

    pub(super) fn their(&self, ty: &'s Canonical) -> &'s Canonical {
        match ty {
            Canonical::Named(name) => self.theirs.get(name.as_str()).copied().unwrap_or(ty),
            ty => ty,
        }
    }

    pub(super) fn our(&self, ty: &'s Canonical) -> &'s Canonical {
        match ty {
            Canonical::Named(name) => self.ours.get(name.as_str()).copied().unwrap_or(ty),
            ty => ty,
        }
    }

    /// One level deeper; nothing where that is too deep.
    pub(super) fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.level == MAX_LEVELS {
            self.too_deep = true;
            return None;
        }
        self.level += 1;
        let result = inside(self);
        self.level -= 1;
        Some(result)
    }

    pub(super) fn resolve(
        &mut self,
        writer: &'s Canonical,
        reader: &'s Canonical,
    ) -> Result<NodeId, Incompatible> {
        let planned = self.deeper(|planner| planner.compare(writer, reader));
        planned.unwrap_or_else(|| self.fail(Cause::Depth, "types stand in each other too deeply"))
    }

    fn compare(
        &mut self,
        writer: &'s Canonical,
        reader: &'s Canonical,
    ) -> Result<NodeId, Incompatible> {
        let (writer, reader) = (self.their(writer), self.our(reader));
        match (writer, reader) {
            (Canonical::Union(theirs), _) => self.branches(theirs, reader),
            (_, Canonical::Union(ours)) => self.one_of(writer, ours),
            (
                Canonical::Primitive(there, their_logical),
                Canonical::Primitive(here, our_logical),
            ) => match promotion(there, here) {
                Some(node) if logical(their_logical.as_ref(), our_logical.as_ref()) => {
                    Ok(self.add(node))
                }
                _ => self.mismatch(writer, reader),
            },
            (Canonical::Array(theirs), Canonical::Array(ours)) => {
                let item = self.within(Part::Items, |planner| planner.resolve(theirs, ours))?;
                self.blocks(false, item, theirs)
            }
            (Canonical::Map(theirs), Canonical::Map(ours)) => {
                let item = self.within(Part::Values, |planner| planner.resolve(theirs, ours))?;
                self.blocks(true, item, theirs)
            }
            (Canonical::Record(there, theirs), Canonical::Record(here, ours)) => {
                if !self.same_name(there, here) {
                    return self.mismatch(writer, reader);
                }
                self.record(there, theirs, here, ours)
            }
            (Canonical::Enum(there, theirs), Canonical::Enum(here, ours)) => {
                if !self.same_name(there, here) {
                    return self.mismatch(writer, reader);
                }
                self.symbols(theirs, here, ours)
            }
            (
                Canonical::Fixed(there, their_size, their_logical),
                Canonical::Fixed(here, our_size, our_logical),
            ) if their_size == our_size
                && self.same_name(there, here)
                && logical(their_logical.as_ref(), our_logical.as_ref()) =>
            {
                Ok(self.add(Node::Fixed(*their_size)))
            }
            _ => self.mismatch(writer, reader),
        }
    }

    pub(super) fn mismatch<T>(
        &self,
        writer: &Canonical,
        reader: &Canonical,
    ) -> Result<T, Incompatible> {
        let (there, here) = (writer.describe(), reader.describe());
        let what = format!("{there} there cannot be read as {here} here");
        let named = |there: &String, here: &String| Cause::Name {
            there: there.clone(),
            here: here.clone(),
        };
        let cause = match (writer, reader) {
            (Canonical::Primitive(there, _), Canonical::Primitive(here, _))
                if promotion(there, here).is_some() =>
            {
                Cause::Logical
            }
            (Canonical::Record(there, _), Canonical::Record(here, _))
            | (Canonical::Enum(there, _), Canonical::Enum(here, _)) => named(there, here),
            (Canonical::Fixed(there, ..), Canonical::Fixed(here, ..))
                if !self.same_name(there, here) =>
            {
                named(there, here)
            }
            (Canonical::Fixed(_, there, _), Canonical::Fixed(_, here, _)) if there != here => {
                Cause::Size
            }
            (Canonical::Fixed(..), Canonical::Fixed(..)) => Cause::Logical,
            _ => Cause::Type { there },
        };
        self.fail(cause, what)
    }

    /// Names without their namespaces, as the specification has it, and the aliases of the reader's.
    pub(super) fn same_name(&self, there: &str, here: &str) -> bool {
        let aliases = self
            .extras
            .get(here)
            .map_or(&[][..], |extra| &extra.aliases);
        short(there) == short(here) || aliases.iter().any(|alias| alias == there)
    }

    pub(super) fn blocks(
        &mut self,
        keys: bool,
        item: NodeId,
        theirs: &'s Canonical,
    ) -> Result<NodeId, Incompatible> {
        let least = self.least(theirs);
        Ok(self.add(Node::Blocks { keys, item, least }))
    }

    pub(super) fn symbols(
        &mut self,
        theirs: &[String],
        here: &str,
        ours: &[String],
    ) -> Result<NodeId, Incompatible> {
        if theirs == ours {
            return Ok(self.add(Node::Symbol(ours.len())));
        }
        let numbers: HashMap<&str, u32> = ours.iter().map(String::as_str).zip(0..).collect();
        let number = |symbol: &String| numbers.get(symbol.as_str()).copied();
        let default = self
            .extras
            .get(here)
            .and_then(|extra| extra.symbol.as_ref());
        let default = default.and_then(number);
        let numbers: Vec<Option<u32>> = theirs
            .iter()
            .map(|symbol| number(symbol).or(default))
            .collect();
        let unknown: Vec<&str> = theirs
            .iter()
            .zip(&numbers)
            .filter(|(_, number)| number.is_none())
            .map(|(symbol, _)| symbol.as_str())
            .collect();
        let cause = || Cause::Symbols {
            here: here.to_owned(),
        };
        if unknown.len() == theirs.len() {
            return self.fail(
                cause(),
                format!(
                    "none of the symbols {} is one of {}",
                    theirs.join(", "),
                    ours.join(", ")
                ),
            );
        }
        if !unknown.is_empty() {
            let what = format!(
                "the enum here has no {}, and no default",
                unknown.join(", ")
            );
            self.gaps.add(self.wrong(cause(), what));
        }
        Ok(self.add(Node::Symbols(numbers)))
    }
}
