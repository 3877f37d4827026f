//! The data plane of one assignment of a scripted source.

use std::sync::Arc;

use spate_runtime::error::ConnectorError;
use spate_runtime::memory::MemoryRecord;
use spate_runtime::record::{Batch, HeaderSource, Headers, Partition, Record};
use spate_runtime::source::{Fetched, LaneId, SourceLane};

use super::ScriptedSource;
use super::source::{Fetch, Stands};

pub(super) struct ScriptedLane {
    id: LaneId,
    partition: Partition,
    source: ScriptedSource,
    current: Vec<(i64, Arc<MemoryRecord>)>,
    /// The offset to go on from behind the current batch.
    next: i64,
}

impl ScriptedLane {
    pub(super) fn new(id: LaneId, partition: Partition, source: ScriptedSource) -> Self {
        ScriptedLane {
            id,
            partition,
            source,
            current: Vec::new(),
            next: 0,
        }
    }
}

impl HeaderSource for ScriptedLane {
    fn header(&self, record: usize, index: usize) -> Option<(&str, Option<&[u8]>)> {
        let (name, value) = self.current.get(record)?.1.headers.get(index)?;
        Some((name, value.as_deref()))
    }
}

impl SourceLane for ScriptedLane {
    fn id(&self) -> LaneId {
        self.id
    }

    fn partition(&self) -> &Partition {
        &self.partition
    }

    fn fetch(&mut self, max_records: usize) -> Result<Fetched, ConnectorError> {
        let mut state = self.source.state();
        if !self.current.is_empty() {
            state.breach(format!(
                "{} was fetched while a batch was current",
                self.partition
            ));
        }
        let fetch = state.fetch(&self.partition, max_records);
        let topic = state.topic.clone();
        let Some(lane) = state.lanes.get_mut(&self.id) else {
            return Ok(Fetched::Empty);
        };
        if lane.stands == Stands::Released {
            let text = format!("{} was fetched after it was given back", self.partition);
            state.breach(text);
            return Ok(Fetched::Empty);
        }
        let most = match fetch {
            Fetch::Records(most) => most.min(max_records),
            Fetch::Nothing => return Ok(Fetched::Empty),
            Fetch::Fails(error) => return Err(error),
        };
        let log = topic.state();
        let (position, readable) = (lane.position, lane.readable);
        let (records, end) = match log.partitions.get(&self.partition.number) {
            Some(log) => (log.records.as_slice(), log.end),
            None => (&[][..], 0),
        };
        let from = records.partition_point(|(offset, _)| *offset < position);
        let found = records[from..]
            .iter()
            .take_while(|(offset, _)| *offset < readable);
        self.current.extend(found.take(most).cloned());
        if let Some((last, _)) = self.current.last() {
            // Offsets that are missing behind the batch are read with it.
            let after = records.get(from + self.current.len());
            self.next = after.map_or(end, |(offset, _)| *offset);
            debug_assert!(self.next > *last, "offsets ascend");
            lane.shown = self.next;
            return Ok(Fetched::Batch);
        }
        if log.closed && from == records.len() {
            lane.ended = true;
            return Ok(Fetched::End);
        }
        Ok(Fetched::Empty)
    }

    fn read(&self, f: &mut dyn FnMut(&Batch<'_>)) {
        if self.current.is_empty() {
            let text = format!("{} was read without a batch", self.partition);
            return self.source.state().breach(text);
        }
        let records: Vec<Record<'_>> = self
            .current
            .iter()
            .enumerate()
            .map(|(index, (offset, record))| {
                Record::new(*offset, record.payload.as_deref())
                    .with_key(record.key.as_deref())
                    .with_timestamp(record.timestamp)
                    .with_headers(Headers::new(self, index))
            })
            .collect();
        f(&Batch::new(&self.partition, &records, self.next));
    }

    fn finish(&mut self) {
        let mut state = self.source.state();
        if self.current.is_empty() {
            state.breach(format!("{} was finished without a batch", self.partition));
        }
        self.current.clear();
        if let Some(lane) = state.lanes.get_mut(&self.id) {
            lane.position = self.next;
        }
    }
}

impl Drop for ScriptedLane {
    fn drop(&mut self) {
        if let Some(lane) = self.source.state().lanes.get_mut(&self.id) {
            lane.alive = false;
        }
    }
}
