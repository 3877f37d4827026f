//! What was produced where, from the broker's delivery reports: the truth that the table is compared with.

use crate::event;

/// Which event stands at which offset of every partition.
#[derive(Debug)]
pub(crate) struct Ledger {
    partitions: Vec<Partition>,
    delivered: u64,
    broken: Option<String>,
}

#[derive(Debug, Default)]
struct Partition {
    /// By offset.
    events: Vec<Option<u32>>,
    /// For every offset up to the first unknown one: how many events that must become rows stand before it.
    kept: Vec<u64>,
}

impl Ledger {
    pub(crate) fn new(partitions: usize) -> Ledger {
        let empty = || Partition {
            kept: vec![0],
            ..Partition::default()
        };
        Ledger {
            partitions: (0..partitions).map(|_| empty()).collect(),
            delivered: 0,
            broken: None,
        }
    }

    /// The broker has acknowledged event `id` at this offset.
    pub(crate) fn delivered(&mut self, partition: i32, offset: i64, id: u32) {
        self.delivered += 1;
        let at = usize::try_from(offset).ok();
        let place = usize::try_from(partition)
            .ok()
            .and_then(|number| self.partitions.get_mut(number));
        let (Some(at), Some(place)) = (at, place) else {
            return self.break_off(format!(
                "event {id} was acknowledged at offset {offset} of partition {partition}"
            ));
        };
        if place.events.len() <= at {
            place.events.resize(at + 1, None);
        }
        if let Some(before) = place.events[at].replace(id) {
            return self.break_off(format!(
                "the broker acknowledged event {before} and then event {id} at offset {offset} of partition {partition}: \
                 it has lost the first one"
            ));
        }
        while let Some(Some(event)) = place.events.get(place.kept.len() - 1) {
            let before = place.kept.last().copied().unwrap_or(0);
            place.kept.push(before + u64::from(event::is_kept(*event)));
        }
    }

    /// From now on what was produced is not known; the first reason stays.
    pub(crate) fn break_off(&mut self, why: String) {
        self.broken.get_or_insert(why);
    }

    /// Why the ledger is not the truth, if it is not.
    pub(crate) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// How many events the broker has acknowledged.
    pub(crate) fn count(&self) -> u64 {
        self.delivered
    }

    /// By partition, the first offset of which it is not known what stands there; the end, when all reports are in.
    pub(crate) fn known(&self) -> Vec<i64> {
        let known = |partition: &Partition| i64::try_from(partition.kept.len() - 1).unwrap_or(0);
        self.partitions.iter().map(known).collect()
    }

    /// How many rows the records before `offset`, which is a known one, must have become.
    pub(crate) fn kept_below(&self, partition: usize, offset: i64) -> u64 {
        self.partitions[partition].kept[usize::try_from(offset).unwrap_or(0)]
    }

    /// The offsets from `from` up to `to` whose records must become rows, with their events.
    pub(crate) fn kept(
        &self,
        partition: usize,
        from: i64,
        to: i64,
    ) -> impl Iterator<Item = (i64, u32)> {
        (from..to).filter_map(move |offset| {
            let event = self.event(partition, offset)?;
            event::is_kept(event).then_some((offset, event))
        })
    }

    /// The event at this offset.
    pub(crate) fn event(&self, partition: usize, offset: i64) -> Option<u32> {
        let at = usize::try_from(offset).ok()?;
        self.partitions[partition].events.get(at).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_ends_at_the_first_offset_without_a_report() {
        let mut ledger = Ledger::new(2);
        ledger.delivered(1, 0, 0);
        ledger.delivered(1, 2, 2);
        assert_eq!(ledger.known(), [0, 1]);
        ledger.delivered(1, 1, 3); // a heartbeat
        assert_eq!(ledger.known(), [0, 3]);
        assert_eq!(
            [0, 1, 2, 3].map(|end| ledger.kept_below(1, end)),
            [0, 1, 1, 2]
        );
        assert_eq!(ledger.kept(1, 1, 3).collect::<Vec<_>>(), [(2, 2)]);
        assert_eq!((ledger.count(), ledger.broken()), (3, None));
    }

    #[test]
    fn an_offset_that_is_acknowledged_twice_is_a_loss_of_the_brokers() {
        let mut ledger = Ledger::new(1);
        ledger.delivered(0, 0, 0);
        ledger.delivered(0, 0, 1);
        assert!(ledger.broken().is_some_and(|why| why.contains("lost")));
    }
}
