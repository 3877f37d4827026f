// errors: 1

use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/orders.sql")]
pub struct OrderRow<'a> {
    pub order_id: u64,
    pub region: &'a str,
    pub total_cents: i64,
    pub note: Option<&'a str>,
    #[row(rename = "region")]
    pub land: &'a str,
}
