//! What is passed over: the writer's values that the reader has nothing for, and how many bytes one takes at the least.

use super::planner::Planner;
use super::promotion::promotion;
use super::{Branch, Node, NodeId, Step};
use crate::canonical::Canonical;

impl<'s> Planner<'s> {
    /// The fewest bytes that a value of the writer's takes.
    pub(super) fn least(&mut self, ty: &'s Canonical) -> usize {
        self.deeper(|planner| planner.fewest(ty))
            .unwrap_or_default()
    }

    fn fewest(&mut self, ty: &'s Canonical) -> usize {
        match self.their(ty) {
            Canonical::Primitive("null", _) => 0,
            Canonical::Primitive("float", _) => 4,
            Canonical::Primitive("double", _) => 8,
            Canonical::Fixed(_, size, _) => *size,
            Canonical::Record(name, fields) => {
                if let Some(least) = self.least.get(name.as_str()) {
                    return *least;
                }
                // Less than it takes where it stands inside itself: a bound from below all the same.
                self.least.insert(name, 0);
                let sum = fields
                    .iter()
                    .fold(0usize, |sum, (_, ty)| sum.saturating_add(self.least(ty)));
                self.least.insert(name, sum);
                sum
            }
            _ => 1,
        }
    }

    /// A value of the writer's that is passed over: as it is, and nobody looks at the outcome.
    pub(super) fn pass(&mut self, ty: &'s Canonical) -> NodeId {
        let passed = self.deeper(|planner| planner.passed(ty));
        passed.unwrap_or_else(|| self.add(Node::Null))
    }

    fn passed(&mut self, ty: &'s Canonical) -> NodeId {
        match self.their(ty) {
            Canonical::Primitive(name, _) => {
                let node = promotion(name, name).unwrap_or(Node::Null);
                self.add(node)
            }
            Canonical::Array(items) => {
                let (item, least) = (self.pass(items), self.least(items));
                self.add(Node::Blocks {
                    keys: false,
                    item,
                    least,
                })
            }
            Canonical::Map(values) => {
                let (item, least) = (self.pass(values), self.least(values));
                self.add(Node::Blocks {
                    keys: true,
                    item,
                    least,
                })
            }
            Canonical::Union(branches) => {
                let ours = branches.len();
                let branches = branches
                    .iter()
                    .map(|branch| Branch::Read(self.pass(branch)))
                    .collect();
                self.add(Node::Branches { branches, ours })
            }
            Canonical::Enum(_, symbols) => self.add(Node::Symbol(symbols.len())),
            Canonical::Fixed(_, size, _) => self.add(Node::Fixed(*size)),
            Canonical::Record(name, fields) => {
                if let Some(made) = self.made.get(&(name.as_str(), None)) {
                    return *made;
                }
                let id = self.add(Node::Null);
                self.made.insert((name, None), id);
                let steps: Vec<_> = fields
                    .iter()
                    .map(|(name, ty)| Step::Skip(name.clone(), self.pass(ty)))
                    .collect();
                let itself = |step: &Step| matches!(step, Step::Skip(_, node) if *node == id);
                // Directly, so that no value of it ends, or by what is inside.
                let recursive = steps.iter().any(itself)
                    || self.nodes[id + 1..].iter().any(|node| node.leads_to(id));
                self.nodes[id] = Node::Record { steps, recursive };
                id
            }
            // A name is always defined: the parser saw to it.
            Canonical::Named(_) => self.add(Node::Null),
        }
    }
}
