//! What the table says, by SQL, for the user to read and to be compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use spate::ExitReport;
use spate_test::services::Database;

use crate::error::Error;
use crate::truth::{Carrier, Figures};

const BY_CARRIER: &str = "\
SELECT carrier, count(), sum(arr_delay), countIf(arr_delay > 15)
FROM flights GROUP BY carrier ORDER BY carrier";

const BY_ROUTE: &str = "\
SELECT route, count(), toDecimalString(avg(total_minutes), 0), toDecimalString(avg(arr_delay), 1)
FROM flights GROUP BY route ORDER BY count() DESC, route LIMIT 5";

/// What was found, and what was left out on the way.
pub(crate) struct Found {
    /// To be compared with the truth.
    pub(crate) figures: Figures,
    /// Flights that never departed.
    pub(crate) cancelled: u64,
    /// Flights that departed and have no arrival delay.
    pub(crate) unreported: u64,
    routes: Vec<[String; 4]>,
}

/// Asks the table, and the run's report.
///
/// # Errors
/// ClickHouse does not answer, or not in the shape that was asked for.
pub(crate) fn find(table: &Database<'_>, run: &ExitReport) -> Result<Found, Error> {
    let read = run.totals().records;
    let dropped = |stage| run.stage(stage).map_or(0, |stage| stage.dropped);
    let (cancelled, unreported) = (dropped("departed"), dropped("arrived"));
    let mut by_carrier = BTreeMap::new();
    for [carrier, flights, sum_arr_delay, late_over_15] in ask(table, BY_CARRIER)? {
        let carrier_figures = Carrier {
            flights: number(&flights)?,
            sum_arr_delay: number(&sum_arr_delay)?,
            late_over_15: number(&late_over_15)?,
        };
        by_carrier.insert(carrier, carrier_figures);
    }
    let figures = Figures {
        rows: read,
        departed: read.saturating_sub(cancelled),
        with_arrival_delay: by_carrier.values().map(|carrier| carrier.flights).sum(),
        by_carrier,
    };
    Ok(Found {
        figures,
        cancelled,
        unreported,
        routes: ask(table, BY_ROUTE)?,
    })
}

fn ask(table: &Database<'_>, sql: &str) -> Result<Vec<[String; 4]>, Error> {
    let answer = table.query(sql)?;
    let cells = |line: &str| {
        let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
        cells.try_into().map_err(|_| Error::Answer(line.to_owned()))
    };
    answer.lines().map(cells).collect()
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|_| Error::Answer(text.to_owned()))
}

impl Found {
    /// The tables and the counts, as lines.
    pub(crate) fn text(&self) -> String {
        let mut rows =
            vec![["carrier", "flights", "delay, min", "mean", "late > 15"].map(str::to_owned)];
        let mut total = Carrier::default();
        for (name, carrier) in &self.figures.by_carrier {
            total.flights += carrier.flights;
            total.sum_arr_delay += carrier.sum_arr_delay;
            total.late_over_15 += carrier.late_over_15;
            rows.push(carrier_row(name, carrier));
        }
        rows.push(carrier_row("all", &total));
        let mut text = table(&rows);
        let mut routes = vec![["route", "flights", "minutes", "mean delay"].map(str::to_owned)];
        routes.extend(self.routes.iter().cloned());
        text.push_str("\nThe five busiest routes:\n");
        text.push_str(&table(&routes));
        let (cancelled, unreported) = (self.cancelled, self.unreported);
        let dropped = cancelled + unreported;
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "\nleft out: {dropped} flights, {cancelled} cancelled, {unreported} diverted or unreported"
        );
        text
    }
}

fn carrier_row(name: &str, carrier: &Carrier) -> [String; 5] {
    let mean = carrier.sum_arr_delay as f64 / carrier.flights.max(1) as f64;
    [
        name.to_owned(),
        carrier.flights.to_string(),
        carrier.sum_arr_delay.to_string(),
        format!("{mean:.1}"),
        carrier.late_over_15.to_string(),
    ]
}

/// Rows below a headline, the first column to the left, the others to the right.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let cells =
            row.iter()
                .zip(widths)
                .enumerate()
                .map(|(column, (cell, width))| match column {
                    0 => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows =
            [["carrier", "n"], ["AA", "12345"], ["ZZ", "-1"]].map(|row| row.map(str::to_owned));
        assert_eq!(
            table(&rows),
            "carrier      n\nAA       12345\nZZ          -1\n"
        );
    }

    #[test]
    fn the_text_has_every_carrier_the_sum_and_what_was_left_out() {
        let aa = Carrier {
            flights: 2,
            sum_arr_delay: -3,
            late_over_15: 0,
        };
        let b6 = Carrier {
            flights: 1,
            sum_arr_delay: 20,
            late_over_15: 1,
        };
        let figures = Figures {
            rows: 6,
            departed: 4,
            with_arrival_delay: 3,
            by_carrier: [("AA".to_owned(), aa), ("B6".to_owned(), b6)].into(),
        };
        let routes = vec![["JFK-LAX", "2", "349", "1.5"].map(str::to_owned)];
        let text = Found {
            figures,
            cancelled: 2,
            unreported: 1,
            routes,
        }
        .text();
        assert_eq!(
            text,
            "carrier  flights  delay, min  mean  late > 15\n\
             AA             2          -3  -1.5          0\n\
             B6             1          20  20.0          1\n\
             all            3          17   5.7          1\n\
             \n\
             The five busiest routes:\n\
             route    flights  minutes  mean delay\n\
             JFK-LAX        2      349         1.5\n\
             \n\
             left out: 3 flights, 2 cancelled, 1 diverted or unreported\n"
        );
    }
}
