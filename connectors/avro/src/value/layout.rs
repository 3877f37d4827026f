//! A writer's schema as a table of nodes: what its values are, under which names, and the fewest bytes that they take.

use std::collections::HashMap;
use std::sync::Arc;

use spate_avro_schema::{Canonical, Logical};

/// How deep types may be nested in a schema. Its records are walked by recursion.
pub(super) const MAX_LEVELS: usize = 256;

/// The number of a type.
pub(super) type NodeId = usize;

/// What belongs to a named type, or to a union, and is the same for all its values.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Names {
    /// The full name; none for a union.
    pub(super) name: String,
    /// Fields, symbols or branches.
    pub(super) parts: Vec<String>,
}

/// A logical type over a number, whose bytes are the number's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Date,
    TimeMillis,
    TimeMicros,
    TimestampMillis,
    TimestampMicros,
    TimestampNanos,
    LocalTimestampMillis,
    LocalTimestampMicros,
    LocalTimestampNanos,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Fixed(usize),
    /// In `bytes`, or in a fixed of so many.
    Decimal {
        fixed: Option<usize>,
        precision: u32,
        scale: i32,
    },
    BigDecimal,
    /// As text.
    Uuid,
    UuidFixed,
    Duration,
    IntTime(Unit),
    LongTime(Unit),
    Enum(Arc<Names>),
    Array(NodeId),
    Map(NodeId),
    Union(Arc<Names>, Vec<NodeId>),
    Record {
        names: Arc<Names>,
        fields: Vec<NodeId>,
        /// Whether it can contain itself.
        recursive: bool,
    },
}

/// A schema.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) nodes: Vec<Node>,
    /// The fewest bytes that a value of each node takes.
    pub(super) least: Vec<usize>,
    pub(super) root: NodeId,
}

impl Layout {
    /// # Errors
    /// What in the schema no value can have.
    pub(super) fn new(schema: &Canonical) -> Result<Self, String> {
        let mut builder = Builder {
            nodes: Vec::new(),
            named: HashMap::new(),
            level: 0,
        };
        let root = builder.add(schema)?;
        let nodes = builder.nodes;
        let mut known = vec![None; nodes.len()];
        let least = (0..nodes.len())
            .map(|id| least(id, &nodes, &mut known, MAX_LEVELS))
            .collect();
        Ok(Layout { nodes, least, root })
    }

    /// One of the same schema that shares no names with this one.
    pub(super) fn apart(&self) -> Self {
        let own = |names: &Arc<Names>| {
            Arc::new(Names {
                name: names.name.clone(),
                parts: names.parts.clone(),
            })
        };
        let mut nodes = self.nodes.clone();
        for node in &mut nodes {
            if let Node::Enum(names) | Node::Union(names, _) | Node::Record { names, .. } = node {
                *names = own(names);
            }
        }
        Layout {
            nodes,
            least: self.least.clone(),
            root: self.root,
        }
    }
}

struct Builder<'s> {
    nodes: Vec<Node>,
    named: HashMap<&'s str, NodeId>,
    level: usize,
}

impl<'s> Builder<'s> {
    fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn add(&mut self, ty: &'s Canonical) -> Result<NodeId, String> {
        if self.level == MAX_LEVELS {
            return Err(format!("it nests types more than {MAX_LEVELS} deep"));
        }
        self.level += 1;
        let added = self.node(ty);
        self.level -= 1;
        added
    }

    fn node(&mut self, ty: &'s Canonical) -> Result<NodeId, String> {
        let node = match ty {
            Canonical::Named(name) => return self.named(name),
            Canonical::Primitive(name, logical) => primitive(name, logical.as_ref())?,
            Canonical::Array(items) => Node::Array(self.add(items)?),
            Canonical::Map(values) => Node::Map(self.add(values)?),
            Canonical::Union(branches) => {
                let nodes: Result<Vec<_>, _> = branches.iter().map(|ty| self.add(ty)).collect();
                let parts = branches.iter().map(branch).collect();
                let names = Names {
                    name: String::new(),
                    parts,
                };
                Node::Union(Arc::new(names), nodes?)
            }
            Canonical::Record(name, fields) => {
                // Known before its fields are, which may contain it.
                let id = self.push(Node::Null);
                self.named.insert(name, id);
                let names = Names {
                    name: name.clone(),
                    parts: fields.iter().map(|(name, _)| name.clone()).collect(),
                };
                self.nodes[id] = Node::Record {
                    names: Arc::new(names),
                    fields: Vec::new(),
                    recursive: false,
                };
                let found: Result<Vec<_>, _> = fields.iter().map(|(_, ty)| self.add(ty)).collect();
                let found = found?;
                if let Node::Record { fields, .. } = &mut self.nodes[id] {
                    *fields = found;
                }
                return Ok(id);
            }
            Canonical::Enum(name, symbols) => {
                let names = Names {
                    name: name.clone(),
                    parts: symbols.clone(),
                };
                let id = self.push(Node::Enum(Arc::new(names)));
                self.named.insert(name, id);
                return Ok(id);
            }
            Canonical::Fixed(name, size, logical) => {
                let node = match logical {
                    None => Node::Fixed(*size),
                    Some(logical) => match logical.name() {
                        "decimal" => decimal(logical, Some(*size))?,
                        "uuid" => Node::UuidFixed,
                        "duration" => Node::Duration,
                        _ => Node::Fixed(*size),
                    },
                };
                let id = self.push(node);
                self.named.insert(name, id);
                return Ok(id);
            }
        };
        Ok(self.push(node))
    }

