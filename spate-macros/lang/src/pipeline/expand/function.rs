//! What surrounds the loop: the function, the graph as constant data, the builder, the factory of a thread's state.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::kernel;
use super::tokens::Root;
use crate::pipeline::ast::Param;
use crate::pipeline::plan::{Carrier, Node, Plan, Policy, Settings};
use crate::pipeline::split::Form;

/// The pipeline as a function, or as the value of a bare body.
pub(super) fn pipeline(plan: &Plan, form: Form, root: Root<'_>) -> TokenStream {
    let value = value(plan, form, root);
    let Some(name) = &plan.head.name else {
        return value;
    };
    let (attrs, vis) = (&plan.head.attrs, &plan.head.vis);
    let params = params(plan).map(|param| &param.tokens);
    let (facade, span) = (root.facade(name.span()), root.at(name.span()));
    let chain = format!(
        " The chain: `{}`.",
        nodes(plan)
            .map(|node| node.stage.as_str())
            .collect::<Vec<_>>()
            .join(" -> ")
    );
    quote_spanned! {span=>
        #attrs
        #[doc = ""]
        #[doc = #chain]
        #vis fn #name(#(#params),*) -> #facade::Pipeline { #value }
    }
}

fn params(plan: &Plan) -> impl Iterator<Item = &Param> {
    plan.head.params.iter().flatten()
}

/// All stages in the order of the chain: the index of a stage is its number in the kernel.
fn nodes(plan: &Plan) -> impl Iterator<Item = &Node> {
    let front = [&plan.source.node, &plan.decoder.node];
    let middle = plan.transforms.iter().map(|step| &step.node);
    front.into_iter().chain(middle).chain([&plan.sink.node])
}

