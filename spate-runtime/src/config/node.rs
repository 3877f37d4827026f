//! The configuration as a tree: every key and value knows where it was written. `Debug` shows keys, never values.

use std::fmt;

/// Where a key or value is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Written in the file; both counted from 1.
    File { line: u32, column: u32 },
    /// Set by an option of a stage.
    Code,
    /// Not written anywhere.
    Absent,
}

/// How a scalar was written: decides what an untyped reader takes it for, and how an error names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// Bare, without a variable.
    Plain,
    /// Quoted or as a block.
    Quoted,
    /// Wholly or partly from the environment: always a text unless the setting asks for something else.
    Environment,
}

#[derive(Clone)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    pub(crate) written: Written,
}

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) at: Origin,
    pub(crate) node: Node,
}

#[derive(Clone)]
pub(crate) enum Value {
    Null,
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) at: Origin,
    pub(crate) value: Value,
}

impl Entry {
    /// The value as a section: the place of a mapping is its key, which is where a reader looks for it.
    pub(crate) fn into_section(self) -> Node {
        match self.node.value {
            Value::Scalar(_) | Value::List(_) => self.node,
            value => Node { at: self.at, value },
        }
    }
}

impl Node {
    pub(crate) const ABSENT: Node = Node {
        at: Origin::Absent,
        value: Value::Null,
    };

    /// The entries; none for null, `None` for a scalar or a list.
    pub(crate) fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Null => Some(&[]),
            Value::Map(entries) => Some(entries),
            Value::Scalar(_) | Value::List(_) => None,
        }
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| entry.key == key)
    }

    /// Whether nothing is set: null or an empty mapping.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries().is_some_and(<[Entry]>::is_empty)
    }

    /// The nearest place in the file to a dotted path: the key itself, else the deepest part of it that is there.
    pub(crate) fn origin_of(&self, dotted: &str) -> Origin {
        let (mut node, mut at) = (self, self.at);
        for key in dotted.split('.').filter(|key| !key.is_empty()) {
            let Some(entry) = node.entry(key) else { break };
            (node, at) = (&entry.node, entry.at);
        }
        at
    }

    /// Sets a dotted key that is absent or null; leaves what is there.
    pub(crate) fn set_default(&mut self, dotted: &str, text: &str) {
        let mut node = self;
        for key in dotted.split('.') {
            if matches!(node.value, Value::Null) {
                node.value = Value::Map(Vec::new());
            }
            let Value::Map(entries) = &mut node.value else {
                return;
            };
            let index = entries
                .iter()
                .position(|entry| entry.key == key)
                .unwrap_or_else(|| {
                    let value = Node {
                        at: Origin::Code,
                        value: Value::Null,
                    };
                    entries.push(Entry {
                        key: key.to_owned(),
                        at: Origin::Code,
                        node: value,
                    });
                    entries.len() - 1
                });
            node = &mut entries[index].node;
        }
        if matches!(node.value, Value::Null) {
            let scalar = Scalar {
                text: text.to_owned(),
                written: Written::Quoted,
            };
            *node = Node {
                at: Origin::Code,
                value: Value::Scalar(scalar),
            };
        }
    }

    /// Every scalar below this node.
    pub(crate) fn scalars<'a>(&'a self, found: &mut Vec<&'a Scalar>) {
        match &self.value {
            Value::Null => {}
            Value::Scalar(scalar) => found.push(scalar),
            Value::List(items) => items.iter().for_each(|item| item.scalars(found)),
            Value::Map(entries) => entries.iter().for_each(|entry| entry.node.scalars(found)),
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::Null => f.write_str("null"),
            Value::Scalar(_) => f.write_str("<value>"),
            Value::List(items) => f.debug_list().entries(items).finish(),
            Value::Map(entries) => f
                .debug_map()
                .entries(entries.iter().map(|e| (&e.key, &e.node)))
                .finish(),
        }
    }
}

/// Replaces every whole occurrence of a secret in a message, as it is or escaped, by `<value>`.
pub(crate) fn redact(mut message: String, secrets: &[&str]) -> String {
    // Shorter ones are no secrets, and parts of many words.
    let long = secrets.iter().filter(|secret| secret.len() >= 3);
    let mut secrets: Vec<String> = long
        .flat_map(|secret| [(*secret).to_owned(), secret.escape_debug().to_string()])
        .collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    for secret in &secrets {
        let mut from = 0;
        while let Some(at) = message[from..].find(secret.as_str()).map(|at| at + from) {
            let end = at + secret.len();
            let word = |c: char| c.is_alphanumeric() || c == '_';
            let starts_in_a_word = secret.starts_with(word) && message[..at].ends_with(word);
            let ends_in_a_word = secret.ends_with(word) && message[end..].starts_with(word);
            if starts_in_a_word || ends_in_a_word {
                from = at + secret.chars().next().map_or(1, char::len_utf8);
            } else {
                message.replace_range(at..end, "<value>");
                from = at + "<value>".len();
            }
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_taken_out_of_a_message_and_words_that_hold_it_stay() {
        let out = |message: &str, secrets: &[&str]| redact(message.to_owned(), secrets);
        assert_eq!(
            out("`abc` is not abc: abcd, xabc, abc", &["abc"]),
            "`<value>` is not <value>: abcd, xabc, <value>"
        );
        assert_eq!(out("bad \"a\\nb\\\"c\"", &["a\nb\"c"]), "bad \"<value>\"");
        assert_eq!(
            out("http://u:p@h!x", &["p@h!", "u:p@h!"]),
            "http://<value>x"
        );
        assert_eq!(out("abc abcdef", &["abc", "abcdef"]), "<value> <value>");
        assert_eq!(out("a whole number", &["a"]), "a whole number");
        assert_eq!(out("éé éé", &["éé"]), "<value> <value>");
    }
}
