//! Promises broken on purpose: the auditor must see them.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use spate_test::services::ClickHouse;

use crate::auditor::Auditor;
use crate::error::Error;
use crate::faults::Faults;
use crate::group::Group;
use crate::ledger::Ledger;
use crate::options::Plant;
use crate::plan::MEMBERS;
use crate::screen::Screen;

/// How many records are committed without a row, at least.
const AHEAD: u64 = 20;
/// How long the producer may take to get so far ahead.
const PATIENCE: Duration = Duration::from_secs(60);

/// Breaks the promise once, and looks whether it is noticed.
pub(crate) fn plant(
    what: Plant,
    screen: &Screen,
    group: &Group,
    faults: &Faults<'_>,
    clickhouse: &ClickHouse,
    auditor: &Auditor<'_>,
    ledger: &Mutex<Ledger>,
) -> Result<(), Error> {
    match what {
        Plant::EarlyCommit => early_commit(screen, group, faults, auditor, ledger),
        Plant::MissingRow => missing_row(screen, clickhouse, auditor, ledger),
    }
}

/// Stops the group and commits a partition's end, whatever stands before it.
fn early_commit(
    screen: &Screen,
    group: &Group,
    faults: &Faults<'_>,
    auditor: &Auditor<'_>,
    ledger: &Mutex<Ledger>,
) -> Result<(), Error> {
    let mut members: Vec<_> = (0..=MEMBERS).map(|number| group.hold(number)).collect();
    for member in &mut members {
        group.end(member, faults.excuse());
    }
    let end = Instant::now() + PATIENCE;
    let (partition, from, to, records) = loop {
        let committed = auditor.committed()?;
        let ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = |(partition, (from, to)): (usize, (&i64, i64))| {
            let records = ledger.kept(partition, *from, to).count() as u64;
            (partition, *from, to, records)
        };
        let most = committed.iter().zip(ledger.known()).enumerate().map(ahead);
        match most.max_by_key(|(.., records)| *records) {
            Some(found) if found.3 >= AHEAD => break found,
            _ if Instant::now() < end => {}
            _ => return Err(Error::Producer("nothing is ahead of the group".to_owned())),
        }
        drop(ledger);
        thread::sleep(Duration::from_millis(100));
    };
    auditor.commit(i32::try_from(partition).unwrap_or(0), to)?;
    screen.line(&format!(
        "planted: partition {partition} is committed to {to} instead of {from}: records={records}"
    ));
    auditor.audit()?;
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
    let committed = auditor.committed()?;
    let found = {
        let ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = committed.iter().enumerate().filter_map(|(partition, end)| {
            let (offset, _) = ledger.kept(partition, end / 2, *end).next()?;
            Some((partition, offset))
        });
        all.next()
    };
    let (partition, offset) =
        found.ok_or_else(|| Error::Producer("nothing is committed".to_owned()))?;
    clickhouse.execute(&format!(
        "ALTER TABLE events DELETE WHERE part = {partition} AND off = {offset} SETTINGS mutations_sync = 1"
    ))?;
    screen.line(&format!(
        "planted: the row of partition {partition}, offset {offset} is deleted: records=1"
    ));
    auditor.audit()
}