fn value(plan: &Plan, form: Form, root: Root<'_>) -> TokenStream {
    let place = plan.source.node.span;
    let span = root.at(place);
    let checks = params(plan).map(|param| parameter_check(&param.name, root));
    let graph = graph(plan, root);
    let decoder = decoder(plan, root);
    let sink = sink(plan, root);
    let source = source(plan, root);
    let decoder_options = options(&plan.decoder.settings, plan.decoder.node.span, root);
    let sink_options = options(&plan.sink.settings, plan.sink.node.span, root);
    let sink_name = &plan.sink.node.name;
    let factory = factory(plan, form, root);
    let builder = root.private("PipelineBuilder", place);
    let add_decoder = {
        let span = root.at(plan.decoder.node.span);
        quote_spanned!(span=> .decoder(decoder, #decoder_options))
    };
    let add_sink = {
        let span = root.at(plan.sink.node.span);
        quote_spanned!(span=> .sink(#sink_name, sink0, #sink_options))
    };
    quote_spanned! {span=>
        #(#checks)*
        let decoder = #decoder;
        let sink0 = #sink;
        #builder::new(#graph) #source #add_decoder #add_sink .build(#factory)
    }
}

/// The state of one thread and its loop.
fn factory(plan: &Plan, form: Form, root: Root<'_>) -> TokenStream {
    let place = plan.source.node.span;
    let span = root.at(place);
    let clones = params(plan).map(|Param { name, .. }| {
        let span = root.at(name.span());
        quote_spanned! {span=>
            #[allow(unused_variables)]
            let #name = ::core::clone::Clone::clone(&#name);
        }
    });
    let states = plan.states.iter().map(|state| &state.tokens);
    let kernel = kernel::closure(plan, form, root);
    let thread = root.private("Thread", place);
    let open = {
        let place = plan.decoder.node.span;
        let (span, witness) = (root.at(place), root.private("Decoder", place));
        // By path, not as a method: for a type that is no decoder, rustc then repeats itself and keeps it to itself.
        quote_spanned!(span=> let mut decode = #witness::open(decoder, &thread);)
    };
    quote_spanned! {span=>
        move |thread: #thread| {
            #(#clones)*
            #(#states)*
            #open
            ::core::result::Result::Ok(thread.drive(#kernel))
        }
    }
}

/// A parameter that cannot be shared by threads is an error at the parameter, not at the builder. The function's name is
/// odd because items are not hygienic: it would hide one of the user's.
fn parameter_check(name: &Ident, root: Root<'_>) -> TokenStream {
    let span = root.at(name.span());
    quote_spanned! {span=>
        {
            fn __parameter<T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static>(_: &T) {}
            __parameter(&#name);
        }
    }
}

/// The graph, in a block of its own so that its name hides nothing of the user's.
fn graph(plan: &Plan, root: Root<'_>) -> TokenStream {
    let place = plan.source.node.span;
    let span = root.at(place);
    let title = &plan.title;
    let count = plan.transforms.len();
    let kinds = ["Source", "Decoder"]
        .into_iter()
        .chain(std::iter::repeat_n("Transform", count))
        .chain(["Sink"]);
    let entries = nodes(plan).zip(kinds).map(|(node, kind)| {
        let Node { name, stage, span: place, on_error } = node;
        let (ty, kind, span) = (root.private("Node", *place), Ident::new(kind, root.at(*place)), root.at(*place));
        let kinds = root.private("NodeKind", *place);
        let policies = root.private("OnError", *place);
        let on_error = match on_error {
            None => quote_spanned!(span=> ::core::option::Option::None),
            Some(Policy::Fail) => quote_spanned!(span=> ::core::option::Option::Some(#policies::Fail)),
            Some(Policy::Skip) => quote_spanned!(span=> ::core::option::Option::Some(#policies::Skip)),
        };
        let line = u32::try_from(place.start().line).unwrap_or_default();
        quote_spanned!(span=> #ty { name: #name, stage: #stage, kind: #kinds::#kind, on_error: #on_error, line: #line })
    });
    let ty = root.private("Graph", place);
    quote_spanned! {span=>
        {
            static GRAPH: #ty = #ty { name: #title, nodes: &[#(#entries),*] };
            &GRAPH
        }
    }
}

fn source(plan: &Plan, root: Root<'_>) -> TokenStream {
    let step = &plan.source;
    let span = root.at(step.node.span);
    let ty = carrier(&step.carrier, |path| path, step.node.span, root);
    let options = options(&step.settings, step.node.span, root);
    quote_spanned!(span=> .source::<#ty>(#options))
}

/// The witness of the record type; `_` where a closure names it.
fn decoder(plan: &Plan, root: Root<'_>) -> TokenStream {
    let step = &plan.decoder;
    let (place, span) = (step.node.span, root.at(step.node.span));
    let ty = carrier(&step.carrier, |decoder| decoder.path, place, root);
    let fixed = match &step.carrier {
        Carrier::Known(decoder) => decoder.record.map(|record| root.code(record, place)),
        Carrier::Own(_) => None,
    };
    let record = step
        .record
        .clone()
        .or(fixed)
        .unwrap_or_else(|| quote_spanned!(span=> _));
    let witness = root.private("decoder", place);
    quote_spanned!(span=> #witness::<#ty, #record>())
}

/// The witness of the row type; `_` where a closure names it.
fn sink(plan: &Plan, root: Root<'_>) -> TokenStream {
    let step = &plan.sink;
    let (place, span) = (step.node.span, root.at(step.node.span));
    let ty = carrier(&step.carrier, |path| path, place, root);
    let row = step.row.clone().unwrap_or_else(|| quote_spanned!(span=> _));
    let witness = root.private("sink", place);
    quote_spanned!(span=> #witness::<#ty, #row>())
}

fn carrier<K: Copy>(
    carrier: &Carrier<K>,
    path: fn(K) -> &'static str,
    place: Span,
    root: Root<'_>,
) -> TokenStream {
    match carrier {
        Carrier::Known(known) => root.private(path(*known), place),
        Carrier::Own(tokens) => quote!(#tokens),
    }
}

fn options(settings: &Settings, place: Span, root: Root<'_>) -> TokenStream {
    let span = root.at(place);
    let ty = root.private("StageOptions", place);
    let calls = settings
        .iter()
        .map(|(name, value)| quote_spanned!(span=> .set(#name, #value)));
    quote_spanned!(span=> #ty::new() #(#calls)*)
}
