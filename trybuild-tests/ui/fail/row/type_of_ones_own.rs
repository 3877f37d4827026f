// errors: 1

use spate::prelude::*;

pub struct Cents(pub i64);

#[derive(Row)]
#[row(table = "files/orders.sql")]
pub struct OrderRow<'a> {
    pub order_id: u64,
    pub region: &'a str,
    pub total_cents: Cents,
    pub note: Option<&'a str>,
}
