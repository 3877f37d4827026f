//! The file that was probably meant when one is missing: a look around, bounded in depth and in entries.

use std::path::Path;

use crate::diagnostic::suggest;

/// How deep below the manifest a file of the same name is looked for, and how many entries are looked at.
const DEPTH: usize = 4;
const ENTRIES: usize = 5_000;

/// A path like `written` that exists below `dir`: nearly the same name in the same directory, or the same name elsewhere.
pub(super) fn similar(dir: &Path, written: &str) -> Option<String> {
    let wanted = Path::new(written);
    let name = wanted.file_name()?.to_str()?;
    let parent = wanted.parent().unwrap_or(Path::new(""));
    let beside = names(&dir.join(parent));
    if let Some(near) = suggest(name, beside.iter().map(String::as_str)) {
        return Some(show(&parent.join(near)));
    }
    let mut budget = ENTRIES;
    find(dir, Path::new(""), name, DEPTH, &mut budget)
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
            Ok(kind) if kind.is_file() && entry_name == name => {
                return Some(show(&below.join(name)));
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
