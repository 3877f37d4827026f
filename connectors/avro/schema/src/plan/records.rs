//! Records: which field goes where, what is passed over, what takes its default.

use super::planner::{Part, Planner};
use super::{Cause, Incompatible, Node, NodeId, Step, Wanted, defaults};
use crate::canonical::{Canonical, Extra};

impl<'s> Planner<'s> {
    pub(super) fn record(
        &mut self,
        there: &'s str,
        theirs: &'s [(String, Canonical)],
        here: &'s str,
        ours: &'s [(String, Canonical)],
    ) -> Result<NodeId, Incompatible> {
        if let Some(made) = self.made.get(&(there, Some(here))) {
            return Ok(*made);
        }
        if let Some(failed) = self.failed.get(&(there, here)) {
            let path = match self.path() {
                path if path.is_empty() => failed.path.clone(),
                path => format!("{path}.{}", failed.path),
            };
            return Err(Incompatible {
                path,
                ..failed.clone()
            });
        }
        // Known before its fields are, which may contain it.
        let id = self.add(Node::Null);
        self.made.insert((there, Some(here)), id);
        let planned = self.fields((there, theirs), (here, ours), id);
        match planned {
            Ok(node) => self.nodes[id] = node,
            Err(error) => {
                // What was made meanwhile may lead to it.
                self.made.retain(|_, made| *made < id);
                self.nodes.truncate(id);
                let inside = error.path.strip_prefix(&self.path());
                let failed = Incompatible {
                    path: inside
                        .unwrap_or(&error.path)
                        .trim_start_matches('.')
                        .to_owned(),
                    ..error.clone()
                };
                self.failed.insert((there, here), failed);
                return Err(error);
            }
        }
        Ok(id)
    }

    fn fields(
        &mut self,
        (there, theirs): (&'s str, &'s [(String, Canonical)]),
        (here, ours): (&'s str, &'s [(String, Canonical)]),
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
            // What a field of that very name takes is not another's before.
            let free = |alias: &&String| !ours.iter().any(|(other, _)| other == *alias);
            let mut before = aliases.iter().filter(free);
            let found = named(name).or_else(|| before.find_map(|alias| named(alias)));
            let part = |field| Part::Field {
                here: (here, name),
                there: (there, field),
            };
            let source = match (found, default) {
                (Some(at), _) => {
                    let node = self.within(part(Some(theirs[at].0.as_str())), |planner| {
                        planner.resolve(&theirs[at].1, ty)
                    })?;
                    Wanted::Field(at, node)
                }
                (None, Some(default)) => {
                    let bytes = defaults::encode(default, ty, &self.ours, extras);
                    match bytes {
                        Some(bytes) => Wanted::Default(bytes),
                        None => {
                            return self.within(part(None), |planner| {
                                planner.fail(Cause::Default, "its default is no value of its type")
                            });
                        }
                    }
                }
                (None, None) => {
                    return self.within(part(None), |planner| {
                        planner.fail(
                            Cause::Missing,
                            "the writer does not have it, and it has no default here",
                        )
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
        // Directly, so that no value of it ends, or by what is inside.
        let itself = |wanted: &Wanted| matches!(wanted, Wanted::Field(_, node) if *node == id);
        let recursive = wanted.iter().any(itself)
            || skips.iter().flatten().any(|(_, node)| *node == id)
            || self.nodes[id + 1..].iter().any(|node| node.leads_to(id));
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
}
