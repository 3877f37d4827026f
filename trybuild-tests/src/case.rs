//! A case: a source file, its directives, and what the compiler has to say about it.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// What has to become of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It compiles, without a warning.
    Pass,
    /// It has mistakes.
    Fail {
        /// How many: each has one error.
        errors: usize,
    },
}

/// The crate that a case is compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Package {
    /// It depends on the facade with all features, as `spate`.
    Cases,
    /// It depends on the facade as `etl`, and on nothing called `spate`.
    Renamed,
    /// It depends on the facade without any feature.
    Bare,
    /// It depends on a crate that passes the facade on, and on nothing called `spate`.
    Reexported,
    /// It depends on the facade as `spate`, and is of the edition before.
    Edition2021,
    /// It depends on the facade as `spate`, with values without a compiled schema.
    Values,
}

impl Package {
    /// All of them.
    pub const ALL: [Package; 6] = [
        Package::Cases,
        Package::Renamed,
        Package::Bare,
        Package::Reexported,
        Package::Edition2021,
        Package::Values,
    ];

    /// The name, as in the directive `// package: ..`.
    pub fn name(self) -> &'static str {
        match self {
            Package::Cases => "cases",
            Package::Renamed => "renamed",
            Package::Bare => "bare",
            Package::Reexported => "reexported",
            Package::Edition2021 => "edition_2021",
            Package::Values => "values",
        }
    }

    /// The edition that it is written in.
    pub fn edition(self) -> &'static str {
        match self {
            Package::Edition2021 => "2021",
            _ => "2024",
        }
    }
}

/// One file of `ui/pass` or `ui/fail`.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its path below `ui`, with forward slashes: `fail/graph/no_sink.rs`.
    pub path: String,
    /// What has to become of it.
    pub outcome: Outcome,
    /// Where it is compiled.
    pub package: Package,
}

/// A case that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The file system refused.
    #[error("cannot read {path}: {error}")]
    Io {
        /// What was read.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A directive is missing or unknown.
    #[error("ui/{path}: {problem}")]
    Directive {
        /// The case.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// All cases below `ui`, in the order of their paths.
///
/// # Errors
/// A file cannot be read, or its directives are wrong.
pub fn all(ui: &Path) -> Result<Vec<Case>, CaseError> {
    let mut files = Vec::new();
    for directory in ["pass", "fail"] {
        walk(&ui.join(directory), &mut files)?;
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files.sort();
    files.iter().map(|file| Case::read(ui, file)).collect()
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), CaseError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| CaseError::Io { path, error }
    };
    for entry in fs::read_dir(directory).map_err(at(directory))? {
        let path = entry.map_err(at(directory))?.path();
        match path.is_dir() {
            true => walk(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

impl Case {
    fn read(ui: &Path, file: &Path) -> Result<Case, CaseError> {
        let below = file.strip_prefix(ui).unwrap_or(file);
        let path = below.to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(file).map_err(|error| CaseError::Io {
            path: file.to_owned(),
            error,
        })?;
        let wrong = |problem: String| CaseError::Directive {
            path: path.clone(),
            problem,
        };
        let (mut errors, mut package) = (None, Package::Cases);
        for line in text.lines().take_while(|line| line.starts_with("// ")) {
            match line["// ".len()..].split_once(": ") {
                Some(("errors", number)) => errors = number.parse().ok(),
                Some(("package", name)) => {
                    let found = Package::ALL.into_iter().find(|known| known.name() == name);
                    package = found.ok_or_else(|| wrong(format!("no package `{name}`")))?;
                }
                _ => {}
            }
        }
        let outcome = match (path.starts_with("pass/"), errors) {
            (true, None) => Outcome::Pass,
            (false, Some(errors)) if errors > 0 => Outcome::Fail { errors },
            (true, Some(_)) => return Err(wrong("a case that passes has no errors".to_owned())),
            (false, _) => {
                return Err(wrong("begins with `// errors: N`, N above zero".to_owned()));
            }
        };
        Ok(Case {
            path,
            outcome,
            package,
        })
    }

    /// The name of its library: the path in one word.
    pub fn target(&self) -> String {
        self.path
            .trim_end_matches(".rs")
            .replace(['/', '-', '.'], "_")
    }

    /// The source file.
    pub fn source(&self, ui: &Path) -> PathBuf {
        ui.join(&self.path)
    }

    /// The file of what the compiler has to say.
    pub fn stderr(&self, ui: &Path) -> PathBuf {
        ui.join(&self.path).with_extension("stderr")
    }
}
