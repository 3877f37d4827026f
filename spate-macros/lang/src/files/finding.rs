//! A mistake in a file: found by a model's parser, reported at the user's token that names the file.

use proc_macro2::Span;

use super::{Place, SourceFile};
use crate::diagnostic::{Code, Diagnostic};

/// What is wrong at a place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The catalogue's code.
    pub code: Code,
    /// Where in the file.
    pub place: Place,
    /// What is wrong, without the place.
    pub message: String,
    /// Advice; empty for the catalogue's.
    pub help: String,
}

impl Finding {
    /// As an error at `span`, the token that names the file.
    pub fn at(&self, file: &SourceFile, span: Span) -> Diagnostic {
        let diagnostic = Diagnostic::new(self.code, span, file.report(self.place, &self.message));
        match self.help.as_str() {
            "" => diagnostic,
            help => diagnostic.help(help),
        }
    }
}
