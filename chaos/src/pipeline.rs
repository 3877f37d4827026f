//! The pipeline under test, and the process that runs it: a member of the group.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use spate::prelude::*;
use spate::{Config, Meta, RuntimeOptions};

use crate::event;

/// An event as the topic has it.
#[derive(AvroRecord)]
#[avro(schema = "schemas/event.avsc")]
pub(crate) struct Event<'a> {
    id: i64,
    kind: &'a str,
    amount: i64,
    note: &'a str,
}

/// A row of the table, with the partition, the offset and the key of its record.
#[derive(Row)]
#[row(table = "sql/events.sql")]
pub(crate) struct EventRow<'a> {
    part: i32,
    off: i64,
    key: &'a [u8],
    id: u64,
    amount: i64,
    note: &'a str,
}

spate::pipeline! {
    /// Events into the table, heartbeats apart.
    pub(crate) events() {
        kafka
        -> avro::<Event>
        -> no_heartbeats: filter(|e| e.kind != event::HEARTBEAT)
        -> to_row: try_map(|e, meta| to_row(&e, meta))
        -> clickhouse::<EventRow>
    }
}

fn to_row<'a>(event: &Event<'a>, meta: Meta<'a>) -> Result<EventRow<'a>, StageError> {
    Ok(EventRow {
        part: meta.partition(),
        off: meta.offset(),
        key: meta
            .key()
            .ok_or_else(|| StageError::new("an event without a key"))?,
        id: u64::try_from(event.id)?,
        amount: event.amount,
        note: event.note,
    })
}

/// Runs the pipeline as an application does, with the configuration in this file.
pub(crate) fn member(config: &OsStr) -> ExitCode {
    spate::telemetry::init();
    let configured = Config::from_path(Path::new(config))
        .and_then(|config| events().with_config(config))
        .map_err(|error| error.to_string());
    let runtime = configured.and_then(|configured| {
        configured
            .into_runtime(RuntimeOptions::default())
            .map_err(|error| error.to_string())
    });
    match runtime {
        Ok(runtime) => {
            let report = runtime.run();
            eprintln!("{report}");
            ExitCode::from(report.exit_code())
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
