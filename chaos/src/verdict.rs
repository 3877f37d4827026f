//! The end: every row of the table against what was produced.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use spate_test::services::ClickHouse;

use crate::auditor::numbers;
use crate::error::Error;
use crate::event;
use crate::ledger::Ledger;
use crate::screen::Screen;

/// At most so many examples of each kind of fault.
const EXAMPLES: usize = 8;

/// How table and ledger compare.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Records that must have become rows, and have.
    pub(crate) distinct: u64,
    /// Rows beyond the first of a record.
    pub(crate) duplicates: u64,
    /// Records that must have become rows and have not.
    pub(crate) missing: u64,
    /// Rows whose columns are not those of their record.
    pub(crate) wrong: u64,
    /// Rows of records that must not have become any.
    pub(crate) unexpected: u64,
    examples: Vec<String>,
}

/// The larger part of the duplicates: how many rows were first stored in one second and then again in another one, both
/// since the start of the run.
pub(crate) fn when_doubled(clickhouse: &ClickHouse, screen: &Screen) -> Result<String, Error> {
    let began = SystemTime::now() - screen.elapsed();
    let began = began
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let sql = format!(
        "SELECT times[1] AS first, arrayJoin(arraySlice(times, 2)) AS again, count() FROM \
         (SELECT arraySort(groupArray(toUnixTimestamp(stored))) AS times FROM events GROUP BY part, off HAVING count() > 1) \
         GROUP BY first, again ORDER BY count() DESC LIMIT {EXAMPLES}"
    );
    let found = numbers(&clickhouse.query(&sql)?)?;
    let since = |second: u64| second.saturating_sub(began);
    let text = |[first, again, rows]: [u64; 3]| {
        format!("{rows} of {} s at {} s", since(first), since(again))
    };
    Ok(found.into_iter().map(text).collect::<Vec<_>>().join(", "))
}

impl Verdict {
    /// Reads the whole table.
    pub(crate) fn find(clickhouse: &ClickHouse, ledger: &Mutex<Ledger>) -> Result<Verdict, Error> {
        let mut verdict = Verdict::default();
        let ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
        for (partition, end) in ledger.known().into_iter().enumerate() {
            let sql = format!(
                "SELECT off, id, count(), countIf({}) FROM events WHERE part = {partition} GROUP BY off, id ORDER BY off",
                event::IS_DAMAGED
            );
            let answer = clickhouse.query(&sql)?;
            verdict.partition(&ledger, partition, end, numbers(&answer)?);
        }
        Ok(verdict)
    }

    fn partition(&mut self, ledger: &Ledger, partition: usize, end: i64, rows: Vec<[u64; 4]>) {
        let mut next = 0; // the first offset that has not been looked at
        for [offset, id, count, damaged] in rows {
            let offset = i64::try_from(offset).unwrap_or(i64::MAX);
            let first = offset >= next;
            if first {
                self.miss(ledger, partition, next, offset.min(end));
                next = offset.saturating_add(1);
            }
            match ledger.event(partition, offset) {
                Some(event) if event::is_kept(event) => {
                    self.distinct += u64::from(first);
                    self.duplicates += count - u64::from(first);
                    let wrong = if u64::from(event) == id {
                        damaged
                    } else {
                        count
                    };
                    if wrong > 0 {
                        self.wrong += wrong;
                        self.example(format!(
                            "wrong: partition {partition}, offset {offset} is event {event}, the row is of event {id}"
                        ));
                    }
                }
                other => {
                    self.unexpected += count;
                    self.example(format!(
                        "unexpected: a row of partition {partition}, offset {offset}, where the topic has {other:?}"
                    ));
                }
            }
        }
        self.miss(ledger, partition, next, end);
    }

    fn miss(&mut self, ledger: &Ledger, partition: usize, from: i64, to: i64) {
        for (offset, event) in ledger.kept(partition, from, to) {
            self.missing += 1;
            self.example(format!(
                "missing: event {event} at partition {partition}, offset {offset}"
            ));
        }
    }

    fn example(&mut self, text: String) {
        if self.examples.len() < EXAMPLES {
            self.examples.push(text);
        }
    }

    /// Whether the table is as it must be; duplicates are allowed.
    pub(crate) fn is_good(&self) -> bool {
        self.missing == 0 && self.wrong == 0 && self.unexpected == 0
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "missing={} wrong={} unexpected={}",
            self.missing, self.wrong, self.unexpected
        )?;
        for example in &self.examples {
            write!(f, "\n  {example}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events 0 to 9 at their own offsets: 3 is a heartbeat, 5 a tombstone.
    fn verdict(rows: &[[u64; 4]]) -> Verdict {
        let mut ledger = Ledger::new(1);
        for id in 0..10 {
            ledger.delivered(0, i64::from(id), id);
        }
        let mut verdict = Verdict::default();
        verdict.partition(&ledger, 0, 10, rows.to_vec());
        verdict
    }

    fn rows(offsets: &[u64]) -> Vec<[u64; 4]> {
        offsets.iter().map(|n| [*n, *n, 1, 0]).collect()
    }

    #[test]
    fn a_table_with_every_row_is_good_also_with_duplicates() {
        let mut all = rows(&[0, 1, 2, 4, 6, 7, 8, 9]);
        all[2][2] = 3;
        let verdict = verdict(&all);
        assert!(verdict.is_good(), "{verdict}");
        assert_eq!((verdict.distinct, verdict.duplicates), (8, 2));
    }

    #[test]
    fn rows_that_are_missing_anywhere_are_counted() {
        let verdict = verdict(&rows(&[1, 2, 6, 7, 8]));
        assert_eq!((verdict.distinct, verdict.missing), (5, 3));
        let text = verdict.to_string();
        assert!(text.contains("event 0") && text.contains("event 4") && text.contains("event 9"));
        assert!(!verdict.is_good());
    }

    #[test]
    fn rows_with_foreign_values_or_of_dropped_records_are_counted() {
        let mut all = rows(&[0, 1, 2, 3, 4, 6, 7, 8, 9, 12]);
        all[1][1] = 2;
        all[4][3] = 1;
        let verdict = verdict(&all);
        assert_eq!(
            (verdict.wrong, verdict.unexpected, verdict.missing),
            (2, 2, 0)
        );
        assert!(!verdict.is_good());
    }
}
