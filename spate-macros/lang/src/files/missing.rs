//! The file that was probably meant when one is missing: a look around, bounded in depth and in entries.

use std::path::Path;

use crate::diagnostic::{list, suggest};

/// How deep below the manifest a file of the same name is looked for, and how many entries are looked at.
const DEPTH: usize = 4;
const ENTRIES: usize = 5_000;

/// More names than these help nobody.
const FEW: usize = 12;

/// What to do about a file that cannot be read: the path that was probably meant, or what there is.
pub(super) fn advice(dir: &Path, written: &str) -> String {
    match similar(dir, written).filter(|similar| similar != written) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => around(dir, written).unwrap_or_else(|| {
            "paths are relative to the directory of the crate's Cargo.toml".to_owned()
        }),
    }
}

/// A path like `written` that exists below `dir`: nearly the same name in the same directory, the same name with another
/// extension, or the same name elsewhere.
fn similar(dir: &Path, written: &str) -> Option<String> {
    let wanted = Path::new(written);
    let name = wanted.file_name()?.to_str()?;
    let parent = wanted.parent().unwrap_or(Path::new(""));
    let beside = names(&dir.join(parent));
    if let Some(near) = suggest(name, beside.iter().map(String::as_str)) {
        return Some(show(&parent.join(near)));
    }
    let stem = wanted.file_stem();
    let same = |name: &&String| Path::new(name).file_stem() == stem;
    if let Some(other) = beside.iter().find(same) {
        return Some(show(&parent.join(other)));
    }
    let mut budget = ENTRIES;
    find(dir, Path::new(""), name, DEPTH, &mut budget)
}

/// The files that could be meant: those of the same extension in the directory, all of a directory that stands for a file.
fn around(dir: &Path, written: &str) -> Option<String> {
    let wanted = Path::new(written);
    let (folder, extension) = match dir.join(wanted).is_dir() {
        true => (wanted, None),
        false => (wanted.parent()?, wanted.extension()),
    };
    let mut names = names(&dir.join(folder));
    names.retain(|name| extension.is_none() || Path::new(name).extension() == extension);
    let rest = names.len().saturating_sub(FEW);
    let shown: Vec<&str> = names.iter().take(FEW).map(String::as_str).collect();
    let folder = match folder.as_os_str().is_empty() {
        true => "the directory of the crate's Cargo.toml".to_owned(),
        false => format!("`{}`", show(folder)),
    };
    match rest {
        _ if shown.is_empty() => None,
        0 => Some(format!("{folder} has {}", list(&shown, "and"))),
        more => Some(format!(
            "{folder} has `{}` and {more} more",
            shown.join("`, `")
        )),
    }
}

fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    let files = entries
        .flatten()
        .take(ENTRIES)
        .filter(|entry| entry.path().is_file());
    let mut names: Vec<String> = files
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn find(root: &Path, below: &Path, name: &str, depth: usize, budget: &mut usize) -> Option<String> {
    let Ok(entries) = std::fs::read_dir(root.join(below)) else {
        return None;
    };
    let mut folders = Vec::new();
    for entry in entries.flatten() {
        *budget = budget.checked_sub(1)?;
        let entry_name = entry.file_name();
        let Some(entry_name) = entry_name.to_str() else {
            continue;
        };
        match entry.file_type() {
            Ok(kind) if kind.is_file() && entry_name.eq_ignore_ascii_case(name) => {
                return Some(show(&below.join(entry_name)));
            }
            Ok(kind)
                if kind.is_dir()
                    && depth > 0
                    && entry_name != "target"
                    && !entry_name.starts_with('.') =>
            {
                folders.push(entry_name.to_owned());
            }
            _ => {}
        }
    }
    folders.sort();
    folders
        .iter()
        .find_map(|folder| find(root, &below.join(folder), name, depth - 1, budget))
}

/// Written paths have slashes on every system.
fn show(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
