//! Parts of the documentation that are written by tests, so that they say what the code says.

use std::path::Path;

const END: &str = "<!-- end -->\n";

/// Compares the part of a page in `docs/` between the line `begin` and the next `<!-- end -->` with `generated`. With `UPDATE_DOCS` in the
/// environment a part that differs is written anew.
///
/// # Panics
/// If the page or the part is not there, or if it differs and is not to be written.
pub fn is_generated(page: &str, begin: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(page);
    let text = std::fs::read_to_string(&path).expect("the page can be read");
    let (before, rest) = text.split_once(begin).expect("a generated part");
    let (documented, after) = rest.split_once(END).expect("its end");
    if documented == generated {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_DOCS").is_some(),
        "docs/{page} is not what the code says; UPDATE_DOCS=1 writes it anew"
    );
    std::fs::write(path, format!("{before}{begin}{generated}{END}{after}"))
        .expect("the page can be written");
}
