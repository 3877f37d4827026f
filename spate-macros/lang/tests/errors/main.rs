//! `docs/errors.md` is made of the catalogue and of `src/diagnostic/explanations.md`, whose examples are run here: a mistake
//! gives exactly its code, a fix gives nothing. `UPDATE_DOCS=1 cargo test -p spate-lang --test errors` writes the page.

mod explanation;
mod page;
mod run;

use std::path::Path;

use explanation::{Explanations, Role};
use run::Said;
use spate_lang::diagnostic::{Code, RETIRED};

fn explanations() -> Explanations {
    Explanations::read(include_str!("../../src/diagnostic/explanations.md"))
}

#[test]
fn every_code_is_explained_under_its_number_and_name_and_nothing_else_is() {
    let explained: Vec<String> = explanations()
        .entries
        .iter()
        .map(|entry| format!("{} {}", entry.id, entry.name))
        .collect();
    let codes: Vec<String> = Code::ALL
        .iter()
        .map(|code| format!("{} {code:?}", code.entry().id))
        .collect();
    assert_eq!(
        explained, codes,
        "each code has a section in explanations.md; one that is gone moves to `RETIRED`"
    );
    assert!(
        RETIRED
            .iter()
            .all(|id| explained.iter().all(|entry| !entry.starts_with(id)))
    );
}

#[test]
fn every_mistake_gives_its_code_and_every_fix_gives_nothing() {
    let explanations = explanations();
    let mut wrong = Vec::new();
    for entry in &explanations.entries {
        let has = |role| entry.blocks.iter().any(|block| block.role == role);
        assert!(
            !entry.cause.is_empty() && has(Role::Mistake) && has(Role::Fix),
            "{} lacks its cause, its mistake or its fix",
            entry.id
        );
        let codes = |said: &[Said]| -> Vec<String> { said.iter().map(Said::code).collect() };
        let mistake = codes(&run::example(&explanations, entry, Role::Mistake));
        if mistake != [entry.id.as_str()] {
            wrong.push(format!("the mistake of {} gives {mistake:?}", entry.id));
        }
        let fix = run::example(&explanations, entry, Role::Fix);
        if !fix.is_empty() {
            wrong.push(format!("the fix of {} gives {fix:?}", entry.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_page_is_what_the_explanations_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    let page = page::write(&explanations());
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    if found == page {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_DOCS").is_some(),
        "docs/errors.md is not what catalogue and explanations say; UPDATE_DOCS=1 writes it anew"
    );
    std::fs::write(path, page).expect("the page can be written");
}
