//! The pipeline's graph as constant data: what the macro knows of the stages, for metrics, errors and `--graph`.

use std::fmt::Write as _;

/// A pipeline's stages in the order in which a record meets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graph {
    /// The pipeline's name.
    pub name: &'static str,
    /// The stages; errors and counters name a stage by its index here.
    pub nodes: &'static [Node],
}

/// One stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// The label, or a name made from the stage: unique within the pipeline.
    pub name: &'static str,
    /// The stage as written: `kafka`, `filter`.
    pub stage: &'static str,
    /// What the stage does.
    pub kind: NodeKind,
    /// The error policy, for a stage that can fail.
    pub on_error: Option<OnError>,
    /// The source line of the stage.
    pub line: u32,
}

/// The part that a stage plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// Where records come from.
    Source,
    /// Bytes to records.
    Decoder,
    /// Records to records.
    Transform,
    /// Where rows go.
    Sink,
}

/// What happens to a record whose stage failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// The pipeline stops; nothing past the record is committed.
    Fail,
    /// The record is dropped, counted and logged.
    Skip,
}

impl Graph {
    /// The graph in Mermaid's flowchart language.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n");
        for (i, node) in self.nodes.iter().enumerate() {
            let (open, close) = match node.kind {
                NodeKind::Source | NodeKind::Sink => ("[(", ")]"),
                NodeKind::Decoder => ("[/", "/]"),
                NodeKind::Transform => ("[", "]"),
            };
            let label = if node.name == node.stage {
                node.name.to_owned()
            } else {
                format!("{}: {}", node.name, node.stage)
            };
            let policy = match node.on_error {
                Some(OnError::Skip) => "<br/>on_error = skip",
                _ => "",
            };
            // Writing to a String cannot fail.
            let _ = writeln!(out, "    s{i}{open}\"{label}{policy}\"{close}");
        }
        for i in 1..self.nodes.len() {
            let _ = writeln!(out, "    s{} --> s{i}", i - 1);
        }
        out
    }
}
