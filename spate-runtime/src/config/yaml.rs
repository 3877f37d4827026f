//! YAML text to a [`Node`] tree: positions kept, duplicate keys refused, variables replaced in scalar values only.
//!
//! One document, keys that are plain texts, anchors without merge keys, no tags but `!!str`. What is refused says so.

use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

use super::env::{Lookup, interpolate};
use super::error::ConfigError;
use super::node::{Entry, Node, Origin, Scalar, Value, Written};
use super::syntax;

/// The longest configuration that is read, in bytes.
pub(crate) const MAX_TEXT: usize = 1 << 20;
/// The most values that a configuration may hold, aliases counted each time: a short text cannot grow without end.
const MAX_NODES: usize = 20_000;
/// The most bytes that aliases may repeat.
const MAX_REPEATED: usize = 16 << 20;
/// The deepest nesting of mappings and lists.
const MAX_DEPTH: usize = 64;

/// Parses the one document of a text; an empty text is null.
///
/// # Errors
/// With the position of what is wrong.
pub(crate) fn parse(text: &str, file: &Arc<str>, env: Lookup<'_>) -> Result<Node, ConfigError> {
    let mut builder = Builder {
        file,
        env,
        open: Vec::new(),
        root: None,
        documents: 0,
        anchors: HashMap::new(),
        nodes: 0,
        repeated: 0,
    };
    if text.len() > MAX_TEXT {
        return Err(builder.error(
            Origin::Absent,
            format!("the configuration is longer than {MAX_TEXT} bytes"),
        ));
    }
    let options =
        granit_parser::options! { block_nesting_limit: MAX_DEPTH, flow_nesting_limit: MAX_DEPTH };
    for event in Parser::new_from_str_with_options(text, options) {
        match event {
            Ok((event, span)) => builder.event(event, span)?,
            Err(error) => return Err(builder.syntax(&error, text)),
        }
    }
    Ok(builder.root.unwrap_or(Node {
        at: Origin::Absent,
        value: Value::Null,
    }))
}

/// A mapping or list that is not closed yet.
struct Open {
    at: Origin,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        key: Option<(String, Origin)>,
    },
}

