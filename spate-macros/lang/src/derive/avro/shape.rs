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
    /// `TimestampMillis`.
    TimestampMillis,
    /// A record, an alias, or something that no Avro type is read into.
    Other,
}

impl Shape {
    /// Whether reading such a value allocates, as far as its tokens tell.
    pub(super) fn is_owned(&self) -> bool {
        match self {
            Shape::String | Shape::ByteVec | Shape::Vec(_) => true,
            Shape::Option(inner) | Shape::Seq(inner) => inner.is_owned(),
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
            elem if shape(elem) == Shape::Primitive("str".to_owned()) => Shape::Str,
            _ => Shape::Other,
        },
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
