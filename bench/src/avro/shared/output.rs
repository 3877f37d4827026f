//! Where rows go: a chunk that is thrown away whenever it is full, or hashed before, to compare what variants write.

/// A chunk is given away when it has so many bytes.
const CHUNK_BYTES: usize = 1 << 20;

/// Rows, thrown away.
pub(crate) struct Output {
    pub(crate) chunk: Vec<u8>,
    rows: u64,
    bytes: u64,
    hash: Option<u64>,
}

/// What a variant wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Rows.
    pub(crate) rows: u64,
    /// Bytes of all rows.
    pub(crate) bytes: u64,
    /// FNV-1a over the bytes of all rows; zero where nothing was hashed.
    pub(crate) hash: u64,
}

impl Output {
    /// Throws rows away.
    pub(crate) fn discard() -> Output {
        Output {
            chunk: Vec::with_capacity(CHUNK_BYTES + (64 << 10)),
            rows: 0,
            bytes: 0,
            hash: None,
        }
    }

    /// Hashes them before.
    pub(crate) fn hash() -> Output {
        Output {
            hash: Some(0xcbf2_9ce4_8422_2325),
            ..Output::discard()
        }
    }

    /// Gives the chunk away if it is full; asked after every record.
    #[inline(always)]
    pub(crate) fn turn(&mut self) {
        if self.chunk.len() >= CHUNK_BYTES {
            self.give_away();
        }
    }

    #[cold]
    #[inline(never)]
    fn give_away(&mut self) {
        let chunk = std::mem::take(&mut self.chunk);
        self.take(&chunk);
        self.chunk = chunk;
        self.chunk.clear();
    }

    /// Takes encoded rows that somebody else had in a buffer.
    pub(crate) fn take(&mut self, rows: &[u8]) {
        self.bytes += rows.len() as u64;
        if let Some(hash) = &mut self.hash {
            for byte in rows {
                *hash = (*hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }

    /// Adds to the number of rows.
    pub(crate) fn count(&mut self, rows: u64) {
        self.rows += rows;
    }

    /// What was written.
    pub(crate) fn finish(mut self) -> Written {
        self.give_away();
        Written {
            rows: self.rows,
            bytes: self.bytes,
            hash: self.hash.unwrap_or(0),
        }
    }
}
