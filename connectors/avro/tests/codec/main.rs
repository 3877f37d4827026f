//! The derived decoders: values of another implementation, hand-written bytes, damaged and random payloads.
#![deny(warnings)]

mod claims;
mod containers;
mod damaged;
mod fuzzed;
mod generated;
mod hygiene;
mod interop;
mod known_faults;
mod leaves;
mod records;
mod seq;
mod two_steps;
mod types;
mod types_damaged;
mod types_interop;
mod unions;
#[cfg(feature = "value")]
mod values;
#[cfg(feature = "value")]
mod values_hostile;
mod written;

/// What an application sees as `spate`.
pub mod facade {
    pub use spate_avro as avro;
    pub use spate_macros::{AvroEnum, AvroRecord, AvroUnion};

    /// Where derives find the codec.
    pub mod __private {
        pub use spate_avro as avro;
    }
}
