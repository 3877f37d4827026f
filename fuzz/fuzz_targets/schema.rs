//! A schema file: see `claims::schema`.

#![no_main]

#[path = "../../spate-macros/lang/tests/claims/mod.rs"]
mod claims;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| claims::schema(bytes));
