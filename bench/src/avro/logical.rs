//! A record of logical types: a UUID as text, a decimal as bytes, a date, a time and a point in time. What is read is compared with code by
//! hand; the row is stored by the same code for both.

use std::hint::black_box;

use super::hand::{self, Wire};
use super::shared::{LEAST_CENTS, Output, Payloads, Refused, each};

/// A payment's row.
struct Row {
    id: [u8; 16],
    cents: i64,
    due: i32,
    at: i64,
    time: i32,
}

#[inline(always)]
fn store(row: &Row, out: &mut Vec<u8>) {
    let mut bytes = [0; 40];
    bytes[..16].copy_from_slice(&row.id);
    bytes[16..24].copy_from_slice(&row.cents.to_le_bytes());
    bytes[24..28].copy_from_slice(&row.due.to_le_bytes());
    bytes[28..36].copy_from_slice(&row.at.to_le_bytes());
    bytes[36..].copy_from_slice(&row.time.to_le_bytes());
    out.extend_from_slice(&bytes);
}

/// What Spate's derive generates.
#[inline(never)]
pub(super) fn ours(payloads: &Payloads, out: &mut Output) -> Result<(), Refused> {
    use spate_avro::{Date, Decimal, TimeMillis, TimestampMicros, Uuid, confluent, decode_body};

    #[derive(spate_macros::AvroRecord)]
    #[avro(schema = "schemas/payment.avsc", crate = crate::facade)]
    struct Payment {
        id: Uuid,
        amount: Decimal<2>,
        due: Date,
        at: TimestampMicros,
        time: TimeMillis,
    }

    each(payloads, out, |payload, last, chunk| {
        let body = match confluent(payload) {
            Ok((id, body)) if id == last => body,
            _ => return Err(Refused),
        };
        let payment: Payment = decode_body(body, payload.len()).map_err(|_| Refused)?;
        let payment = black_box(&payment);
        let cents = i64::try_from(payment.amount.0).map_err(|_| Refused)?;
        if cents < LEAST_CENTS {
            return Ok(false);
        }
        let row = Row {
            id: payment.id.0,
            cents,
            due: payment.due.0,
            at: payment.at.0,
            time: payment.time.0,
        };
        store(&row, chunk);
        Ok(true)
    })
}

/// A payment, as code by hand has it. The decimal is as wide as ours, because the struct is what a user's code gets.
struct Payment {
    id: [u8; 16],
    amount: i128,
    due: i32,
    at: i64,
    time: i32,
}

/// By hand: text to a UUID by a table, a decimal of up to eight bytes from one number.
#[inline(never)]
pub(super) fn by_hand(payloads: &Payloads, out: &mut Output) -> Result<(), Refused> {
    each(payloads, out, |payload, last, chunk| {
        let mut wire = hand::tuned::Tuned::new(hand::body(payload, last)?);
        let payment = Payment {
            id: uuid(wire.text()?)?,
            amount: i128::from(decimal(wire.bytes()?)?),
            due: wire.int()?,
            at: wire.long()?,
            time: wire.int()?,
        };
        hand::finish(&wire)?;
        let payment = black_box(&payment);
        let cents = i64::try_from(payment.amount).map_err(|_| Refused)?;
        if cents < LEAST_CENTS {
            return Ok(false);
        }
        let row = Row {
            id: payment.id,
            cents,
            due: payment.due,
            at: payment.at,
            time: payment.time,
        };
        store(&row, chunk);
        Ok(true)
    })
}

/// What each character stands for as a hexadecimal digit; 0xff for none.
const DIGITS: [u8; 256] = {
    let mut digits = [0xff; 256];
    let mut n = 0;
    while n < 16 {
        digits[b"0123456789abcdef"[n] as usize] = n as u8;
        digits[b"0123456789ABCDEF"[n] as usize] = n as u8;
        n += 1;
    }
    digits
};

#[inline(always)]
fn uuid(text: &str) -> Result<[u8; 16], Refused> {
    let text: &[u8; 36] = text.as_bytes().try_into().map_err(|_| Refused)?;
    const AT: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
    let dashes = [text[8], text[13], text[18], text[23]] == *b"----";
    let (mut id, mut wrong) = ([0; 16], 0);
    for (byte, at) in id.iter_mut().zip(AT) {
        let (high, low) = (
            DIGITS[usize::from(text[at])],
            DIGITS[usize::from(text[at + 1])],
        );
        wrong |= high | low;
        *byte = high << 4 | low;
    }
    match dashes && wrong < 16 {
        true => Ok(id),
        false => Err(Refused),
    }
}

#[inline(always)]
fn decimal(bytes: &[u8]) -> Result<i64, Refused> {
    const LIMIT: u64 = 10u64.pow(18);
    let Some(first) = bytes.first() else {
        return Ok(0);
    };
    // A longer one has bytes that say nothing; nobody writes them here.
    if bytes.len() > 8 {
        return Err(Refused);
    }
    let mut value = i64::from(*first as i8);
    for byte in &bytes[1..] {
        value = value << 8 | i64::from(*byte);
    }
    match value.unsigned_abs() < LIMIT {
        true => Ok(value),
        false => Err(Refused),
    }
}
