//! A record is looked through before the library gets it: that it is one of its schema, by the rules and within the bounds of the compiled
//! decoder, and that no more values come of it than its bytes justify.

use super::layout::{Layout, Node, NodeId};
use crate::error::{AvroError, AvroErrorKind};
use crate::logical::{Uuid, big_decimal, number_of};
use crate::steps::field;
use crate::wire::{Block, MAX_EMPTY_ITEMS, Reader};

/// How many values may be inside each other: 128 records with what is between them, and the stack of a thread holds them in every pass, also where they are
/// shown or dropped.
const MAX_NESTED: usize = 320;

impl Layout {
    /// Reads a record for its errors, and returns how many of its values are inside each other.
    ///
    /// # Errors
    /// It is not one of the schema, or is nested too deeply, or has too many values without bytes.
    pub(super) fn check(&self, reader: &mut Reader<'_>) -> Result<usize, AvroError> {
        let mut walk = Walk {
            layout: self,
            begin: reader.rest().len(),
            values: 0,
            nested: 0,
            deepest: 0,
        };
        walk.value(self.root, reader)?;
        Ok(walk.deepest)
    }
}

struct Walk<'l> {
    layout: &'l Layout,
    /// Bytes that were left when the record began.
    begin: usize,
    values: usize,
    nested: usize,
    deepest: usize,
}

impl Walk<'_> {
    /// Kept small: it is called by itself for values in each other.
    fn value(&mut self, id: NodeId, reader: &mut Reader<'_>) -> Result<(), AvroError> {
        match &self.layout.nodes[id] {
            Node::Array(item) => {
                self.enter(reader)?;
                self.blocks(false, *item, reader)?;
                self.nested -= 1;
            }
            Node::Map(item) => {
                self.enter(reader)?;
                self.blocks(true, *item, reader)?;
                self.nested -= 1;
            }
            Node::Union(_, branches) => {
                self.enter(reader)?;
                let branch = branch(branches.len(), reader)?;
                self.value(branches[branch], reader)?;
                self.nested -= 1;
                // The value in it is counted.
                return Ok(());
            }
            Node::Record {
                names,
                fields,
                recursive,
            } => {
                self.enter(reader)?;
                if *recursive {
                    reader.enter()?;
                }
                for (name, id) in names.parts.iter().zip(fields) {
                    field(name, self.value(*id, reader))?;
                }
                if *recursive {
                    reader.leave();
                }
                self.nested -= 1;
            }
            node => scalar(node, reader)?,
        }
        self.count(reader)
    }

    fn blocks(
        &mut self,
        keys: bool,
        item: NodeId,
        reader: &mut Reader<'_>,
    ) -> Result<(), AvroError> {
        let least = self.layout.least[item] + usize::from(keys);
        loop {
            let block = block(least, reader)?;
            if block.count == 0 {
                return Ok(());
            }
            for _ in 0..block.count {
                if keys {
                    scalar(&Node::String, reader)?;
                }
                self.value(item, reader)?;
            }
            reader.end_block(block)?;
        }
    }

    fn enter(&mut self, reader: &Reader<'_>) -> Result<(), AvroError> {
        if self.nested == MAX_NESTED {
            return Err(reader.error(AvroErrorKind::TooNested { most: MAX_NESTED }));
        }
        self.nested += 1;
        self.deepest = self.deepest.max(self.nested);
        Ok(())
    }

    /// A value without bytes costs memory all the same.
    fn count(&mut self, reader: &Reader<'_>) -> Result<(), AvroError> {
        self.values += 1;
        let read = self.begin - reader.rest().len();
        let most = read.saturating_mul(2) + MAX_EMPTY_ITEMS as usize;
        match self.values <= most {
            true => Ok(()),
            false => Err(reader.error(AvroErrorKind::TooManyValues { most })),
        }
    }
}

/// What has no other values inside.
#[inline(never)]
fn scalar(node: &Node, reader: &mut Reader<'_>) -> Result<(), AvroError> {
    match node {
        Node::Null | Node::Array(_) | Node::Map(_) | Node::Union(..) | Node::Record { .. } => {}
        Node::Boolean => drop(reader.boolean()?),
        Node::Int | Node::IntTime(_) => drop(reader.int()?),
        Node::Long | Node::LongTime(_) => drop(reader.long()?),
        Node::Float => drop(reader.float()?),
        Node::Double => drop(reader.double()?),
        Node::Bytes => drop(reader.bytes()?),
        Node::String => drop(reader.str()?),
        Node::Fixed(size) => reader.skip(*size)?,
        Node::UuidFixed => reader.skip(16)?,
        Node::Duration => reader.skip(12)?,
        Node::Decimal {
            fixed, precision, ..
        } => {
            let bytes = match fixed {
                None => reader.bytes()?,
                Some(size) => {
                    let rest = reader.rest();
                    reader.skip(*size)?;
                    &rest[..*size]
                }
            };
            number_of(bytes, *precision).map_err(|kind| reader.error(kind))?;
        }
        Node::BigDecimal => {
            let bytes = reader.bytes()?;
            big_decimal(bytes).map_err(|kind| reader.error(kind))?;
        }
        Node::Uuid => {
            let text = reader.str()?;
            if Uuid::parse(text).is_none() {
                return Err(reader.error(AvroErrorKind::Uuid));
            }
        }
        Node::Enum(names) => drop(reader.symbol(names.parts.len())?),
    }
    Ok(())
}

#[inline(never)]
fn branch(branches: usize, reader: &mut Reader<'_>) -> Result<usize, AvroError> {
    reader.branch(branches)
}

#[inline(never)]
fn block(least: usize, reader: &mut Reader<'_>) -> Result<Block, AvroError> {
    reader.block(least)
}
