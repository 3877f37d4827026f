//! The pipeline language of Spate: parser, checks and code generation
