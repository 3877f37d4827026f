//! A macro passes on what it was given, as fragments of each kind that may stand in a pipeline.

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/order.avsc")]
pub struct Order<'a> {
    pub order_id: i64,
    pub region: &'a str,
    pub total_cents: i64,
    pub note: Option<&'a str>,
}

#[derive(Row)]
#[row(table = "files/orders.sql")]
pub struct OrderRow<'a> {
    pub order_id: u64,
    pub region: &'a str,
    pub total_cents: i64,
    pub note: Option<&'a str>,
}

/// Functions that the macro's caller names.
pub mod ops {
    use super::{Order, OrderRow, StageError};

    pub(crate) fn to_row(order: Order<'_>) -> Result<OrderRow<'_>, StageError> {
        let Order { order_id, region, total_cents, note } = order;
        Ok(OrderRow { order_id: order_id.try_into()?, region, total_cents, note })
    }

    pub(crate) fn marked<T>(record: T, _: &str) -> T {
        record
    }
}

macro_rules! orders {
    (
        $(#[$attribute:meta])* $vis:vis $name:ident($($parameter:ident: $of:ty),*),
        $topic:literal, $policy:ident, $record:ty => $row:ty,
        $keep:expr, $convert:path, $label:ident: $mark:expr, $first:expr,
        $key:expr => $small:pat, $large:pat if $guard:expr, $($rest:tt)+
    ) => {
        spate::pipeline! {
            $(#[$attribute])*
            $vis $name($($parameter: $of),*) {
                let mut count = $first;
                let stop: usize = 10;
                kafka(topic = $topic)
                -> avro::<$record>(on_error = $policy)
                -> $label: filter($keep)
                -> filter(|order| { count += 1; let mark: &str = $mark; order.region != mark })
                -> filter(|_| stop > 0)
                -> $crate::ops::marked($mark)
                -> inspect(|_| ())
                -> route($key) {
                    $small => drop,
                    $large if $guard => large: drop,
                    _ => try_map($convert, on_error = $policy) -> clickhouse::<$row>,
                }
                $($rest)+
            }
        }
    };
}
pub(crate) use orders;

orders! {
    /// Orders of a region.
    #[must_use]
    pub(crate) of_region(region: String, least: i64),
    "orders", skip, Order<'_> => OrderRow<'_>,
    |order| order.total_cents >= least && order.region == region,
    ops::to_row, kept: "none", 1_u8 + 1,
    |order, meta| (order.total_cents, meta.offset()) => (0 | 1, _), (n, 5..) if n > 10,
    name = "of-region";
    on_error = skip;
}

/// In another place of the crate.
pub mod inside {
    use super::{Order, OrderRow};

    super::orders! {
        pub all(),
        "orders", fail, Order<'_> => OrderRow<'_>,
        |_| true,
        super::ops::to_row, all: "none", { let mut n = 0_u64; n += 1; n },
        |order: &Order<'_>| order.order_id => ..0, _ if false,
        name = "all";
    }
}

/// A closure of the macro itself beside one of its caller: neither sees the other's variables.
macro_rules! twice {
    ($source:ident, $record:ident, $f:expr) => {
        spate::pipeline! {
            let record = 2_usize;
            $source -> bytes -> filter(|$record| $record.len() > record) -> map($f) -> capture
        }
    };
}

/// Their value.
pub fn value(record: usize) -> spate::Pipeline {
    twice!(memory, line, |line| format!("{record} {}", line.len()))
}
