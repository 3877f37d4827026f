//! The generated project: one package for each way to depend on the facade, with the cases as its libraries. One run of
//! `cargo check` answers for all of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use serde_json::Value;

use crate::case::{Case, Package};
use crate::lint::Lint;
use crate::report::{Places, diagnostic};

/// Why the cases could not be checked at all.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The file system refused.
    #[error("cannot write {path}: {error}")]
    Io {
        /// What was written.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A program could not be started.
    #[error("cannot run `{program}`: {error}")]
    Run {
        /// The program.
        program: String,
        /// Why not.
        error: io::Error,
    },
    /// Cargo stopped before it reached the cases.
    #[error("cargo did not check the cases:\n{output}")]
    Cargo {
        /// What it printed.
        output: String,
    },
}

/// What became of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Whether it compiles.
    pub compiles: bool,
    /// What the compiler said, errors and warnings.
    pub said: String,
}

/// The project on the disk.
#[derive(Debug)]
pub struct Project {
    ui: PathBuf,
    /// The repository.
    root: PathBuf,
    directory: PathBuf,
}

impl Project {
    /// Writes the project `name` for `cases` below `scratch`, a directory that is kept from run to run. What its projects
    /// depend on is compiled once for all.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(
        ui: &Path,
        scratch: &Path,
        name: &str,
        cases: &[Case],
    ) -> Result<Self, ProjectError> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.parent().unwrap_or(here).to_owned();
        let project = Project {
            ui: ui.to_owned(),
            root,
            directory: scratch.join(name),
        };
        let used: Vec<Package> = Package::ALL
            .into_iter()
            .filter(|package| cases.iter().any(|case| case.package == *package))
            .collect();
        let members: Vec<&str> = used.iter().map(|package| package.name()).collect();
        let manifest = format!(
            "[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[profile.dev]\ndebug = false\n"
        );
        put(&project.directory.join("Cargo.toml"), manifest.as_bytes())?;
        // The versions of the workspace; cargo drops what is not needed here.
        let lock = project.root.join("Cargo.lock");
        let versions = fs::read(&lock).map_err(|error| ProjectError::Io { path: lock, error })?;
        put(&project.directory.join("Cargo.lock"), &versions)?;
        for package in used {
            project.package(package, cases)?;
        }
        Ok(project)
    }

    fn package(&self, package: Package, cases: &[Case]) -> Result<(), ProjectError> {
        let directory = self.directory(package);
        let (facade, name, stand_in) = match package {
            Package::Cases | Package::Edition2021 => ("spate", "spate-ui", "facade"),
            Package::Renamed => ("etl", "spate-ui", "facade"),
            Package::Bare => ("spate", "spate-bare-ui", "bare"),
            Package::Reexported => ("kit", "spate-kit-ui", "kit"),
            Package::Values => ("spate", "spate-values-ui", "values"),
        };
        let path = self.root.join("trybuild-tests/stand-ins").join(stand_in);
        let mut manifest = format!(
            "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"{}\"\nautolib = false\n\n\
             [dependencies]\n{facade} = {{ package = \"{name}\", path = {path:?} }}\n",
            package.name(),
            package.edition()
        );
        for case in cases.iter().filter(|case| case.package == package) {
            let source = case.source(&self.ui);
            let _ = write!(
                manifest,
                "\n[[example]]\nname = \"{}\"\npath = {source:?}\ncrate-type = [\"lib\"]\n",
                case.target()
            );
        }
        put(&directory.join("Cargo.toml"), manifest.as_bytes())?;
        put(&directory.join("src/main.rs"), b"fn main() {}\n")?;
        copy(&self.ui.join("files"), &directory.join("files"))
    }

    /// The directory of a package, with copies of the files that cases name in its `files`.
    pub fn directory(&self, package: Package) -> PathBuf {
        self.directory.join(package.name())
    }

    /// Checks all cases: what became of each that cargo reached, by the name of its library.
    ///
    /// # Errors
    /// Cargo cannot be run, or stops before it reaches the cases.
    pub fn check(&self) -> Result<BTreeMap<String, Answer>, ProjectError> {
        let places = self.places()?;
        let mut answers: BTreeMap<String, Answer> = BTreeMap::new();
        for (target, message) in self.messages("check", &[])? {
            let answer = answers.entry(target).or_default();
            if message["reason"] == "compiler-artifact" {
                answer.compiles = true;
            } else if let Some(text) = diagnostic(&message["message"], &places) {
                if !answer.said.is_empty() {
                    answer.said.push('\n');
                }
                answer.said.push_str(&text);
            }
        }
        Ok(answers)
    }

    /// Runs clippy over all cases: what it says, by the name of the library. `lints` are turned on besides its own choice.
    ///
    /// # Errors
    /// Cargo cannot be run, or stops before it reaches the cases.
    pub fn clippy(&self, lints: &[&str]) -> Result<Vec<(String, Lint)>, ProjectError> {
        let flags: Vec<&str> = lints.iter().flat_map(|lint| ["-W", lint]).collect();
        let messages = self.messages("clippy", &flags)?;
        let lint =
            |(target, message): (String, Value)| Some((target, Lint::read(&message["message"])?));
        Ok(messages.into_iter().filter_map(lint).collect())
    }

    /// What cargo reports of the cases, each with the name of its library.
    fn messages(
        &self,
        command: &str,
        flags: &[&str],
    ) -> Result<Vec<(String, Value)>, ProjectError> {
        self.fetch()?;
        let mut cargo = self.cargo();
        cargo
            .args([
                command,
                "--examples",
                "--keep-going",
                "--message-format=json",
                "--quiet",
            ])
            .args((!flags.is_empty()).then_some("--"))
            .args(flags);
        let output = cargo.output().map_err(|error| run(&cargo, error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let messages = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let messages: Vec<(String, Value)> = messages
            .filter(|message| message["target"]["kind"][0] == "example")
            .map(|message| {
                let target = message["target"]["name"].as_str().unwrap_or_default();
                (target.to_owned(), message)
            })
            .collect();
        match messages.is_empty() {
            false => Ok(messages),
            true => Err(ProjectError::Cargo {
                output: String::from_utf8_lossy(&output.stderr).into_owned(),
            }),
        }
    }

    /// Makes the sources of all dependencies available: without the network where they are already.
    fn fetch(&self) -> Result<(), ProjectError> {
        let target = self.rustc(&["--print", "host-tuple"])?;
        let mut output = String::new();
        for offline in [&["--offline"][..], &[]] {
            let mut cargo = self.cargo();
            cargo
                .args(["fetch", "--target", target.trim()])
                .args(offline);
            let fetched = cargo.output().map_err(|error| run(&cargo, error))?;
            if fetched.status.success() {
                return Ok(());
            }
            output = String::from_utf8_lossy(&fetched.stderr).into_owned();
        }
        Err(ProjectError::Cargo { output })
    }

    fn cargo(&self) -> Command {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .current_dir(&self.directory)
            .env("CARGO_TARGET_DIR", self.directory.with_file_name("target"))
            // The flags of the surrounding build would change the wording, or make errors of warnings.
            .env("CARGO_ENCODED_RUSTFLAGS", "")
            .env("CARGO_TERM_COLOR", "never");
        cargo
    }

    fn rustc(&self, args: &[&str]) -> Result<String, ProjectError> {
        let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(args);
        let output = rustc.output().map_err(|error| run(&rustc, error))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The compiler's version, as `ui/TOOLCHAIN` has it.
    ///
    /// # Errors
    /// It cannot be run.
    pub fn toolchain(&self) -> Result<String, ProjectError> {
        self.rustc(&["-V"])
    }

    fn places(&self) -> Result<Places, ProjectError> {
        let sysroot = self.rustc(&["--print", "sysroot"])?;
        let home = env::var("CARGO_HOME").ok();
        let home = home.or_else(|| env::var("HOME").ok().map(|home| format!("{home}/.cargo")));
        Ok(Places::new(
            &self.ui,
            &self.root,
            &self.directory,
            Path::new(sysroot.trim()),
            home.as_deref().map(Path::new),
        ))
    }
}

fn run(command: &Command, error: io::Error) -> ProjectError {
    let program = command.get_program().to_string_lossy().into_owned();
    ProjectError::Run { program, error }
}

/// Writes a file where it differs: a new modification time would make cargo check again.
fn put(path: &Path, content: &[u8]) -> Result<(), ProjectError> {
    let at = |error| ProjectError::Io {
        path: path.to_owned(),
        error,
    };
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(at)?;
    }
    fs::write(path, content).map_err(at)
}

/// Copies a directory with those inside: macros find files relative to the manifest of the crate that they are used in. Files that are not
/// there any more are removed, since a case may count on their absence.
fn copy(from: &Path, to: &Path) -> Result<(), ProjectError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| ProjectError::Io { path, error }
    };
    let names = |directory: &Path| -> Result<Vec<std::ffi::OsString>, ProjectError> {
        let entries = fs::read_dir(directory).map_err(at(directory))?;
        entries
            .map(|entry| Ok(entry.map_err(at(directory))?.file_name()))
            .collect()
    };
    fs::create_dir_all(to).map_err(at(to))?;
    let wanted = names(from)?;
    for name in names(to)? {
        if !wanted.contains(&name) {
            let old = to.join(name);
            match old.is_dir() {
                true => fs::remove_dir_all(&old).map_err(at(&old))?,
                false => fs::remove_file(&old).map_err(at(&old))?,
            }
        }
    }
    for name in wanted {
        let file = from.join(&name);
        if file.is_dir() {
            copy(&file, &to.join(&name))?;
            continue;
        }
        let content = fs::read(&file).map_err(at(&file))?;
        put(&to.join(&name), &content)?;
    }
    Ok(())
}
