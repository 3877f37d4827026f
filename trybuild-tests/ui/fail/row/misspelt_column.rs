// errors: 1

use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/lines.sql")]
pub struct LineRow<'a> {
    pub order_id: u64,
    #[row(rename = "skuu")]
    pub sku: &'a str,
    pub qty: u32,
}
