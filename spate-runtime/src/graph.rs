//! The pipeline's graph as constant data: what the macro knows of the stages, for metrics, errors and `--graph`.

use std::fmt::Write as _;

/// A pipeline's stages in the order of its text.
///
/// It is constant data, and small for rustc: most stages are transforms that cannot fail and follow the one before, so a
/// stage is three literals, and what is different about one is a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graph {
    /// The pipeline's name.
    pub name: &'static str,
    stages: &'static [(&'static str, &'static str, u32)],
    marks: &'static [(usize, Mark)],
}

/// What sets a stage apart from a transform that cannot fail and follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A source.
    Source,
    /// A decoder.
    Decoder,
    /// A sink.
    Sink,
    /// `route` or `tee`.
    Branch,
    /// An arm of `route` that ends the record.
    Drop,
    /// A record that fails here stops the pipeline.
    Fail,
    /// A record that fails here is skipped.
    Skip,
    /// An arm of the branch with that index begins here, under that pattern or name.
    Arm(usize, &'static str),
    /// A filter that is asked once these fields are decoded.
    Early(&'static [&'static str]),
}

/// A way from one node to another, by their indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Where a record comes from.
    pub from: usize,
    /// Where it goes.
    pub to: usize,
    /// Behind a branch: the pattern of `route`, the arm's name of `tee`; empty elsewhere.
    pub label: &'static str,
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
    /// The arm of a branch that begins here; `None` for a stage that follows the one before it.
    pub arm: Option<Arm>,
    /// For a filter that is asked before the rest of the record is decoded: the fields that it looks at. Empty for any other stage.
    pub early: &'static [&'static str],
}

/// How an arm leaves its branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arm {
    /// The index of the branch.
    pub branch: usize,
    /// The pattern of `route`, or the arm's name of `tee`.
    pub label: &'static str,
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
    /// One record to one of several chains, or to all of them.
    Branch,
    /// An arm of `route` that ends the record.
    Drop,
}

/// What happens to a record whose stage failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// The pipeline stops; nothing past the record is committed.
    Fail,
    /// The record is dropped, counted and logged.
    Skip,
}

impl Node {
    fn mark(&mut self, mark: Mark) {
        match mark {
            Mark::Source => self.kind = NodeKind::Source,
            Mark::Decoder => self.kind = NodeKind::Decoder,
            Mark::Sink => self.kind = NodeKind::Sink,
            Mark::Branch => self.kind = NodeKind::Branch,
            Mark::Drop => self.kind = NodeKind::Drop,
            Mark::Fail => self.on_error = Some(OnError::Fail),
            Mark::Skip => self.on_error = Some(OnError::Skip),
            Mark::Arm(branch, label) => self.arm = Some(Arm { branch, label }),
            Mark::Early(fields) => self.early = fields,
        }
    }
}

impl Node {
    /// The name, with the stage where the name is a label.
    fn title(&self) -> String {
        let own = self.name == self.stage || self.kind == NodeKind::Drop;
        if own {
            self.name.to_owned()
        } else {
            format!("{}: {}", self.name, self.stage)
        }
    }

    /// What is worth a line below the title.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.on_error == Some(OnError::Skip) {
            remarks.push("on_error = skip".to_owned());
        }
        if !self.early.is_empty() {
            remarks.push(format!("asked after {}", self.early.join(", ")));
        }
        remarks
    }
}

impl Graph {
    /// A graph of stages, each with its name, itself as written and its line, and of marks by the stages' indexes.
    #[must_use]
    pub const fn new(
        name: &'static str,
        stages: &'static [(&'static str, &'static str, u32)],
        marks: &'static [(usize, Mark)],
    ) -> Graph {
        Graph {
            name,
            stages,
            marks,
        }
    }

    /// How many stages there are.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a pipeline has stages")]
    pub fn len(&self) -> usize {
        self.stages.len()
    }

    /// The stage of that index, by which errors and counters name it.
    #[must_use]
    pub fn node(&self, index: usize) -> Option<Node> {
        let (name, stage, line) = *self.stages.get(index)?;
        let mut node = Node {
            name,
            stage,
            kind: NodeKind::Transform,
            on_error: None,
            line,
            arm: None,
            early: &[],
        };
        let marks = self.marks.iter().filter(|(of, _)| *of == index);
        marks.for_each(|(_, mark)| node.mark(*mark));
        Some(node)
    }

    /// The stages in the order of the text.
    pub fn nodes(&self) -> impl Iterator<Item = Node> {
        (0..self.len()).filter_map(|index| self.node(index))
    }

