//! The codecs of the specification, all of them: what is decompressed is bounded, whatever the input claims.

use std::fmt;
use std::io::Read;

use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};

use super::ContainerError;

/// What xz takes beside its dictionary, and more than that.
const XZ_OVERHEAD: u64 = 16 << 20;

/// How the blocks of a file are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Not at all.
    Null,
    /// Deflate (RFC 1951), without header and checksum.
    Deflate,
    /// Snappy, with a CRC-32 of what it expands to behind it.
    Snappy,
    /// Zstandard.
    Zstandard,
    /// Bzip2.
    Bzip2,
    /// Xz.
    Xz,
}

const ALL: [Codec; 6] = [
    Codec::Null,
    Codec::Deflate,
    Codec::Snappy,
    Codec::Zstandard,
    Codec::Bzip2,
    Codec::Xz,
];

impl Codec {
    /// The specification's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Codec::Null => "null",
            Codec::Deflate => "deflate",
            Codec::Snappy => "snappy",
            Codec::Zstandard => "zstandard",
            Codec::Bzip2 => "bzip2",
            Codec::Xz => "xz",
        }
    }

    pub(super) fn of(name: &[u8]) -> Result<Self, ContainerError> {
        let known = ALL
            .into_iter()
            .find(|codec| codec.name().as_bytes() == name);
        known.ok_or_else(|| {
            let name = String::from_utf8_lossy(name).chars().take(40).collect();
            ContainerError::UnknownCodec(name)
        })
    }

    /// Appends what `block` expands to, at most `most` bytes.
    pub(super) fn decompress(
        self,
        block: &[u8],
        most: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        match self {
            Codec::Null => {
                out.extend_from_slice(block);
                Ok(())
            }
            Codec::Deflate => stream(flate2::read::DeflateDecoder::new(block), most, out),
            Codec::Snappy => snappy(block, most, out),
            Codec::Zstandard => {
                let decoder = zstd::Decoder::with_buffer(block).map_err(said)?;
                stream(decoder, most, out)
            }
            Codec::Bzip2 => stream(bzip2::read::MultiBzDecoder::new(block), most, out),
            Codec::Xz => {
                // A stream says how large a dictionary it needs, up to 4 GiB, and that is allocated at once.
                let memory = most + XZ_OVERHEAD;
                let decoder = Stream::new_stream_decoder(memory, CONCATENATED).map_err(said)?;
                stream(XzDecoder::new_stream(block, decoder), most, out)
            }
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn said(error: impl fmt::Display) -> String {
    error.to_string()
}

fn too_much(most: u64) -> String {
    format!("it expands to more than {} MiB", most >> 20)
}

fn stream(decoder: impl Read, most: u64, out: &mut Vec<u8>) -> Result<(), String> {
    let read = decoder.take(most + 1).read_to_end(out).map_err(said)?;
    match read as u64 > most {
        true => Err(too_much(most)),
        false => Ok(()),
    }
}

fn snappy(block: &[u8], most: u64, out: &mut Vec<u8>) -> Result<(), String> {
    let (compressed, checksum) = block
        .split_last_chunk::<4>()
        .ok_or("it is too short for its checksum")?;
    let length = snap::raw::decompress_len(compressed).map_err(said)?;
    // Snappy expands a byte to 64 at most.
    if length as u64 > most || length / 64 > compressed.len() {
        return Err(too_much(most));
    }
    let start = out.len();
    out.resize(start + length, 0);
    snap::raw::Decoder::new()
        .decompress(compressed, &mut out[start..])
        .map_err(said)?;
    match crc32fast::hash(&out[start..]) == u32::from_be_bytes(*checksum) {
        true => Ok(()),
        false => Err("its checksum is another one".to_owned()),
    }
}
