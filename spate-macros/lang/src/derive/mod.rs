//! The derives: a struct or an enum that is read from an Avro schema, a struct that is written to a table.
//!
//! Each reads its file, compares every field with it, and emits one straight-line implementation. After a mistake the
//! implementation is still emitted with a body that is never run, so that nothing but the mistake is reported.

mod avro;
mod compat;
mod input;
mod row;
#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};

pub use avro::{avro_enum, avro_schema, avro_union, expand as avro_record};
pub use row::expand as row;

use crate::diagnostic::{Diagnostic, Errors};

/// What stands for a derive whose feature is off: the error that names the feature.
pub fn feature_off(derive: &str, feature: &str) -> TokenStream {
    let mut errors = Errors::new();
    errors.push(Diagnostic::feature_off(
        Span::call_site(),
        &format!("derive({derive})"),
        feature,
    ));
    errors.finish()
}
