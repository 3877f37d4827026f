//! Schemas and tables on the pages are read by the models that the derives use, and are those that the blocks are compiled against.

use std::fs;
use std::path::Path;

use spate_lang::avro;
use spate_lang::files::SourceFile;
use spate_lang::sql;

use crate::blocks;

/// The page whose examples are run by the test that writes it.
const ELSEWHERE: &str = "docs/errors.md";

/// Without what does not count: how lines are broken and indented.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// The file of this crate, for a block that says `<!-- file: sql/orders.sql -->`.
fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_schema_is_read_by_the_real_model() {
    blocks("json", |page, fence| {
        if page.path == ELSEWHERE {
            return;
        }
        let at = page.at(fence);
        let text = fence.text();
        let schema = avro::parse(&SourceFile::in_memory("page.avsc", &text));
        assert!(schema.is_ok(), "{at}: {schema:?}");
        let shown = fence.words("file");
        assert_eq!(
            shown.len(),
            1,
            "{at}: `<!-- file: schemas/.. -->` says which one it is"
        );
        assert_eq!(words(&text), words(&file(shown[0])), "{at}: {}", shown[0]);
    });
}

#[test]
fn every_table_is_read_by_the_real_model() {
    blocks("sql", |page, fence| {
        if page.path == ELSEWHERE {
            return;
        }
        let at = page.at(fence);
        let text = fence.text();
        if !text.contains("CREATE TABLE") {
            // Statements for the server, such as those that the sink's own warnings name.
            let known = ["ALTER TABLE ", "GRANT ", "SELECT "];
            assert!(known.iter().any(|word| text.starts_with(word)), "{at}");
            return;
        }
        let tables = sql::parse(&SourceFile::in_memory("page.sql", &text));
        assert!(tables.is_ok_and(|tables| tables.len() == 1), "{at}");
        let shown = fence.words("file");
        assert_eq!(
            shown.len(),
            1,
            "{at}: `<!-- file: sql/.. -->` says which one it is"
        );
        assert_eq!(words(&text), words(&file(shown[0])), "{at}: {}", shown[0]);
    });
}
