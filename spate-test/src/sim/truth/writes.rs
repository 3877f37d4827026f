//! What the sinks are given: one write at a time per shard, a failed block again as it was, and rows that a record makes.

use super::{Shard, State, who};
use crate::sim::rows::{self, Row};

impl State {
    /// A write of a block begins.
    pub(in crate::sim) fn write_begins(
        &mut self,
        at: (u32, usize, usize),
        token: &str,
        data: &[u8],
    ) {
        self.counts.writes += 1;
        let (process, sink, shard) = at;
        let hash = data.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let known = self.tokens.insert(token.to_owned(), hash);
        if known.is_some_and(|known| known != hash) {
            self.violation(format_args!("the token {token} was used for other rows"));
        }
        let state = self.shards.entry(at).or_insert(Shard {
            again: None,
            running: 0,
        });
        state.running += 1;
        let running = state.running;
        let again = state.again.take();
        if running > 1 {
            self.violation(format_args!(
                "two writes at a time: {} sink {sink} shard {shard}",
                who(process)
            ));
        }
        if again
            .as_ref()
            .is_some_and(|(again, known)| again != token || *known != hash)
        {
            let (again, _) = again.unwrap_or_default();
            self.violation(format_args!(
                "{again} was to be written again, but {token} was written: sink {sink} shard {shard}"
            ));
        }
    }

    /// The attempt's future is gone.
    pub(in crate::sim) fn write_dropped(&mut self, at: (u32, usize, usize)) {
        if let Some(shard) = self.shards.get_mut(&at) {
            shard.running -= 1;
        }
    }

    /// The attempt was answered with an error that may pass, or was given up: the block is to be written again, unless the
    /// whole process is ending.
    pub(in crate::sim) fn write_again(&mut self, at: (u32, usize, usize), token: &str) {
        let hash = self.tokens.get(token).copied().unwrap_or_default();
        if let Some(shard) = self.shards.get_mut(&at) {
            shard.again = Some((token.to_owned(), hash));
        }
    }

    /// The process has failed: blocks may be given up.
    pub(in crate::sim) fn gives_up(&mut self, process: u32) {
        for (at, shard) in &mut self.shards {
            if at.0 == process {
                shard.again = None;
            }
        }
    }

    /// Rows are stored by a process.
    pub(in crate::sim) fn stores(
        &mut self,
        process: u32,
        sink: usize,
        shard: usize,
        shards: usize,
        data: &[u8],
    ) -> usize {
        let rows = match rows::read(data) {
            Ok(rows) => rows,
            Err(error) => {
                self.violation(format_args!("sink {sink}: {error}"));
                return 0;
            }
        };
        for row in &rows {
            self.store(process, sink, shard, shards, row);
        }
        rows.len()
    }

    fn store(&mut self, process: u32, sink: usize, shard: usize, shards: usize, row: &Row) {
        let partition = usize::from(row.partition);
        let offset = i64::from(row.offset);
        if usize::from(row.sink) != sink {
            self.violation(format_args!(
                "sink {sink} got a row of another one: {row:?}"
            ));
        }
        let belongs = rows::shard_of(row.key, shards);
        if belongs != shard {
            self.violation(format_args!(
                "sink {sink} shard {shard} got a row of shard {belongs}: {row:?}"
            ));
        }
        let ran = self.lanes.values().any(|lane| {
            lane.process == process && lane.partition == partition && offset < lane.next
        });
        if !ran {
            self.violation(format_args!(
                "{} stores a row of a batch that did not run to its end: {row:?}",
                who(process)
            ));
        }
        let child = usize::from(row.child);
        match self.record(partition, offset) {
            Some(record)
                if record.draft.rows().get(child) == Some(&row.sink)
                    && record.draft.key == row.key =>
            {
                record.stored |= 1 << child;
            }
            _ => self.violation(format_args!("a row that no record makes: {row:?}")),
        }
    }
}
