//! The program of the README: a whole pipeline, run with `--config examples/config/arrivals.yaml`.

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "schemas/flight.avsc")]
struct Flight<'a> {
    carrier: &'a str,
    arr_delay: Option<i32>,
}

#[derive(Row)]
#[row(table = "sql/arrivals.sql")]
struct Arrival<'a> {
    carrier: &'a str,
    delay: i32,
}

spate::pipeline! {
    /// Flights that arrived, with their delay.
    pub arrivals() {
        kafka
        -> avro::<Flight>
        -> filter_map(|f| Some(Arrival { carrier: f.carrier, delay: f.arr_delay? }))
        -> clickhouse::<Arrival>
    }
}

fn main() -> ExitCode {
    spate::main(arrivals())
}
