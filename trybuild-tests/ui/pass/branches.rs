//! Records that borrow from the payload go down arms of all kinds; states are shared by the arms.

use spate::prelude::*;

#[derive(AvroRecord, Clone)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub order_id: i64,
    pub region: &'a str,
}

#[derive(Row)]
#[row(table = "files/lines.sql")]
pub struct LineRow<'a> {
    pub order_id: u64,
    pub sku: &'a str,
    pub qty: u32,
}

fn row(order: Order<'_>) -> Result<LineRow<'_>, StageError> {
    Ok(LineRow {
        order_id: u64::try_from(order.order_id)?,
        sku: order.region,
        qty: 1,
    })
}

spate::pipeline! {
    pub by_region(home: String) {
        let mut seen = std::collections::HashSet::new();
        kafka
        -> avro::<Order<'_>>
        -> route(|order, meta| (order.region, meta.partition())) {
            ("EUR" | "SEK", _) if home == "eu" => try_map(row, on_error = skip) -> eu: clickhouse,
            (other, 0) if other.is_empty() => unknown: drop,
            _ => filter(|order| seen.insert(order.order_id))
                -> tee {
                    rows: try_map(row) -> clickhouse,
                    names: map(|order| order.region) -> capture,
                    r#type: try_filter(|order| Ok(i32::try_from(order.order_id)? > 0), on_error = skip)
                        -> try_flat_map(|order| Ok(order.region.char_indices()))
                        -> map(|(n, _)| n.to_string())
                        -> capture::<String>,
                },
        }
    }
}
