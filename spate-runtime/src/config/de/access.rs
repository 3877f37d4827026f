//! What serde walks a list, a mapping and a named value with.

use std::slice;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

use super::Reader;
use super::error::{Error, Path};
use crate::config::node::{Entry, Node, Origin, Scalar, Value, Written};

pub(super) struct Items<'r> {
    items: slice::Iter<'r, Node>,
    path: &'r Path<'r>,
    next: usize,
}

impl<'r> Items<'r> {
    pub(super) fn new(items: &'r [Node], path: &'r Path<'r>) -> Self {
        Items {
            items: items.iter(),
            path,
            next: 0,
        }
    }
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some(node) = self.items.next() else {
            return Ok(None);
        };
        let path = self.path.index(self.next);
        self.next += 1;
        let reader = Reader::new(node, &path);
        seed.deserialize(reader)
            .map(Some)
            .map_err(|error| reader.located(error))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

pub(super) struct Fields<'r> {
    entries: slice::Iter<'r, Entry>,
    path: &'r Path<'r>,
    value: Option<&'r Entry>,
}

impl<'r> Fields<'r> {
    pub(super) fn new(entries: &'r [Entry], path: &'r Path<'r>) -> Self {
        Fields {
            entries: entries.iter(),
            path,
            value: None,
        }
    }
}

impl<'de> de::MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(entry) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some(entry);
        let path = self.path.key(&entry.key);
        // A key may be read as a number too, so it is a scalar like any other.
        let scalar = Scalar {
            text: entry.key.clone(),
            written: Written::Quoted,
        };
        let node = Node {
            at: entry.at,
            value: Value::Scalar(scalar),
        };
        seed.deserialize(Reader::new(&node, &path))
            .map(Some)
            .map_err(|error| error.in_place(&path, entry.at))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some(entry) = self.value.take() else {
            return Err(Error::new("a value was read before its key"));
        };
        let path = self.path.key(&entry.key);
        // What is not written has no place of its own: the key's is the nearest.
        let at = if entry.node.at == Origin::Absent {
            entry.at
        } else {
            entry.node.at
        };
        let reader = Reader::new(&entry.node, &path);
        seed.deserialize(reader)
            .map_err(|error| error.at(&path, &entry.node).in_place(&path, at))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// A variant without content, named by a scalar.
pub(super) struct EnumAccess<'r>(pub(super) &'r str);

impl<'de> de::EnumAccess<'de> for EnumAccess<'_> {
    type Error = Error;
    type Variant = UnitVariant;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, UnitVariant), Error> {
        let name: StrDeserializer<'_, Error> = self.0.into_deserializer();
        Ok((seed.deserialize(name)?, UnitVariant))
    }
}

pub(super) struct UnitVariant;

impl<'de> de::VariantAccess<'de> for UnitVariant {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Error> {
        Err(with_content())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(with_content())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        Err(with_content())
    }
}

fn with_content() -> Error {
    Error::new("a variant with content cannot be a setting")
}
