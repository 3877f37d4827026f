//! Pairs of random schemas: a writer's and a reader's that is like it, but for changes of every kind, legal ones and others.

use crate::draw::Draw;

/// A type as the writer has it and as the reader has it.
type Both = (String, String);

/// What is drawn so far: named types are numbered, so that each is defined once.
pub(crate) struct Pair<'c> {
    draw: Draw<'c>,
    names: usize,
    depth: usize,
}

impl<'c> Pair<'c> {
    /// Two records: the writer's, the reader's.
    pub(crate) fn records(choices: &'c [u8]) -> Both {
        let draw = Draw::new(choices);
        let mut pair = Pair {
            draw,
            names: 0,
            depth: 0,
        };
        pair.record()
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.draw.below(n) == n - 1
    }

    fn ty(&mut self) -> Both {
        self.depth += 1;
        let both = match self.draw.below(if self.depth > 4 { 4 } else { 12 }) {
            0 | 1 => self.primitive(),
            2 => self.symbols(),
            3 => self.fixed(),
            4 => self.around(r#""array","items""#),
            5 => self.around(r#""map","values""#),
            6 | 7 => self.record(),
            8 => self.logical(),
            _ => self.union(),
        };
        self.depth -= 1;
        both
    }

    fn around(&mut self, of: &str) -> Both {
        let (writer, reader) = self.ty();
        let around = |inner: String| format!("{{\"type\":{of}:{inner}}}");
        (around(writer), around(reader))
    }

    fn primitive(&mut self) -> Both {
        const TYPES: [&str; 7] = [
            "int", "long", "float", "double", "string", "bytes", "boolean",
        ];
        let writer = self.draw.below(7);
        let reader = match self.draw.below(8) {
            // Often a promotion, now and then a narrowing.
            0 | 1 => (writer + 1) % 7,
            2 if writer > 0 => writer - 1,
            _ => writer,
        };
        let quoted = |n: usize| format!("\"{}\"", TYPES[n]);
        (quoted(writer), quoted(reader))
    }

    fn logical(&mut self) -> Both {
        let types = [
            r#"{"type":"long","logicalType":"timestamp-millis"}"#,
            r#"{"type":"long","logicalType":"timestamp-millis"}"#,
            r#""long""#,
            r#"{"type":"long","logicalType":"timestamp-micros"}"#,
        ];
        let writer = types[self.draw.below(3)];
        let at = self.draw.below(12);
        (writer.to_owned(), types[at.saturating_sub(8)].to_owned())
    }

    /// The names of a type: mostly the same, else another one, with an alias or without.
    fn names(&mut self) -> Both {
        self.names += 1;
        let name = format!("T{}", self.names);
        let same = format!(r#""name":"{name}""#);
        let reader = match self.draw.below(16) {
            15 => format!(r#""name":"{name}x""#),
            14 => format!(r#""name":"{name}x","aliases":["y.Z","n.{name}"],"namespace":"n""#),
            13 => format!(r#""name":"other.{name}""#),
            _ => same.clone(),
        };
        (format!(r#"{same},"namespace":"n""#), reader)
    }

    fn symbols(&mut self) -> Both {
        let (writer, reader) = self.names();
        let theirs = [r#""A""#, r#""A","B""#, r#""A","B","C""#][self.draw.below(3)];
        let ours = match self.draw.below(5) {
            0 => r#""C","B","A""#,
            1 => r#""A","B""#,
            2 => r#""D""#,
            _ => r#""A","B","C","D""#,
        };
        let default = match ours.contains('A') && self.one_in(3) {
            true => r#","default":"A""#,
            false => "",
        };
        (
            format!(r#"{{"type":"enum",{writer},"symbols":[{theirs}]}}"#),
            format!(r#"{{"type":"enum",{reader},"symbols":[{ours}]{default}}}"#),
        )
    }

    fn fixed(&mut self) -> Both {
        let (writer, reader) = self.names();
        let (size, other) = (4, if self.one_in(8) { 5 } else { 4 });
        (
            format!(r#"{{"type":"fixed",{writer},"size":{size}}}"#),
            format!(r#"{{"type":"fixed",{reader},"size":{other}}}"#),
        )
    }

    /// A union of null and a type, of a type and another, or on one side only.
    fn union(&mut self) -> Both {
        let (writer, reader) = match self.draw.below(3) {
            0 => self.primitive(),
            1 => self.record(),
            _ => self.symbols(),
        };
        match self.draw.below(6) {
            0 => (
                format!("[\"null\",{writer}]"),
                format!("[{reader},\"null\"]"),
            ),
            1 => (format!("[\"null\",{writer}]"), reader),
            2 => (writer, format!("[\"null\",{reader}]")),
            3 => (
                format!(r#"["null",{writer},{{"type":"map","values":"int"}}]"#),
                format!("[\"null\",{reader}]"),
            ),
            _ => (
                format!("[\"null\",{writer}]"),
                format!("[\"null\",{reader}]"),
            ),
        }
    }

    fn record(&mut self) -> Both {
        self.depth += 1;
        let (their_name, our_name) = self.names();
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for n in 0..self.draw.below(4) {
            let (writer, reader) = self.ty();
            let field = |ty: &str| format!(r#"{{"name":"f{n}","type":{ty}}}"#);
            match self.draw.below(20) {
                0 => theirs.push(field(&writer)),
                1 => ours.push(format!(r#"{{"name":"f{n}","type":"long","default":7}}"#)),
                2 => ours.push(field(&reader)),
                3 | 4 => {
                    theirs.push(field(&writer));
                    ours.push(format!(
                        r#"{{"name":"g{n}","aliases":["f{n}"],"type":{reader}}}"#
                    ));
                }
                5 | 6 => {
                    theirs.push(field(&writer));
                    ours.insert(0, field(&reader));
                }
                _ => {
                    theirs.push(field(&writer));
                    ours.push(field(&reader));
                }
            }
        }
        self.depth -= 1;
        let of = |name: &str, fields: Vec<String>| {
            format!(
                r#"{{"type":"record",{name},"fields":[{}]}}"#,
                fields.join(",")
            )
        };
        (of(&their_name, theirs), of(&our_name, ours))
    }
}
