//! A writer's schema from a registry: see `claims::schema`.

#![no_main]

#[path = "../../connectors/avro/tests/codec/claims.rs"]
mod claims;
#[path = "../../connectors/avro/tests/codec/types.rs"]
mod types;

/// Where derives find the codec; they read their schemas through the link `tests`.
pub mod facade {
    pub mod __private {
        pub use spate_avro as avro;
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| claims::schema(bytes));
