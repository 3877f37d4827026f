// errors: 1

use spate::prelude::*;

#[derive(Row)]
#[row(table = "files/misspelt_type.sql")]
pub struct RegionRow<'a> {
    pub code: &'a str,
    pub number: u32,
}
