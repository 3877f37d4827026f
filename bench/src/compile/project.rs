//! Generated crates on the disk, and cargo over them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Error;

/// What cargo is asked to do with a crate.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    Check,
    Build,
}

impl Action {
    pub(crate) const BOTH: [Action; 2] = [Action::Check, Action::Build];

    fn word(self) -> &'static str {
        match self {
            Action::Check => "check",
            Action::Build => "build",
        }
    }
}

/// A file of a crate: path and text.
pub(crate) type File = (String, String);

/// Where crates are generated; they share one target directory, so the dependencies are built once.
pub(crate) struct Project {
    root: PathBuf,
    dir: PathBuf,
}

impl Project {
    pub(crate) fn new(root: &Path, dir: &Path) -> Result<Self, Error> {
        fs::create_dir_all(dir).map_err(|error| file(dir, error))?;
        let absolute = |path: &Path| path.canonicalize().map_err(|error| file(path, error));
        Ok(Project {
            root: absolute(root)?,
            dir: absolute(dir)?,
        })
    }

    /// Writes a crate of that name anew.
    pub(crate) fn write(&self, name: &str, files: &[File]) -> Result<PathBuf, Error> {
        let dir = self.dir.join(name);
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\nspate = {{ path = {:?}, features = [\"avro\", \
             \"clickhouse\"] }}\n\n[workspace]\n",
            self.root.join("spate")
        );
        let lock = self.root.join("Cargo.lock");
        let pinned = fs::read_to_string(&lock).map_err(|error| file(&lock, error))?;
        let own = [
            ("Cargo.toml".to_owned(), manifest),
            ("Cargo.lock".to_owned(), pinned),
        ];
        for (path, text) in own.iter().chain(files) {
            let path = dir.join(path);
            let parent = path.parent().unwrap_or(&dir);
            fs::create_dir_all(parent).map_err(|error| file(parent, error))?;
            fs::write(&path, text).map_err(|error| file(&path, error))?;
        }
        Ok(dir)
    }

    /// Seconds of CPU that cargo and its children take for this crate alone, once its dependencies are there.
    pub(crate) fn time(&self, made: &Path, action: Action) -> Result<f64, Error> {
        // A changed source makes cargo compile it again.
        let source = made.join("src/lib.rs");
        let text = fs::read_to_string(&source).map_err(|error| file(&source, error))?;
        fs::write(&source, text).map_err(|error| file(&source, error))?;
        let before = children()?;
        let output = Command::new(env!("CARGO"))
            .args([action.word(), "--offline", "--quiet", "--lib"])
            .current_dir(made)
            .env("CARGO_TARGET_DIR", self.dir.join("target"))
            // One crate at a time and no cache of its parts: what is measured is the whole of it.
            .env("CARGO_INCREMENTAL", "0")
            .output()
            .map_err(Error::Cargo)?;
        if !output.status.success() {
            return Err(Error::Broken {
                dir: made.to_owned(),
                output: String::from_utf8_lossy(&output.stderr).into_owned(),
            });
        }
        Ok(children()? - before)
    }
}

fn file(path: &Path, error: std::io::Error) -> Error {
    Error::File {
        path: path.to_owned(),
        error,
    }
}

/// Seconds of CPU of all children that have ended: `cutime` and `cstime` of proc(5), in hundredths of a second.
fn children() -> Result<f64, Error> {
    let stat = fs::read_to_string("/proc/self/stat").map_err(|_| Error::Clock)?;
    // The second field, a name in parentheses, may hold spaces.
    let fields = stat.rsplit(')').next().ok_or(Error::Clock)?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok());
    match (ticks(13), ticks(14)) {
        (Some(user), Some(system)) => Ok((user + system) / 100.0),
        _ => Err(Error::Clock),
    }
}
