//! The values of a record of every type one by one, a line each, as `tests/written/write.py` writes down what it gave to others.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::io::Write as _;

use spate_avro::AvroEnum as _;

use crate::types::{All, Event, Node, Origin, Place};

/// One line for each value.
pub(crate) struct Leaves(String);

impl Leaves {
    fn line(&mut self, path: &str, value: impl Display) {
        writeln!(self.0, "{path} {value}").expect("nothing refuses text");
    }

    fn list<T>(
        &mut self,
        path: &str,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, &str, T),
    ) {
        let items: Vec<T> = items.into_iter().collect();
        self.line(path, items.len());
        for (n, item) in items.into_iter().enumerate() {
            each(self, &format!("{path}[{n}]"), item);
        }
    }

    /// Entries by their keys.
    fn map<K: Ord + Display, T>(
        &mut self,
        path: &str,
        entries: impl IntoIterator<Item = (K, T)>,
        mut each: impl FnMut(&mut Self, &str, T),
    ) {
        let entries: BTreeMap<K, T> = entries.into_iter().collect();
        self.line(path, entries.len());
        for (key, value) in entries {
            each(self, &format!("{path}{{{key}}}"), value);
        }
    }

    fn maybe<T: Display>(&mut self, path: &str, value: Option<T>) {
        match value {
            Some(value) => self.line(path, value),
            None => self.line(path, "null"),
        }
    }

    fn place(&mut self, path: &str, place: &Place<'_>) {
        self.line(&format!("{path}.city"), place.city);
        self.maybe(&format!("{path}.zip"), place.zip);
    }

    fn node(&mut self, path: &str, node: &Node) {
        self.line(&format!("{path}.value"), node.value);
        let next = format!("{path}.next");
        match &node.next {
            Some(node) => self.node(&next, node),
            None => self.line(&next, "null"),
        }
    }
}

fn hex(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref().iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// The lines of a record.
pub(crate) fn leaves(all: &All<'_>) -> String {
    let mut out = Leaves(String::new());
    out.line("nothing", "null");
    out.line("flag", all.flag);
    out.line("small", all.small);
    out.line("big", all.big);
    out.line("single", hex(all.single.to_be_bytes()));
    out.line("double", hex(all.double.to_be_bytes()));
    out.line("raw", hex(all.raw));
    out.line("text", all.text);
    out.line("status", all.status.symbol());
    out.line("status_text", all.status_text);
    out.list("statuses", all.statuses.iter(), |out, path, status| {
        out.line(path, status.symbol());
    });
    out.line("digest", hex(all.digest));
    out.line("digest_bytes", hex(all.digest_bytes));
    out.list("digests", all.digests.iter(), |out, path, digest| {
        out.line(path, hex(digest));
    });
    out.list("numbers", all.numbers.iter(), Leaves::line);
    out.list("nulls", &all.nulls, |out, path, ()| out.line(path, "null"));
    out.map("ages", all.ages.iter(), Leaves::line);
    out.map("names", all.names.iter().copied(), Leaves::line);
    out.map("places", &all.places, Leaves::place);
    match &all.origin {
        Origin::Nowhere => out.line("origin", "null"),
        Origin::Text(text) => out.line("origin", text),
        Origin::Number(number) => out.line("origin", number),
        Origin::Known(status) => out.line("origin", status.symbol()),
        Origin::Somewhere(place) => out.place("origin", place),
        Origin::Path(path) => out.list("origin", path, Leaves::line),
    }
    out.list(
        "events",
        all.events.iter(),
        |out, path, event| match event {
            Event::Text(text) => out.line(path, text),
            Event::Arrived(place) => out.place(path, &place),
        },
    );
    out.maybe(
        "maybe_status",
        all.maybe_status.map(|status| status.symbol()),
    );
    out.node("chain", &all.chain);
    out.line("day", all.day.0);
    out.line("time_millis", all.time_millis.0);
    out.line("time_micros", all.time_micros.0);
    out.line("at_millis", all.at_millis.0);
    out.line("at_micros", all.at_micros.0);
    out.line("at_nanos", all.at_nanos.0);
    out.line("local_millis", all.local_millis.0);
    out.line("local_micros", all.local_micros.0);
    out.line("local_nanos", all.local_nanos.0);
    out.line("price", all.price.0);
    out.line("amount", all.amount.0);
    out.line("id", all.id);
    let span = [all.span.months, all.span.days, all.span.millis].map(u32::to_le_bytes);
    out.line("span", hex(span.concat()));
    out.maybe("maybe_price", all.maybe_price.map(|price| price.0));
    out.map("prices", &all.prices, |out, path, price| {
        out.line(path, price.0)
    });
    out.list("days", all.days.iter(), |out, path, day| {
        out.line(path, day.0)
    });
    out.line("only_at", all.only_at.0);
    out.0
}

/// What the drawn records were given, each as its lines.
pub(crate) fn given() -> Vec<&'static str> {
    let records = include_str!("../written/drawn.txt").split_inclusive("\n\n");
    records
        .map(|record| {
            record
                .strip_suffix('\n')
                .expect("an empty line behind each")
        })
        .collect()
}

/// Compares a record with what was given to its writer, and tells how many values that were.
pub(crate) fn compare(record: &All<'_>, given: &str, what: &str) -> usize {
    let found = leaves(record);
    for (found, given) in found.lines().zip(given.lines()) {
        assert_eq!(found, given, "{what}");
    }
    assert_eq!(found, given, "{what}");
    found.lines().count()
}

/// Says how many values were compared, also of a test that passes.
pub(crate) fn say(writer: &str, records: usize, values: usize) {
    let line = format!("interop: {writer}: records={records} values={values}\n");
    std::io::stderr()
        .write_all(line.as_bytes())
        .expect("standard error is there");
}