    fn named(&mut self, name: &str) -> Result<NodeId, String> {
        let Some(id) = self.named.get(name).copied() else {
            return Err(format!("it names `{name}` and does not define it"));
        };
        // A record without its fields is one that is being read: every way back to itself comes through here.
        if let Node::Record {
            names,
            fields,
            recursive,
        } = &mut self.nodes[id]
            && fields.len() < names.parts.len()
        {
            *recursive = true;
        }
        Ok(id)
    }
}

fn primitive(name: &str, logical: Option<&Logical>) -> Result<Node, String> {
    let long = |time| Ok(Node::LongTime(time));
    match (name, logical.map(Logical::name)) {
        ("int", Some("date")) => Ok(Node::IntTime(Unit::Date)),
        ("int", Some("time-millis")) => Ok(Node::IntTime(Unit::TimeMillis)),
        ("long", Some("time-micros")) => long(Unit::TimeMicros),
        ("long", Some("timestamp-millis")) => long(Unit::TimestampMillis),
        ("long", Some("timestamp-micros")) => long(Unit::TimestampMicros),
        ("long", Some("timestamp-nanos")) => long(Unit::TimestampNanos),
        ("long", Some("local-timestamp-millis")) => long(Unit::LocalTimestampMillis),
        ("long", Some("local-timestamp-micros")) => long(Unit::LocalTimestampMicros),
        ("long", Some("local-timestamp-nanos")) => long(Unit::LocalTimestampNanos),
        ("string", Some("uuid")) => Ok(Node::Uuid),
        ("bytes", Some("big-decimal")) => Ok(Node::BigDecimal),
        ("bytes", Some("decimal")) => logical.map_or(Ok(Node::Bytes), |it| decimal(it, None)),
        ("null", _) => Ok(Node::Null),
        ("boolean", _) => Ok(Node::Boolean),
        ("int", _) => Ok(Node::Int),
        ("long", _) => Ok(Node::Long),
        ("float", _) => Ok(Node::Float),
        ("double", _) => Ok(Node::Double),
        ("bytes", _) => Ok(Node::Bytes),
        ("string", _) => Ok(Node::String),
        _ => Err(format!("`{name}` is no type")),
    }
}

fn decimal(logical: &Logical, fixed: Option<usize>) -> Result<Node, String> {
    let (precision, scale) = logical.precision_and_scale().unwrap_or((1, 0));
    match (u32::try_from(precision), i32::try_from(scale)) {
        (Ok(precision), Ok(scale)) => Ok(Node::Decimal {
            fixed,
            precision,
            scale,
        }),
        _ => Err(format!("it has a decimal of {precision} digits")),
    }
}

/// A branch's name as Avro's JSON has it: the type's, without a logical type.
fn branch(ty: &Canonical) -> String {
    match ty {
        Canonical::Primitive(name, _) => (*name).to_owned(),
        Canonical::Array(_) => "array".to_owned(),
        Canonical::Map(_) => "map".to_owned(),
        Canonical::Union(_) => "union".to_owned(),
        Canonical::Record(name, _)
        | Canonical::Enum(name, _)
        | Canonical::Fixed(name, ..)
        | Canonical::Named(name) => name.clone(),
    }
}

/// A record that is asked while it is being asked contains itself without anything between: no value of it ends. What is too deep is not
/// counted: a bound from below all the same.
fn least(id: NodeId, nodes: &[Node], known: &mut [Option<usize>], levels: usize) -> usize {
    if let Some(known) = known[id] {
        return known;
    }
    let Some(levels) = levels.checked_sub(1) else {
        return 0;
    };
    known[id] = Some(0);
    let answer = match &nodes[id] {
        Node::Null => 0,
        Node::Float => 4,
        Node::Double => 8,
        Node::Fixed(size)
        | Node::Decimal {
            fixed: Some(size), ..
        } => *size,
        Node::UuidFixed => 16,
        Node::Duration => 12,
        Node::Record { fields, .. } => fields.iter().fold(0, |sum: usize, field| {
            sum.saturating_add(least(*field, nodes, known, levels))
        }),
        _ => 1,
    };
    known[id] = Some(answer);
    answer
}
