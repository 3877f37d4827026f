//! What the table must hold, and how it differs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::error::Error;

/// The figures that are known.
const KNOWN: &str = include_str!("../../../data/flights-truth.json");

/// The figures of one month.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub(crate) struct Figures {
    /// All flights.
    pub(crate) rows: u64,
    /// Those that were not cancelled.
    pub(crate) departed: u64,
    /// Those whose arrival delay is known.
    pub(crate) with_arrival_delay: u64,
    /// The latter by airline.
    pub(crate) by_carrier: BTreeMap<String, Carrier>,
}

/// The figures of one airline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
pub(crate) struct Carrier {
    /// Flights whose arrival delay is known.
    pub(crate) flights: u64,
    /// The sum of the delays, minutes.
    pub(crate) sum_arr_delay: i64,
    /// Flights that came more than 15 minutes late.
    pub(crate) late_over_15: u64,
}

#[derive(serde::Deserialize)]
struct File {
    january: Figures,
}

/// The figures for January: those of the file, or else those that are known.
///
/// # Errors
/// The file cannot be read or has another shape.
pub(crate) fn january(file: Option<&Path>) -> Result<Figures, Error> {
    let (text, name) = match file {
        None => (KNOWN.to_owned(), "flights-truth.json".to_owned()),
        Some(path) => {
            let name = path.display().to_string();
            let text = fs::read_to_string(path)
                .map_err(|error| Error::Truth(name.clone(), error.to_string()))?;
            (text, name)
        }
    };
    let file: File =
        serde_json::from_str(&text).map_err(|error| Error::Truth(name, error.to_string()))?;
    Ok(file.january)
}

impl Figures {
    /// How `found` differs from these figures, a line each; none if it does not.
    pub(crate) fn differences(&self, found: &Figures) -> Vec<String> {
        let mut lines = Vec::new();
        let mut compare = |what: &str, known: String, found: String| {
            if known != found {
                lines.push(format!("{what}: {found}, but {known} is known"));
            }
        };
        for (what, known, found) in [
            ("flights read", self.rows, found.rows),
            ("flights that departed", self.departed, found.departed),
            (
                "rows in the table",
                self.with_arrival_delay,
                found.with_arrival_delay,
            ),
        ] {
            compare(what, known.to_string(), found.to_string());
        }
        let none = Carrier::default();
        let mut carriers: Vec<&String> = self
            .by_carrier
            .keys()
            .chain(found.by_carrier.keys())
            .collect();
        carriers.sort();
        carriers.dedup();
        for carrier in carriers {
            let known = self.by_carrier.get(carrier).unwrap_or(&none);
            let found = found.by_carrier.get(carrier).unwrap_or(&none);
            let mut compare = |what, known: i128, found: i128| {
                compare(
                    &format!("{carrier} {what}"),
                    known.to_string(),
                    found.to_string(),
                );
            };
            compare("flights", known.flights.into(), found.flights.into());
            compare(
                "sum of delays",
                known.sum_arr_delay.into(),
                found.sum_arr_delay.into(),
            );
            compare(
                "late by more than 15 min",
                known.late_over_15.into(),
                found.late_over_15.into(),
            );
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_figures_add_up() {
        let known = january(None).unwrap();
        assert_eq!(
            (known.rows, known.departed, known.with_arrival_delay),
            (27_004, 26_483, 26_398)
        );
        assert_eq!(
            known.by_carrier.values().map(|c| c.flights).sum::<u64>(),
            known.with_arrival_delay
        );
        assert_eq!(known.differences(&known), Vec::<String>::new());
    }

    #[test]
    fn every_figure_counts() {
        let known = january(None).unwrap();
        type Change = fn(&mut Figures);
        let changes: [(Change, &str); 7] = [
            (|f| f.rows += 1, "flights read: 27005, but 27004 is known"),
            (
                |f| f.departed -= 1,
                "flights that departed: 26482, but 26483 is known",
            ),
            (
                |f| f.with_arrival_delay = 0,
                "rows in the table: 0, but 26398 is known",
            ),
            (
                |f| change(f, |c| c.flights += 2),
                "AA flights: 2726, but 2724 is known",
            ),
            (
                |f| change(f, |c| c.sum_arr_delay = -1),
                "AA sum of delays: -1, but 2676 is known",
            ),
            (
                |f| change(f, |c| c.late_over_15 = 0),
                "AA late by more than 15 min: 0, but 520 is known",
            ),
            (
                |f| {
                    let one = Carrier {
                        flights: 1,
                        ..Carrier::default()
                    };
                    f.by_carrier.insert("ZZ".into(), one);
                },
                "ZZ flights: 1, but 0 is known",
            ),
        ];
        for (change, line) in changes {
            let mut found = known.clone();
            change(&mut found);
            assert_eq!(known.differences(&found), [line]);
        }
        let mut found = known.clone();
        found.by_carrier.remove("OO");
        assert_eq!(known.differences(&found).len(), 3);
    }

    fn change(figures: &mut Figures, change: fn(&mut Carrier)) {
        change(figures.by_carrier.get_mut("AA").unwrap());
    }

    #[test]
    fn a_file_of_another_shape_is_refused_by_name() {
        let path = std::env::temp_dir().join(format!("spate-truth-{}.json", std::process::id()));
        fs::write(&path, "{\"january\": {}}").unwrap();
        let error = january(Some(&path)).unwrap_err().to_string();
        fs::remove_file(&path).unwrap();
        assert!(
            error.contains("spate-truth") && error.contains("missing field `rows`"),
            "{error}"
        );
        let error = january(Some(Path::new("/does/not/exist")))
            .unwrap_err()
            .to_string();
        assert!(error.contains("/does/not/exist"), "{error}");
    }
}
