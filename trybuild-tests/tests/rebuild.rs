//! A change of a schema or of a table definition is seen by the next build, though no Rust file changed.

use std::fs;
use std::path::{Path, PathBuf};

use trybuild_tests::{Answer, Case, Package, Project, all, ui};

/// A crate of one case.
struct Crate {
    project: Project,
    case: Case,
}

impl Crate {
    fn new(name: &str, wanted: &str) -> Crate {
        let cases = all(ui()).expect("the cases can be read");
        let mut cases = cases.into_iter();
        let case = cases.find(|case| case.path == wanted).expect("the case");
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let project = Project::write(ui(), scratch, name, std::slice::from_ref(&case));
        let project = project.expect("a project");
        Crate { project, case }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.project
            .directory(Package::Cases)
            .join("files")
            .join(name)
    }

    fn replace(&self, name: &str, old: &str, new: &str) {
        let text = fs::read_to_string(self.file(name)).expect("the file");
        assert!(text.contains(old), "{text}");
        fs::write(self.file(name), text.replace(old, new)).expect("the file is written");
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.file(from), self.file(to)).expect("the file is renamed");
    }

    fn build(&self) -> Answer {
        let mut answers = self.project.check().expect("cargo runs");
        answers
            .remove(&self.case.target())
            .expect("the crate is built")
    }

    fn builds(&self, when: &str) {
        let answer = self.build();
        assert!(
            answer.compiles && answer.said.is_empty(),
            "{when}:\n{}",
            answer.said
        );
    }

    fn fails(&self, when: &str, said: &[&str]) {
        let answer = self.build();
        assert!(!answer.compiles, "{when}: it was not built again");
        for part in said {
            assert!(
                answer.said.contains(part),
                "{when}, `{part}`:\n{}",
                answer.said
            );
        }
    }
}

/// One after the other in one crate: a build is what takes the time.
#[test]
fn a_file_that_changes_moves_or_is_gone_is_seen_by_the_next_build_and_its_return_as_well() {
    // A record of `files/order.avsc` and a row of `files/lines.sql`.
    let user = Crate::new("rebuild", "pass/borrowed_records_to_borrowed_rows.rs");
    user.builds("at first");

    user.replace("order.avsc", "\"qty\"", "\"quantity\"");
    user.fails(
        "a field of the schema has another name",
        &["[SP076] record `shop.Line` of `files/order.avsc` has no field `qty`"],
    );
    user.replace("order.avsc", "\"quantity\"", "\"qty\"");
    user.builds("the name is back");

    user.replace("order.avsc", "{", "{{");
    user.fails("the schema is no JSON", &["[SP071] files/order.avsc:1:2: "]);
    user.replace("order.avsc", "{{", "{");
    user.builds("it is JSON again");

    user.replace("lines.sql", "sku String", "sku UInt64");
    user.fails(
        "a column has another type",
        &["cannot be stored in a ClickHouse column of the type `UInt64`"],
    );
    user.replace("lines.sql", "sku UInt64", "sku String, region String");
    user.fails(
        "a column was added",
        &["[SP095] column `region String` (files/lines.sql:1:55)"],
    );
    user.replace("lines.sql", ", region String", "");
    user.builds("the table is what it was");

    user.rename("order.avsc", "orders.avsc");
    user.fails(
        "the schema has another name",
        &[
            "[SP070] cannot read `files/order.avsc`",
            "did you mean `files/orders.avsc`?",
        ],
    );
    user.rename("orders.avsc", "order.avsc");
    user.builds("the schema has its name again");

    let text = fs::read(user.file("lines.sql")).expect("the file");
    fs::remove_file(user.file("lines.sql")).expect("the file is removed");
    user.fails(
        "the table is gone",
        &["[SP090] cannot read `files/lines.sql`"],
    );
    fs::write(user.file("lines.sql"), text).expect("the file is written");
    user.builds("the table is there again");
}

#[test]
fn a_file_of_compat_or_one_beside_it_that_changes_is_seen_by_the_next_build() {
    let user = Crate::new("rebuild_compat", "pass/compatible_schemas.rs");
    user.builds("at first");

    user.replace(
        "old/account_1.avsc",
        "\"id\", \"type\": \"int\"",
        "\"id\", \"type\": \"string\"",
    );
    user.fails(
        "the old version has another type",
        &[
            "[SP085] files/account.avsc:2:",
            "at field path `id`: string there cannot be read as long here",
        ],
    );
    user.replace(
        "old/account_1.avsc",
        "\"id\", \"type\": \"string\"",
        "\"id\", \"type\": \"int\"",
    );
    user.builds("it is what it was");

    user.replace("old/small_line.avsc", "\"int\"", "\"long\"");
    user.fails(
        "a file beside the old version has another type",
        &[
            "[SP085] files/line.avsc:3:",
            "at field path `lines[].qty`: long there cannot be read as int here",
        ],
    );
    user.replace("old/small_line.avsc", "\"long\"", "\"int\"");
    user.builds("that is what it was as well");

    user.rename("old/account_1.avsc", "old/account_0.avsc");
    user.fails(
        "the old version is gone",
        &["[SP070] cannot read `files/old/account_1.avsc`"],
    );
    user.rename("old/account_0.avsc", "old/account_1.avsc");
    user.builds("it is there again");
}
