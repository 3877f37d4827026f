//! Decimals: an unscaled two's complement number, big endian, and how many of its digits stand behind the point.

use spate_runtime::value::{BigDecimal, Decimal};

use crate::error::AvroErrorKind;
use crate::from_wire::{FromWire, from_wire};
use crate::wire::{self, Reader, Scalar};

/// The number that the bytes stand for, if it has no more than 128 bits. Sign bytes that say nothing are passed over.
#[inline]
pub(crate) fn unscaled(bytes: &[u8]) -> Option<i128> {
    if bytes.len() <= SHORT {
        return Some(i128::from(short(bytes)));
    }
    const WIDTH: usize = size_of::<i128>();
    let negative = bytes.first().is_some_and(|first| *first >= 0x80);
    let fill = if negative { 0xff } else { 0 };
    let (sign, number) = bytes.split_at(bytes.len().saturating_sub(WIDTH));
    let mut wide = [fill; WIDTH];
    wide[WIDTH - number.len()..].copy_from_slice(number);
    let value = i128::from_be_bytes(wide);
    (sign.iter().all(|byte| *byte == fill) && (value < 0) == negative).then_some(value)
}

/// Most decimals have no more bytes.
const SHORT: usize = 8;

/// The number of up to eight bytes.
#[inline(always)]
fn short(bytes: &[u8]) -> i64 {
    let value = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // The bytes that both have are the same.
        (Some(first), Some(last)) => {
            let first = u64::from(u32::from_be_bytes(*first)) << (8 * (bytes.len() - 4));
            first | u64::from(u32::from_be_bytes(*last))
        }
        _ => bytes
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte)),
    };
    let unused = 8 * (SHORT - bytes.len()) as u32;
    (value.checked_shl(unused).unwrap_or(0) as i64) >> unused.min(63)
}

/// The number of a decimal of at most `PRECISION` digits.
///
/// # Errors
/// It has more digits, or more than 128 bits.
#[inline]
pub(super) fn number<const PRECISION: u32>(bytes: &[u8]) -> Result<i128, AvroErrorKind> {
    if bytes.len() <= SHORT {
        let value = short(bytes);
        return match const { 10u64.checked_pow(PRECISION) } {
            Some(limit) if value.unsigned_abs() >= limit => Err(AvroErrorKind::DecimalPrecision {
                precision: PRECISION,
            }),
            _ => Ok(i128::from(value)),
        };
    }
    let Some(value) = unscaled(bytes) else {
        return Err(AvroErrorKind::DecimalWidth { bytes: bytes.len() });
    };
    match const { 10u128.checked_pow(PRECISION) } {
        Some(limit) if value.unsigned_abs() >= limit => Err(AvroErrorKind::DecimalPrecision {
            precision: PRECISION,
        }),
        _ => Ok(value),
    }
}

/// The same for a precision that is known at run time.
///
/// # Errors
/// As for [`number`].
#[cfg(feature = "value")]
pub(crate) fn number_of(bytes: &[u8], precision: u32) -> Result<i128, AvroErrorKind> {
    let Some(value) = unscaled(bytes) else {
        return Err(AvroErrorKind::DecimalWidth { bytes: bytes.len() });
    };
    match 10u128.checked_pow(precision) {
        Some(limit) if value.unsigned_abs() >= limit => {
            Err(AvroErrorKind::DecimalPrecision { precision })
        }
        _ => Ok(value),
    }
}

impl<'b, const PRECISION: u32, const SCALE: u32> FromWire<'b, wire::Decimal<PRECISION, SCALE>>
    for Decimal<SCALE>
{
    #[inline(always)]
    fn placeholder() -> Self {
        Decimal(0)
    }

    #[inline]
    fn from_wire(bytes: &'b [u8]) -> Result<Self, AvroErrorKind> {
        number::<PRECISION>(bytes).map(Decimal)
    }
}

impl<'b, const N: usize, const PRECISION: u32, const SCALE: u32>
    FromWire<'b, wire::DecimalFixed<N, PRECISION, SCALE>> for Decimal<SCALE>
{
    #[inline(always)]
    fn placeholder() -> Self {
        Decimal(0)
    }

    #[inline]
    fn from_wire(bytes: &'b [u8; N]) -> Result<Self, AvroErrorKind> {
        number::<PRECISION>(bytes).map(Decimal)
    }
}

impl<'b> FromWire<'b, wire::BigDecimal> for BigDecimal {
    #[inline(always)]
    fn placeholder() -> Self {
        BigDecimal::default()
    }

    #[inline]
    fn from_wire(bytes: &'b [u8]) -> Result<Self, AvroErrorKind> {
        big_decimal(bytes)
    }
}

