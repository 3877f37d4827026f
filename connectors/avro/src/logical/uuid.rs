//! UUIDs, and those of the `uuid` crate.

use spate_runtime::value::Uuid;

use crate::error::AvroErrorKind;
use crate::from_wire::{FromWire, from_wire};
use crate::wire::{self, Scalar};

impl<'b> FromWire<'b, wire::Uuid> for Uuid {
    #[inline(always)]
    fn placeholder() -> Self {
        Uuid([0; 16])
    }

    #[inline]
    fn from_wire(text: &'b str) -> Result<Self, AvroErrorKind> {
        Uuid::parse(text).ok_or(AvroErrorKind::Uuid)
    }
}

#[cfg(feature = "uuid")]
impl<'b> FromWire<'b, wire::Uuid> for ::uuid::Uuid {
    #[inline(always)]
    fn placeholder() -> Self {
        ::uuid::Uuid::nil()
    }

    #[inline]
    fn from_wire(text: &'b str) -> Result<Self, AvroErrorKind> {
        <Uuid as FromWire<wire::Uuid>>::from_wire(text).map(|uuid| ::uuid::Uuid::from_bytes(uuid.0))
    }
}

#[cfg(feature = "uuid")]
from_wire! {
    [] ::uuid::Uuid, ::uuid::Uuid::nil(), |value: &'b [u8; 16]| ::uuid::Uuid::from_bytes(*value), wire::UuidFixed;
}

from_wire! {
    [] Uuid, Uuid([0; 16]), |value: &'b [u8; 16]| Uuid(*value), wire::UuidFixed;
    [] [u8; 16], [0; 16], |value: &'b [u8; 16]| *value, wire::UuidFixed;
    [] &'b [u8; 16], &[0; 16], |value: &'b [u8; 16]| value, wire::UuidFixed;
    [] &'b [u8], &[], |value: &'b [u8; 16]| value, wire::UuidFixed;
    [] Vec<u8>, Vec::new(), |value: &'b [u8; 16]| value.to_vec(), wire::UuidFixed;
    [] &'b str, "", |value: &'b str| value, wire::Uuid;
    [] String, String::new(), |value: &'b str| value.to_owned(), wire::Uuid;
}
