//! Payloads as Kafka would hand them over, back to back in one file with an array of their offsets.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// Payloads in memory.
pub(crate) struct Payloads {
    slab: Vec<u8>,
    /// Where each payload begins, and the end of the last.
    offsets: Vec<u32>,
}

impl Payloads {
    /// None yet, with room for so many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Payloads {
        Payloads {
            slab: Vec::with_capacity(bytes),
            offsets: vec![0],
        }
    }

    /// Adds the one that `write` appends.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.slab);
        let end = u32::try_from(self.slab.len()).expect("the slab is below 4 GiB");
        self.offsets.push(end);
    }

    /// Writes the two files: the payloads, and their offsets as little-endian 32-bit numbers.
    pub(crate) fn save(&self, path: &Path) -> io::Result<()> {
        fs::write(path, &self.slab)?;
        let mut file = io::BufWriter::new(File::create(path.with_extension("offsets"))?);
        for offset in &self.offsets {
            file.write_all(&offset.to_le_bytes())?;
        }
        file.flush()
    }

    /// Reads the first `count` payloads.
    pub(crate) fn load(path: &Path, count: usize) -> io::Result<Payloads> {
        let mut bytes = vec![0; 4 * (count + 1)];
        File::open(path.with_extension("offsets"))?.read_exact(&mut bytes)?;
        let offsets: Vec<u32> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|offset| u32::from_le_bytes(*offset))
            .collect();
        let mut slab = vec![0; offsets[count] as usize];
        File::open(path)?.read_exact(&mut slab)?;
        Ok(Payloads { slab, offsets })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Their mean size in bytes.
    pub(crate) fn mean_size(&self) -> f64 {
        self.slab.len() as f64 / self.len() as f64
    }

    /// The payloads in order.
    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.offsets
            .array_windows::<2>()
            .map(|[from, to]| &self.slab[*from as usize..*to as usize])
    }
}
