//! Records: which field goes where, what is passed over, what takes its default.

use std::collections::{HashMap, HashSet};

use super::defaults::{self, Unfit};
use super::planner::{Part, Planner};
use super::{Cause, Incompatible, Node, NodeId, Step, Wanted};
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
        // By name: one look for each field, however many there are.
        let by_name: HashMap<&str, usize> = (theirs.iter().enumerate())
            .map(|(at, (name, _))| (name.as_str(), at))
            .collect();
        let names: HashSet<&str> = ours.iter().map(|(name, _)| name.as_str()).collect();
        let mut wanted = Vec::with_capacity(ours.len());
        let mut wrong = None;
        for (n, (name, ty)) in ours.iter().enumerate() {
            let (aliases, default) = match extra.fields.get(n) {
                Some((aliases, default)) => (aliases.as_slice(), default.as_ref()),
                None => (&[][..], None),
            };
            // What a field of that very name takes is not another's before.
            let mut before = aliases
                .iter()
                .filter(|alias| !names.contains(alias.as_str()));
            let found = by_name
                .get(name.as_str())
                .or_else(|| before.find_map(|alias| by_name.get(alias.as_str())));
            let part = Part::Field {
                here: (here, name),
                there: (there, found.map(|at| theirs[*at].0.as_str())),
            };
            let told = self.found.len();
            let source = self.within(part, |planner| match (found, default) {
                (Some(at), _) => Ok(Wanted::Field(*at, planner.resolve(&theirs[*at].1, ty)?)),
                (None, Some(default)) => match defaults::encode(default, ty, &planner.ours, extras)
                {
                    Ok(bytes) => Ok(Wanted::Default(bytes)),
                    Err(Unfit::Value) => {
                        planner.fail(Cause::Default, "its default is no value of its type")
                    }
                    Err(Unfit::Endless) => planner.fail(
                        Cause::Default,
                        "its default leaves fields to their defaults without end, or is larger than 1 MiB",
                    ),
                },
                (None, None) => planner.fail(
                    Cause::Missing,
                    "the writer does not have it, and it has no default here",
                ),
            });
            match source {
                Ok(source) => wanted.push(source),
                Err(error) => {
                    // A record inside has told of its fields.
                    if self.found.len() == told {
                        self.found.add(error.clone());
                    }
                    wrong.get_or_insert(error);
                    if self.too_deep {
                        break;
                    }
                }
            }
        }
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        let places: Vec<usize> = wanted
            .iter()
            .filter_map(|wanted| match wanted {
                Wanted::Field(at, _) => Some(*at),
                Wanted::Default(_) => None,
            })
            .collect();
        let in_order = places.windows(2).all(|pair| pair[0] < pair[1]);
        let mut kept = vec![false; theirs.len()];
        if in_order {
            places.iter().for_each(|at| kept[*at] = true);
        }
        let mut skips = Vec::with_capacity(theirs.len());
        for ((name, ty), kept) in theirs.iter().zip(kept) {
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
