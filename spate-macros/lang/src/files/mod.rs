//! The files that macros read: schemas and table definitions, found relative to the user's manifest.
//!
//! A file is read once per change: the cache key is directory, path, modification time and length, because an editor's
//! macro host serves many crates for hours. What was read is re-emitted as `include_bytes!` ([`SourceFile::track`]), or
//! cargo would not build again when the file changes. Nothing here opens a socket.

mod finding;
mod missing;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use proc_macro2::TokenStream;
use quote::quote;

pub use finding::Finding;

/// A file's text and how to speak of places in it.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    written: String,
    path: PathBuf,
    text: String,
}

/// A place in a file: both count from one, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Why a file cannot be used, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// What happened, with the path that was tried.
    pub message: String,
    /// Advice; empty when there is none.
    pub help: String,
}

type Key = (PathBuf, PathBuf);
type Cached = (Option<SystemTime>, u64, Arc<SourceFile>);

static CACHE: LazyLock<Mutex<HashMap<Key, Cached>>> = LazyLock::new(Mutex::default);

/// Files kept at once; far more than a workspace has, and a bound for a host that runs for weeks.
const CACHE_LIMIT: usize = 1024;

/// The directory that written paths are relative to: the manifest's of the crate being built.
pub fn manifest_dir() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .unwrap_or_default()
}

/// Reads the file that the user `written` as, relative to `dir`.
///
/// # Errors
/// It is not there (with the file that was probably meant), cannot be read, or is not UTF-8.
pub fn read(dir: &Path, written: &str) -> Result<Arc<SourceFile>, FileError> {
    let path = dir.join(written);
    let meta = std::fs::metadata(&path).map_err(|error| unreadable(dir, written, &path, &error))?;
    let key = (dir.to_owned(), path);
    let (modified, length) = (meta.modified().ok(), meta.len());
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((time, len, file)) = cache.get(&key)
        && *time == modified
        && *len == length
        && modified.is_some()
    {
        return Ok(file.clone());
    }
    let file = Arc::new(load(dir, written, &key.1)?);
    if cache.len() >= CACHE_LIMIT {
        cache.clear();
    }
    cache.insert(key, (modified, length, file.clone()));
    Ok(file)
}

fn load(dir: &Path, written: &str, path: &Path) -> Result<SourceFile, FileError> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(dir, written, path, &error))?;
    let text = String::from_utf8(bytes).map_err(|error| FileError {
        message: format!(
            "`{written}` is not UTF-8 text (byte {})",
            error.utf8_error().valid_up_to()
        ),
        help: String::new(),
    })?;
    // A byte order mark is no part of the text, but editors on Windows write one.
    let text = text
        .strip_prefix('\u{feff}')
        .map(str::to_owned)
        .unwrap_or(text);
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Ok(SourceFile {
        written: written.to_owned(),
        path,
        text,
    })
}

fn unreadable(dir: &Path, written: &str, path: &Path, error: &std::io::Error) -> FileError {
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    };
    let help = missing::advice(dir, written);
    FileError {
        message: format!(
            "cannot read `{written}`: {reason} (looked for {})",
            path.display()
        ),
        help,
    }
}

impl SourceFile {
    /// A file that exists only in a test or a fuzzer.
    pub fn in_memory(written: &str, text: &str) -> Arc<Self> {
        Arc::new(SourceFile {
            written: written.to_owned(),
            path: PathBuf::from(written),
            text: text.to_owned(),
        })
    }

