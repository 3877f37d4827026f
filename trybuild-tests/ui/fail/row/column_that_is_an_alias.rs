// errors: 1

use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/computed.sql")]
pub struct Visit<'a> {
    pub visitor: u64,
    pub visitor_id: u64,
    pub url: &'a str,
}
