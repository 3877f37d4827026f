//! What can be told of a Rust type from its tokens. Anything that is not certain is [`Shape::Other`]: rustc judges it.

use syn::{GenericArgument, PathArguments, Type};

/// A field's type as far as its tokens tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A primitive of the language, by name.
    Primitive(String),
    /// `&str`.
    Str,
    /// `String`.
    String,
    /// `&[u8]`.
    Bytes,
    /// `Vec<u8>`.
    ByteVec,
    /// `Option<..>`.
    Option(Box<Shape>),
    /// `Vec<..>`.
    Vec(Box<Shape>),
    /// `Seq<'a, ..>`.
    Seq(Box<Shape>),
    /// `Box<..>`.
    Box(Box<Shape>),
    /// `HashMap<.., ..>` or `BTreeMap<.., ..>`.
    Map(Box<Shape>, Box<Shape>),
    /// `(.., ..)`.
    Pair(Box<Shape>, Box<Shape>),
    /// `()`.
    Unit,
    /// `[u8; N]` or `&[u8; N]`, with `N` where it is a literal.
    ByteArray(Option<usize>),
    /// `TimestampMillis`.
    TimestampMillis,
    /// A record, an alias, or something that no Avro type is read into.
    Other,
}

impl Shape {
    /// Whether reading such a value allocates, as far as its tokens tell.
    pub(super) fn is_owned(&self) -> bool {
        match self {
            Shape::String | Shape::ByteVec | Shape::Vec(_) | Shape::Box(_) | Shape::Map(..) => true,
            Shape::Option(inner) | Shape::Seq(inner) => inner.is_owned(),
            Shape::Pair(key, value) => key.is_owned() || value.is_owned(),
            _ => false,
        }
    }
}

const PRIMITIVES: [&str; 17] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
    "u64", "u128", "usize", "str",
];

/// Roots of paths that lead to the types meant here.
const ROOTS: [&str; 4] = ["std", "core", "alloc", "spate"];

/// What the tokens of `ty` tell.
pub(super) fn shape(ty: &Type) -> Shape {
    match ty {
        Type::Paren(inner) => shape(&inner.elem),
        Type::Group(inner) => shape(&inner.elem),
        Type::Reference(reference) if reference.mutability.is_none() => match &*reference.elem {
            Type::Slice(slice) if shape(&slice.elem) == Shape::Primitive("u8".to_owned()) => {
                Shape::Bytes
            }
            // Asked once: a second time doubles the work with each `&`.
            elem => match shape(elem) {
                Shape::Primitive(name) if name == "str" => Shape::Str,
                array @ Shape::ByteArray(_) => array,
                _ => Shape::Other,
            },
        },
        Type::Array(array) if shape(&array.elem) == Shape::Primitive("u8".to_owned()) => {
            Shape::ByteArray(length(&array.len))
        }
        Type::Tuple(tuple) => {
            let mut types = tuple.elems.iter();
            match (types.next(), types.next(), types.next()) {
                (None, ..) => Shape::Unit,
                (Some(key), Some(value), None) => {
                    Shape::Pair(Box::new(shape(key)), Box::new(shape(value)))
                }
                _ => Shape::Other,
            }
        }
        Type::Path(path) if path.qself.is_none() => {
            let Some(last) = path.path.segments.last() else {
                return Shape::Other;
            };
            let simple = path.path.segments.len() == 1;
            if !simple
                && !path
                    .path
                    .segments
                    .first()
                    .is_some_and(|root| ROOTS.iter().any(|known| root.ident == known))
            {
                return Shape::Other;
            }
            let name = last.ident.to_string();
            match (name.as_str(), argument(&last.arguments)) {
                ("String", None) => Shape::String,
                ("TimestampMillis", None) => Shape::TimestampMillis,
                ("Option", Some(inner)) => Shape::Option(Box::new(shape(inner))),
                ("Vec", Some(inner)) => match shape(inner) {
                    Shape::Primitive(byte) if byte == "u8" => Shape::ByteVec,
                    inner => Shape::Vec(Box::new(inner)),
                },
                ("Seq", Some(inner)) => Shape::Seq(Box::new(shape(inner))),
                ("Box", Some(inner)) => match shape(inner) {
                    Shape::Primitive(_) => Shape::Other,
                    inner => Shape::Box(Box::new(inner)),
                },
                ("HashMap" | "BTreeMap", None) => match two(&last.arguments) {
                    Some((key, value)) => Shape::Map(Box::new(shape(key)), Box::new(shape(value))),
                    None => Shape::Other,
                },
                (name, None) if simple && PRIMITIVES.contains(&name) => {
                    Shape::Primitive(name.to_owned())
                }
                _ => Shape::Other,
            }
        }
        _ => Shape::Other,
    }
}

/// The one type argument, if there is exactly one.
fn argument(arguments: &PathArguments) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return None;
    };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    let first = types.next();
    if types.next().is_some() { None } else { first }
}

/// The first two type arguments, if there are more than one.
fn two(arguments: &PathArguments) -> Option<(&Type, &Type)> {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return None;
    };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    Some((types.next()?, types.next()?))
}

fn length(expression: &syn::Expr) -> Option<usize> {
    match expression {
        syn::Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Int(number) => number.base10_parse().ok(),
            _ => None,
        },
        _ => None,
    }
}