    /// The path as the user wrote it.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The text, without a byte order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The place of a byte offset; the end of the text for one beyond it.
    pub fn place(&self, offset: usize) -> Place {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// `file:line:column: message`, the offending line below it and a caret below that.
    pub fn report(&self, place: Place, message: impl fmt::Display) -> String {
        let line = self
            .text
            .lines()
            .nth(place.line.saturating_sub(1))
            .unwrap_or_default();
        let written = &self.written;
        let Place {
            line: number,
            column,
        } = place;
        let mut text = format!("{written}:{number}:{column}: {message}");
        let shown = line.trim_start();
        if !shown.trim_end().is_empty() {
            let cut = line.chars().count() - shown.chars().count();
            let caret = " ".repeat(column.saturating_sub(1).saturating_sub(cut));
            text.push_str(&format!("\n    {}\n    {caret}^", shown.trim_end()));
        }
        text
    }

    /// An item that makes cargo build again when the file changes.
    pub fn track(&self) -> TokenStream {
        let path = self.path.to_string_lossy();
        quote!(
            const _: &[u8] = ::core::include_bytes!(#path);
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temp_dir(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("spate-lang-{}-{name}", std::process::id()));
        std::fs::create_dir_all(dir.join("schemas")).expect("a directory");
        dir
    }

    #[test]
    fn a_missing_file_is_named_with_the_one_that_was_meant() {
        let dir = temp_dir("missing");
        std::fs::write(dir.join("schemas/order.avsc"), "{}").expect("a file");
        let error = read(&dir, "schemas/ordr.avsc").expect_err("no such file");
        assert!(
            error
                .message
                .starts_with("cannot read `schemas/ordr.avsc`: there is no such file"),
            "{error:?}"
        );
        assert_eq!(error.help, "did you mean `schemas/order.avsc`?");
        let error = read(&dir, "order.avsc").expect_err("no such file");
        assert_eq!(error.help, "did you mean `schemas/order.avsc`?");
        for (written, help) in [
            ("schemas/order.json", "did you mean `schemas/order.avsc`?"),
            ("Schemas/Order.avsc", "did you mean `schemas/order.avsc`?"),
            ("schemas/unlike.avsc", "`schemas` has `order.avsc`"),
            ("schemas", "`schemas` has `order.avsc`"),
            ("schemas/unlike.sql", NOT_HERE),
            ("elsewhere/unlike.avsc", NOT_HERE),
            ("", NOT_HERE),
        ] {
            let error = read(&dir, written).expect_err("no such file");
            assert_eq!(error.help, help, "{written}");
        }
    }

    const NOT_HERE: &str = "paths are relative to the directory of the crate's Cargo.toml";

    #[test]
    fn of_many_files_a_few_are_listed() {
        let dir = temp_dir("many");
        for n in 0..14 {
            std::fs::write(dir.join(format!("schemas/region_{n:02}.avsc")), "{}").expect("a file");
        }
        let error = read(&dir, "schemas/order.avsc").expect_err("no such file");
        assert!(
            error
                .help
                .starts_with("`schemas` has `region_00.avsc`, `region_01.avsc`"),
            "{}",
            error.help
        );
        assert!(
            error
                .help
                .ends_with("`region_10.avsc`, `region_11.avsc` and 2 more"),
            "{}",
            error.help
        );
        let error = read(&dir, "schemas").expect_err("a directory");
        assert!(
            error
                .message
                .starts_with("cannot read `schemas`: it is a directory")
        );
    }

    #[test]
    fn a_changed_file_is_read_again_and_an_unchanged_one_is_not() {
        let dir = temp_dir("cache");
        std::fs::write(dir.join("a.sql"), "one").expect("a file");
        let first = read(&dir, "a.sql").expect("readable");
        assert!(Arc::ptr_eq(&first, &read(&dir, "a.sql").expect("readable")));
        std::fs::write(dir.join("a.sql"), "longer").expect("a file");
        assert_eq!(read(&dir, "a.sql").expect("readable").text(), "longer");
    }

    #[test]
    fn a_report_shows_the_line_and_points_at_the_column() {
        let file = SourceFile::in_memory("x.avsc", "{\r\n  \"é\": 1, x\r\n}");
        let offset = file.text().find(" x").expect("there") + 1;
        assert_eq!(
            file.place(offset),
            Place {
                line: 2,
                column: 11
            }
        );
        assert_eq!(
            file.report(file.place(offset), "unexpected word"),
            "x.avsc:2:11: unexpected word\n    \"é\": 1, x\n            ^"
        );
    }

    #[test]
    fn a_byte_order_mark_is_left_out_and_other_encodings_are_refused() {
        let dir = temp_dir("bom");
        std::fs::write(dir.join("bom.sql"), "\u{feff}SELECT").expect("a file");
        assert_eq!(read(&dir, "bom.sql").expect("readable").text(), "SELECT");
        std::fs::write(dir.join("latin.sql"), b"caf\xe9").expect("a file");
        let error = read(&dir, "latin.sql").expect_err("not UTF-8");
        assert_eq!(error.message, "`latin.sql` is not UTF-8 text (byte 3)");
    }
}
