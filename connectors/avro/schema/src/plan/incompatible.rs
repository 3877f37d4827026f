//! Why records of one schema cannot be read as another: where in both, and what would help.

use std::fmt;

/// Why records of a writer's schema can never be read, or those that have a certain value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incompatible {
    /// Field names and what stands between them: `lines[].qty`; empty for the top.
    pub path: String,
    /// What there and what here.
    pub what: String,
    /// What kind of difference it is.
    pub cause: Cause,
    /// Where in the schemas; `None` for the top.
    pub sites: Option<Box<Sites>>,
}

/// The innermost fields that a difference is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sites {
    /// The reader's record and its field.
    pub here: (String, String),
    /// The writer's record and its field; without one where that is what it lacks.
    pub there: (String, Option<String>),
}

/// Kinds of differences, by what would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The writer lacks a field that has no default.
    Missing,
    /// A field's default is no value of its type.
    Default,
    /// This type of the writer's is never read as the reader's.
    Type {
        /// The writer's, as [`Canonical::describe`](crate::Canonical::describe) says it.
        there: String,
    },
    /// Two named types have other names, full as they are.
    Name {
        /// The writer's.
        there: String,
        /// The reader's.
        here: String,
    },
    /// The one type with two logical types.
    Logical,
    /// Two sizes of a fixed.
    Size,
    /// The reader has no branch for it.
    Branch,
    /// The reader's enum of that full name has no such symbols, and no default for them.
    Symbols {
        /// The reader's.
        here: String,
    },
    /// Types that stand in each other too deeply to be compared.
    Depth,
}

/// The most differences that are told of two schemas: somebody has to read them.
const MOST: usize = 10;

/// Every difference of one kind between two schemas, in the order of the reader's fields; of very many the first ten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    told: Vec<Incompatible>,
    more: bool,
}

impl Differences {
    /// Those that are told.
    #[must_use]
    pub fn told(&self) -> &[Incompatible] {
        &self.told
    }

    /// Whether there are others that are not.
    #[must_use]
    pub fn more(&self) -> bool {
        self.more
    }

    /// How many are told.
    pub(super) fn len(&self) -> usize {
        self.told.len()
    }

    pub(super) fn add(&mut self, difference: Incompatible) {
        match self.told.len() < MOST {
            true => self.told.push(difference),
            false => self.more = true,
        }
    }

    pub(super) fn extend(&mut self, others: Differences) {
        self.more |= others.more;
        others.told.into_iter().for_each(|other| self.add(other));
    }

    /// Changes those that are told.
    pub(super) fn each(&mut self, change: impl FnMut(&mut Incompatible)) {
        self.told.iter_mut().for_each(change);
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, difference) in self.told.iter().enumerate() {
            let before = if n == 0 { "" } else { "; " };
            write!(f, "{before}{difference}")?;
        }
        match self.more {
            true => f.write_str("; and more"),
            false => Ok(()),
        }
    }
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "at its top: {}", self.what),
            path => write!(f, "at field path `{path}`: {}", self.what),
        }
    }
}
