//! The fused loop: what becomes of one record, from its payload to its row.
//!
//! Every stage is one call of an inlined helper at a concrete lifetime, so closures without annotations infer, records may
//! borrow from the batch, and rustc's errors land on the stage.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use super::inline;
use super::tokens::Root;
use crate::pipeline::ast::Inline;
use crate::pipeline::leaving::{Condition, conditions, guard, may_leave};
use crate::pipeline::plan::{
    Call, End, Function, Node, Plan, Policy, Pushdown, RouteStep, SinkStep, Target, TeeStep,
    TransformStep,
};
use crate::pipeline::registry::Transform;
use crate::pipeline::split::Form;

/// What is the same for every stage of one kernel.
#[derive(Clone, Copy)]
struct Writer<'a> {
    form: Form,
    root: Root<'a>,
}

/// Where the record ends when a stage ends it: at the next record or child, or at the end of an arm.
#[derive(Clone, Copy)]
enum Leave<'a> {
    Continue,
    Arm(&'a Ident),
    /// Nothing follows: no word is needed, and clippy would call one redundant.
    End,
}

/// The closure that `drive` runs over every batch. Variables of its surroundings: `decoder`, `decode`, `sink0` and so on.
pub(super) fn closure(plan: &Plan, form: Form, root: Root<'_>) -> TokenStream {
    let writer = Writer { form, root };
    let body = match &plan.pushdown {
        Some(pushdown) => writer.early_filter(plan, pushdown),
        None => {
            let (decode, body) = (
                decode(plan, writer),
                writer.tail(
                    plan.decoder.node.span,
                    &plan.tail.transforms,
                    &plan.tail.end,
                    Leave::Continue,
                ),
            );
            quote::quote!(#decode #body)
        }
    };
    let tombstone = tombstone(plan, root);
    let place = plan.source.node.span;
    let span = root.at(place);
    let (batch, output) = (root.private("Batch", place), root.private("Output", place));
    quote_spanned! {span=>
        |batch: &#batch<'_>, out: &mut #output| {
            for record in batch.records() {
                out.begin(record);
                #tombstone
                #body
            }
            ::core::result::Result::Ok(())
        }
    }
}

/// A stage's number, as somebody would write it.
fn index(node: &Node) -> Literal {
    Literal::usize_unsuffixed(node.index)
}

/// The variable that holds the witness of a sink.
pub(super) fn sink_variable(step: &SinkStep, root: Root<'_>) -> Ident {
    format_ident!("sink{}", step.slot, span = root.at(step.node.span))
}

