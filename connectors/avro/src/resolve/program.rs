//! A plan as it is run: what a record needs in a row, without what only planning needs.

use super::kept::Kept;
use super::{AvroError, Branch, Node, NodeId, Plan, Step, Wanted};

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
        /// The fewest bytes of an item.
        least: usize,
        /// Whether a block may be passed over by the size that its writer wrote.
        by_size: bool,
        /// An item, and in a map its key in front.
        item: Fields,
    },
    Branches(Vec<Option<Op>>),
    Record {
        fields: Fields,
        recursive: bool,
    },
}

/// Values that follow each other. Those of a record inside stand in its place, for a call for each costs more than they do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) ops: Vec<Op>,
    /// For errors: the path from the record that they are read for; empty for an item of an array.
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
        least: usize,
        /// An item, and in a map its key in front.
        item: Vec<Part>,
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
    /// Their bytes stay, and these follow.
    Copy(Fields, Vec<u8>),
    Skip(Fields),
    Make(String, NodeId),
    Default(Vec<u8>),
}

impl Fields {
    /// One value.
    pub(super) fn one(name: &str, op: Op) -> Self {
        let mut fields = Fields::default();
        fields.push(name, op);
        fields
    }

    /// One value more.
    pub(super) fn push(&mut self, name: &str, op: Op) {
        self.ops.push(op);
        self.names.push(name.to_owned());
    }

    /// Adds the path of one of the values to an error in it.
    #[cold]
    pub(super) fn named(&self, failed: &Op, error: AvroError) -> AvroError {
        // Looked for when it is needed: a loop over values counts nothing.
        let at = self.ops.iter().position(|op| std::ptr::eq(op, failed));
        match at.and_then(|at| self.names.get(at)) {
            Some(name) if !name.is_empty() => error.at(name),
            _ => error,
        }
    }
}

/// How many values stand in the place of a record at most: a schema that says a name often must not become a program without end.
const MOST_VALUES: usize = 64;

/// How long the paths of all such values may be together.
const MOST_BYTES: usize = 4 << 20;

/// How many records inside each other are looked into for that.
const MOST_LEVELS: usize = 64;

impl Program {
    /// Of a plan; what becomes of the bytes of its nodes is in `kept`.
    pub(super) fn new(plan: &Plan, kept: &[Kept]) -> Self {
        let nodes = &plan.nodes;
        let mut writer = Writer {
            nodes,
            kept,
            flat: vec![None; nodes.len()],
            level: 0,
            left: MOST_BYTES,
        };
        let all = 0..nodes.len();
        Program {
            ops: all.clone().map(|id| op(id, nodes)).collect(),
            inside: all.clone().map(|id| writer.inside(id)).collect(),
            makes: all.map(|id| writer.make(id)).collect(),
            root: plan.root,
        }
    }

    /// The fields of a record, each one value.
    pub(super) fn fields(&self, fields: &[(String, NodeId)]) -> Fields {
        each(fields, |node| self.ops[node])
    }
}

/// The fields of a record, each one value.
fn each(fields: &[(String, NodeId)], op: impl Fn(NodeId) -> Op) -> Fields {
    let mut all = Fields::default();
    for (name, node) in fields {
        all.push(name, op(*node));
    }
    all
}

/// Of each branch what is made of its node; nothing of one that cannot be read.
fn branches<T>(branches: &[Branch], of: impl Fn(NodeId) -> T) -> Vec<Option<T>> {
    let branch = |branch: &Branch| match branch {
        Branch::Read(node) => Some(of(*node)),
        Branch::Unreadable => None,
    };
    branches.iter().map(branch).collect()
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

/// A program while it is written.
struct Writer<'p> {
    nodes: &'p [Node],
    kept: &'p [Kept],
    /// What stands in the place of a record, once it is known.
    flat: Vec<Option<Fields>>,
    /// How many records deep.
    level: usize,
    /// How many bytes of paths may still be written for what stands in the place of a record.
    left: usize,
}

