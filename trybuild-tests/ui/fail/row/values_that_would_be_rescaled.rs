// errors: 2

use spate::avro::{Date, Decimal, TimestampMicros, Uuid};
use spate::prelude::Row;

#[derive(Row)]
#[row(table = "files/meanings.sql")]
pub struct Meanings {
    pub price: Decimal<2>,
    pub at: TimestampMicros,
    pub day: Date,
    pub id: Uuid,
}
