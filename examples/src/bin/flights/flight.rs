//! The data set: one flight as a line of the CSV file has it, and as the Avro schema names it.

use std::fmt::Display;
use std::io::Read as _;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};

/// The compressed file.
const FILE: &[u8] = include_bytes!("../../../data/flights-2013-01.csv.gz");

/// A flight. Deserialized from the file's columns, serialized to the schema's fields, which have the same names.
#[derive(Debug, serde::Deserialize, serde::Serialize)]
pub(crate) struct Flight {
    year: i32,
    month: i32,
    day: i32,
    #[serde(deserialize_with = "known")]
    dep_time: Option<i32>,
    sched_dep_time: i32,
    #[serde(deserialize_with = "known")]
    dep_delay: Option<i32>,
    #[serde(deserialize_with = "known")]
    arr_time: Option<i32>,
    sched_arr_time: i32,
    #[serde(deserialize_with = "known")]
    arr_delay: Option<i32>,
    carrier: String,
    flight: i32,
    #[serde(deserialize_with = "known")]
    tailnum: Option<String>,
    origin: String,
    dest: String,
    #[serde(deserialize_with = "known")]
    air_time: Option<i32>,
    distance: i32,
    hour: i32,
    minute: i32,
    #[serde(deserialize_with = "millis")]
    time_hour: i64,
}

impl Flight {
    /// The flight's name, `UA1545`: flights of one name stay in order.
    pub(crate) fn key(&self) -> String {
        format!("{}{}", self.carrier, self.flight)
    }
}

/// All flights of the file, in its order.
///
/// # Errors
/// The file is damaged; the line is named.
pub(crate) fn read_all() -> Result<Vec<Flight>, csv::Error> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(FILE).read_to_string(&mut text)?;
    csv::Reader::from_reader(text.as_bytes())
        .into_deserialize()
        .collect()
}

/// A value, or `NA`.
fn known<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let text = <&str>::deserialize(deserializer)?;
    match text {
        "NA" => Ok(None),
        text => text
            .parse()
            .map(Some)
            .map_err(|error| D::Error::custom(format!("`{text}`: {error}"))),
    }
}

fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let text = <&str>::deserialize(deserializer)?;
    since_1970(text).ok_or_else(|| {
        D::Error::custom(format!("`{text}` is not of the form 2013-01-31T23:00:00Z"))
    })
}

/// Milliseconds since 1970 of a time like `2013-01-31T23:00:00Z`.
fn since_1970(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    // Years that begin in March end with the leap day.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days =
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
}

fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let numbers: Vec<i64> = text
        .split(between)
        .map(|n| n.parse().ok())
        .collect::<Option<_>>()?;
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_what_its_readme_says() {
        let flights = read_all().unwrap();
        assert_eq!(flights.len(), 27_004);
        assert_eq!(flights.iter().filter(|f| f.dep_time.is_none()).count(), 521);
        assert_eq!(
            flights.iter().filter(|f| f.arr_delay.is_none()).count(),
            606
        );
        let first = &flights[0];
        assert_eq!(
            (
                first.key().as_str(),
                first.arr_delay,
                first.tailnum.as_deref()
            ),
            ("UA1545", Some(11), Some("N14228"))
        );
    }

    #[test]
    fn times_count_from_1970() {
        assert_eq!(since_1970("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(since_1970("2013-01-01T10:00:00Z"), Some(1_357_034_400_000));
        assert_eq!(since_1970("2000-02-29T23:59:59Z"), Some(951_868_799_000));
        assert_eq!(since_1970("2000-03-01T00:00:00Z"), Some(951_868_800_000));
        assert_eq!(since_1970("2013-01-01 10:00"), None);
    }
}
