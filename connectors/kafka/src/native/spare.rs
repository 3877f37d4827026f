//! The memory of a batch's records, kept from one batch to the next.

use std::cell::Cell;

use spate_runtime::record::Record;

/// A vector without records.
#[derive(Default)]
pub(crate) struct SpareRecords(Cell<Vec<Record<'static>>>);

// SAFETY: records are not `Send`, for their headers may be read on one thread only. But the vector holds none: `take`
// leaves an empty one, and `put` clears what it gets.
unsafe impl Send for SpareRecords {}

impl SpareRecords {
    /// An empty vector with the memory of the last one.
    pub(crate) fn take<'b>(&self) -> Vec<Record<'b>> {
        recycled(self.0.take())
    }

    /// Keeps the memory of a vector.
    pub(crate) fn put(&self, records: Vec<Record<'_>>) {
        self.0.set(recycled(records));
    }
}

/// The memory of a vector of records for records of another lifetime.
fn recycled<'a>(mut records: Vec<Record<'_>>) -> Vec<Record<'a>> {
    records.clear();
    // Nothing is left to map: the standard library collects in place, which keeps the memory.
    records
        .into_iter()
        .map(|_| -> Record<'a> { unreachable!("the vector was cleared") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_the_next_batch_use_the_memory_of_the_last() {
        let spare = SpareRecords::default();
        let payload = vec![1];
        let mut records = Vec::with_capacity(100);
        records.push(Record::new(0, Some(&payload)));
        let memory = records.as_ptr().cast::<u8>();
        spare.put(records);
        drop(payload);
        let again = spare.take();
        assert!(again.is_empty());
        assert_eq!(
            (again.as_ptr().cast::<u8>(), again.capacity()),
            (memory, 100)
        );
    }
}
