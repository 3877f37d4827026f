//! What is true whatever the engine believes: the records that were produced, the rows that are stored, what each process was
//! given and did. Every check of a run is made against it, at the moment at which it can first fail.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spate_runtime::source::{Commit, LaneId};
use spate_runtime::time::Time;

use super::rows::{Draft, Kind};
use crate::scripted::Topic;

mod lanes;
mod writes;

struct Produced {
    offset: i64,
    draft: Draft,
    /// A bit per child that is stored.
    stored: u32,
    failures_left: u32,
}

impl Produced {
    fn is_stored(&self) -> bool {
        let rows = self.draft.rows().len() as u32;
        self.stored.count_ones() == rows
    }
}

#[derive(Default)]
struct Partition {
    records: Vec<Produced>,
}

/// An assignment as its process lived it.
#[derive(Debug)]
struct Lane {
    process: u32,
    partition: usize,
    /// The next offset that the kernel is to run.
    next: i64,
    /// Its kernel failed: nothing of it is run any more.
    failed: bool,
    /// It was taken away without being asked for, and its process has been told.
    lost: bool,
    told: bool,
    /// Since when it is to be given back.
    asked: Option<Time>,
    /// It was given back before its process was to end.
    released: bool,
    /// It was given back with rows that were not stored.
    left: bool,
}

/// What one process did.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// Records of batches whose kernel ran to its end.
    pub(super) records: u64,
    /// Rows of attempts that were answered with success, by sink.
    pub(super) written: Vec<u64>,
    /// What was done to it that may end it, as the place of a failure begins.
    pub(super) causes: Vec<String>,
    /// Something of it can never end by itself.
    pub(super) stuck: bool,
}

struct Shard {
    /// The token of the block that has to be written next, because its last attempt failed and may be repeated.
    again: Option<(String, u64)>,
    /// Attempts whose futures live.
    running: u32,
}

/// A batch that was run.
#[derive(Debug, Default)]
pub(super) struct Ran {
    pub(super) records: usize,
    /// The encoded bytes.
    pub(super) bytes: usize,
    /// Where the lane goes on; `None` if the kernel failed.
    pub(super) next: Option<i64>,
}

/// What is counted over a run.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) commits: u64,
    pub(super) writes: u64,
    pub(super) batches: u64,
    /// The bytes of the largest batch.
    pub(super) largest: usize,
}

pub(super) struct State {
    pub(super) now: Time,
    pub(super) log: Vec<String>,
    violations: Vec<String>,
    dedup: bool,
    topic: Topic,
    partitions: Vec<Partition>,
    carriers: BTreeMap<u16, Vec<(usize, usize)>>,
    tokens: BTreeMap<String, u64>,
    lanes: BTreeMap<LaneId, Lane>,
    shards: BTreeMap<(u32, usize, usize), Shard>,
    processes: BTreeMap<u32, Done>,
    /// The lane whose batch is being read.
    reading: Option<(u32, LaneId)>,
    pub(super) counts: Counts,
}

/// The truth of one run. Clones are the same.
#[derive(Clone)]
pub(super) struct Truth(Arc<Mutex<State>>);

impl Truth {
    pub(super) fn new(topic: &Topic, partitions: usize, dedup: bool) -> Self {
        Truth(Arc::new(Mutex::new(State {
            now: Time::ZERO,
            log: Vec::new(),
            violations: Vec::new(),
            dedup,
            topic: topic.clone(),
            partitions: (0..partitions).map(|_| Partition::default()).collect(),
            carriers: BTreeMap::new(),
            tokens: BTreeMap::new(),
            lanes: BTreeMap::new(),
            shards: BTreeMap::new(),
            processes: BTreeMap::new(),
            reading: None,
            counts: Counts::default(),
        })))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn log(&self, text: fmt::Arguments<'_>) {
        self.state().note(text);
    }

    pub(super) fn violation(&self, text: fmt::Arguments<'_>) {
        self.state().violation(text);
    }

    pub(super) fn first_violation(&self) -> Option<String> {
        self.state().violations.first().cloned()
    }
}

/// The place of a process in the log.
fn who(process: u32) -> String {
    format!("p{process}")
}

impl State {
    pub(super) fn note(&mut self, text: fmt::Arguments<'_>) {
        let line = format!("{:>14} {text}", format!("{:?}", self.now));
        self.log.push(line);
    }

    pub(super) fn violation(&mut self, text: fmt::Arguments<'_>) {
        self.note(format_args!("VIOLATION: {text}"));
        self.violations.push(text.to_string());
    }

    // ---- records ----

    pub(super) fn produced(&mut self, partition: usize, offset: i64, draft: Draft) {
        let records = &mut self.partitions[partition].records;
        let carries = matches!(
            draft.kind,
            Kind::Rows | Kind::BadChild | Kind::Fails | Kind::Panics
        );
        if self.dedup && carries {
            let carrier = (partition, records.len());
            self.carriers.entry(draft.id).or_default().push(carrier);
        }
        records.push(Produced {
            offset,
            stored: 0,
            failures_left: draft.failures,
            draft,
        });
    }

    fn record(&mut self, partition: usize, offset: i64) -> Option<&mut Produced> {
        let records = &mut self.partitions.get_mut(partition)?.records;
        let index = records.binary_search_by_key(&offset, |r| r.offset).ok()?;
        records.get_mut(index)
    }

