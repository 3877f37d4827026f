//! The tree of one macro call as written: every part with its tokens, nothing judged yet.
//!
//! What could not be read is `Err(Bad)`: it has been reported, and whoever meets it stays silent about it.

use proc_macro2::{Ident, Span, TokenStream};

/// Stands where something was reported already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bad;

/// A stage, or the place of one that could not be read.
pub(crate) type Slot = Result<Stage, Bad>;

/// One pipeline.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) head: Head,
    pub(crate) states: Vec<State>,
    pub(crate) chain: Vec<Slot>,
    pub(crate) clauses: Vec<Clause>,
    /// Whether something was reported about it.
    pub(crate) broken: bool,
}

/// What is needed to emit the item, whether its body is right or wrong.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) attrs: TokenStream,
    pub(crate) vis: TokenStream,
    /// `None` in the expression form.
    pub(crate) name: Option<Ident>,
    pub(crate) params: Vec<Result<Param, Bad>>,
}

/// `name: Type`.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: Ident,
    /// The whole parameter.
    pub(crate) tokens: TokenStream,
}

/// `let PAT [: TYPE] = EXPR;`
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The whole statement with its semicolon.
    pub(crate) tokens: TokenStream,
    /// The names that it binds.
    pub(crate) names: Vec<String>,
}

/// `[label:] path [::<Type>] [(args)] [{ arms }]`
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) label: Option<Ident>,
    pub(crate) path: StagePath,
    pub(crate) turbofish: Option<Turbofish>,
    pub(crate) args: Option<Args>,
    /// The braces of `route` and `tee`; no other stage has any.
    pub(crate) arms: Option<Vec<Arm>>,
}

/// One arm of a branch.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) head: ArmHead,
    pub(crate) body: ArmBody,
    /// Its last token.
    pub(crate) end: Span,
}

/// What leads into an arm.
#[derive(Debug)]
pub(crate) enum ArmHead {
    /// `PAT [if EXPR]`, of `route`.
    Pattern(TokenStream),
    /// `name`, of `tee`.
    Name(Ident),
    /// It could not be read.
    Bad,
}

/// Where an arm leads.
#[derive(Debug)]
pub(crate) enum ArmBody {
    Chain(Vec<Slot>),
    /// `[label:] drop`
    Drop {
        label: Option<Ident>,
        span: Span,
    },
}

/// The path of a stage: a name of the registry, or the user's own.
#[derive(Clone, Debug)]
pub(crate) struct StagePath {
    /// As written, without the turbofish at its end.
    pub(crate) tokens: TokenStream,
    /// The only segment of a plain name.
    pub(crate) plain: Option<String>,
    /// As it is shown in messages and graphs: `crate::ops::enrich`.
    pub(crate) text: String,
    /// The last segment: the token that stands for the stage.
    pub(crate) span: Span,
}

/// `::<Type>`, and whatever else a function of the user's may be generic over.
#[derive(Clone, Debug)]
pub(crate) struct Turbofish {
    /// The type alone; `None` where it is not one type.
    pub(crate) ty: Option<TokenStream>,
    /// From `::` to `>`.
    pub(crate) tokens: TokenStream,
}

/// The parenthesised arguments of a stage.
#[derive(Debug)]
pub(crate) struct Args {
    /// The closing parenthesis, to blame for what is missing.
    pub(crate) close: Span,
    pub(crate) positional: Vec<Value>,
    pub(crate) named: Vec<Named>,
}

/// `name = value`
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: Ident,
    pub(crate) value: Value,
}

/// One expression: the user's tokens, and what can be said of it.
#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) tokens: TokenStream,
    pub(crate) shape: Result<Shape, Bad>,
}

/// What kind of expression a value is, as far as the checks ask.
#[derive(Debug)]
pub(crate) enum Shape {
    Closure(Closure),
    /// A path; `Some` when it is one identifier.
    Path(Option<String>),
    /// A string literal's value.
    Str(String),
    /// Anything else, named for "found ..".
    Other(&'static str),
}

/// A closure, as far as every one is checked.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) params: usize,
    pub(crate) moves: Option<Span>,
    /// The `async` of the closure, or of the block that is its body.
    pub(crate) waits: Option<Span>,
    /// Its parts, where they were understood by sight.
    pub(crate) inline: Option<Inline>,
}

/// `|record| body` in its parts, as they may stand in the loop.
#[derive(Clone, Debug)]
pub(crate) struct Inline {
    /// The parameter as written: a name, or `mut` and a name.
    pub(crate) record: TokenStream,
    /// An expression that does not leave what is around it.
    pub(crate) body: TokenStream,
}

/// The inside of a closure whose record has a plain name.
#[derive(Clone, Debug)]
pub(crate) struct ClosureBody {
    pub(crate) record: Ident,
    /// The type of the record's parameter, where it is written.
    pub(crate) ty: Option<TokenStream>,
    /// The name of the second parameter.
    pub(crate) meta: Option<Ident>,
    pub(crate) body: TokenStream,
}

/// How the body of a closure meets the record first, which decides whether rustc can know its type there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstUse {
    /// By a field or a method, at a parameter without a type: the type has to be known from elsewhere.
    Access,
    /// Not at all: the closure says nothing of the type.
    Never,
    /// In a way that may tell the type, or the parameter names it.
    Other,
}

/// `name = value;`
#[derive(Debug)]
pub(crate) struct Clause {
    pub(crate) name: Ident,
    pub(crate) value: ClauseValue,
}

/// What a clause is given.
#[derive(Debug)]
pub(crate) enum ClauseValue {
    Expression(Value),
    /// The stage behind `dead_letter`.
    Stage(Box<Slot>),
    /// A clause that nobody knows is not read.
    Unread,
}
