//! Why a container file cannot be read.

use super::Codec;

/// A container file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// The input failed.
    #[error("the file cannot be read: {0}")]
    Input(#[from] std::io::Error),
    /// Other magic bytes.
    #[error("this is no Avro container file: it does not begin with `Obj` and the byte 1")]
    NoContainer,
    /// No `avro.schema` in the header, or not text.
    #[error("the file's header has no schema")]
    NoSchema,
    /// A codec that the specification does not know.
    #[error("the file is compressed with `{0}`, which is no codec of Avro's specification")]
    UnknownCodec(String),
    /// The file ends too early.
    #[error("the file ends inside {what}, at byte {position}")]
    Truncated {
        /// Where.
        position: u64,
        /// Inside what.
        what: &'static str,
    },
    /// What cannot be there.
    #[error("the file is damaged at byte {position}: {what}")]
    Damaged {
        /// Where the header, or the block, begins to be wrong.
        position: u64,
        /// What is there.
        what: &'static str,
    },
    /// A block cannot be decompressed.
    #[error("the block at byte {position} cannot be decompressed ({codec}): {reason}")]
    Compressed {
        /// Where the block begins.
        position: u64,
        /// How it is compressed.
        codec: Codec,
        /// What the codec said.
        reason: String,
    },
    /// The schema that the file was written with cannot be used.
    #[error("the file's schema cannot be used: {0}")]
    Schema(#[from] crate::SchemaError),
    /// Written with another schema than the compiled one.
    #[error("the file's schema is not that of `{record}`: {message}")]
    OtherSchema {
        /// The record's full name.
        record: &'static str,
        /// What is different.
        message: String,
    },
}
