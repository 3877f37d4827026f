//! Two schemas to a plan.

use std::collections::HashMap;

use super::promotion::{logical, promotion, short};
use super::run::{changed, unchanged};
use super::{Branch, Incompatible, Node, NodeId, Plan, Step, Wanted, defaults};
use crate::canonical::{Canonical, Extra, Extras};

impl Plan {
    /// Compares the writer's schema with the reader's, of which `extras` has aliases and defaults.
    ///
    /// # Errors
    /// No record of the writer's can be read: where, and why.
    pub(crate) fn new(
        writer: &Canonical,
        reader: &Canonical,
        extras: &Extras,
    ) -> Result<Self, Incompatible> {
        let mut planner = Planner {
            theirs: definitions(writer),
            ours: definitions(reader),
            extras,
            nodes: Vec::new(),
            made: HashMap::new(),
            path: Vec::new(),
            least: HashMap::new(),
        };
        let root = planner.resolve(writer, reader)?;
        let same = unchanged(&planner.nodes);
        Ok(Plan {
            changed: changed(&planner.nodes[root], &same),
            same,
            nodes: planner.nodes,
            root,
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

struct Planner<'s> {
    theirs: HashMap<&'s str, &'s Canonical>,
    ours: HashMap<&'s str, &'s Canonical>,
    extras: &'s Extras,
    nodes: Vec<Node>,
    /// Records that have a node: by the writer's name, and the reader's or none where it is passed over.
    made: HashMap<(&'s str, Option<&'s str>), NodeId>,
    path: Vec<String>,
    /// The fewest bytes that a record of the writer's takes, by its name.
    least: HashMap<&'s str, usize>,
}

impl<'s> Planner<'s> {
    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn fail<T>(&self, what: impl Into<String>) -> Result<T, Incompatible> {
        let mut path = String::new();
        for part in &self.path {
            if !path.is_empty() && !part.starts_with(['[', '{']) {
                path.push('.');
            }
            path.push_str(part);
        }
        Err(Incompatible {
            path,
            what: what.into(),
        })
    }

    fn within<T>(&mut self, part: &str, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(part.to_owned());
        let result = inside(self);
        self.path.pop();
        result
    }

    fn their(&self, ty: &'s Canonical) -> &'s Canonical {
        match ty {
            Canonical::Named(name) => self.theirs.get(name.as_str()).copied().unwrap_or(ty),
            ty => ty,
        }
    }

    fn our(&self, ty: &'s Canonical) -> &'s Canonical {
        match ty {
            Canonical::Named(name) => self.ours.get(name.as_str()).copied().unwrap_or(ty),
            ty => ty,
        }
    }

    fn resolve(
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
                let item = self.within("[]", |planner| planner.resolve(theirs, ours))?;
                self.blocks(false, item, theirs)
            }
            (Canonical::Map(theirs), Canonical::Map(ours)) => {
                let item = self.within("{}", |planner| planner.resolve(theirs, ours))?;
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

    fn mismatch<T>(&self, writer: &Canonical, reader: &Canonical) -> Result<T, Incompatible> {
        let (there, here) = (writer.describe(), reader.describe());
        self.fail(format!("{there} there cannot be read as {here} here"))
    }

    /// Names without their namespaces, as the specification has it, and the aliases of the reader's.
    fn same_name(&self, there: &str, here: &str) -> bool {
        let aliases = self
            .extras
            .get(here)
            .map_or(&[][..], |extra| &extra.aliases);
        short(there) == short(here) || aliases.iter().any(|alias| alias == there)
    }

    fn blocks(
        &mut self,
        keys: bool,
        item: NodeId,
        theirs: &'s Canonical,
    ) -> Result<NodeId, Incompatible> {
        let least = self.least(theirs);
        Ok(self.add(Node::Blocks { keys, item, least }))
    }

    /// The fewest bytes that a value of the writer's takes.
    fn least(&mut self, ty: &'s Canonical) -> usize {
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

    fn symbols(
        &mut self,
        theirs: &[String],
        here: &str,
        ours: &[String],
    ) -> Result<NodeId, Incompatible> {
        if theirs == ours {
            return Ok(self.add(Node::Symbol(ours.len())));
        }
        let number = |symbol: &String| ours.iter().position(|ours| ours == symbol);
        let default = self
            .extras
            .get(here)
            .and_then(|extra| extra.symbol.as_ref());
        let default = default.and_then(number);
        let numbers: Vec<Option<u32>> = theirs
            .iter()
            .map(|symbol| number(symbol).or(default).map(|number| number as u32))
            .collect();
        if numbers.iter().all(Option::is_none) {
            return self.fail(format!(
                "none of the symbols {} is one of {}",
                theirs.join(", "),
                ours.join(", ")
            ));
        }
        Ok(self.add(Node::Symbols(numbers)))
    }

    /// A value of the writer's into the first branch that has its very type, else into the first that can hold it.
    fn one_of(
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
    fn branches(
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

    fn record(
        &mut self,
        there: &'s str,
        theirs: &'s [(String, Canonical)],
        here: &'s str,
        ours: &'s [(String, Canonical)],
    ) -> Result<NodeId, Incompatible> {
        if let Some(made) = self.made.get(&(there, Some(here))) {
            return Ok(*made);
        }
        // Known before its fields are, which may contain it.
        let id = self.add(Node::Null);
        self.made.insert((there, Some(here)), id);
        let planned = self.fields(theirs, here, ours, id);
        match planned {
            Ok(node) => self.nodes[id] = node,
            Err(error) => {
                // What was made meanwhile may lead to it.
                self.made.retain(|_, made| *made < id);
                return Err(error);
            }
        }
        Ok(id)
    }

    fn fields(
        &mut self,
        theirs: &'s [(String, Canonical)],
        here: &'s str,
        ours: &'s [(String, Canonical)],
        id: NodeId,
    ) -> Result<Node, Incompatible> {
        let extras = self.extras;
        let none = Extra::default();
        let extra = extras.get(here).unwrap_or(&none);
        let mut wanted = Vec::with_capacity(ours.len());
        for (n, (name, ty)) in ours.iter().enumerate() {
            let (aliases, default) = match extra.fields.get(n) {
                Some((aliases, default)) => (aliases.as_slice(), default.as_ref()),
                None => (&[][..], None),
            };
            let named = |wanted: &str| theirs.iter().position(|(name, _)| name == wanted);
            let found = named(name).or_else(|| aliases.iter().find_map(|alias| named(alias)));
            let source = match (found, default) {
                (Some(at), _) => {
                    let node = self.within(name, |planner| planner.resolve(&theirs[at].1, ty))?;
                    Wanted::Field(at, node)
                }
                (None, Some(default)) => {
                    let bytes = defaults::encode(default, ty, &self.ours, extras);
                    match bytes {
                        Some(bytes) => Wanted::Default(bytes),
                        None => {
                            return self.within(name, |planner| {
                                planner.fail("its default is no value of its type")
                            });
                        }
                    }
                }
                (None, None) => {
                    return self.within(name, |planner| {
                        planner.fail("the writer does not have it, and it has no default here")
                    });
                }
            };
            wanted.push(source);
        }
        let places: Vec<usize> = wanted
            .iter()
            .filter_map(|wanted| match wanted {
                Wanted::Field(at, _) => Some(*at),
                Wanted::Default(_) => None,
            })
            .collect();
        let in_order = places.windows(2).all(|pair| pair[0] < pair[1]);
        let mut skips = Vec::with_capacity(theirs.len());
        for (at, (name, ty)) in theirs.iter().enumerate() {
            let kept = in_order && places.contains(&at);
            skips.push((!kept).then(|| (name.clone(), self.pass(ty))));
        }
        let recursive = self.nodes[id + 1..].iter().any(|node| node.leads_to(id));
        if !in_order {
            let fields = skips.into_iter().flatten().collect();
            return Ok(Node::Reordered {
                fields,
                wanted,
                recursive,
            });
        }
        let mut steps = Vec::with_capacity(theirs.len() + ours.len());
        let mut skips = skips.into_iter().enumerate();
        for wanted in wanted {
            match wanted {
                Wanted::Default(bytes) => steps.push(Step::Default(bytes)),
                Wanted::Field(place, node) => {
                    for (at, skip) in skips.by_ref() {
                        match skip {
                            Some((name, node)) => steps.push(Step::Skip(name, node)),
                            None if at == place => {
                                steps.push(Step::Keep(theirs[at].0.clone(), node));
                                break;
                            }
                            None => {}
                        }
                    }
                }
            }
        }
        let rest = skips.filter_map(|(_, skip)| skip);
        steps.extend(rest.map(|(name, node)| Step::Skip(name, node)));
        Ok(Node::Record { steps, recursive })
    }

    /// A value of the writer's that is passed over: as it is, and nobody looks at the outcome.
    fn pass(&mut self, ty: &'s Canonical) -> NodeId {
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
                let branches = branches
                    .iter()
                    .map(|branch| Branch::Read(self.pass(branch)))
                    .collect();
                self.add(Node::Branches(branches))
            }
            Canonical::Enum(_, symbols) => self.add(Node::Symbol(symbols.len())),
            Canonical::Fixed(_, size, _) => self.add(Node::Fixed(*size)),
            Canonical::Record(name, fields) => {
                if let Some(made) = self.made.get(&(name.as_str(), None)) {
                    return *made;
                }
                let id = self.add(Node::Null);
                self.made.insert((name, None), id);
                let steps = fields
                    .iter()
                    .map(|(name, ty)| Step::Skip(name.clone(), self.pass(ty)))
                    .collect();
                let recursive = self.nodes[id + 1..].iter().any(|node| node.leads_to(id));
                self.nodes[id] = Node::Record { steps, recursive };
                id
            }
            // A name is always defined: the parser saw to it.
            Canonical::Named(_) => self.add(Node::Null),
        }
    }
}

impl Node {
    /// Whether the node has another directly inside.
    fn leads_to(&self, id: NodeId) -> bool {
        match self {
            Node::Blocks { item, .. } => *item == id,
            Node::Into(_, node) => *node == id,
            Node::Branches(branches) => branches
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
