// package: values

use spate::avro;
use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/orders.sql")]
pub struct OrderRow {
    pub order_id: u64,
    pub region: String,
    pub total_cents: i64,
    pub note: Option<String>,
}

fn to_row(order: &avro::Value) -> Result<OrderRow, StageError> {
    let order_id = order.field("order_id")?.as_i64();
    let order_id = order_id.ok_or_else(|| StageError::new("`order_id` is no number"))?;
    Ok(OrderRow {
        order_id: u64::try_from(order_id)?,
        region: order.field("region")?.as_str().unwrap_or("nowhere").to_owned(),
        total_cents: order.get("total_cents").and_then(avro::Value::as_i64).unwrap_or(0),
        note: order.get("note").and_then(avro::Value::as_str).map(str::to_owned),
    })
}

spate::pipeline! {
    pub turbofish {
        kafka(topic = "orders")
        -> avro::<avro::Value>(on_error = skip)
        -> filter(|order| order.get("order_id").is_some())
        -> try_map(|order| to_row(&order), on_error = skip)
        -> clickhouse
    }

    pub closure(least: i64) {
        let mut seen = 0u64;
        kafka(topic = "orders")
        -> avro
        -> inspect(|_: &avro::Value| { seen += 1; })
        -> filter(|order: &avro::Value, meta| meta.partition() == 0 && order.get("total_cents").and_then(|it| it.as_i64()) > Some(least))
        -> flat_map(|order: avro::Value| order.items().cloned().collect::<Vec<_>>())
        -> filter_map(|line: avro::Value| line.as_str().map(str::to_owned))
        -> capture
    }

    pub function {
        kafka(topic = "orders")
        -> avro::<spate::avro::Value>(pushdown = off)
        -> text
        -> capture
    }

    pub arms {
        kafka(topic = "orders")
        -> avro::<avro::Value>
        -> route(|order| order.inner()) {
            avro::Value::Record(record) if record.is_empty() => drop,
            avro::Value::Record(_) => tee {
                rows: try_map(|order| to_row(&order), on_error = skip) -> clickhouse,
                texts: map(|order| order.to_string()) -> capture,
            },
            _ => drop,
        }
    }
}

fn text(order: avro::Value) -> String {
    order.to_string()
}

/// The expression form.
pub fn expression() -> spate::Pipeline {
    spate::pipeline! { memory -> avro::<avro::Value> -> map(|order| order.to_string()) -> capture }
}
