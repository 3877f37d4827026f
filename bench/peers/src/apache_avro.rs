//! apache-avro: a `Value`, and from it the whole struct, which is what its documentation shows.

use std::error::Error;

use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::{Schema, from_value};
use serde::Deserialize;

use crate::serde_avro_fast::body;
use crate::shared::{LEAST_CENTS, Refused, Row, each, store};
use crate::{Pass, SCHEMA};

#[derive(Deserialize)]
struct Order {
    order_id: i64,
    region: String,
    total_cents: i64,
    #[allow(dead_code, reason = "decoded for the work of it")]
    note: Option<String>,
    placed_at: i64,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "decoded for the work of it")]
struct Line {
    sku: String,
    qty: i32,
}

pub(crate) fn value() -> Result<Pass, Box<dyn Error>> {
    let schema = Schema::parse_str(SCHEMA)?;
    Ok(Box::new(move |payloads, out| {
        let reader = GenericDatumReader::builder(&schema).build()?;
        let done = each(payloads, out, |payload, last, chunk| {
            let value = reader
                .read_value(&mut body(payload, last)?)
                .map_err(|_| Refused)?;
            let order: Order = from_value(&value).map_err(|_| Refused)?;
            if order.total_cents < LEAST_CENTS {
                return Ok(false);
            }
            let row = Row {
                order_id: order.order_id as u64,
                region: &order.region,
                total_cents: order.total_cents as u64,
                placed_at: order.placed_at,
                n_lines: order.lines.len() as u32,
            };
            store(&row, chunk);
            Ok(true)
        });
        done.map_err(|Refused| "a payload was refused".into())
    }))
}
