//! The look at the server before any data: the table's columns are those of the compiled row.
//!
//! It also learns how the server spells the columns' types: the header of a block must have that spelling to the letter,
//! and an altered column then no longer matches it.

use bytes::Bytes;
use spate_runtime::sink::Column;

use super::statement;
use super::types::same;
use crate::error::Error;

/// The most that is read of the list of columns, in bytes.
pub(super) const MAX_LIST: usize = 8 * 1024 * 1024;

/// A column of the table.
#[derive(Debug, PartialEq, Eq)]
struct TableColumn {
    name: String,
    ty: String,
    /// `DEFAULT`, `MATERIALIZED`, `ALIAS`, `EPHEMERAL`; empty without a default.
    default_kind: String,
}

/// Compares the answer to [`statement::columns`] with the compiled columns.
///
/// Returns the header for blocks. All differences are told at once.
pub(super) fn compare(answer: &[u8], compiled: &[Column]) -> Result<Bytes, Error> {
    let table = parse(answer).ok_or(Error::Garbled(
        "the list of the table's columns cannot be read",
    ))?;
    if table.is_empty() {
        return Err(Error::NoTable);
    }
    let mut differences = Vec::new();
    let mut spelled = Vec::with_capacity(compiled.len());
    for column in compiled {
        let Some(found) = table.iter().find(|found| found.name == column.name) else {
            differences.push(format!(
                "column `{}` {}: the table has no such column",
                column.name, column.ty
            ));
            continue;
        };
        if matches!(found.default_kind.as_str(), "MATERIALIZED" | "ALIAS") {
            let kind = &found.default_kind;
            differences.push(format!(
                "column `{}`: the table computes it ({kind}), so it cannot be written",
                column.name
            ));
        } else if !same(column.ty, &found.ty) {
            let (name, row, table) = (column.name, column.ty, &found.ty);
            differences.push(format!(
                "column `{name}`: the row has {row}, the table {table}"
            ));
        }
        spelled.push((column.name, found.ty.as_str()));
    }
    for column in &table {
        if column.default_kind.is_empty() && !compiled.iter().any(|known| known.name == column.name)
        {
            let (name, ty) = (&column.name, &column.ty);
            differences.push(format!(
                "column `{name}` {ty}: the row lacks it and the table has no DEFAULT for it"
            ));
        }
    }
    if !differences.is_empty() {
        return Err(Error::Columns(differences));
    }
    Ok(statement::header(spelled.into_iter()).into())
}

/// Rows of three strings each.
fn parse(mut answer: &[u8]) -> Option<Vec<TableColumn>> {
    let mut columns = Vec::new();
    while !answer.is_empty() {
        let mut text = || string(&mut answer);
        columns.push(TableColumn {
            name: text()?,
            ty: text()?,
            default_kind: text()?,
        });
    }
    Some(columns)
}

/// A LEB128 length and that many bytes.
pub(super) fn string(rest: &mut &[u8]) -> Option<String> {
    let mut length = 0_usize;
    for shift in (0..28).step_by(7) {
        let (&byte, tail) = rest.split_first()?;
        *rest = tail;
        length |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            let (text, tail) = rest.split_at_checked(length)?;
            *rest = tail;
            return String::from_utf8(text.to_vec()).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &[Column] = &[
        Column {
            name: "id",
            ty: "UInt64",
        },
        Column {
            name: "at",
            ty: "DateTime64(3)",
        },
    ];

    fn answer(columns: &[(&str, &str, &str)]) -> Vec<u8> {
        let mut out = Vec::new();
        for text in columns.iter().flat_map(|c| [c.0, c.1, c.2]) {
            out.push(text.len() as u8);
            out.extend_from_slice(text.as_bytes());
        }
        out
    }

    fn differences(columns: &[(&str, &str, &str)]) -> Vec<String> {
        match compare(&answer(columns), ROW) {
            Err(Error::Columns(differences)) => differences,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_header_has_the_row_s_order_and_the_server_s_spelling() {
        let table = answer(&[
            ("at", "DateTime64(3, 'UTC')", ""),
            ("id", "UInt64", ""),
            ("x", "UInt8", "DEFAULT"),
        ]);
        let header = compare(&table, ROW).expect("the columns agree");
        assert_eq!(
            &header[..],
            b"\x02\x02id\x02at\x06UInt64\x14DateTime64(3, 'UTC')"
        );
    }

    #[test]
    fn every_difference_is_told_with_both_types() {
        let found = differences(&[
            ("id", "UInt32", ""),
            ("at", "DateTime64(6, 'UTC')", ""),
            ("b", "UInt8", ""),
        ]);
        assert_eq!(
            found,
            [
                "column `id`: the row has UInt64, the table UInt32",
                "column `at`: the row has DateTime64(3), the table DateTime64(6, 'UTC')",
                "column `b` UInt8: the row lacks it and the table has no DEFAULT for it",
            ]
        );
    }

    #[test]
    fn a_column_that_the_table_lacks_or_computes_is_a_difference() {
        assert_eq!(
            differences(&[("at", "DateTime64(3)", "")]),
            ["column `id` UInt64: the table has no such column"]
        );
        for kind in ["ALIAS", "MATERIALIZED"] {
            let found = differences(&[("id", "UInt64", kind), ("at", "DateTime64(3)", "")]);
            assert_eq!(
                found,
                [format!(
                    "column `id`: the table computes it ({kind}), so it cannot be written"
                )]
            );
        }
    }

    #[test]
    fn columns_with_any_default_need_not_be_in_the_row() {
        let base = [("id", "UInt64", ""), ("at", "DateTime64(3)", "")];
        for kind in ["DEFAULT", "MATERIALIZED", "ALIAS", "EPHEMERAL"] {
            assert!(
                compare(&answer(&[base[0], base[1], ("more", "String", kind)]), ROW).is_ok(),
                "{kind}"
            );
        }
    }

    #[test]
    fn no_column_at_all_is_a_missing_table() {
        assert!(matches!(compare(b"", ROW), Err(Error::NoTable)));
    }

    #[test]
    fn an_answer_that_is_no_list_is_not_trusted() {
        let table = answer(&[("id", "UInt64", ""), ("at", "DateTime64(3)", "")]);
        for length in 1..table.len() {
            if length != answer(&[("id", "UInt64", "")]).len() {
                assert!(
                    matches!(compare(&table[..length], ROW), Err(Error::Garbled(_))),
                    "cut at {length}"
                );
            }
        }
        for bad in [
            &b"<html>hello</html>"[..],
            b"\xff\xff\xff\xff\xff",
            b"\x01\xff\x00\x00",
        ] {
            assert!(matches!(compare(bad, ROW), Err(Error::Garbled(_))));
        }
    }
}