/// The number and the scale in the bytes of a `big-decimal`.
///
/// # Errors
/// They are something else, or the number has more than 128 bits.
#[inline]
pub(crate) fn big_decimal(bytes: &[u8]) -> Result<BigDecimal, AvroErrorKind> {
    let mut reader = Reader::new(bytes, bytes.len());
    let mut parts = || {
        let (number, scale) = (reader.bytes()?, reader.int()?);
        reader.finish().map(|()| (number, scale))
    };
    let Ok((number, scale)) = parts() else {
        return Err(AvroErrorKind::BigDecimal);
    };
    match unscaled(number) {
        Some(unscaled) => Ok(BigDecimal { unscaled, scale }),
        None => Err(AvroErrorKind::DecimalWidth {
            bytes: number.len(),
        }),
    }
}

from_wire! {
    [const P: u32, const S: u32] &'b [u8], &[], |value: &'b [u8]| value, wire::Decimal<P, S>;
    [const P: u32, const S: u32] Vec<u8>, Vec::new(), |value: &'b [u8]| value.to_vec(), wire::Decimal<P, S>;
    [const N: usize, const P: u32, const S: u32] &'b [u8], &[], |value: &'b [u8; N]| value, wire::DecimalFixed<N, P, S>;
    [const N: usize, const P: u32, const S: u32] [u8; N], [0; N], |value: &'b [u8; N]| *value, wire::DecimalFixed<N, P, S>;
    [const N: usize, const P: u32, const S: u32] &'b [u8; N], const { &[0; N] }, |value: &'b [u8; N]| value, wire::DecimalFixed<N, P, S>;
    [const N: usize, const P: u32, const S: u32] Vec<u8>, Vec::new(), |value: &'b [u8; N]| value.to_vec(), wire::DecimalFixed<N, P, S>;
    [] &'b [u8], &[], |value: &'b [u8]| value, wire::BigDecimal;
    [] Vec<u8>, Vec::new(), |value: &'b [u8]| value.to_vec(), wire::BigDecimal;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_numbers_with_a_sign_at_every_length() {
        for (bytes, expected) in [
            (&[][..], Some(0)),
            (&[0xff], Some(-1)),
            (&[0x00, 0xff], Some(255)),
            (&[0xfb, 0x32], Some(-1230)),
            (
                &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe],
                Some(-2),
            ),
        ] {
            assert_eq!(unscaled(bytes), expected, "{bytes:?}");
        }
        for bits in 0..128 {
            // At every width that holds it.
            for value in [i128::MAX >> bits, i128::MIN >> bits, 1 << bits] {
                let bytes = value.to_be_bytes();
                let fill = if value < 0 { 0xff } else { 0 };
                for from in 0..16 {
                    let says = value >= 0 || bytes[from] >= 0x80;
                    let says = says && (value < 0 || bytes[from] < 0x80);
                    if says && bytes[..from].iter().all(|byte| *byte == fill) {
                        assert_eq!(unscaled(&bytes[from..]), Some(value), "{value}");
                    }
                }
            }
        }
        for value in [0, 1, -1, 127, 128, -128, -129, i128::MAX, i128::MIN] {
            let bytes = value.to_be_bytes();
            let fill = if value < 0 { 0xff } else { 0 };
            assert_eq!(unscaled(&bytes), Some(value));
            let longer = [&[fill; 5][..], &bytes].concat();
            assert_eq!(
                unscaled(&longer),
                Some(value),
                "sign bytes that say nothing"
            );
            let other = [&[!fill][..], &bytes].concat();
            assert_eq!(unscaled(&other), None, "129 bits");
        }
        let larger = [&[0x00][..], &[0xff; 16]].concat();
        assert_eq!(unscaled(&larger), None, "2^128 - 1 is not -1");
        let smaller = [&[0xff][..], &[0x00; 16]].concat();
        assert_eq!(unscaled(&smaller), None, "-2^128 is not 0");
    }

    #[test]
    fn a_value_of_more_digits_than_the_precision_is_refused() {
        assert_eq!(number::<4>(&9999i32.to_be_bytes()), Ok(9999));
        let refused = Err(AvroErrorKind::DecimalPrecision { precision: 4 });
        assert_eq!(number::<4>(&10_000i32.to_be_bytes()), refused);
        assert_eq!(number::<4>(&(-10_000i32).to_be_bytes()), refused);
        assert_eq!(
            number::<38>(&(10i128.pow(38) - 1).to_be_bytes()),
            Ok(10i128.pow(38) - 1)
        );
        assert!(number::<38>(&10i128.pow(38).to_be_bytes()).is_err());
        assert_eq!(
            number::<64>(&i128::MIN.to_be_bytes()),
            Ok(i128::MIN),
            "a precision that no 128 bits have"
        );
        assert_eq!(
            number::<64>(&[1; 17]),
            Err(AvroErrorKind::DecimalWidth { bytes: 17 })
        );
    }
}
