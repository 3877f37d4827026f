//! Writes a checked program. It cannot fail: what could be wrong was refused before.
//!
//! `function` writes what surrounds the loop, `kernel` the loop and `graph` its description; `stub` stands in for a pipeline with errors. The user's tokens
//! go in as they came, never printed anew.

mod function;
mod graph;
mod inline;
mod kernel;
mod stub;
mod tokens;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};

use super::split::Form;
use super::{Outcome, Program};
use tokens::Root;

/// Braces around the value of a bare chain. Where items stand, rustc refuses them, at its first stage.
fn block(output: TokenStream, place: Option<Span>, root: Root<'_>) -> TokenStream {
    let mut block = Group::new(Delimiter::Brace, output);
    if let Some(place) = place {
        block.set_span(root.at(place));
    }
    TokenTree::Group(block).into()
}

/// The output of one call: the errors, then every pipeline, as function or as stub.
pub(super) fn program(program: &Program, errors: TokenStream) -> TokenStream {
    let root = Root::new(&program.root);
    let mut output = errors;
    for pipeline in &program.pipelines {
        output.extend(match pipeline {
            Outcome::Ready(plan) => function::pipeline(plan, program.form, root),
            Outcome::Stub(head) => stub::pipeline(head, root),
        });
    }
    match program.form {
        Form::Items => output,
        Form::Expression => block(output, program.place(), root),
    }
}
