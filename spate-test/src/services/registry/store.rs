//! What the registry knows: schemas by id, and the versions of each subject.

use serde_json::Value;
use std::collections::BTreeMap;

/// The language of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SchemaType {
    /// `AVRO`, which answers leave out.
    #[default]
    Avro,
    /// `JSON`
    Json,
    /// `PROTOBUF`
    Protobuf,
}

impl SchemaType {
    pub(super) fn name(self) -> &'static str {
        match self {
            SchemaType::Avro => "AVRO",
            SchemaType::Json => "JSON",
            SchemaType::Protobuf => "PROTOBUF",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<SchemaType> {
        [SchemaType::Avro, SchemaType::Json, SchemaType::Protobuf]
            .into_iter()
            .find(|t| t.name() == name)
    }
}

/// A schema's use of a version of another subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The name by which the schema refers to it.
    pub name: String,
    /// The subject referred to.
    pub subject: String,
    /// Its version.
    pub version: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Schema {
    pub(super) schema_type: SchemaType,
    pub(super) text: String,
    pub(super) references: Vec<Reference>,
}

impl Schema {
    /// Spaces and line breaks make no other schema.
    fn same(&self, other: &Schema) -> bool {
        let equal = match (parse(&self.text), parse(&other.text)) {
            (Some(a), Some(b)) => a == b,
            _ => self.text == other.text,
        };
        equal && self.schema_type == other.schema_type && self.references == other.references
    }
}

#[derive(Debug, Default)]
pub(super) struct Store {
    schemas: BTreeMap<u32, Schema>,
    /// Per subject the ids of version 1, 2, ...
    subjects: BTreeMap<String, Vec<u32>>,
}

impl Store {
    pub(super) fn register(
        &mut self,
        subject: &str,
        schema_type: SchemaType,
        text: &str,
        references: &[Reference],
    ) -> Result<u32, String> {
        let schema = valid(schema_type, text, references)?;
        for r in references {
            if self.version(&r.subject, r.version).is_none() {
                return Err(format!(
                    "the reference {} names {} version {}, which is not there",
                    r.name, r.subject, r.version
                ));
            }
        }
        let id = match self.id_of(&schema) {
            Some(id) => id,
            None => {
                let id = self.schemas.keys().next_back().map_or(1, |last| last + 1);
                self.schemas.insert(id, schema);
                id
            }
        };
        self.add_version(subject, id);
        Ok(id)
    }

    pub(super) fn register_with_id(
        &mut self,
        subject: &str,
        id: u32,
        text: &str,
    ) -> Result<(), String> {
        let schema = valid(SchemaType::Avro, text, &[])?;
        match self.schemas.get(&id) {
            Some(other) if !other.same(&schema) => {
                return Err(format!("the id {id} has another schema already"));
            }
            Some(_) => {}
            None => drop(self.schemas.insert(id, schema)),
        }
        self.add_version(subject, id);
        Ok(())
    }

    fn add_version(&mut self, subject: &str, id: u32) {
        let versions = self.subjects.entry(subject.to_owned()).or_default();
        if !versions.contains(&id) {
            versions.push(id);
        }
    }

    pub(super) fn schema(&self, id: u32) -> Option<&Schema> {
        self.schemas.get(&id)
    }

    pub(super) fn id_of(&self, schema: &Schema) -> Option<u32> {
        self.schemas
            .iter()
            .find(|(_, s)| s.same(schema))
            .map(|(id, _)| *id)
    }

    pub(super) fn subjects(&self) -> impl Iterator<Item = &str> {
        self.subjects.keys().map(String::as_str)
    }

    /// The ids of version 1, 2, ... of a subject.
    pub(super) fn versions(&self, subject: &str) -> Option<&[u32]> {
        self.subjects.get(subject).map(Vec::as_slice)
    }

    pub(super) fn version(&self, subject: &str, version: u32) -> Option<(u32, &Schema)> {
        let index = usize::try_from(version).ok()?.checked_sub(1)?;
        let id = *self.subjects.get(subject)?.get(index)?;
        Some((id, self.schemas.get(&id)?))
    }
}

/// The schema, if it can be one: full checks are the real registry's.
pub(super) fn valid(
    schema_type: SchemaType,
    text: &str,
    references: &[Reference],
) -> Result<Schema, String> {
    let schema = Schema {
        schema_type,
        text: text.to_owned(),
        references: references.to_vec(),
    };
    let good = match schema_type {
        SchemaType::Protobuf => !text.trim().is_empty(),
        SchemaType::Json => parse(text).is_some(),
        SchemaType::Avro => match parse(text) {
            Some(Value::Object(fields)) => fields.contains_key("type"),
            Some(Value::String(_) | Value::Array(_)) => true,
            _ => false,
        },
    };
    if good {
        Ok(schema)
    } else {
        Err(format!(
            "Invalid schema of type {}: {text}",
            schema_type.name()
        ))
    }
}

fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}
