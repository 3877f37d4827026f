//! `CREATE TABLE` statements of a file, read for their columns.

use sqlparser::tokenizer::Token;

use super::cursor::{Cursor, mistake, tokens};
use super::types::{ColumnType, column_type};
use crate::files::{Finding, Place, SourceFile};

/// A table as a file defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The database, where it is written.
    pub database: Option<String>,
    /// The name.
    pub name: String,
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// Where the name is.
    pub place: Place,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: ColumnType,
    /// What the server does about the column by itself.
    pub computed: Computed,
    /// Where the name is.
    pub place: Place,
}

/// What the server does about a column that an insert leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Computed {
    /// Nothing was said: it would store zero, the empty string or NULL.
    No,
    /// `DEFAULT`: the expression stands in.
    Default,
    /// `EPHEMERAL`: not stored, may be inserted for others' defaults.
    Ephemeral,
    /// `MATERIALIZED`: always computed, an insert may not name it.
    Materialized,
    /// `ALIAS`: computed when read, an insert may not name it.
    Alias,
}

impl Computed {
    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Computed::No => "",
            Computed::Default => "DEFAULT",
            Computed::Ephemeral => "EPHEMERAL",
            Computed::Materialized => "MATERIALIZED",
            Computed::Alias => "ALIAS",
        }
    }
}

/// All tables that the file creates, in order; other statements are passed over.
///
/// # Errors
/// The first thing in the file that is not understood.
pub fn parse(file: &SourceFile) -> Result<Vec<Table>, Finding> {
    let tokens = tokens(file)?;
    let all = Cursor::new(&tokens, file.place(file.text().len()));
    let mut tables = Vec::new();
    for mut statement in all.split(&Token::SemiColon) {
        if let Some(table) = create_table(&mut statement)? {
            tables.push(table);
        }
    }
    Ok(tables)
}

fn create_table(statement: &mut Cursor<'_>) -> Result<Option<Table>, Finding> {
    if !statement.take_words(&["CREATE"]) {
        return Ok(None);
    }
    statement.take_words(&["OR", "REPLACE"]);
    statement.take_words(&["TEMPORARY"]);
    if !statement.take_words(&["TABLE"]) {
        return Ok(None);
    }
    statement.take_words(&["IF", "NOT", "EXISTS"]);
    let place = statement.place();
    let Some(mut name) = statement.name() else {
        return Err(mistake(place, "a table's name is expected here"));
    };
    let mut database = None;
    if statement.take(&Token::Period) {
        let Some(second) = statement.name() else {
            return Err(mistake(
                statement.place(),
                "a table's name is expected here",
            ));
        };
        database = Some(std::mem::replace(&mut name, second));
    }
    if statement.take_words(&["UUID"]) {
        statement.next();
    }
    if statement.take_words(&["ON", "CLUSTER"]) {
        statement.next();
    }
    let list = statement.place();
    let Some(inside) = statement.parenthesized()? else {
        return Err(mistake(
            list,
            format!("table `{name}` has no list of columns"),
        ));
    };
    let mut columns: Vec<Column> = Vec::new();
    for mut element in inside.split(&Token::Comma) {
        let Some(column) = column(&mut element)? else {
            continue;
        };
        if columns.iter().any(|other| other.name == column.name) {
            return Err(mistake(
                column.place,
                format!("there are two columns `{}`", column.name),
            ));
        }
        columns.push(column);
    }
    if columns.is_empty() {
        return Err(mistake(list, format!("table `{name}` has no columns")));
    }
    Ok(Some(Table {
        database,
        name,
        columns,
        place,
    }))
}

/// One element of the list; `None` for indexes, constraints and a trailing comma.
fn column(element: &mut Cursor<'_>) -> Result<Option<Column>, Finding> {
    let place = element.place();
    if element.is_empty()
        || ["INDEX", "PROJECTION", "CONSTRAINT"]
            .iter()
            .any(|word| element.take_words(&[word]))
    {
        return Ok(None);
    }
    if element.take_words(&["PRIMARY", "KEY"]) {
        return Ok(None);
    }
    let Some(mut name) = element.name() else {
        return Err(mistake(place, "a column's name is expected here"));
    };
    while element.take(&Token::Period) {
        let Some(part) = element.name() else {
            return Err(mistake(element.place(), "a column's name is expected here"));
        };
        name = format!("{name}.{part}");
    }
    if element.is_empty()
        || DEFAULTS.iter().any(|(word, _)| {
            element
                .word()
                .is_some_and(|next| next.eq_ignore_ascii_case(word))
        })
    {
        return Err(mistake(
            place,
            format!("column `{name}` needs its type, also where the server could infer it"),
        ));
    }
    let mut ty = column_type(element)?;
    if element.take_words(&["NOT", "NULL"]) {
    } else if element.take_words(&["NULL"]) {
        ty = ColumnType::Nullable(Box::new(ty));
    }
    let computed = DEFAULTS
        .iter()
        .find(|(word, _)| element.take_words(&[word]))
        .map_or(Computed::No, |(_, kind)| *kind);
    if computed == Computed::No
        && let Some(word) = element.word()
        && !AFTER_TYPE
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known))
    {
        return Err(mistake(
            element.place(),
            format!("`{word}` is not expected after the type of column `{name}`"),
        ));
    }
    Ok(Some(Column {
        name,
        ty,
        computed,
        place,
    }))
}

const DEFAULTS: [(&str, Computed); 4] = [
    ("DEFAULT", Computed::Default),
    ("MATERIALIZED", Computed::Materialized),
    ("EPHEMERAL", Computed::Ephemeral),
    ("ALIAS", Computed::Alias),
];

/// What may follow a type besides the kinds of defaults; none of it matters to an insert.
const AFTER_TYPE: [&str; 7] = [
    "CODEC",
    "TTL",
    "COMMENT",
    "PRIMARY",
    "STATISTICS",
    "SETTINGS",
    "COLLATE",
];
