// errors: 1

use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/order.sql")]
pub struct Line {
    pub length: u64,
}

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> map(|line| Line { length: line.len() as u64 })
        -> clickhouse::<Line>
    }
}
