//! `rust_decimal::Decimal` (feature `rust-decimal`): 96 bits and a scale of up to 28; a value beyond is an error of its record.

use rust_decimal::Decimal;
use spate_runtime::value::BigDecimal;

use super::decimal::number;
use crate::error::AvroErrorKind;
use crate::from_wire::FromWire;
use crate::wire;

fn scaled(unscaled: i128, scale: u32) -> Result<Decimal, AvroErrorKind> {
    Decimal::try_from_i128_with_scale(unscaled, scale).map_err(|_| AvroErrorKind::Refused {
        why: "a decimal of more than 96 bits or 28 digits behind the point, which `rust_decimal` cannot hold",
    })
}

impl<'b, const P: u32, const S: u32> FromWire<'b, wire::Decimal<P, S>> for Decimal {
    #[inline(always)]
    fn placeholder() -> Self {
        Decimal::ZERO
    }

    #[inline]
    fn from_wire(bytes: &'b [u8]) -> Result<Self, AvroErrorKind> {
        scaled(number::<P>(bytes)?, S)
    }
}

impl<'b, const N: usize, const P: u32, const S: u32> FromWire<'b, wire::DecimalFixed<N, P, S>>
    for Decimal
{
    #[inline(always)]
    fn placeholder() -> Self {
        Decimal::ZERO
    }

    #[inline]
    fn from_wire(bytes: &'b [u8; N]) -> Result<Self, AvroErrorKind> {
        scaled(number::<P>(bytes)?, S)
    }
}

impl<'b> FromWire<'b, wire::BigDecimal> for Decimal {
    #[inline(always)]
    fn placeholder() -> Self {
        Decimal::ZERO
    }

    #[inline]
    fn from_wire(bytes: &'b [u8]) -> Result<Self, AvroErrorKind> {
        let BigDecimal { unscaled, scale } = FromWire::<wire::BigDecimal>::from_wire(bytes)?;
        match u32::try_from(scale) {
            Ok(scale) => scaled(unscaled, scale),
            Err(_) if unscaled == 0 => Ok(Decimal::ZERO),
            // Zeros that follow are written out.
            Err(_) => {
                let zeros = 10i128.checked_pow(scale.unsigned_abs());
                let whole = zeros.and_then(|zeros| unscaled.checked_mul(zeros));
                scaled(whole.unwrap_or(i128::MAX), 0)
            }
        }
    }
}
