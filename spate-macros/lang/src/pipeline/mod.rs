//! `pipeline!`: from the tokens of one call to the functions that it stands for.
//!
//! Three passes read and one writes: `split` cuts tokens into pipelines and links and cannot fail, `parse` reads each
//! stage on its own, `check` holds the result against the [`registry`], `expand` writes a checked `plan`. All findings go to one
//! collector; a pipeline with a finding is written as a stub of the same signature, so that its callers compile.

mod args;
mod ast;
mod body;
mod branch;
mod check;
mod cursor;
mod expand;
mod fragment;
mod input;
mod leaving;
mod link;
mod parse;
mod plan;
pub mod registry;
mod sight;
mod split;
mod stages;

use proc_macro2::TokenStream;

use crate::diagnostic::{Code, Diagnostic, Errors};
use crate::nesting;

/// What the procedural macro emits for `[$crate] [features] tokens`, the input as the front macro passes it.
///
/// The answer is a run of items, or one expression for a bare body. Errors are `compile_error!` calls in it, at the
/// user's tokens. It never panics, whatever the tokens are.
pub fn expand(input: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let program = analyse(input, &mut errors);
    let alone = errors.count() == 1;
    let found = errors.finish();
    match program {
        // One error is an item and an expression: where a bare chain should have had a name, it would be lost in a block.
        Some(program) if !(alone && program.form == split::Form::Expression) => {
            expand::program(&program, found)
        }
        _ => found,
    }
}

/// What [`expand`] would report for the same input, in source order.
pub fn diagnose(input: TokenStream) -> Vec<Diagnostic> {
    let mut errors = Errors::new();
    analyse(input, &mut errors);
    errors.into_vec()
}

/// One macro call, read and checked.
struct Program {
    /// The tokens that name the facade, as received.
    root: TokenStream,
    form: split::Form,
    pipelines: Vec<Outcome>,
}

impl Program {
    /// The first stage, if it is known.
    fn place(&self) -> Option<proc_macro2::Span> {
        match self.pipelines.first()? {
            Outcome::Ready(plan) => Some(plan.source.node.span),
            Outcome::Stub(_) => None,
        }
    }
}

/// A pipeline that can be written, or what its stub needs.
enum Outcome {
    Ready(Box<plan::Plan>),
    Stub(ast::Head),
}

/// `None` when the call did not come through the front macro, or holds what cannot be read by recursion.
fn analyse(input: TokenStream, errors: &mut Errors) -> Option<Program> {
    let input = input::read(input, errors)?;
    if let Some(span) = nesting::too_deep(cursor::stream(&input.tokens), true) {
        errors.push(Diagnostic::new(
            Code::BrokenExpression,
            span,
            nesting::message(),
        ));
        return None;
    }
    let block = split::split(&input.tokens, errors);
    let pipelines = block.pipelines.into_iter().map(|raw| {
        let ast = parse::pipeline(raw, errors);
        let head = ast.head.clone();
        check::pipeline(ast, &input.features, errors)
            .map_or(Outcome::Stub(head), |plan| Outcome::Ready(Box::new(plan)))
    });
    let pipelines = pipelines.collect();
    Some(Program {
        root: input.root,
        form: block.form,
        pipelines,
    })
}