    /// What leads from one node to the next.
    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        let from = |(to, node): (usize, Node)| {
            let (from, label) = match node.arm {
                Some(arm) => (arm.branch, arm.label),
                // The first node is a source, which nothing leads to.
                None => (to.checked_sub(1)?, ""),
            };
            Some(Edge { from, to, label })
        };
        self.nodes().enumerate().filter_map(from)
    }

    /// The graph in [Mermaid's flowchart language](https://mermaid.js.org/syntax/flowchart.html).
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        // Quotes would end a label; Mermaid takes entity codes in their place.
        let escape = |text: &str| text.replace('&', "#amp;").replace('"', "#quot;");
        let mut out = String::from("flowchart LR\n");
        for (i, node) in self.nodes().enumerate() {
            let (open, close) = match node.kind {
                NodeKind::Source | NodeKind::Sink => ("[(", ")]"),
                NodeKind::Decoder => ("[/", "/]"),
                NodeKind::Transform => ("[", "]"),
                NodeKind::Branch => ("{", "}"),
                NodeKind::Drop => ("([", "])"),
            };
            let remarks: String = node
                .remarks()
                .iter()
                .map(|remark| format!("<br/>{}", escape(remark)))
                .collect();
            // Writing to a String cannot fail.
            let _ = writeln!(
                out,
                "    s{i}{open}\"{}{remarks}\"{close}",
                escape(&node.title())
            );
        }
        for Edge { from, to, label } in self.edges() {
            let label = match label {
                "" => String::new(),
                label => format!("|\"{}\"|", escape(label)),
            };
            let _ = writeln!(out, "    s{from} -->{label} s{to}");
        }
        out
    }

    /// The graph in [Graphviz' language](https://graphviz.org/doc/info/lang.html).
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut out = format!("digraph {:?} {{\n    rankdir=LR\n", self.name);
        for (i, node) in self.nodes().enumerate() {
            let shape = match node.kind {
                NodeKind::Source | NodeKind::Sink => "cylinder",
                NodeKind::Decoder => "parallelogram",
                NodeKind::Transform => "box",
                NodeKind::Branch => "diamond",
                NodeKind::Drop => "oval",
            };
            let remarks: String = node
                .remarks()
                .iter()
                .map(|remark| format!("\n{remark}"))
                .collect();
            let label = format!("{}{remarks}", node.title());
            let _ = writeln!(out, "    s{i} [shape={shape}, label={label:?}]");
        }
        for Edge { from, to, label } in self.edges() {
            let label = match label {
                "" => String::new(),
                label => format!(" [label={label:?}]"),
            };
            let _ = writeln!(out, "    s{from} -> s{to}{label}");
        }
        out.push_str("}\n");
        out
    }

    /// The graph as text: one stage a line, the arms of a branch below it.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = format!("{}\n", self.name);
        let mut depth = vec![1usize; self.len()];
        for (i, node) in self.nodes().enumerate() {
            let (arrow, arm) = match node.arm {
                Some(Arm { branch, label }) => {
                    depth[i] = depth[branch] + 1;
                    ("-> ", format!("[{label}] "))
                }
                None if i == 0 => ("", String::new()),
                None => {
                    depth[i] = depth[i - 1];
                    ("-> ", String::new())
                }
            };
            let remarks: String = node
                .remarks()
                .iter()
                .map(|remark| format!(" ({remark})"))
                .collect();
            let indent = "    ".repeat(depth[i]);
            let _ = writeln!(out, "{indent}{arrow}{arm}{}{remarks}", node.title());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static GRAPH: Graph = Graph::new(
        "orders",
        &[
            ("kafka", "kafka", 1),
            ("avro", "avro", 2),
            ("route", "route", 3),
            ("paid", "filter", 4),
            ("clickhouse", "clickhouse", 4),
            ("route.2", "drop", 5),
        ],
        &[
            (0, Mark::Source),
            (1, Mark::Decoder),
            (1, Mark::Skip),
            (2, Mark::Branch),
            (3, Mark::Arm(2, "\"EU\" | \"UK\"")),
            (4, Mark::Sink),
            (4, Mark::Fail),
            (5, Mark::Drop),
            (5, Mark::Arm(2, "_")),
        ],
    );

    #[test]
    fn a_branch_is_drawn_with_its_patterns_in_every_language() {
        assert_eq!(
            GRAPH.to_text(),
            "orders\n    kafka\n    -> avro (on_error = skip)\n    -> route\n        -> [\"EU\" | \"UK\"] paid: filter\n        \
             -> clickhouse\n        -> [_] route.2\n"
        );
        let mermaid = GRAPH.to_mermaid();
        for line in [
            "    s1[/\"avro<br/>on_error = skip\"/]",
            "    s2{\"route\"}",
            "    s2 -->|\"#quot;EU#quot; | #quot;UK#quot;\"| s3",
            "    s5([\"route.2\"])",
            "    s3 --> s4",
        ] {
            assert!(
                mermaid.lines().any(|other| other == line),
                "{line}\n{mermaid}"
            );
        }
        let dot = GRAPH.to_dot();
        for line in [
            "    s2 [shape=diamond, label=\"route\"]",
            "    s1 [shape=parallelogram, label=\"avro\\non_error = skip\"]",
            "    s2 -> s3 [label=\"\\\"EU\\\" | \\\"UK\\\"\"]",
        ] {
            assert!(dot.lines().any(|other| other == line), "{line}\n{dot}");
        }
    }
}
