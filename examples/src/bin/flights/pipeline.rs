//! The pipeline: flights from Kafka, as Avro, into a ClickHouse table.
//!
//! This file, a configuration such as `config/flights.yaml`, and `fn main() -> ExitCode { spate::main(flights()) }` would be
//! a whole program. The rest of the demo brings the servers and the data, and checks the answers.

use spate::clickhouse::DateTime64Millis;
use spate::prelude::*;

/// A flight, as it comes: the fields that this pipeline reads, of the 19 that the schema has.
#[derive(AvroRecord, Clone, Copy)]
#[avro(schema = "schemas/flight.avsc")] // every field is compared with the schema when this is compiled
struct Flight<'a> {
    time_hour: TimestampMillis,
    carrier: &'a str, // borrowed from the Kafka client's buffer, not copied
    flight: i32,
    origin: &'a str,
    dest: &'a str,
    dep_time: Option<i32>,
    dep_delay: Option<i32>,
    arr_delay: Option<i32>,
    air_time: Option<i32>,
}

/// A row of the table, column by column.
#[derive(Row)]
#[row(table = "sql/flights.sql")] // every column is compared with the CREATE TABLE when this is compiled
struct FlightRow<'a> {
    time_hour: DateTime64Millis,
    carrier: &'a str,
    flight: i32,
    route: String,
    arr_delay: i32,
    total_minutes: Option<i32>,
}

spate::pipeline! {
    /// Flights that arrived, with their delay.
    pub(crate) flights() {
        kafka
        -> avro::<Flight>
        -> departed: filter(|f| f.dep_time.is_some())         // the others were cancelled
        -> arrived: filter_map(|f| Some((f, f.arr_delay?)))   // the others were diverted, or not reported
        -> map(|(f, arr_delay)| to_row(f, arr_delay))
        -> clickhouse::<FlightRow>
    }
}

fn to_row(f: Flight<'_>, arr_delay: i32) -> FlightRow<'_> {
    FlightRow {
        time_hour: DateTime64Millis(f.time_hour.0),
        carrier: f.carrier,
        flight: f.flight,
        route: format!("{}-{}", f.origin, f.dest),
        arr_delay,
        total_minutes: f.air_time.zip(f.dep_delay).map(|(air, late)| air + late),
    }
}
