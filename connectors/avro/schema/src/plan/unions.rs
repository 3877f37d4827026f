//! Unions: each branch of the writer's by itself, and which branch of the reader's a value goes into.

use super::planner::Planner;
use super::{Branch, Cause, Differences, Incompatible, Node, NodeId};
use crate::canonical::Canonical;

/// How near a branch is to a value of the writer's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// The very type: without promotion, of the same full name.
    Very,
    /// Of the same name in another namespace, or of one that was its name.
    Named,
    /// It may hold the value all the same.
    Other,
}

impl<'s> Planner<'s> {
    /// A value of the writer's into the branch that is its very type and no other; without one into the first that has its name, else
    /// into the first that can hold it.
    pub(super) fn one_of(
        &mut self,
        writer: &'s Canonical,
        ours: &'s [Canonical],
    ) -> Result<NodeId, Incompatible> {
        let nearness = |branch: &Canonical| self.nearness(writer, self.our(branch));
        let mut branches: Vec<(Nearness, u32, &Canonical)> = (0..)
            .zip(ours)
            .map(|(number, branch)| (nearness(branch), number, branch))
            .collect();
        branches.sort_by_key(|(nearness, number, _)| (*nearness, *number));
        if branches.iter().any(|(near, ..)| *near == Nearness::Very) {
            branches.retain(|(near, ..)| *near == Nearness::Very);
        }
        // What the nearest branch lacks says best what is wrong.
        let mut lacks = None;
        for (nearness, number, branch) in branches {
            match self.attempt(writer, branch) {
                Ok(node) => return Ok(self.add(Node::Into(number, node))),
                Err(failed) if nearness < Nearness::Other => lacks = lacks.or(Some(failed)),
                Err(_) => {}
            }
        }
        match lacks {
            Some(failed) => self.fail_as(*failed),
            None => {
                let ours = Canonical::Union(ours.to_vec()).describe();
                let what = format!("{} there fits no branch of {ours} here", writer.describe());
                self.fail(Cause::Branch, what)
            }
        }
    }

    fn nearness(&self, writer: &Canonical, reader: &Canonical) -> Nearness {
        let near = |very: bool, near: bool| match (very, near) {
            (true, _) => Nearness::Very,
            (_, true) => Nearness::Named,
            _ => Nearness::Other,
        };
        match (writer, reader) {
            (
                Canonical::Primitive(there, their_logical),
                Canonical::Primitive(here, our_logical),
            ) => near(there == here && their_logical == our_logical, false),
            (Canonical::Array(_), Canonical::Array(_)) | (Canonical::Map(_), Canonical::Map(_)) => {
                Nearness::Very
            }
            (Canonical::Record(there, _), Canonical::Record(here, _))
            | (Canonical::Enum(there, _), Canonical::Enum(here, _))
            | (Canonical::Fixed(there, ..), Canonical::Fixed(here, ..)) => {
                near(there == here, self.same_name(there, here))
            }
            _ => Nearness::Other,
        }
    }

    /// A union of the writer's: each branch by itself, and those that cannot be read are errors of their records.
    pub(super) fn branches(
        &mut self,
        theirs: &'s [Canonical],
        reader: &'s Canonical,
    ) -> Result<NodeId, Incompatible> {
        let (mut unreadable, mut last) = (Differences::default(), None);
        let mut branches = Vec::with_capacity(theirs.len());
        for branch in theirs {
            branches.push(match self.attempt(branch, reader) {
                Ok(node) => Branch::Read(node),
                Err(failed) => {
                    unreadable.extend(failed.all.clone());
                    last = Some(failed);
                    Branch::Unreadable
                }
            });
        }
        let ours = match reader {
            Canonical::Union(ours) => ours.len(),
            _ => 0,
        };
        let readable = branches
            .iter()
            .any(|branch| matches!(branch, Branch::Read(_)));
        match last {
            Some(failed) if !readable => self.fail_as(*failed),
            None if branches.is_empty() => self.fail(Cause::Branch, "a union without branches"),
            _ => {
                let here = self.path();
                unreadable.each(|gap| {
                    if let Cause::Type { .. } = gap.cause
                        && gap.path == here
                    {
                        gap.cause = Cause::Branch;
                    }
                });
                self.note(unreadable);
                Ok(self.add(Node::Branches { branches, ours }))
            }
        }
    }
}
