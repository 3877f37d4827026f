//! A plan as it is run: what a record needs in a row, without what only planning needs.

use super::kept::Kept;
use super::{Branch, Node, NodeId, Plan, Step, Wanted};

/// How the values of a plan are passed over and made, by their numbers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(super) ops: Vec<Op>,
    /// Of the values that have others inside.
    pub(super) inside: Vec<Option<Inside>>,
    /// Of the values whose bytes do not stay.
    pub(super) makes: Vec<Option<Make>>,
    /// The number of a whole record.
    pub(super) root: NodeId,
}

/// How a value is passed over: by one step, or by what is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Null,
    Boolean,
    Int,
    Long,
    /// `bytes` and `string`.
    Text,
    Skip(usize),
    Symbol(usize),
    /// By what is inside of the value of that number.
    Inside(NodeId),
}

/// How a value that has others inside is passed over.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inside {
    Blocks {
        keys: bool,
        /// The fewest bytes of an item.
        least: usize,
        /// Whether a block may be passed over by the size that its writer wrote.
        by_size: bool,
        item: Op,
    },
    Branches(Vec<Option<Op>>),
    Record {
        fields: Fields,
        recursive: bool,
    },
}

/// Fields that follow each other.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) ops: Vec<Op>,
    /// For errors.
    pub(super) names: Vec<String>,
}

/// What is made of a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Make {
    /// The reader's number of each of the writer's symbols.
    Symbols(Vec<Option<u32>>),
    IntToFloat,
    IntToDouble,
    LongToFloat,
    LongToDouble,
    FloatToDouble,
    Blocks {
        keys: bool,
        least: usize,
        item: NodeId,
    },
    Record {
        parts: Vec<Part>,
        recursive: bool,
    },
    Reordered {
        /// All of the writer's.
        fields: Fields,
        wanted: Vec<Wanted>,
        recursive: bool,
    },
    Branches(Vec<Option<NodeId>>),
    Into(u32, NodeId),
}

/// Some fields of a record that is made.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Their bytes stay.
    Copy(Fields),
    Skip(Fields),
    Make(String, NodeId),
    Default(Vec<u8>),
}

impl Fields {
    pub(super) fn push(&mut self, name: &str, op: Op) {
        self.ops.push(op);
        self.names.push(name.to_owned());
    }
}

impl Program {
    /// Of a plan; what becomes of the bytes of its nodes is in `kept`.
    pub(super) fn new(plan: &Plan, kept: &[Kept]) -> Self {
        let nodes = &plan.nodes;
        let made = |(id, node)| (kept[id] == Kept::Made).then(|| make(node, nodes, kept));
        Program {
            ops: (0..nodes.len()).map(|id| op(id, nodes)).collect(),
            inside: nodes.iter().map(|node| inside(node, nodes, kept)).collect(),
            makes: nodes
                .iter()
                .enumerate()
                .map(made)
                .map(Option::flatten)
                .collect(),
            root: plan.root,
        }
    }

    /// Fields that follow each other, as a plan has them.
    pub(super) fn fields(&self, fields: &[(String, NodeId)]) -> Fields {
        let mut all = Fields::default();
        for (name, node) in fields {
            all.push(name, self.ops[*node]);
        }
        all
    }
}

/// How the value of that number is passed over, wherever it stands.
fn op(id: NodeId, nodes: &[Node]) -> Op {
    match &nodes[id] {
        Node::Null => Op::Null,
        Node::Boolean => Op::Boolean,
        Node::Int | Node::IntToLong | Node::IntToFloat | Node::IntToDouble => Op::Int,
        Node::Long | Node::LongToFloat | Node::LongToDouble => Op::Long,
        Node::Float | Node::FloatToDouble => Op::Skip(4),
        Node::Double => Op::Skip(8),
        Node::Text => Op::Text,
        Node::Fixed(size) => Op::Skip(*size),
        Node::Symbol(symbols) => Op::Symbol(*symbols),
        Node::Symbols(ours) => Op::Symbol(ours.len()),
        Node::Into(_, inner) => op(*inner, nodes),
        Node::Blocks { .. }
        | Node::Record { .. }
        | Node::Reordered { .. }
        | Node::Branches { .. } => Op::Inside(id),
    }
}

