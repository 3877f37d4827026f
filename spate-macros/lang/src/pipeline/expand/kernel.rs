//! The fused loop: what becomes of one record, from its payload to its row.
//!
//! Every stage is one call of an inlined helper at a concrete lifetime, so closures without annotations infer, records may
//! borrow from the batch, and rustc's errors land on the stage.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::tokens::Root;
use crate::pipeline::plan::{Call, Function, Node, Plan, Policy, TransformStep};
use crate::pipeline::registry::Transform;
use crate::pipeline::split::Form;

/// The closure that `drive` runs over every batch. Variables of its surroundings: `decoder`, `decode`, `sink0`.
pub(super) fn closure(plan: &Plan, form: Form, root: Root<'_>) -> TokenStream {
    let mut body = encode(plan, root);
    for (n, step) in plan.transforms.iter().enumerate().rev() {
        body = transform(step, n + 2, body, form, root);
    }
    let decode = decode(plan, root);
    let place = plan.source.node.span;
    let span = root.at(place);
    let (batch, output) = (root.private("Batch", place), root.private("Output", place));
    quote_spanned! {span=>
        |batch: &#batch<'_>, out: &mut #output| {
            for record in batch.records() {
                out.begin(record);
                #decode
                #body
            }
            ::core::result::Result::Ok(())
        }
    }
}

fn decode(plan: &Plan, root: Root<'_>) -> TokenStream {
    let node = &plan.decoder.node;
    let span = root.at(node.span);
    let helper = root.private("stage::decode", node.span);
    let call = quote_spanned!(span=> #helper(decoder, &mut decode, record));
    let decoded = or_else(call, node, 1, root);
    quote_spanned! {span=>
        if record.is_tombstone() {
            out.tombstone(1usize);
            continue;
        }
        #decoded
    }
}

fn encode(plan: &Plan, root: Root<'_>) -> TokenStream {
    let node = &plan.sink.node;
    let span = root.at(node.span);
    let n = plan.transforms.len() + 2;
    let helper = root.private("stage::encode", node.span);
    let failed = failed(node, n, root);
    quote_spanned! {span=>
        out.enter(#n);
        if let ::core::result::Result::Err(e) = #helper(sink0, &r, record, out.sink(0usize)) {
            #failed
        }
    }
}

/// One transform and all that is behind it.
fn transform(
    step: &TransformStep,
    n: usize,
    rest: TokenStream,
    form: Form,
    root: Root<'_>,
) -> TokenStream {
    let node = &step.node;
    let span = root.at(node.span);
    let (which, function) = match &step.call {
        Call::Own { path, args } => {
            let call = quote_spanned!(span=> #path(r #(, #args)*));
            return quote_spanned!(span=> out.enter(#n); let r = #call; #rest);
        }
        Call::Stage(which, function) => (*which, function),
    };
    let call = |by_reference: bool| call(&step.node, function, by_reference, form, root);
    let step = match which {
        Transform::Map => {
            let call = call(false);
            quote_spanned!(span=> let r = #call;)
        }
        Transform::Filter => {
            let call = call(true);
            quote_spanned! {span=>
                if !#call {
                    out.drop_record(#n);
                    continue;
                }
            }
        }
        Transform::Inspect => {
            let call = call(true);
            quote_spanned!(span=> #call;)
        }
        Transform::FilterMap => {
            let call = call(false);
            quote_spanned! {span=>
                let ::core::option::Option::Some(r) = #call else {
                    out.drop_record(#n);
                    continue;
                };
            }
        }
        Transform::TryMap => or_else(call(false), node, n, root),
        Transform::FlatMap => {
            let call = call(false);
            // The iterator may run user code, so each turn enters the stage again; a `continue` ends the child alone.
            return quote_spanned! {span=>
                out.enter(#n);
                out.expand(#n);
                let mut children = #call;
                loop {
                    out.enter(#n);
                    let ::core::option::Option::Some(r) = ::core::iter::Iterator::next(&mut children) else { break };
                    out.child(#n);
                    #rest
                }
            };
        }
    };
    quote_spanned!(span=> out.enter(#n); #step #rest)
}

/// The helper's call: record, metadata if the closure takes it, the user's tokens.
fn call(
    node: &Node,
    function: &Function,
    by_reference: bool,
    form: Form,
    root: Root<'_>,
) -> TokenStream {
    let span = root.at(node.span);
    let record = if by_reference {
        quote_spanned!(span=> &r)
    } else {
        quote_spanned!(span=> r)
    };
    let tokens = &function.tokens;
    let stage = node.stage.as_str();
    if function.with_meta {
        let helper = root.private(&format!("stage::{stage}_with"), node.span);
        return quote_spanned!(span=> #helper(#record, batch.meta(record), #tokens));
    }
    let helper = root.private(&format!("stage::{stage}"), node.span);
    // In a bare body the name may be a closure of the surrounding function. By reference it keeps its state between
    // records, or is refused where it would have to change it.
    let borrow = (function.is_name && form == Form::Expression).then(|| quote_spanned!(span=> &));
    quote_spanned!(span=> #helper(#record, #borrow #tokens))
}

/// Binds the value of a call that can fail, or does what the stage's policy says.
///
/// The value is assigned, not returned from the match: as the value of a match with an arm that never returns, a type that
/// nobody names would be taken for `!`, and rustc would say something odd in place of "type annotations needed".
fn or_else(call: TokenStream, node: &Node, n: usize, root: Root<'_>) -> TokenStream {
    let span = root.at(node.span);
    let failed = failed(node, n, root);
    quote_spanned! {span=>
        let value;
        match #call {
            ::core::result::Result::Ok(ok) => value = ok,
            ::core::result::Result::Err(e) => { #failed }
        }
        let r = value;
    }
}

fn failed(node: &Node, n: usize, root: Root<'_>) -> TokenStream {
    let span = root.at(node.span);
    match node.on_error {
        Some(Policy::Skip) => quote_spanned!(span=> out.skip(#n, e); continue;),
        Some(Policy::Fail) => {
            quote_spanned!(span=> return ::core::result::Result::Err(out.fail(#n, e));)
        }
        // A decoder that cannot fail has an error type all the same; if it fails, that is never silent.
        None => quote_spanned!(span=> return ::core::result::Result::Err(out.fail(#n, e));),
    }
}
