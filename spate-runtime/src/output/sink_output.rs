//! The open and the parked chunks of one sink on one driver thread.

use std::hash::Hasher as _;
use std::sync::Arc;

use crate::ack::Ack;
use crate::config::ChunkConfig;
use crate::engine::Budget;
use crate::error::RowError;
use crate::hash::Fnv1a;
use crate::limits::MAX_CHUNK_BYTES;
use crate::record::Record;
use crate::sink::{Chunk, ShardQueue};
use crate::time::Time;

/// Where the rows of one sink go.
pub struct SinkOutput {
    config: ChunkConfig,
    shards: Vec<ShardOutput>,
}

struct ShardOutput {
    queue: Arc<ShardQueue>,
    data: Vec<u8>,
    rows: usize,
    acks: Vec<Ack>,
    opened: Time,
    /// Length and rows when the running batch began.
    mark: (usize, usize),
    /// Sealed, but the queue was full.
    parked: Option<Chunk>,
}

impl SinkOutput {
    pub(crate) fn new(config: ChunkConfig, queues: Vec<Arc<ShardQueue>>) -> Self {
        assert!(!queues.is_empty(), "a sink has at least one shard");
        let shards = queues
            .into_iter()
            .map(|queue| ShardOutput {
                queue,
                data: Vec::with_capacity(config.target_bytes),
                rows: 0,
                acks: Vec::new(),
                opened: Time::ZERO,
                mark: (0, 0),
                parked: None,
            })
            .collect();
        SinkOutput { config, shards }
    }

    #[inline(always)]
    pub(crate) fn append(
        &mut self,
        record: &Record<'_>,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), RowError>,
    ) -> Result<(), RowError> {
        let shard = if self.shards.len() == 1 {
            0
        } else {
            shard_of(record.key(), self.shards.len())
        };
        let chunk = &mut self.shards[shard];
        let before = chunk.data.len();
        match encode(&mut chunk.data) {
            Ok(()) => {
                chunk.rows += 1;
                Ok(())
            }
            Err(error) => {
                chunk.data.truncate(before);
                Err(error)
            }
        }
    }

    pub(super) fn mark(&mut self) {
        for shard in &mut self.shards {
            shard.mark = (shard.data.len(), shard.rows);
        }
    }

    pub(super) fn roll_back(&mut self) {
        for shard in &mut self.shards {
            shard.data.truncate(shard.mark.0);
            shard.rows = shard.mark.1;
        }
    }

    /// Shares the batch's ack with the chunks that got rows of it; the number of these rows.
    pub(super) fn attach(&mut self, ack: &Ack, now: Time) -> usize {
        let mut appended = 0;
        for shard in &mut self.shards {
            let rows = shard.rows - shard.mark.1;
            if rows > 0 {
                appended += rows;
                if shard.acks.is_empty() {
                    shard.opened = now;
                }
                shard.acks.push(ack.share());
            }
        }
        appended
    }

    pub(super) fn push(&mut self, now: Time, seal_all: bool, budget: &Arc<Budget>) -> bool {
        let mut all = true;
        for shard in &mut self.shards {
            all &= shard.push(&self.config, now, seal_all, budget);
        }
        all
    }

    pub(super) fn wake_at(&self) -> Option<Time> {
        let open = self.shards.iter().filter(|shard| shard.rows > 0);
        open.map(|shard| shard.opened.after(self.config.linger))
            .min()
    }

    pub(super) fn abandon(&mut self) -> usize {
        let mut rows = 0;
        for shard in &mut self.shards {
            rows += shard.rows + shard.parked.take().map_or(0, |chunk| chunk.rows());
            shard.data.clear();
            shard.rows = 0;
            shard.acks.clear();
        }
        rows
    }
}

impl ShardOutput {
    /// Pushes the parked chunk, then the open one if it is due; whether nothing is parked afterwards.
    fn push(
        &mut self,
        config: &ChunkConfig,
        now: Time,
        seal_all: bool,
        budget: &Arc<Budget>,
    ) -> bool {
        if let Some(parked) = self.parked.take()
            && let Err(chunk) = self.queue.push(parked)
        {
            self.parked = Some(chunk);
            return false;
        }
        let due = self.data.len() >= config.target_bytes
            || seal_all
            || now >= self.opened.after(config.linger);
        if self.rows == 0 || !due {
            return true;
        }
        debug_assert!(
            self.data.len() <= MAX_CHUNK_BYTES,
            "one batch made a chunk beyond every limit"
        );
        debug_assert!(!self.acks.is_empty(), "rows without an ack");
        let mut data = std::mem::replace(&mut self.data, Vec::with_capacity(config.target_bytes));
        // What is counted is what is held: a chunk that was sealed early, or grew beyond its size, keeps no spare room.
        data.shrink_to_fit();
        let chunk = Chunk::new(
            data,
            std::mem::take(&mut self.rows),
            std::mem::take(&mut self.acks),
        )
        .counted(budget);
        match self.queue.push(chunk) {
            Ok(()) => true,
            Err(chunk) => {
                self.parked = Some(chunk);
                false
            }
        }
    }
}

/// The default router: records of one key go to one shard; records without a key are spread by nothing and stay in shard 0.
fn shard_of(key: Option<&[u8]>, shards: usize) -> usize {
    let Some(key) = key else { return 0 };
    let mut hash = Fnv1a::default();
    hash.write(key);
    // The remainder is below `shards`, so it fits.
    (hash.finish() % shards as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_router_is_fixed_for_good() {
        // Reference values of 64-bit FNV-1a.
        let hash = |text: &str| {
            let mut h = Fnv1a::default();
            h.write(text.as_bytes());
            h.finish()
        };
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(shard_of(None, 4), 0);
    }
}
