// errors: 1

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(schema = "files/account.avsc", compat = "files/old/account_2.avsc")]
pub struct Account {
    pub id: i64,
}
