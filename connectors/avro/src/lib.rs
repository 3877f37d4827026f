//! Compiled Avro decoding for Spate