impl Writer<'_> {
    /// Adds a value to those that follow each other.
    fn push(&mut self, fields: &mut Fields, name: &str, node: NodeId) {
        let op = op(node, self.nodes);
        let left = self.left;
        if let Op::Inside(id) = op
            && let Some(inner) = self.flat(id)
            && let paths = inner.names.iter().map(|inner| name.len() + 1 + inner.len())
            && let Some(left) = left.checked_sub(paths.sum())
        {
            fields.ops.extend_from_slice(&inner.ops);
            for inner in &inner.names {
                fields.names.push(match (name, inner.as_str()) {
                    ("", inner) | (inner, "") => inner.to_owned(),
                    (name, inner) => format!("{name}.{inner}"),
                });
            }
            self.left = left;
            return;
        }
        fields.push(name, op);
    }

    /// Values that follow each other.
    fn row(&mut self, values: Vec<(&str, NodeId)>) -> Fields {
        let mut fields = Fields::default();
        for (name, node) in values {
            self.push(&mut fields, name, node);
        }
        fields
    }

    /// What stands in the place of a record; nothing where it has to be entered, or is large.
    fn flat(&mut self, id: NodeId) -> Option<&Fields> {
        let (written, recursive) = written(&self.nodes[id])?;
        if recursive {
            return None;
        }
        if self.flat[id].is_none() {
            if self.level == MOST_LEVELS {
                return None;
            }
            self.level += 1;
            self.flat[id] = Some(self.row(written));
            self.level -= 1;
        }
        let flat = self.flat[id].as_ref();
        flat.filter(|flat| flat.ops.len() <= MOST_VALUES)
    }

    fn inside(&mut self, id: NodeId) -> Option<Inside> {
        Some(match &self.nodes[id] {
            Node::Blocks { keys, item, least } => {
                let mut fields = Fields::default();
                if *keys {
                    fields.push("", Op::Text);
                }
                self.push(&mut fields, "", *item);
                Inside::Blocks {
                    least: *least + usize::from(*keys),
                    by_size: self.kept[*item] != Kept::Checked,
                    item: fields,
                }
            }
            Node::Branches { branches: all, .. } => {
                Inside::Branches(branches(all, |node| op(node, self.nodes)))
            }
            record => {
                let (written, recursive) = written(record)?;
                Inside::Record {
                    fields: self.row(written),
                    recursive,
                }
            }
        })
    }

    fn make(&mut self, id: NodeId) -> Option<Make> {
        if self.kept[id] != Kept::Made {
            return None;
        }
        Some(match &self.nodes[id] {
            Node::Symbols(ours) => Make::Symbols(ours.clone()),
            Node::IntToFloat => Make::IntToFloat,
            Node::IntToDouble => Make::IntToDouble,
            Node::LongToFloat => Make::LongToFloat,
            Node::LongToDouble => Make::LongToDouble,
            Node::FloatToDouble => Make::FloatToDouble,
            Node::Blocks { keys, item, least } => Make::Blocks {
                least: *least + usize::from(*keys),
                item: self.item(*keys, *item),
            },
            Node::Record { steps, recursive } => {
                let mut parts = Vec::new();
                self.parts(steps, &mut parts);
                Make::Record {
                    parts,
                    recursive: *recursive,
                }
            }
            Node::Reordered {
                fields,
                wanted,
                recursive,
            } => Make::Reordered {
                fields: each(fields, |node| op(node, self.nodes)),
                wanted: wanted.clone(),
                recursive: *recursive,
            },
            Node::Branches { branches: all, .. } => Make::Branches(branches(all, |node| node)),
            Node::Into(branch, node) => Make::Into(*branch, *node),
            _ => return None,
        })
    }

    /// What is made of an item, and of its key: of a record's fields where it stands, without a call.
    fn item(&mut self, keys: bool, item: NodeId) -> Vec<Part> {
        let mut parts = Vec::new();
        if keys {
            parts.push(Part::Copy(Fields::one("", Op::Text), Vec::new()));
        }
        match &self.nodes[item] {
            Node::Record {
                steps,
                recursive: false,
            } => self.parts(steps, &mut parts),
            _ => parts.push(Part::Make(String::new(), item)),
        }
        parts
    }

    /// The fields of a record that is made, those together that stay or go together.
    fn parts(&mut self, steps: &[Step], parts: &mut Vec<Part>) {
        for step in steps {
            match step {
                Step::Keep(name, node) if self.kept[*node] == Kept::Made => {
                    parts.push(Part::Make(name.clone(), *node));
                }
                Step::Keep(name, node) => {
                    if !matches!(parts.last(), Some(Part::Copy(_, more)) if more.is_empty()) {
                        parts.push(Part::Copy(Fields::default(), Vec::new()));
                    }
                    if let Some(Part::Copy(fields, _)) = parts.last_mut() {
                        self.push(fields, name, *node);
                    }
                }
                Step::Skip(name, node) => {
                    if !matches!(parts.last(), Some(Part::Skip(_))) {
                        parts.push(Part::Skip(Fields::default()));
                    }
                    if let Some(Part::Skip(fields)) = parts.last_mut() {
                        self.push(fields, name, *node);
                    }
                }
                Step::Default(more) => match parts.last_mut() {
                    Some(Part::Copy(_, bytes) | Part::Default(bytes)) => {
                        bytes.extend_from_slice(more);
                    }
                    _ => parts.push(Part::Default(more.clone())),
                },
            }
        }
    }
}

/// The fields that the writer of a record has, and whether it can contain itself.
fn written(record: &Node) -> Option<(Vec<(&str, NodeId)>, bool)> {
    match record {
        Node::Record { steps, recursive } => {
            let written = steps.iter().filter_map(|step| match step {
                Step::Keep(name, node) | Step::Skip(name, node) => Some((name.as_str(), *node)),
                Step::Default(_) => None,
            });
            Some((written.collect(), *recursive))
        }
        Node::Reordered {
            fields, recursive, ..
        } => {
            let written = fields.iter().map(|(name, node)| (name.as_str(), *node));
            Some((written.collect(), *recursive))
        }
        _ => None,
    }
}
