//! A record's schema as text: canonical for comparing, self-contained for whoever reads it at run time.

use std::collections::HashSet;

use super::rules::full;
use super::{Definition, Kind, Logical, NameId, Schema, Type};

impl Schema {
    /// The record's Parsing Canonical Form, with the logical types that the specification would strip: a writer that
    /// changed one must not be taken for the same.
    pub fn canonical(&self, record: NameId) -> String {
        self.print(record, false)
    }

    /// The same of any type of the schema.
    pub fn canonical_of(&self, ty: &Type) -> String {
        let mut printer = Printer::new(self, false);
        printer.ty(ty);
        printer.out
    }

    /// The record's schema as one JSON text with defaults and aliases; every name is written in full.
    pub fn self_contained(&self, record: NameId) -> String {
        self.print(record, true)
    }

    /// The same of any type of the schema.
    pub fn self_contained_of(&self, ty: &Type) -> String {
        let mut printer = Printer::new(self, true);
        printer.ty(ty);
        printer.out
    }

    fn print(&self, record: NameId, full: bool) -> String {
        let mut printer = Printer::new(self, full);
        printer.named(record);
        printer.out
    }
}

struct Printer<'s> {
    schema: &'s Schema,
    full: bool,
    defined: HashSet<NameId>,
    /// That of the definition around: a name without one of its own would be read into it.
    namespace: &'s str,
    out: String,
}

impl<'s> Printer<'s> {
    fn new(schema: &'s Schema, full: bool) -> Self {
        Printer {
            schema,
            full,
            defined: HashSet::new(),
            namespace: "",
            out: String::new(),
        }
    }

    fn ty(&mut self, ty: &Type) {
        let primitive = match &ty.kind {
            Kind::Null => "null",
            Kind::Boolean => "boolean",
            Kind::Int => "int",
            Kind::Long => "long",
            Kind::Float => "float",
            Kind::Double => "double",
            Kind::Bytes => "bytes",
            Kind::String => "string",
            Kind::Array(items) => return self.wrapped("{\"type\":\"array\",\"items\":", items),
            Kind::Map(values) => return self.wrapped("{\"type\":\"map\",\"values\":", values),
            Kind::Union(branches) => {
                return self.list(branches, |printer, branch| printer.ty(branch));
            }
            Kind::Named(id) => return self.named(*id),
        };
        match ty.logical {
            None => self.string(primitive),
            Some(logical) => {
                self.out.push_str("{\"type\":");
                self.string(primitive);
                self.logical(logical);
                self.out.push('}');
            }
        }
    }

    fn wrapped(&mut self, before: &str, inner: &Type) {
        self.out.push_str(before);
        self.ty(inner);
        self.out.push('}');
    }

    fn list<T>(&mut self, items: &[T], mut print: impl FnMut(&mut Self, &T)) {
        self.out.push('[');
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                self.out.push(',');
            }
            print(self, item);
        }
        self.out.push(']');
    }

    fn named(&mut self, id: NameId) {
        let named = self.schema.named(id);
        if !self.defined.insert(id) {
            return self.reference(&named.name);
        }
        self.out.push_str("{\"name\":");
        self.string(&named.name);
        let inside = named.name.rsplit_once('.').map_or("", |(inside, _)| inside);
        if self.full && inside.is_empty() && !self.namespace.is_empty() {
            self.out.push_str(",\"namespace\":\"\"");
        }
        let outside = std::mem::replace(&mut self.namespace, inside);
        match &named.definition {
            Definition::Record(fields) => {
                self.out.push_str(",\"type\":\"record\",\"fields\":");
                self.list(fields, |printer, field| {
                    printer.out.push_str("{\"name\":");
                    printer.string(&field.name);
                    printer.out.push_str(",\"type\":");
                    printer.ty(&field.ty);
                    if let Some(default) = field.default.as_ref().filter(|_| printer.full) {
                        printer.out.push_str(",\"default\":");
                        printer.out.push_str(default);
                    }
                    printer.aliases(&field.aliases);
                    printer.out.push('}');
                });
            }
            Definition::Enum { symbols, default } => {
                self.out.push_str(",\"type\":\"enum\",\"symbols\":");
                self.list(symbols, |printer, symbol| printer.string(symbol));
                if let Some(default) = default.as_ref().filter(|_| self.full) {
                    self.out.push_str(",\"default\":");
                    self.string(default);
                }
            }
            Definition::Fixed { size, logical } => {
                self.out
                    .push_str(&format!(",\"type\":\"fixed\",\"size\":{size}"));
                if let Some(logical) = logical {
                    self.logical(*logical);
                }
            }
        }
        self.namespace = outside;
        self.aliases(&named.aliases);
        self.out.push('}');
    }

    /// A name that was defined before. One without a namespace is looked for in the namespace around first, which a dot in front keeps
    /// it from.
    fn reference(&mut self, name: &str) {
        let local = full(self.namespace, name);
        let is_taken = |id: &NameId| self.schema.named(*id).name == local;
        let dotted = self.full && !name.contains('.') && local != name;
        match dotted && self.defined.iter().any(is_taken) {
            true => self.string(&format!(".{name}")),
            false => self.string(name),
        }
    }

    fn logical(&mut self, logical: Logical) {
        self.out.push_str(",\"logicalType\":");
        self.string(logical.name());
        if let Logical::Decimal { precision, scale } = logical {
            self.out.push_str(&format!(",\"precision\":{precision}"));
            // Zero is the default, so writing it or not means the same.
            if scale > 0 {
                self.out.push_str(&format!(",\"scale\":{scale}"));
            }
        }
    }

    fn aliases(&mut self, aliases: &[String]) {
        if self.full && !aliases.is_empty() {
            self.out.push_str(",\"aliases\":");
            self.list(aliases, |printer, alias| printer.string(alias));
        }
    }

    /// Names are ASCII identifiers (checked when parsed), so nothing needs an escape.
    fn string(&mut self, text: &str) {
        self.out.push('"');
        self.out.push_str(text);
        self.out.push('"');
    }
}
