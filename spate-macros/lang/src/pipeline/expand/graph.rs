//! The graph as constant data: every stage, branch and drop as a node, and what leads from one to the next.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote_spanned;

use super::tokens::Root;
use crate::pipeline::plan::{End, Node, Plan, Policy, Tail, Target};

/// A node, the mark of its kind if it is no transform, and the arm that begins with it: the index of the branch, and the pattern or the name.
struct Entry<'a> {
    node: &'a Node,
    kind: Option<&'static str>,
    arm: Option<(usize, String)>,
}

/// All nodes in the order of the text, which is the order of their indexes.
fn entries(plan: &Plan) -> Vec<Entry<'_>> {
    let front = [
        (&plan.source.node, Some("Source")),
        (&plan.decoder.node, Some("Decoder")),
    ];
    let mut entries: Vec<_> = front
        .into_iter()
        .map(|(node, kind)| Entry {
            node,
            kind,
            arm: None,
        })
        .collect();
    tail(&plan.tail, None, &mut entries);
    entries
}

fn tail<'a>(tail: &'a Tail, mut arm: Option<(usize, String)>, entries: &mut Vec<Entry<'a>>) {
    let mut push = |node: &'a Node, kind| {
        let arm = arm.take();
        entries.push(Entry { node, kind, arm });
    };
    for step in &tail.transforms {
        push(&step.node, None);
    }
    match &tail.end {
        End::Sink(sink) => push(&sink.node, Some("Sink")),
        End::Route(route) => {
            push(&route.node, Some("Branch"));
            for route_arm in &route.arms {
                let arm = Some((route.node.index, readable(&route_arm.pattern)));
                match &route_arm.target {
                    Target::Chain(chain) => self::tail(chain, arm, entries),
                    Target::Drop(node) => entries.push(Entry {
                        node,
                        kind: Some("Drop"),
                        arm,
                    }),
                }
            }
        }
        End::Tee(tee) => {
            push(&tee.node, Some("Branch"));
            for (name, chain) in &tee.arms {
                self::tail(chain, Some((tee.node.index, arm_name(name))), entries);
            }
        }
    }
}

/// The graph, in a block of its own so that its names hide nothing of the user's: nothing of theirs is in it but text.
pub(super) fn constant(plan: &Plan, root: Root<'_>) -> TokenStream {
    let place = plan.source.node.span;
    let span = root.at(place);
    let title = &plan.title;
    let entries = entries(plan);
    let stages = entries.iter().map(|entry| entry.stage(root));
    let early = plan.pushdown.as_ref().map(|pushdown| &pushdown.fields);
    let marks = entries.iter().enumerate().map(|(n, entry)| {
        // The first transform stands behind source and decoder.
        let early = early.filter(|_| n == 2);
        entry.marks(early.map_or(&[], Vec::as_slice), root)
    });
    let (graph, mark) = (root.private("Graph", place), root.private("Mark", place));
    quote_spanned! {span=>
        {
            use #graph;
            use #mark;
            static GRAPH: Graph = Graph::new(#title, &[#(#stages),*], &[#(#marks)*]);
            &GRAPH
        }
    }
}

impl Entry<'_> {
    fn stage(&self, root: Root<'_>) -> TokenStream {
        let Node { name, stage, .. } = self.node;
        let line = u32::try_from(self.node.span.start().line).unwrap_or_default();
        let line = Literal::u32_unsuffixed(line);
        let span = root.at(self.node.span);
        quote_spanned!(span=> (#name, #stage, #line))
    }

    /// What is different from a transform that cannot fail and follows the one before.
    fn marks(&self, early: &[String], root: Root<'_>) -> TokenStream {
        let span = root.at(self.node.span);
        let index = Literal::usize_unsuffixed(self.node.index);
        let mut marks = TokenStream::new();
        let mut add = |mark: &str, of: TokenStream| {
            let mark = Ident::new(mark, span);
            marks.extend(quote_spanned!(span=> (#index, Mark::#mark #of),));
        };
        if let Some(kind) = self.kind {
            add(kind, TokenStream::new());
        }
        match self.node.on_error {
            None => {}
            Some(Policy::Fail) => add("Fail", TokenStream::new()),
            Some(Policy::Skip) => add("Skip", TokenStream::new()),
        }
        if let Some((branch, label)) = &self.arm {
            let branch = Literal::usize_unsuffixed(*branch);
            add("Arm", quote_spanned!(span=> (#branch, #label)));
        }
        if !early.is_empty() {
            add("Early", quote_spanned!(span=> (&[#(#early),*])));
        }
        marks
    }
}

/// The chain in one line, for the function's documentation.
pub(super) fn text(plan: &Plan) -> String {
    let front = format!("{} -> {}", plan.source.node.stage, plan.decoder.node.stage);
    format!("{front} -> {}", tail_text(&plan.tail))
}

fn tail_text(tail: &Tail) -> String {
    let transforms = tail.transforms.iter().map(|step| step.node.stage.clone());
    let end = match &tail.end {
        End::Sink(sink) => sink.node.stage.clone(),
        End::Route(route) => {
            let arms = route.arms.iter().map(|arm| {
                let target = match &arm.target {
                    Target::Chain(tail) => tail_text(tail),
                    Target::Drop(node) => node.stage.clone(),
                };
                format!("{} => {target}", readable(&arm.pattern))
            });
            format!("route {{ {} }}", arms.collect::<Vec<_>>().join(", "))
        }
        End::Tee(tee) => {
            let arms = tee
                .arms
                .iter()
                .map(|(name, tail)| format!("{}: {}", arm_name(name), tail_text(tail)));
            format!("tee {{ {} }}", arms.collect::<Vec<_>>().join(", "))
        }
    };
    transforms.chain([end]).collect::<Vec<_>>().join(" -> ")
}

/// `r#type` is called `type`.
fn arm_name(name: &Ident) -> String {
    name.to_string().trim_start_matches("r#").to_owned()
}

/// Tokens as somebody would have written them: without the spaces that printing puts around marks.
fn readable(tokens: &TokenStream) -> String {
    let mut text = tokens.to_string();
    for (printed, written) in [
        (" :: ", "::"),
        (" ::", "::"),
        ("( ", "("),
        (" (", "("),
        (" )", ")"),
        (" ,", ","),
        (" . ", "."),
        ("& ", "&"),
        (" ..= ", "..="),
        (" !", "!"),
    ] {
        text = text.replace(printed, written);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
