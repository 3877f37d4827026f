//! A file of table definitions: see `claims::table`.

#![no_main]

#[path = "../../spate-macros/lang/tests/claims/mod.rs"]
mod claims;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| claims::table(bytes));
