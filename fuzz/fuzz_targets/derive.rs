//! The struct behind a derive as text, its files those of the cases: see `claims::derive`.

#![no_main]

#[path = "../../spate-macros/lang/tests/claims/mod.rs"]
mod claims;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| claims::derive(
    bytes,
    std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../trybuild-tests/ui"))
));
