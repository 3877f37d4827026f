//! Where two schemas begin to differ, said for a person.

use std::fmt;

use super::Canonical;

/// The first difference between two schemas.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// Field names and what stands between them: `lines[].qty`; empty for the top.
    path: String,
    what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "at its top: {}", self.what),
            path => write!(f, "at field path `{path}`: {}", self.what),
        }
    }
}

impl Canonical {
    /// Where `self`, the writer's schema, differs from the compiled one; `None` if they are the same.
    pub fn difference(&self, compiled: &Canonical) -> Option<Difference> {
        compare(self, compiled, String::new())
    }
}

fn compare(there: &Canonical, here: &Canonical, path: String) -> Option<Difference> {
    if there == here {
        return None;
    }
    match (there, here) {
        (Canonical::Array(there), Canonical::Array(here)) => compare(there, here, path + "[]"),
        (Canonical::Map(there), Canonical::Map(here)) => compare(there, here, path + "{}"),
        (Canonical::Union(theirs), Canonical::Union(ours)) if theirs.len() == ours.len() => theirs
            .iter()
            .zip(ours)
            .find_map(|(there, here)| compare(there, here, path.clone())),
        (Canonical::Record(there, theirs), Canonical::Record(here, ours)) if there == here => {
            fields(theirs, ours, &path)
        }
        (Canonical::Enum(there, theirs), Canonical::Enum(here, ours)) if there == here => {
            Some(Difference {
                path,
                what: format!(
                    "symbols {} there, {} here",
                    theirs.join(", "),
                    ours.join(", ")
                ),
            })
        }
        _ => Some(Difference {
            path,
            what: format!("{} there, {} here", there.describe(), here.describe()),
        }),
    }
}

fn fields(
    theirs: &[(String, Canonical)],
    ours: &[(String, Canonical)],
    path: &str,
) -> Option<Difference> {
    let inside = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    for (n, (name, there)) in theirs.iter().enumerate() {
        match ours.get(n) {
            Some((ours_name, here)) if ours_name == name => {
                if let Some(difference) = compare(there, here, inside(name)) {
                    return Some(difference);
                }
            }
            here => {
                let known = ours.iter().any(|(ours_name, _)| ours_name == name);
                let what = match (known, here) {
                    (true, Some((ours_name, _))) => {
                        format!("it stands there where `{ours_name}` stands here")
                    }
                    _ => "only the writer has it".to_owned(),
                };
                return Some(Difference {
                    path: inside(name),
                    what,
                });
            }
        }
    }
    let (missing, _) = ours.get(theirs.len())?;
    Some(Difference {
        path: inside(missing),
        what: "the writer does not have it".to_owned(),
    })
}