fn inside(node: &Node, nodes: &[Node], kept: &[Kept]) -> Option<Inside> {
    let fields = |all: &mut dyn Iterator<Item = (&String, &NodeId)>| {
        let mut fields = Fields::default();
        all.for_each(|(name, node)| fields.push(name, op(*node, nodes)));
        fields
    };
    Some(match node {
        Node::Blocks { keys, item, least } => Inside::Blocks {
            keys: *keys,
            least: *least + usize::from(*keys),
            by_size: kept[*item] != Kept::Checked,
            item: op(*item, nodes),
        },
        Node::Branches { branches, .. } => {
            let branch = |branch: &Branch| match branch {
                Branch::Read(node) => Some(op(*node, nodes)),
                Branch::Unreadable => None,
            };
            Inside::Branches(branches.iter().map(branch).collect())
        }
        Node::Record { steps, recursive } => Inside::Record {
            fields: fields(&mut steps.iter().filter_map(|step| match step {
                Step::Keep(name, node) | Step::Skip(name, node) => Some((name, node)),
                Step::Default(_) => None,
            })),
            recursive: *recursive,
        },
        Node::Reordered {
            fields: all,
            recursive,
            ..
        } => Inside::Record {
            fields: fields(&mut all.iter().map(|(name, node)| (name, node))),
            recursive: *recursive,
        },
        _ => return None,
    })
}

fn make(node: &Node, nodes: &[Node], kept: &[Kept]) -> Option<Make> {
    Some(match node {
        Node::Symbols(ours) => Make::Symbols(ours.clone()),
        Node::IntToFloat => Make::IntToFloat,
        Node::IntToDouble => Make::IntToDouble,
        Node::LongToFloat => Make::LongToFloat,
        Node::LongToDouble => Make::LongToDouble,
        Node::FloatToDouble => Make::FloatToDouble,
        Node::Blocks { keys, item, least } => Make::Blocks {
            keys: *keys,
            least: *least + usize::from(*keys),
            item: *item,
        },
        Node::Record { steps, recursive } => Make::Record {
            parts: parts(steps, nodes, kept),
            recursive: *recursive,
        },
        Node::Reordered {
            fields,
            wanted,
            recursive,
        } => {
            let mut all = Fields::default();
            for (name, node) in fields {
                all.push(name, op(*node, nodes));
            }
            Make::Reordered {
                fields: all,
                wanted: wanted.clone(),
                recursive: *recursive,
            }
        }
        Node::Branches { branches, .. } => {
            let branch = |branch: &Branch| match branch {
                Branch::Read(node) => Some(*node),
                Branch::Unreadable => None,
            };
            Make::Branches(branches.iter().map(branch).collect())
        }
        Node::Into(branch, node) => Make::Into(*branch, *node),
        _ => return None,
    })
}

/// The fields of a record that is made, those together that stay or go together.
fn parts(steps: &[Step], nodes: &[Node], kept: &[Kept]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for step in steps {
        match (step, parts.last_mut()) {
            (Step::Keep(name, node), Some(Part::Copy(fields))) if kept[*node] != Kept::Made => {
                fields.push(name, op(*node, nodes));
            }
            (Step::Skip(name, node), Some(Part::Skip(fields))) => {
                fields.push(name, op(*node, nodes));
            }
            (Step::Keep(name, node), _) if kept[*node] == Kept::Made => {
                parts.push(Part::Make(name.clone(), *node));
            }
            (Step::Keep(name, node) | Step::Skip(name, node), _) => {
                let mut fields = Fields::default();
                fields.push(name, op(*node, nodes));
                parts.push(match step {
                    Step::Keep(..) => Part::Copy(fields),
                    _ => Part::Skip(fields),
                });
            }
            (Step::Default(more), Some(Part::Default(bytes))) => bytes.extend_from_slice(more),
            (Step::Default(bytes), _) => parts.push(Part::Default(bytes.clone())),
        }
    }
    parts
}