    /// Whether a stage fails at the record this time.
    pub(super) fn fails(&mut self, partition: usize, offset: i64) -> bool {
        let Some(record) = self.record(partition, offset) else {
            return false;
        };
        let fails = record.failures_left > 0;
        record.failures_left -= u32::from(fails);
        fails
    }

    /// The last record's offset, if the partition has any.
    pub(super) fn last(&self, partition: usize) -> Option<i64> {
        self.partitions[partition].records.last().map(|r| r.offset)
    }

    /// Whether the record is stored, or cannot be lost: with a dedup kernel a copy of it is stored or will be read again.
    /// `commits` is the request that is about to be made.
    fn is_safe(&self, partition: usize, index: usize, commits: &[Commit]) -> bool {
        let record = &self.partitions[partition].records[index];
        if record.is_stored() {
            return true;
        }
        let Some(copies) = self.carriers.get(&record.draft.id) else {
            return false;
        };
        copies.iter().any(|&(partition, index)| {
            let copy = &self.partitions[partition].records[index];
            let number = partition as i32;
            let asked = commits.iter().filter(|c| c.partition.number == number);
            let asked = asked.map(|c| c.offset).max();
            copy.is_stored() || Some(copy.offset) >= asked.max(self.topic.committed(number))
        })
    }

    // ---- processes ----

    pub(super) fn process(&mut self, process: u32) -> &mut Done {
        self.processes.entry(process).or_default()
    }

    /// Something was done to the process that may end it, at `place`.
    pub(super) fn cause(&mut self, process: u32, place: impl Into<String>) {
        self.process(process).causes.push(place.into());
    }

    /// What a process ran of lanes that it kept and that the broker did not learn of.
    pub(super) fn unsettled(&self, process: u32, committed: impl Fn(usize) -> i64) -> Vec<String> {
        let lanes = self.lanes.values();
        let kept = lanes.filter(|lane| lane.process == process && !lane.lost);
        // What was stored before its lane went is only read again: no reason to end otherwise than cleanly.
        let open = |lane: &&Lane| !lane.released && lane.next > committed(lane.partition);
        kept.filter(|lane| lane.left || open(lane))
            .filter(|lane| {
                // A lane that ran nothing has nothing to commit.
                let records = &self.partitions[lane.partition].records;
                records.iter().any(|r| r.offset < lane.next)
            })
            .map(|lane| {
                let committed = committed(lane.partition);
                format!(
                    "partition {}: ran to {}, committed {committed}",
                    lane.partition, lane.next
                )
            })
            .collect()
    }

    // ---- commits ----

    /// The moment of a commit: everything below it has to be safe.
    pub(super) fn commits(&mut self, process: u32, commits: &[Commit]) {
        self.counts.commits += 1;
        let list: Vec<String> = commits
            .iter()
            .map(|c| format!("{}={}", c.partition.number, c.offset))
            .collect();
        self.note(format_args!("{} commits {}", who(process), list.join(" ")));
        // The commits are one request: it reaches all of its partitions or none.
        let mut checks = Vec::new();
        for commit in commits {
            let partition = usize::try_from(commit.partition.number).unwrap_or(usize::MAX);
            let Some(lane) = self.lanes.get(&commit.lane) else {
                self.violation(format_args!("{} commits an unknown lane", who(process)));
                continue;
            };
            if lane.process != process || lane.partition != partition {
                let text = format!("{} commits a lane that is not its own", who(process));
                self.violation(format_args!("{text}"));
                continue;
            }
            if lane.told {
                self.violation(format_args!(
                    "{} commits partition {partition}, and was told that it lost it",
                    who(process)
                ));
            }
            let lane = &self.lanes[&commit.lane];
            if commit.offset > lane.next {
                let next = lane.next;
                self.violation(format_args!(
                    "{} commits partition {partition} to {}, but ran it to {next} only",
                    who(process),
                    commit.offset
                ));
            }
            let committed = self.topic.committed(commit.partition.number).unwrap_or(0);
            let records = &self.partitions[partition].records;
            let from = records.partition_point(|r| r.offset < committed);
            let to = records.partition_point(|r| r.offset < commit.offset);
            checks.extend((from..to).map(|index| (partition, index)));
        }
        for (partition, index) in checks {
            if !self.is_safe(partition, index, commits) {
                let offset = self.partitions[partition].records[index].offset;
                self.violation(format_args!(
                    "{} commits past partition {partition} offset {offset}, which is not stored",
                    who(process)
                ));
            }
        }
    }

    // ---- the end ----

    /// After the last process has ended cleanly: everything is committed and stored.
    pub(super) fn check_all(&mut self, committed: impl Fn(usize) -> i64) {
        let mut missing = Vec::new();
        for (number, partition) in self.partitions.iter().enumerate() {
            for record in &partition.records {
                let stored = match self.carriers.get(&record.draft.id) {
                    Some(copies) if !record.is_stored() => copies
                        .iter()
                        .any(|&(p, index)| self.partitions[p].records[index].is_stored()),
                    _ => record.is_stored(),
                };
                if !stored {
                    missing.push(format!(
                        "partition {number} offset {} is lost",
                        record.offset
                    ));
                }
                if record.offset >= committed(number) {
                    missing.push(format!(
                        "partition {number} offset {} is not committed in the end",
                        record.offset
                    ));
                }
            }
        }
        if let Some(text) = missing.first() {
            self.violation(format_args!("{text} ({} such faults)", missing.len()));
        }
    }
}
