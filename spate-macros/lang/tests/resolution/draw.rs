//! Random schemas, as texts: small pools of names and namespaces, so that names meet.

/// Draws by given choices, and the first of everything when they are used up.
pub(crate) struct Draw<'c> {
    choices: std::slice::Iter<'c, u8>,
    /// Full names of what is defined so far, and which of them are records that are still open.
    defined: Vec<String>,
    open: Vec<String>,
}

impl<'c> Draw<'c> {
    pub(crate) fn new(choices: &'c [u8]) -> Self {
        Draw {
            choices: choices.iter(),
            defined: Vec::new(),
            open: Vec::new(),
        }
    }

    fn of<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.choices
            .next()
            .map_or(0, |choice| usize::from(*choice) % end)
    }

    /// A record at the top, with names in all kinds of namespaces inside.
    pub(crate) fn record(&mut self) -> String {
        self.definition("", 0, true)
    }

    fn ty(&mut self, namespace: &str, depth: usize) -> String {
        match self.below(if depth > 4 { 4 } else { 9 }) {
            0 => r#""int""#.to_owned(),
            1 => r#"{"type":"long","logicalType":"timestamp-micros"}"#.to_owned(),
            2 | 3 if self.defined.is_empty() => r#""string""#.to_owned(),
            2 | 3 => self.reference(namespace),
            4 => format!(
                r#"{{"type":"array","items":{}}}"#,
                self.ty(namespace, depth + 1)
            ),
            _ => self.definition(namespace, depth, false),
        }
    }

    /// A name that is defined, in one of its spellings. A record that is not closed is not directly in itself.
    fn reference(&mut self, namespace: &str) -> String {
        let n = self.below(self.defined.len());
        let full = self.defined[n].clone();
        let spelling = match full.rsplit_once('.') {
            Some((own, short)) if own == namespace && self.below(2) == 0 => short.to_owned(),
            Some(_) => full.clone(),
            // It would be the other's.
            None if self.defined.contains(&join(namespace, &full)) => format!(".{full}"),
            None => full.clone(),
        };
        match self.open.contains(&full) {
            true => format!(r#"{{"type":"array","items":"{spelling}"}}"#),
            false => format!("\"{spelling}\""),
        }
    }

    fn definition(&mut self, outer: &str, depth: usize, record: bool) -> String {
        let short = self.of(&["A", "B", "C", "D"]);
        let own = self.of(&["n", "", "n.m", "o"]);
        let (namespace, name) = match self.below(3) {
            0 => (outer, format!(r#""name":"{short}""#)),
            1 => (own, format!(r#""namespace":"{own}","name":"{short}""#)),
            _ if own.is_empty() => (outer, format!(r#""name":"{short}""#)),
            // A namespace beside a dotted name means nothing.
            _ => (own, format!(r#""name":"{own}.{short}","namespace":"x""#)),
        };
        let full = join(namespace, short);
        if self.defined.contains(&full) {
            return self.reference(outer);
        }
        self.defined.push(full.clone());
        let kind = match record {
            true => 3,
            false => self.below(6),
        };
        match kind {
            0 => format!(r#"{{"type":"fixed",{name},"size":4}}"#),
            1 => format!(r#"{{"type":"enum",{name},"symbols":["X","Y"]}}"#),
            _ => {
                self.open.push(full.clone());
                let fields: Vec<String> = (0..self.below(4) + usize::from(record))
                    .map(|n| {
                        format!(
                            r#"{{"name":"f{n}","type":{}}}"#,
                            self.ty(namespace, depth + 1)
                        )
                    })
                    .collect();
                self.open.retain(|open| *open != full);
                format!(
                    r#"{{"type":"record",{name},"fields":[{}]}}"#,
                    fields.join(",")
                )
            }
        }
    }
}

fn join(namespace: &str, name: &str) -> String {
    match namespace {
        "" => name.to_owned(),
        namespace => format!("{namespace}.{name}"),
    }
}
