//! What a plan does with one value of the writer's.

use super::NodeId;

/// What to do with a value of the writer's.
#[derive(Debug, PartialEq, Eq)]
pub enum Node {
    /// No bytes.
    Null,
    /// As it is.
    Boolean,
    /// As it is.
    Int,
    /// As it is: promoted, with the bytes of the same long.
    IntToLong,
    /// As it is.
    Long,
    /// As it is.
    Float,
    /// As it is.
    Double,
    /// `bytes` and `string`: the decoder looks whether text is text.
    Text,
    /// So many bytes as they are.
    Fixed(usize),
    /// A symbol's number as it is, of so many.
    Symbol(usize),
    /// The reader's number of each of the writer's symbols; `None` for one that the reader does not know.
    Symbols(Vec<Option<u32>>),
    /// Promoted.
    IntToFloat,
    /// Promoted.
    IntToDouble,
    /// Promoted.
    LongToFloat,
    /// Promoted.
    LongToDouble,
    /// Promoted.
    FloatToDouble,
    /// An array, or with keys a map.
    Blocks {
        /// Whether there is a key before each item.
        keys: bool,
        /// What to do with an item.
        item: NodeId,
        /// The fewest bytes that an item takes.
        least: usize,
    },
    /// Fields whose order is the reader's, with defaults between them.
    Record {
        /// In the writer's order, which is the reader's.
        steps: Vec<Step>,
        /// Whether it can contain itself, so that its depth is counted.
        recursive: bool,
    },
    /// Fields in another order: each is passed over and its place remembered, then the wanted ones are taken.
    Reordered {
        /// The writer's, in its order, and how each is passed over.
        fields: Vec<(String, NodeId)>,
        /// The reader's, in its order.
        wanted: Vec<Wanted>,
        /// Whether it can contain itself, so that its depth is counted.
        recursive: bool,
    },
    /// By the writer's branch.
    Branches {
        /// The writer's.
        branches: Vec<Branch>,
        /// How many the reader has; none where it has no union.
        ours: usize,
    },
    /// Into that branch of the reader's union.
    Into(u32, NodeId),
}

/// One step through the fields of a record.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Passes a field of the writer's over.
    Skip(String, NodeId),
    /// Reads a field.
    Keep(String, NodeId),
    /// Writes the bytes of a default.
    Default(Vec<u8>),
}

/// Where a field of the reader's comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The writer's field of that number.
    Field(usize, NodeId),
    /// The bytes of its default.
    Default(Vec<u8>),
}

/// A branch of the writer's union.
#[derive(Debug, PartialEq, Eq)]
pub enum Branch {
    /// The reader has something for it.
    Read(NodeId),
    /// The reader has nothing for it: an error of the records that have it.
    Unreadable,
}

impl Node {
    /// Whether the node has another directly inside.
    pub(super) fn leads_to(&self, id: NodeId) -> bool {
        match self {
            Node::Blocks { item, .. } => *item == id,
            Node::Into(_, node) => *node == id,
            Node::Branches { branches, .. } => branches
                .iter()
                .any(|branch| matches!(branch, Branch::Read(node) if *node == id)),
            Node::Record { steps, .. } => steps.iter().any(|step| match step {
                Step::Keep(_, node) | Step::Skip(_, node) => *node == id,
                Step::Default(_) => false,
            }),
            Node::Reordered { fields, wanted, .. } => {
                fields.iter().any(|(_, node)| *node == id)
                    || wanted
                        .iter()
                        .any(|wanted| matches!(wanted, Wanted::Field(_, node) if *node == id))
            }
            _ => false,
        }
    }
}