struct Builder<'a> {
    file: &'a Arc<str>,
    env: Lookup<'a>,
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
    anchors: HashMap<usize, (Node, Size)>,
    nodes: usize,
    repeated: usize,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), ConfigError> {
        let at = origin(&span);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(self.error(
                        at,
                        "a second document begins here; a configuration is one document",
                    ));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                if self.expects_key() {
                    self.key(&text, style, tag.is_some(), at)?;
                    return Ok(());
                }
                let as_text = self.tag(tag.as_deref(), at)?;
                let value = self.scalar(&text, style, as_text, at)?;
                self.value(Node { at, value }, anchor, 1)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.open(at, anchor, tag.as_deref(), Content::List(Vec::new()))?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.open(
                    at,
                    anchor,
                    tag.as_deref(),
                    Content::Map {
                        entries: Vec::new(),
                        key: None,
                    },
                )?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else {
                    return Ok(());
                };
                let value = match open.content {
                    Content::List(items) => Value::List(items),
                    Content::Map { entries, .. } => Value::Map(entries),
                };
                self.value(Node { at: open.at, value }, open.anchor, 1)?;
            }
            Event::Alias(id) => {
                if self.expects_key() {
                    return Err(self.error(at, "an alias cannot be a key; write the key out"));
                }
                let Some((node, size)) = self.anchors.get(&id) else {
                    return Err(self.error(at, "an alias inside the value that its anchor names"));
                };
                self.repeated += size.bytes;
                if self.repeated > MAX_REPEATED {
                    return Err(
                        self.error(at, format!("aliases repeat more than {MAX_REPEATED} bytes"))
                    );
                }
                let (mut node, nodes) = (node.clone(), size.nodes);
                node.at = at;
                self.value(node, 0, nodes)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn expects_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                content: Content::Map { key: None, .. },
                ..
            })
        )
    }

    fn key(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tagged: bool,
        at: Origin,
    ) -> Result<(), ConfigError> {
        if tagged {
            return Err(self.error(at, "a key cannot have a tag"));
        }
        if text == "<<" && style == ScalarStyle::Plain {
            return Err(self.error(
                at,
                "merge keys (`<<`) are not supported; write the settings out",
            ));
        }
        if text.is_empty() || (text == "~" && style == ScalarStyle::Plain) {
            return Err(self.error(at, "a key is missing before the `:`"));
        }
        if text.contains("${") {
            return Err(self.error(at, "variables are replaced in values, not in keys"));
        }
        if let Some(Open {
            content: Content::Map { entries, key },
            ..
        }) = self.open.last_mut()
        {
            let first = entries
                .iter()
                .find(|entry| entry.key == text)
                .map(|entry| entry.at);
            *key = Some((text.to_owned(), at));
            if let Some(Origin::File { line, .. }) = first {
                return Err(self.error(at, format!("set twice; the first time in line {line}")));
            }
        }
        Ok(())
    }

    /// Whether the tag makes a text of the value.
    fn tag(&self, tag: Option<&Tag>, at: Origin) -> Result<bool, ConfigError> {
        match tag {
            None => Ok(false),
            Some(tag) if tag.is_yaml_core_schema_tag("str") => Ok(true),
            Some(_) => {
                Err(self.error(at, "a value that begins with `!` is a YAML tag, which is not supported; put it in quotes"))
            }
        }
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        as_text: bool,
        at: Origin,
    ) -> Result<Value, ConfigError> {
        let plain = style == ScalarStyle::Plain && !as_text;
        if plain && matches!(text, "" | "~" | "null" | "Null" | "NULL") {
            return Ok(Value::Null);
        }
        let (text, replaced) =
            interpolate(text, self.env).map_err(|message| self.error(at, message))?;
        let written = match (replaced, plain) {
            (true, _) => Written::Environment,
            (false, true) => Written::Plain,
            (false, false) => Written::Quoted,
        };
        Ok(Value::Scalar(Scalar { text, written }))
    }

    fn open(
        &mut self,
        at: Origin,
        anchor: usize,
        tag: Option<&Tag>,
        content: Content,
    ) -> Result<(), ConfigError> {
        if self.expects_key() {
            return Err(self.error(
                at,
                "a key must be a text, not a mapping or a list; put a value that begins with \
                                       `{` or `[` in quotes",
            ));
        }
        if tag.is_some() {
            return Err(self.error(at, "YAML tags are not supported"));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(self.error(at, "nested too deep"));
        }
        self.open.push(Open {
            at,
            anchor,
            content,
        });
        Ok(())
    }

    /// Puts a finished value where it belongs.
    fn value(&mut self, node: Node, anchor: usize, nodes: usize) -> Result<(), ConfigError> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            return Err(self.error(node.at, format!("more than {MAX_NODES} values")));
        }
        if anchor != 0 {
            let mut size = Size { nodes: 0, bytes: 0 };
            measure(&node, &mut size);
            self.anchors.insert(anchor, (node.clone(), size));
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open {
                content: Content::List(items),
                ..
            }) => items.push(node),
            Some(Open {
                content: Content::Map { entries, key },
                ..
            }) => {
                if let Some((key, at)) = key.take() {
                    let node = if matches!(node.value, Value::Null) {
                        Node { at, ..node }
                    } else {
                        node
                    };
                    entries.push(Entry { key, at, node });
                }
            }
        }
        Ok(())
    }

    fn error(&self, at: Origin, message: impl Into<String>) -> ConfigError {
        ConfigError::new(Some(self.file.clone()), at, self.path(), message)
    }

    /// The dotted path of what is being read.
    fn path(&self) -> String {
        let mut path = String::new();
        for open in &self.open {
            match &open.content {
                Content::List(items) => path.push_str(&format!("[{}]", items.len())),
                Content::Map {
                    key: Some((key, _)),
                    ..
                } => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                }
                Content::Map { key: None, .. } => {}
            }
        }
        path
    }

    fn syntax(&self, error: &ScanError, text: &str) -> ConfigError {
        let marker = error.marker();
        let at = Origin::File {
            line: small(marker.line()),
            column: small(marker.col() + 1),
        };
        let line = text.lines().nth(marker.line().saturating_sub(1));
        let message = syntax::message(error.kind(), line.unwrap_or_default());
        self.error(at, message)
    }
}

fn origin(span: &Span) -> Origin {
    let start = span.tag_start.unwrap_or(span.start);
    Origin::File {
        line: small(start.line()),
        column: small(start.col() + 1),
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What one more copy of a value costs.
struct Size {
    nodes: usize,
    bytes: usize,
}

fn measure(node: &Node, size: &mut Size) {
    size.nodes += 1;
    match &node.value {
        Value::Null => {}
        Value::Scalar(scalar) => size.bytes += scalar.text.len(),
        Value::List(items) => items.iter().for_each(|item| measure(item, size)),
        Value::Map(entries) => entries.iter().for_each(|entry| {
            size.bytes += entry.key.len();
            measure(&entry.node, size);
        }),
    }
}
