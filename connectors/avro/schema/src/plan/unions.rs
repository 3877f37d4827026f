//! Unions: each branch of the writer's by itself, and which branch of the reader's a value goes into.

use super::planner::Planner;
use super::{Branch, Incompatible, Node, NodeId};
use crate::canonical::Canonical;

impl<'s> Planner<'s> {
    /// A value of the writer's into the first branch that has its very type, else into the first that can hold it.
    pub(super) fn one_of(
        &mut self,
        writer: &'s Canonical,
        ours: &'s [Canonical],
    ) -> Result<NodeId, Incompatible> {
        let (very, others): (Vec<_>, Vec<_>) = ours
            .iter()
            .enumerate()
            .partition(|(_, branch)| self.very(writer, self.our(branch)));
        // What the branch of the very type lacks says best what is wrong.
        let mut lacks = None;
        let same = very.len();
        for (n, (number, branch)) in very.into_iter().chain(others).enumerate() {
            match self.resolve(writer, branch) {
                Ok(node) => return Ok(self.add(Node::Into(number as u32, node))),
                Err(error) if n < same => lacks = lacks.or(Some(error)),
                Err(_) => {}
            }
        }
        match lacks {
            Some(error) => Err(error),
            None => self.fail(format!(
                "{} there fits no branch of {} here",
                writer.describe(),
                Canonical::Union(ours.to_vec()).describe()
            )),
        }
    }

    /// Whether the one is the other's type, without promotion.
    fn very(&self, writer: &Canonical, reader: &Canonical) -> bool {
        match (writer, reader) {
            (
                Canonical::Primitive(there, their_logical),
                Canonical::Primitive(here, our_logical),
            ) => there == here && their_logical == our_logical,
            (Canonical::Array(_), Canonical::Array(_)) | (Canonical::Map(_), Canonical::Map(_)) => {
                true
            }
            (Canonical::Record(there, _), Canonical::Record(here, _))
            | (Canonical::Enum(there, _), Canonical::Enum(here, _))
            | (Canonical::Fixed(there, ..), Canonical::Fixed(here, ..)) => {
                self.same_name(there, here)
            }
            _ => false,
        }
    }

    /// A union of the writer's: each branch by itself, and those that cannot be read are errors of their records.
    pub(super) fn branches(
        &mut self,
        theirs: &'s [Canonical],
        reader: &'s Canonical,
    ) -> Result<NodeId, Incompatible> {
        let mut last = None;
        let mut branches = Vec::with_capacity(theirs.len());
        for branch in theirs {
            branches.push(match self.resolve(branch, reader) {
                Ok(node) => Branch::Read(node),
                Err(error) => {
                    last = Some(error);
                    Branch::Unreadable
                }
            });
        }
        let readable = branches
            .iter()
            .any(|branch| matches!(branch, Branch::Read(_)));
        match last {
            Some(error) if !readable => Err(error),
            None if branches.is_empty() => self.fail("a union without branches"),
            _ => Ok(self.add(Node::Branches(branches))),
        }
    }
}
