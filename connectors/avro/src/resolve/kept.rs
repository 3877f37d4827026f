//! Which of a writer's bytes the compiled decoder reads as they are.

use super::{Branch, Node, NodeId, Step};

/// What becomes of a value's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kept {
    /// They stay, and the decoder refuses in them what the writer's type does not have.
    AsTheyAre,
    /// They stay, but the decoder would let pass what the writer's type does not have: a number that is no `int`, a branch more. They are
    /// passed over by the writer's type first.
    Checked,
    /// Others are made of them.
    Made,
}

/// What becomes of each node's bytes. A record that contains itself is taken to be made: it is asked before it is known.
pub(super) fn kept(nodes: &[Node]) -> Vec<Kept> {
    let mut known: Vec<Option<Kept>> = vec![None; nodes.len()];
    (0..nodes.len())
        .map(|id| of(id, nodes, &mut known, MOST_LEVELS))
        .collect()
}

/// How deep is looked into a value; one that is deeper is made.
const MOST_LEVELS: usize = 256;

fn of(id: NodeId, nodes: &[Node], known: &mut [Option<Kept>], levels: usize) -> Kept {
    if let Some(known) = known[id] {
        return known;
    }
    let Some(levels) = levels.checked_sub(1) else {
        return Kept::Made;
    };
    known[id] = Some(Kept::Made);
    let answer = match &nodes[id] {
        Node::Null
        | Node::Boolean
        | Node::Int
        | Node::Long
        | Node::Float
        | Node::Double
        | Node::Text
        | Node::Fixed(_)
        | Node::Symbol(_) => Kept::AsTheyAre,
        Node::IntToLong => Kept::Checked,
        Node::Blocks { item, .. } => of(*item, nodes, known, levels),
        Node::Record {
            recursive: true, ..
        } => Kept::Made,
        Node::Record { steps, .. } => {
            let mut most = Kept::AsTheyAre;
            for step in steps {
                most = most.max(match step {
                    Step::Keep(_, node) => of(*node, nodes, known, levels),
                    Step::Skip(..) | Step::Default(_) => Kept::Made,
                });
            }
            most
        }
        // Each branch into the one of its own number.
        Node::Branches { branches, ours } => {
            let mut most = match branches.len() < *ours {
                true => Kept::Checked,
                false => Kept::AsTheyAre,
            };
            for (n, branch) in branches.iter().enumerate() {
                let into = match branch {
                    Branch::Read(node) => &nodes[*node],
                    Branch::Unreadable => return Kept::Made,
                };
                most = most.max(match into {
                    Node::Into(number, inner) if *number as usize == n => {
                        of(*inner, nodes, known, levels)
                    }
                    _ => Kept::Made,
                });
            }
            most
        }
        Node::Symbols(_)
        | Node::IntToFloat
        | Node::IntToDouble
        | Node::LongToFloat
        | Node::LongToDouble
        | Node::FloatToDouble
        | Node::Reordered { .. }
        | Node::Into(..) => Kept::Made,
    };
    known[id] = Some(answer);
    answer
}
