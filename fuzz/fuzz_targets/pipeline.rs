//! A `pipeline!` block as text: see `claims::pipeline`.

#![no_main]

#[path = "../../spate-macros/lang/tests/claims/mod.rs"]
mod claims;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| claims::pipeline(bytes));
