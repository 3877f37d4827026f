//! The third pass: is what was read a pipeline? Everything that the macro can know is checked here, and only that: types
//! are rustc's, and where it says it better we are silent.
//!
//! A pipeline is checked as a whole even when parts of it could not be read. What is unknown stays out of the checks that
//! would have to guess (the poison rule), so one mistake gives one error.

mod chain;
mod inference;
mod names;
mod options;
mod order;
mod own;
mod pushdown;
mod stage;

use super::ast::{Clause, ClauseValue, Pipeline, Shape, Slot, Value};
use super::plan::{Plan, Policy};
use super::registry;
use crate::diagnostic::{Code, Diagnostic, Errors, list, suggest};
use chain::Numbering;

/// What the checks of one stage need besides the stage.
pub(crate) struct Context<'a> {
    /// Features of the facade that are on.
    pub(crate) features: &'a [String],
    /// Names of `let` states and parameters.
    pub(crate) variables: Vec<String>,
    /// The pipeline's `on_error` clause.
    pub(crate) default_policy: Option<Policy>,
    /// Whether there is a `dead_letter` clause.
    pub(crate) dead_letters: bool,
}

/// Checks one pipeline; a plan comes out when nothing was found, now or before.
pub(crate) fn pipeline(ast: Pipeline, features: &[String], errors: &mut Errors) -> Option<Plan> {
    let before = errors.count();
    let clauses = clauses(&ast.clauses, errors);
    let states = ast
        .states
        .iter()
        .flat_map(|state| state.names.iter().cloned());
    let params = ast
        .head
        .params
        .iter()
        .flatten()
        .map(|param| param.name.to_string());
    let context = Context {
        features,
        variables: states.chain(params).collect(),
        default_policy: clauses.on_error,
        dead_letters: has_dead_letters(&ast.clauses),
    };

    let places = names::places(&ast.chain);
    names::labels(&places, errors);
    order::check(&ast.chain, errors);
    let mut numbering = Numbering::new(names::nodes(&places, errors));
    let steps = chain::check(ast.chain, true, &context, &mut numbering, errors);
    if ast.broken || errors.count() > before {
        return None;
    }
    let title = clauses
        .name
        .or(ast.head.name.as_ref().map(unraw))
        .unwrap_or_else(|| "pipeline".to_owned());
    let plan = steps
        .ok()
        .and_then(|steps| assemble(steps, ast.head, title, ast.states));
    assert!(
        plan.is_some(),
        "a pipeline without a finding has all its parts"
    );
    let mut plan = plan.filter(|plan| inference::check(plan, errors))?;
    plan.pushdown = pushdown::find(&plan);
    Some(plan)
}

/// Sorts the steps by the part that they play. `None` when they are no pipeline.
fn assemble(
    steps: Vec<stage::Step>,
    head: super::ast::Head,
    title: String,
    states: Vec<super::ast::State>,
) -> Option<Plan> {
    use stage::Step;
    let mut steps = steps.into_iter();
    let Some(Step::Source(source)) = steps.next() else {
        return None;
    };
    let Some(Step::Decoder(decoder)) = steps.next() else {
        return None;
    };
    Some(Plan {
        head,
        title,
        states,
        source,
        decoder,
        pushdown: None,
        tail: chain::tail(steps.collect())?,
    })
}

/// An identifier as a name: `r#type` is `type`.
fn unraw(ident: &proc_macro2::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#")
        .map_or(text.clone(), ToOwned::to_owned)
}

#[derive(Default)]
struct Clauses {
    name: Option<String>,
    on_error: Option<Policy>,
}

const CLAUSES: &[&str] = &["name", "on_error", "dead_letter"];

fn has_dead_letters(clauses: &[Clause]) -> bool {
    clauses.iter().any(|clause| clause.name == "dead_letter")
}

fn clauses(clauses: &[Clause], errors: &mut Errors) -> Clauses {
    let mut read = Clauses::default();
    let dead_letters = has_dead_letters(clauses);
    for (n, clause) in clauses.iter().enumerate() {
        let name = clause.name.to_string();
        if clauses[..n]
            .iter()
            .any(|earlier| earlier.name == clause.name)
        {
            let message = format!("the clause `{name}` is given twice");
            errors.push(Diagnostic::new(
                Code::DuplicateClause,
                clause.name.span(),
                message,
            ));
            continue;
        }
        match (name.as_str(), &clause.value) {
            ("name", ClauseValue::Expression(value)) => read.name = title(value, errors),
            ("on_error", ClauseValue::Expression(value)) => {
                read.on_error = options::policy(value, dead_letters, errors);
            }
            (_, ClauseValue::Stage(sink)) => dead_letter(clause, sink, errors),
            _ => errors.push(unknown_clause(clause)),
        }
    }
    read
}

/// Dead letters go to a sink.
fn dead_letter(clause: &Clause, sink: &Slot, errors: &mut Errors) {
    let Ok(stage) = sink else { return };
    let role = order::parts(std::slice::from_ref(sink), false)[0];
    let error = match role.part() {
        None => stage::unknown(stage),
        Some(registry::Part::Sink) => {
            let message = "the clause `dead_letter` is not available yet";
            Diagnostic::new(Code::NotAvailable, clause.name.span(), message)
        }
        Some(_) => {
            let message = format!(
                "dead letters go to a sink, and `{}` is none",
                stage.path.text
            );
            let sinks = list(&registry::names(registry::Part::Sink), "and");
            Diagnostic::new(Code::WrongValue, stage.path.span, message)
                .help(format!("sinks are {sinks}"))
        }
    };
    errors.push(error);
}

fn title(value: &Value, errors: &mut Errors) -> Option<String> {
    match value.shape.as_ref().ok()? {
        Shape::Str(name) if !name.trim().is_empty() && !name.chars().any(char::is_control) => {
            Some(name.clone())
        }
        Shape::Str(_) => {
            let message = "the name of a pipeline is a line of text that is not empty";
            errors.push(Diagnostic::spanned(
                Code::BadSetting,
                &value.tokens,
                message,
            ));
            None
        }
        other => {
            let message = format!(
                "`name` expects a string literal, found {}",
                options::found(other)
            );
            errors.push(Diagnostic::spanned(
                Code::WrongValue,
                &value.tokens,
                message,
            ));
            None
        }
    }
}

fn unknown_clause(clause: &Clause) -> Diagnostic {
    let name = clause.name.to_string();
    if registry::RESERVED.contains(&name.as_str()) {
        let message = format!("`{name}` is reserved for a later version");
        return Diagnostic::new(Code::Reserved, clause.name.span(), message).help("");
    }
    let owner =
        registry::stages().find(|stage| stage.options.iter().any(|option| option.name == name));
    let (message, help) = match (suggest(&name, CLAUSES.iter().copied()), owner) {
        (Some(meant), _) => (
            format!("unknown clause `{name}`; did you mean `{meant}`?"),
            String::new(),
        ),
        (None, Some(stage)) => {
            let help = format!(
                "`{name}` is an option of a stage: `{}({name} = ..)`",
                stage.name
            );
            (format!("unknown clause `{name}`"), help)
        }
        (None, None) => (
            format!("unknown clause `{name}`"),
            format!("clauses are {}", list(CLAUSES, "and")),
        ),
    };
    Diagnostic::new(Code::UnknownClause, clause.name.span(), message).help(help)
}
