//! Whether the table recognises a block that is sent again: what an operator is warned of at start.
//!
//! Nothing is refused: rows are never lost for it, but an attempt whose answer was lost stores its rows twice.

use super::check::string;

/// What the server told of the table.
#[derive(Debug, Default, Clone)]
struct Table {
    engine: String,
    /// `MergeTree ORDER BY id SETTINGS index_granularity = 8192`.
    definition: String,
    /// The server's windows for tables that do not set their own.
    plain_window: String,
    replicated_window: String,
    /// The settings of the user; empty on servers that do not have them.
    deduplicate_insert: String,
    insert_deduplicate: String,
}

/// The warnings about the answer to [`statement::tokens`](super::statement::tokens); `replicas` of the shard are configured.
pub(super) fn warnings(answer: &[u8], name: &str, replicas: usize) -> Vec<String> {
    let Some(table) = parse(answer) else {
        return vec![format!(
            "whether table {name} recognises a block that is sent twice could not be found out: the server's answer cannot be \
             read"
        )];
    };
    let mut warnings = Vec::new();
    if let Some(why) = table.forgets(name) {
        warnings.push(format!(
            "a block whose confirmation is lost is sent again and then stored twice: {why}"
        ));
    }
    if replicas > 1 && !table.is_replicated() {
        warnings.push(format!(
            "the {replicas} replicas of a shard do not replicate: {} tables of {name} are tables of their own, which share the \
             rows out among them and do not recognise each other's blocks; use ReplicatedMergeTree, or shards in place of \
             replicas",
            table.engine
        ));
    }
    warnings
}

impl Table {
    fn is_replicated(&self) -> bool {
        self.engine.ends_with("MergeTree")
            && (self.engine.starts_with("Replicated") || self.engine.starts_with("Shared"))
    }

    /// Why a repeated block is stored again, if it is.
    fn forgets(&self, name: &str) -> Option<String> {
        if !self.engine.ends_with("MergeTree") {
            return Some(format!(
                "table {name} has the engine {}, which knows no deduplication tokens itself",
                self.engine
            ));
        }
        let (setting, default) = if self.is_replicated() {
            ("replicated_deduplication_window", &self.replicated_window)
        } else {
            ("non_replicated_deduplication_window", &self.plain_window)
        };
        let window = self.setting(setting).unwrap_or(default);
        if window == "0" {
            return Some(format!(
                "table {name} is a {} with {setting} = 0; `ALTER TABLE {name} MODIFY SETTING {setting} = 10000` lets it \
                 recognise repeated blocks",
                self.engine
            ));
        }
        let off = match self.deduplicate_insert.as_str() {
            "disable" => Some("deduplicate_insert = disable"),
            "" | "backward_compatible_choice" if self.insert_deduplicate == "0" => {
                Some("insert_deduplicate = 0")
            }
            _ => None,
        };
        off.map(|setting| {
            format!(
                "the user's profile has {setting}, so that table {name} does not look at tokens"
            )
        })
    }

    /// A setting of the table's own.
    fn setting(&self, name: &str) -> Option<&str> {
        let (_, settings) = self.definition.rsplit_once(" SETTINGS ")?;
        settings
            .split(", ")
            .find_map(|setting| setting.strip_prefix(name)?.strip_prefix(" = "))
    }
}

