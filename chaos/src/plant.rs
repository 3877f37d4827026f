//! Promises broken on purpose: the auditor must see them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use spate_test::services::ClickHouse;

use crate::auditor::{Auditor, patiently};
use crate::error::Error;
use crate::faults::Faults;
use crate::group::Group;
use crate::ledger::Ledger;
use crate::options::Plant;
use crate::plan::MEMBERS;
use crate::screen::Screen;

/// How many records are committed without a row, at least.
const AHEAD: u64 = 20;
/// How long the producer may take to get so far ahead, and the group to commit something.
const PATIENCE: Duration = Duration::from_secs(240);

/// Breaks the promise once, and looks whether it is noticed. `go_on` lets the producer produce what it holds back.
#[expect(clippy::too_many_arguments, reason = "it touches everything")]
pub(crate) fn plant(
    what: Plant,
    go_on: &AtomicBool,
    screen: &Screen,
    group: &Group,
    faults: &Faults<'_>,
    clickhouse: &ClickHouse,
    auditor: &Auditor<'_>,
    ledger: &Mutex<Ledger>,
) -> Result<(), Error> {
    match what {
        Plant::EarlyCommit => early_commit(screen, go_on, group, faults, auditor, ledger),
        Plant::MissingRow => {
            go_on.store(true, Ordering::Release);
            missing_row(screen, clickhouse, auditor, ledger)
        }
    }
}

/// Stops the group and commits a partition's end, whatever stands before it.
fn early_commit(
    screen: &Screen,
    go_on: &AtomicBool,
    group: &Group,
    faults: &Faults<'_>,
    auditor: &Auditor<'_>,
    ledger: &Mutex<Ledger>,
) -> Result<(), Error> {
    let mut members: Vec<_> = (0..=MEMBERS).map(|number| group.hold(number)).collect();
    for member in &mut members {
        group.end(member, faults.excuse());
    }
    // What it has held back is ahead of the group, whatever that had done.
    go_on.store(true, Ordering::Release);
    let end = Instant::now() + PATIENCE;
    let (partition, from, to) = loop {
        let committed = patiently(|| auditor.committed())?;
        let ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = |(partition, (from, to)): (usize, (&i64, i64))| {
            let records = ledger.kept(partition, *from, to).count() as u64;
            (partition, *from, to, records)
        };
        let most = committed.iter().zip(ledger.known()).enumerate().map(ahead);
        match most.max_by_key(|(.., records)| *records) {
            Some((partition, from, to, records)) if records >= AHEAD => {
                break (partition, from, to);
            }
            _ if Instant::now() < end => {}
            _ => return Err(Error::Producer("nothing is ahead of the group".to_owned())),
        }
        drop(ledger);
        thread::sleep(Duration::from_millis(100));
    };
    // Of a member that did not end in time there may be rows that are not committed.
    let records = patiently(|| auditor.absent(partition, from, to))?.len();
    patiently(|| auditor.commit(i32::try_from(partition).unwrap_or(0), to))?;
    screen.line(&format!(
        "planted: partition {partition} is committed to {to} instead of {from}: records={records}"
    ));
    patiently(|| auditor.audit())?;
    for member in members.iter_mut().take(MEMBERS) {
        group.start(member)?;
    }
    Ok(())
}

/// Deletes the row of a committed record.
fn missing_row(
    screen: &Screen,
    clickhouse: &ClickHouse,
    auditor: &Auditor<'_>,
    ledger: &Mutex<Ledger>,
) -> Result<(), Error> {
    let end = Instant::now() + PATIENCE;
    let (partition, offset) = loop {
        let committed = patiently(|| auditor.committed())?;
        let found = {
            let ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
            let mut all = committed.iter().enumerate().filter_map(|(partition, end)| {
                let (offset, _) = ledger.kept(partition, end / 2, *end).next()?;
                Some((partition, offset))
            });
            all.next()
        };
        match found {
            Some(found) => break found,
            None if Instant::now() < end => thread::sleep(Duration::from_millis(100)),
            None => return Err(Error::Producer("nothing is committed".to_owned())),
        }
    };
    clickhouse.execute(&format!(
        "ALTER TABLE events DELETE WHERE part = {partition} AND off = {offset} SETTINGS mutations_sync = 1"
    ))?;
    screen.line(&format!(
        "planted: the row of partition {partition}, offset {offset} is deleted: records=1"
    ));
    patiently(|| auditor.audit())
}
