//! Records of other versions of a schema can be read: promoted, in another order, by an alias, with defaults.
#![deny(warnings)]

use spate::prelude::*;

#[derive(AvroRecord)]
#[avro(
    schema = "files/account.avsc",
    compat = [
        "files/account.avsc",
        "files/old/account_1.avsc",
        ("files/old/account_2.avsc", with = ["files/old/person.avsc"]),
    ]
)]
pub struct Account<'a> {
    pub id: i64,
    pub full_name: &'a str,
    pub limit: f64,
    pub owner: Option<Person<'a>>,
}

/// A record inside is compared with the one of its name.
#[derive(AvroRecord)]
#[avro(schema = "files/account.avsc", record = "Person", compat = "files/old/person.avsc")]
pub struct Person<'a> {
    pub name: &'a str,
}

/// A type that the other version does not define is the one beside this version, or its own.
#[derive(AvroRecord)]
#[avro(
    schema = "files/with_reference.avsc",
    with = ["files/line.avsc"],
    compat = ["files/old/basket.avsc", ("files/old/basket.avsc", with = ["files/old/small_line.avsc"])]
)]
pub struct Basket {
    pub id: i64,
}

pub mod types {
    spate::avro_schema!("files/account.avsc", compat = "files/old/account_1.avsc");
}