fn parse(mut answer: &[u8]) -> Option<Table> {
    let mut text = || string(&mut answer);
    let table = Table {
        engine: text()?,
        definition: text()?,
        plain_window: text()?,
        replicated_window: text()?,
        deduplicate_insert: text()?,
        insert_deduplicate: text()?,
    };
    answer.is_empty().then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(engine: &str, definition: &str) -> Table {
        Table {
            engine: engine.to_owned(),
            definition: format!("{engine} ORDER BY id {definition}"),
            plain_window: "0".to_owned(),
            replicated_window: "1000".to_owned(),
            deduplicate_insert: "enable".to_owned(),
            insert_deduplicate: "1".to_owned(),
        }
    }

    fn of(table: &Table, replicas: usize) -> Vec<String> {
        let mut answer = Vec::new();
        for text in [
            &table.engine,
            &table.definition,
            &table.plain_window,
            &table.replicated_window,
            &table.deduplicate_insert,
            &table.insert_deduplicate,
        ] {
            answer.push(text.len() as u8);
            answer.extend_from_slice(text.as_bytes());
        }
        warnings(&answer, "shop.orders", replicas)
    }

    #[test]
    fn tables_that_recognise_blocks_are_not_talked_about() {
        for table in [
            table(
                "MergeTree",
                "SETTINGS non_replicated_deduplication_window = 100, index_granularity = 8192",
            ),
            table("ReplicatedMergeTree", "SETTINGS index_granularity = 8192"),
            table("ReplicatedReplacingMergeTree", ""),
            table("SharedMergeTree", ""),
            Table {
                plain_window: "100".to_owned(),
                ..table("ReplacingMergeTree", "")
            },
            Table {
                deduplicate_insert: String::new(),
                ..table("ReplicatedMergeTree", "")
            },
            // Without a say while the other one is there.
            Table {
                insert_deduplicate: "0".to_owned(),
                ..table("ReplicatedMergeTree", "")
            },
        ] {
            assert_eq!(of(&table, 1), Vec::<String>::new(), "{table:?}");
        }
    }

    #[test]
    fn a_table_without_a_window_is_told_with_the_way_out() {
        for (table, setting) in [
            (
                table("MergeTree", "SETTINGS index_granularity = 8192"),
                "non_replicated_deduplication_window = 0",
            ),
            (
                Table {
                    plain_window: "100".to_owned(),
                    ..table(
                        "SummingMergeTree",
                        "SETTINGS non_replicated_deduplication_window = 0",
                    )
                },
                "non_replicated_deduplication_window = 0",
            ),
            (
                table(
                    "ReplicatedMergeTree",
                    "SETTINGS replicated_deduplication_window = 0, index_granularity = 8192",
                ),
                " replicated_deduplication_window = 0",
            ),
        ] {
            let found = of(&table, 1);
            assert_eq!(found.len(), 1, "{table:?}");
            assert!(
                found[0].contains(setting) && found[0].contains("ALTER TABLE shop.orders"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn engines_and_profiles_without_tokens_are_told() {
        for (table, what) in [
            (table("Null", ""), "engine Null"),
            (table("Distributed", ""), "engine Distributed"),
            (table("Memory", ""), "engine Memory"),
            (
                Table {
                    deduplicate_insert: "disable".to_owned(),
                    ..table("ReplicatedMergeTree", "")
                },
                "deduplicate_insert = disable",
            ),
            (
                Table {
                    deduplicate_insert: String::new(),
                    insert_deduplicate: "0".to_owned(),
                    ..table("ReplicatedMergeTree", "")
                },
                "insert_deduplicate = 0",
            ),
        ] {
            let found = of(&table, 1);
            assert!(found.len() == 1 && found[0].contains(what), "{found:?}");
        }
    }

    #[test]
    fn replicas_that_do_not_replicate_are_told() {
        let plain = table(
            "MergeTree",
            "SETTINGS non_replicated_deduplication_window = 100",
        );
        let found = of(&plain, 2);
        assert!(
            found.len() == 1 && found[0].contains("ReplicatedMergeTree"),
            "{found:?}"
        );
        assert!(of(&table("ReplicatedMergeTree", ""), 2).is_empty());
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_told_and_no_more() {
        for answer in [&b""[..], b"\x05Merge", b"<html>", b"\0\0\0\0\0\0x"] {
            let found = warnings(answer, "shop.orders", 1);
            assert!(
                found.len() == 1 && found[0].contains("cannot be read"),
                "{found:?}"
            );
        }
    }
}
