use spate::prelude::*;

#[derive(AvroRecord, Clone, Copy)]
#[avro(schema = "schemas/flight.avsc")]
struct Flight<'a> {
    carrier: &'a str,
    dep_time: Option<i32>,
    arr_delay: Option<i32>,
}

#[derive(Row)]
#[row(table = "sql/arrivals.sql")]
struct FlightRow<'a> {
    carrier: &'a str,
    delay: i32,
}

fn to_row(flight: Flight<'_>, delay: i32) -> FlightRow<'_> {
    FlightRow { carrier: flight.carrier, delay }
}