fn tombstone(plan: &Plan, root: Root<'_>) -> TokenStream {
    let node = &plan.decoder.node;
    let (n, span) = (index(node), root.at(node.span));
    quote_spanned! {span=>
        if record.is_tombstone() {
            out.tombstone(#n);
            continue;
        }
    }
}

fn decode(plan: &Plan, writer: Writer<'_>) -> TokenStream {
    let node = &plan.decoder.node;
    let root = writer.root;
    let span = root.at(node.span);
    let helper = root.private("stage::decode", node.span);
    let call = quote_spanned!(span=> #helper(decoder, &mut decode, record, batch.scratch()));
    writer.or_else(call, node, Leave::Continue)
}

impl Writer<'_> {
    /// Decodes the fields that the first filter looks at, asks it, and decodes the rest of what passes.
    fn early_filter(self, plan: &Plan, pushdown: &Pushdown) -> TokenStream {
        let (node, root) = (&plan.decoder.node, self.root);
        let span = root.at(node.span);
        let helper = |name: &str| root.private(&format!("{}::{name}", pushdown.path), node.span);
        let (upto, first, rest) = (
            helper("fields_upto"),
            helper("decode_upto"),
            helper("decode_rest"),
        );
        let Pushdown { ty, fields, .. } = pushdown;
        let first = quote_spanned!(span=> #first::<_, __FIELDS>(decoder, &mut decode, record, batch.scratch()));
        let first = self.tried(first, node, Leave::Continue);
        let rest = quote_spanned!(span=> #rest::<_, __FIELDS>(decoder, r, rest));
        let rest = self.or_else(rest, node, Leave::Continue);
        let Some((filter, transforms)) = plan.tail.transforms.split_first() else {
            unreachable!("what is pushed down is a filter")
        };
        let body = self.tail(node.span, transforms, &plan.tail.end, Leave::Continue);
        let mut asked = TokenStream::new();
        self.transform(node.span, filter, Leave::Continue, &mut asked);
        quote_spanned! {span=>
            const __FIELDS: usize = #upto::<#ty>(&[#(#fields),*]);
            #first
            let (r, rest) = value;
            #asked
            #rest
            #body
        }
    }

    /// What becomes of the record `r`, which the stage at `made` made. Statements follow each other; only the children of a record have a block of their own.
    fn tail(
        self,
        made: Span,
        transforms: &[TransformStep],
        end: &End,
        leave: Leave<'_>,
    ) -> TokenStream {
        let mut out = TokenStream::new();
        let mut made = made;
        for (n, step) in transforms.iter().enumerate() {
            let leaves_children = self.transform(made, step, leave, &mut out);
            if !step.passes_on() {
                made = step.node.span;
            }
            if leaves_children {
                // A stage that ends the record ends the child alone.
                let rest = self.tail(made, &transforms[n + 1..], end, Leave::Continue);
                self.children(&step.node, &rest, &mut out);
                return out;
            }
        }
        out.extend(match end {
            End::Sink(sink) => self.encode(made, sink),
            End::Route(route) => self.route(made, route, leave),
            End::Tee(tee) => self.tee(made, tee),
        });
        out
    }

    fn leave(self, leave: Leave<'_>, span: Span) -> TokenStream {
        match leave {
            Leave::Continue => quote_spanned!(span=> continue;),
            Leave::Arm(name) => {
                let label = label(name, span);
                quote_spanned!(span=> break #label;)
            }
            Leave::End => TokenStream::new(),
        }
    }

    fn encode(self, made: Span, step: &SinkStep) -> TokenStream {
        let (node, root) = (&step.node, self.root);
        let span = root.at(node.span);
        let (n, slot) = (index(node), Literal::usize_unsuffixed(step.slot));
        let helper = root.private("stage::encode", node.span);
        let failed = self.failed(node, Leave::End);
        let sink = sink_variable(step, root);
        let row = self.lent(made);
        quote_spanned! {span=>
            out.enter(#n);
            if let ::core::result::Result::Err(e) = #helper(#sink, #row, record, out.sink(#slot)) {
                #failed
            }
        }
    }

    /// The record by reference, at the stage that made it: where the next one cannot take it, rustc shows both.
    fn lent(self, made: Span) -> TokenStream {
        let span = self.root.at(made);
        quote_spanned!(span=> &r)
    }

    /// A match that only finds the arm, so that the closure's value and what the patterns bind are gone when the arm gets the
    /// whole record; then the arms.
    fn route(self, made: Span, step: &RouteStep, leave: Leave<'_>) -> TokenStream {
        let (node, root) = (&step.node, self.root);
        let span = root.at(node.span);
        let n = index(node);
        let value = self.call(node, &step.function, true);
        let last = step.arms.len() - 1;
        let patterns = step.arms.iter().enumerate().map(|(n, arm)| {
            let (pattern, mut n) = (
                self.pattern(node, &arm.pattern),
                Literal::usize_unsuffixed(n),
            );
            // The user's own place, so that rustc, which adds a forgotten pattern behind the last arm, finds its end.
            n.set_span(arm.end);
            quote_spanned!(span=> #pattern => #n,)
        });
        let arms = step.arms.iter().enumerate().map(|(n, arm)| {
            let body = match &arm.target {
                Target::Chain(tail) => self.tail(made, &tail.transforms, &tail.end, leave),
                Target::Drop(node) => {
                    let span = root.at(node.span);
                    let n = index(node);
                    quote_spanned!(span=> out.drop_record(#n);)
                }
            };
            if n == last {
                quote_spanned!(span=> _ => { #body })
            } else {
                let n = Literal::usize_unsuffixed(n);
                quote_spanned!(span=> #n => { #body })
            }
        });
        quote_spanned! {span=>
            out.enter(#n);
            let arm: usize = match #value { #(#patterns)* };
            match arm { #(#arms)* }
        }
    }

    /// Every arm in a block of its own, so that a stage ends the record in one arm only. All but the last get a clone.
    fn tee(self, made: Span, step: &TeeStep) -> TokenStream {
        let (node, root) = (&step.node, self.root);
        let span = root.at(node.span);
        let n = index(node);
        let helper = root.private("stage::tee", node.span);
        let last = step.arms.len() - 1;
        let arms = step.arms.iter().enumerate().map(|(at, (name, tail))| {
            let name = format_ident!("arm{}_{}", node.index, at, span = root.at(name.span()));
            let clone = (at != last).then(|| {
                let record = self.lent(made);
                quote_spanned!(span=> let r = #helper(#record);)
            });
            let body = self.tail(made, &tail.transforms, &tail.end, Leave::Arm(&name));
            let label = leaves(&body, &name).then(|| {
                let label = label(&name, span);
                quote_spanned!(span=> #label:)
            });
            quote_spanned!(span=> #label { out.child(#n); #clone #body })
        });
        quote_spanned! {span=>
            out.enter(#n);
            out.expand(#n);
            #(#arms)*
        }
    }

    /// Writes one transform; whether it leaves an iterator, `children`, in place of a record.
    fn transform(
        self,
        made: Span,
        step: &TransformStep,
        leave: Leave<'_>,
        out: &mut TokenStream,
    ) -> bool {
        let (node, root) = (&step.node, self.root);
        let (n, span) = (index(node), root.at(node.span));
        let (which, function) = match &step.call {
            Call::Own { path, args } => {
                let record = Ident::new("r", root.at(made));
                let mut call = quote_spanned!(span=> #path(#record #(, #args)*));
                if args.iter().any(may_leave) {
                    call = self.closed("call", node, &call);
                }
                out.extend(quote_spanned!(span=> out.enter(#n); let r = #call;));
                return false;
            }
            Call::Stage(which, function) => (*which, function),
        };
        let by_reference = matches!(
            which,
            Transform::Filter | Transform::TryFilter | Transform::Inspect
        );
        let call = match which {
            Transform::Map | Transform::Filter => {
                let parts = function.inline.clone();
                let parts = parts.or_else(|| inline::parts(&function.tokens));
                // A `map` that never returns yields nothing that could go on; a `filter` may be meant to stop everything.
                let parts = parts
                    .filter(|parts| which != Transform::Filter || !inline::is_call(&parts.body));
                parts.map(|parts| self.inlined(node, which, &parts))
            }

            _ => None,
        };
        let call = call.unwrap_or_else(|| self.call(node, function, by_reference));
        let dropped = || {
            let leave = self.leave(leave, span);
            quote_spanned!(span=> out.drop_record(#n); #leave)
        };
        let step = match which {
            Transform::Map => quote_spanned!(span=> let r = #call;),
            Transform::Filter => {
                let dropped = dropped();
                quote_spanned!(span=> if !#call { #dropped })
            }
            Transform::TryFilter => {
                let (kept, dropped) = (self.tried(call, node, leave), dropped());
                quote_spanned!(span=> #kept if !value { #dropped })
            }
            Transform::Inspect => quote_spanned!(span=> #call;),
            Transform::FilterMap => {
                let dropped = dropped();
                quote_spanned! {span=>
                    let ::core::option::Option::Some(r) = #call else { #dropped };
                }
            }
            Transform::TryMap => self.or_else(call, node, leave),
            Transform::FlatMap => quote_spanned!(span=> let mut children = #call;),
            Transform::TryFlatMap => {
                let tried = self.tried(call, node, leave);
                quote_spanned!(span=> #tried let mut children = value;)
            }
        };
        out.extend(quote_spanned!(span=> out.enter(#n); #step));
        matches!(which, Transform::FlatMap | Transform::TryFlatMap)
    }

    /// The children of a record, one after the other. The iterator may run user code, so each turn enters the stage again; a
    /// `continue` ends the child alone.
    fn children(self, node: &Node, rest: &TokenStream, out: &mut TokenStream) {
        let (n, span) = (index(node), self.root.at(node.span));
        out.extend(quote_spanned! {span=>
            out.expand(#n);
            loop {
                out.enter(#n);
                let ::core::option::Option::Some(r) = ::core::iter::Iterator::next(&mut children) else { break };
                out.child(#n);
                #rest
            }
        });
    }

    /// The value of a closure's body. It is bound first, so that temporaries end before the parameter does, as in a closure.
    fn inlined(self, node: &Node, which: Transform, parts: &Inline) -> TokenStream {
        let span = self.root.at(node.span);
        let Inline { record, body } = parts;
        match which {
            Transform::Filter => {
                quote_spanned!(span=> { let #record = &r; let keep: bool = #body; keep })
            }
            _ => quote_spanned!(span=> { let #record = r; let r = #body; r }),
        }
    }

    /// The helper's call: record, metadata if the closure takes it, the user's tokens.
    fn call(self, node: &Node, function: &Function, by_reference: bool) -> TokenStream {
        let root = self.root;
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
        let borrow =
            (function.is_name && self.form == Form::Expression).then(|| quote_spanned!(span=> &));
        quote_spanned!(span=> #helper(#record, #borrow #tokens))
    }

    /// A pattern with its guard, as written if the guard cannot leave the loop.
    fn pattern(self, node: &Node, pattern: &TokenStream) -> TokenStream {
        let (head, guard) = guard(pattern);
        match guard.filter(may_leave) {
            Some(guard) => {
                let span = self.root.at(node.span);
                let conditions = conditions(&guard).into_iter().map(|condition| {
                    let Condition {
                        binding,
                        expression,
                    } = condition;
                    let helper = if binding.is_empty() { "guard" } else { "call" };
                    let closed = self.closed(helper, node, &expression);
                    quote_spanned!(span=> #binding #closed)
                });
                quote_spanned!(span=> #head if #(#conditions)&&*)
            }
            None => pattern.clone(),
        }
    }

    /// The user's tokens where they would stand in the loop: `continue` and `return` end there, not the record or the batch.
    fn closed(self, helper: &str, node: &Node, tokens: &TokenStream) -> TokenStream {
        let (span, helper) = (
            self.root.at(node.span),
            self.root.private(&format!("stage::{helper}"), node.span),
        );
        quote_spanned!(span=> #helper(|| #tokens))
    }

    /// Binds the record to the value of a call that can fail, or does what the stage's policy says.
    fn or_else(self, call: TokenStream, node: &Node, leave: Leave<'_>) -> TokenStream {
        let span = self.root.at(node.span);
        let tried = self.tried(call, node, leave);
        quote_spanned!(span=> #tried let r = value;)
    }

    /// Binds `value` to the value of a call that can fail, or does what the stage's policy says.
    ///
    /// The value is assigned, not returned from the match: as the value of a match with an arm that never returns, a type that
    /// nobody names would be taken for `!`, and rustc would say something odd in place of "type annotations needed".
    fn tried(self, call: TokenStream, node: &Node, leave: Leave<'_>) -> TokenStream {
        let span = self.root.at(node.span);
        let failed = self.failed(node, leave);
        quote_spanned! {span=>
            let value;
            match #call {
                ::core::result::Result::Ok(ok) => value = ok,
                ::core::result::Result::Err(e) => { #failed }
            }
        }
    }

    fn failed(self, node: &Node, leave: Leave<'_>) -> TokenStream {
        let (n, span) = (index(node), self.root.at(node.span));
        match node.on_error {
            Some(Policy::Skip) => {
                let leave = self.leave(leave, span);
                quote_spanned!(span=> out.skip(#n, e); #leave)
            }
            // A decoder that cannot fail has an error type all the same; if it fails, that is never silent.
            Some(Policy::Fail) | None => {
                quote_spanned!(span=> return ::core::result::Result::Err(out.fail(#n, e));)
            }
        }
    }
}

/// `'name`
fn label(name: &Ident, span: Span) -> syn::Lifetime {
    syn::Lifetime {
        apostrophe: span,
        ident: Ident::new(&name.to_string(), span),
    }
}

/// Whether the body of an arm has a way out by the arm's label; without one rustc would call the label unused.
fn leaves(body: &TokenStream, name: &Ident) -> bool {
    use proc_macro2::TokenTree;
    body.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => leaves(&group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
