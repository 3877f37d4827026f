//! What surrounds the loop: the function, the builder, the factory of a thread's state.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::tokens::Root;
use super::{graph, kernel};
use crate::pipeline::ast::Param;
use crate::pipeline::plan::{Carrier, Plan, Settings, SinkStep};
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
    let chain = format!(" The chain: `{}`.", graph::text(plan));
    // A paragraph of its own behind what the user says.
    let blank = (!attrs.is_empty()).then(|| quote_spanned!(span=> #[doc = ""]));
    quote_spanned! {span=>
        #attrs
        #blank
        #[doc = #chain]
        #vis fn #name<>(#(#params),*) -> #facade::Pipeline { #value }
    }
}

fn params(plan: &Plan) -> impl Iterator<Item = &Param> {
    plan.head.params.iter().flatten()
}

fn value(plan: &Plan, form: Form, root: Root<'_>) -> TokenStream {
    let place = plan.source.node.span;
    let span = root.at(place);
    let checks = params(plan).map(|param| parameter_check(&param.name, root));
    let graph = graph::constant(plan, root);
    let decoder = decoder(plan, root);
    let sinks = plan.sinks();
    let witnesses = sinks.iter().map(|step| {
        let (span, variable, sink) = (
            root.at(step.node.span),
            kernel::sink_variable(step, root),
            sink(step, root),
        );
        quote_spanned!(span=> let #variable = #sink;)
    });
    let source = source(plan, root);
    let decoder_options = options(&plan.decoder.settings, plan.decoder.node.span, root);
    let factory = factory(plan, form, root);
    let builder = root.private("PipelineBuilder", place);
    let add_decoder = {
        let span = root.at(plan.decoder.node.span);
        quote_spanned!(span=> .decoder(decoder, #decoder_options))
    };
    let add_sinks = sinks.iter().map(|step| {
        let (span, variable) = (root.at(step.node.span), kernel::sink_variable(step, root));
        let options = options(&step.settings, step.node.span, root);
        let name = &step.node.name;
        quote_spanned!(span=> .sink(#name, #variable, #options))
    });
    quote_spanned! {span=>
        #(#checks)*
        let decoder = #decoder;
        #(#witnesses)*
        #builder::new(#graph) #source #add_decoder #(#add_sinks)* .build(#factory)
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

/// A parameter that cannot be shared by threads is an error at the parameter, not at the builder.
fn parameter_check(name: &Ident, root: Root<'_>) -> TokenStream {
    let (span, check) = (root.at(name.span()), root.private("parameter", name.span()));
    quote_spanned!(span=> #check(&#name);)
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
fn sink(step: &SinkStep, root: Root<'_>) -> TokenStream {
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
