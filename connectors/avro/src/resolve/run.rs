//! A value by a plan: the writer's bytes in, the bytes of the compiled schema out. Hot path of records of other schemas.
//!
//! A loop over values works on its own copy of the reader, as derived decoders do, which stays in registers. What is inlined always is so
//! in optimised builds only: the others' frames would not leave room for the depth that records may have.

use super::program::{Fields, Inside, Make, Op, Part, Program};
use super::{NodeId, Wanted, long};
use crate::error::{AvroError, AvroErrorKind};
use crate::wire::Reader;

/// The most that a payload of `size` bytes may become: defaults and promotions make records longer, and an array of items without bytes
/// must not fill the memory with their defaults.
fn limit(size: usize) -> usize {
    const ROOM: usize = 1 << 20;
    const EACH: usize = 256;
    size.saturating_mul(EACH).saturating_add(ROOM)
}

/// Walks values by a program.
pub(super) struct Runner<'p> {
    program: &'p Program,
    /// How many bytes may be made.
    pub(super) most: usize,
}

impl<'p> Runner<'p> {
    /// For a payload of `size` bytes.
    pub(super) fn new(program: &'p Program, size: usize) -> Self {
        Runner {
            program,
            most: limit(size),
        }
    }

    /// Passes over fields that follow each other.
    #[inline]
    pub(super) fn fields(&self, fields: &Fields, outer: &mut Reader<'_>) -> Result<(), AvroError> {
        let reader = &mut outer.fork();
        self.each(fields, reader)?;
        outer.join(reader);
        Ok(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn each(&self, fields: &Fields, reader: &mut Reader<'_>) -> Result<(), AvroError> {
        for op in &fields.ops {
            if let Err(error) = self.pass(*op, reader) {
                return Err(fields.named(op, error));
            }
        }
        Ok(())
    }

    /// Passes over a value of the writer's.
    #[inline(always)]
    pub(super) fn pass(&self, op: Op, reader: &mut Reader<'_>) -> Result<(), AvroError> {
        match op {
            Op::Null => Ok(()),
            Op::Boolean => reader.boolean().map(drop),
            Op::Int => reader.int().map(drop),
            Op::Long => reader.skip_long(),
            Op::Text => reader.bytes().map(drop),
            Op::Skip(size) => reader.skip(size),
            Op::Symbol(symbols) => reader.symbol(symbols).map(drop),
            Op::Inside(id) => {
                let mut copy = reader.fork();
                self.inside(id, &mut copy)?;
                reader.join(&copy);
                Ok(())
            }
        }
    }

    #[inline(never)]
    fn inside(&self, id: NodeId, outer: &mut Reader<'_>) -> Result<(), AvroError> {
        let Some(inside) = &self.program.inside[id] else {
            unreachable!("an op of a value with others inside")
        };
        let reader = &mut outer.fork();
        reader.nest()?;
        match inside {
            Inside::Blocks {
                least,
                by_size,
                item,
            } => loop {
                let block = reader.block(*least)?;
                if block.count == 0 {
                    break;
                }
                // Items that have to be looked at are, whatever size the writer wrote.
                if *by_size && reader.skip_block(block) || *least == 0 {
                    continue;
                }
                for _ in 0..block.count {
                    self.each(item, reader)?;
                }
                reader.end_block(block)?;
            },
            Inside::Branches(branches) => {
                let branch = reader.branch(branches.len())?;
                match branches[branch] {
                    Some(op) => self.pass(op, reader)?,
                    None => return Err(reader.error(AvroErrorKind::UnreadableBranch { branch })),
                }
            }
            Inside::Record { fields, recursive } => {
                enter(reader, *recursive)?;
                self.each(fields, reader)?;
                leave(reader, *recursive);
            }
        }
        reader.unnest();
        outer.join(reader);
        Ok(())
    }

    /// Writes what a value of the writer's becomes.
    pub(super) fn value(
        &self,
        mut id: NodeId,
        reader: &mut Reader<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), AvroError> {
        // Through unions to what is in them: a call for each would take room of the stack.
        let make = loop {
            match &self.program.makes[id] {
                Some(Make::Branches(branches)) => {
                    let branch = reader.branch(branches.len())?;
                    id = match branches[branch] {
                        Some(node) => node,
                        None => {
                            return Err(reader.error(AvroErrorKind::UnreadableBranch { branch }));
                        }
                    };
                }
                Some(Make::Into(branch, node)) => {
                    long(i64::from(*branch), out);
                    id = *node;
                }
                Some(make) => break make,
                None => {
                    let before = reader.rest();
                    self.pass(self.program.ops[id], reader)?;
                    out.extend_from_slice(read(before, reader));
                    return Ok(());
                }
            }
        };
        match make {
            Make::Symbols(ours) => {
                let symbol = reader.symbol(ours.len())?;
                match ours[symbol] {
                    Some(ours) => long(i64::from(ours), out),
                    None => return Err(reader.error(AvroErrorKind::UnknownSymbol { symbol })),
                }
            }
            Make::IntToFloat => out.extend_from_slice(&(reader.int()? as f32).to_le_bytes()),
            Make::IntToDouble => out.extend_from_slice(&f64::from(reader.int()?).to_le_bytes()),
            Make::LongToFloat => out.extend_from_slice(&(reader.long()? as f32).to_le_bytes()),
            Make::LongToDouble => out.extend_from_slice(&(reader.long()? as f64).to_le_bytes()),
            Make::FloatToDouble => out.extend_from_slice(&f64::from(reader.float()?).to_le_bytes()),
            Make::Blocks { least, item } => self.blocks(*least, item, reader, out)?,
            Make::Record { parts, recursive } => {
                reader.nest()?;
                enter(reader, *recursive)?;
                self.parts(parts, reader, out)?;
                leave(reader, *recursive);
                reader.unnest();
            }
            Make::Reordered {
                fields,
                wanted,
                recursive,
            } => {
                reader.nest()?;
                enter(reader, *recursive)?;
                self.reordered(fields, wanted, reader, out)?;
                leave(reader, *recursive);
                reader.unnest();
            }
            Make::Branches(_) | Make::Into(..) => unreachable!("seen through above"),
        }
        Ok(())
    }

    /// Fields in the reader's order.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parts(
        &self,
        parts: &[Part],
        reader: &mut Reader<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), AvroError> {
        for part in parts {
            match part {
                Part::Copy(fields, more) => {
                    let before = reader.rest();
                    self.each(fields, reader)?;
                    let bytes = read(before, reader);
                    out.reserve(bytes.len() + more.len());
                    out.extend_from_slice(bytes);
                    out.extend_from_slice(more);
                }
                Part::Skip(fields) => self.fields(fields, reader)?,
                Part::Make(name, node) => {
                    let mut copy = reader.fork();
                    named(name, self.value(*node, &mut copy, out))?;
                    reader.join(&copy);
                }
                Part::Default(bytes) => out.extend_from_slice(bytes),
            }
        }
        Ok(())
    }

    fn reordered(
        &self,
        fields: &Fields,
        wanted: &[Wanted],
        reader: &mut Reader<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), AvroError> {
        // Room for most records; a wider one allocates.
        let mut few: [Reader<'_>; 16] = std::array::from_fn(|_| reader.fork());
        let mut many = Vec::new();
        let places = match few.get_mut(..fields.ops.len()) {
            Some(places) => places,
            None => {
                many.resize_with(fields.ops.len(), || reader.fork());
                &mut many[..]
            }
        };
        for ((op, name), place) in fields.ops.iter().zip(&fields.names).zip(&mut *places) {
            *place = reader.fork();
            named(name, self.pass(*op, reader))?;
        }
        for wanted in wanted {
            match wanted {
                Wanted::Field(n, node) => {
                    let place = &mut places[*n].fork();
                    named(&fields.names[*n], self.value(*node, place, out))?;
                }
                Wanted::Default(bytes) => out.extend_from_slice(bytes),
            }
        }
        Ok(())
    }

    /// Blocks of items, without the sizes that the writer may have written: they are others here.
    fn blocks(
        &self,
        least: usize,
        item: &[Part],
        outer: &mut Reader<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), AvroError> {
        let reader = &mut outer.fork();
        reader.nest()?;
        loop {
            let block = reader.block(least)?;
            long(block.count as i64, out);
            if block.count == 0 {
                break;
            }
            for _ in 0..block.count {
                self.parts(item, reader, out)?;
                if out.len() > self.most {
                    return Err(reader.error(AvroErrorKind::TooLarge { most: self.most }));
                }
            }
            reader.end_block(block)?;
        }
        reader.unnest();
        outer.join(reader);
        Ok(())
    }
}

/// Adds the field's name to an error; what has none is an item of its own.
#[inline(always)]
fn named<T>(name: &str, result: Result<T, AvroError>) -> Result<T, AvroError> {
    match result {
        Err(error) if !name.is_empty() => Err(error.at(name)),
        result => result,
    }
}

/// What was read since `before`.
#[inline(always)]
fn read<'b>(before: &'b [u8], reader: &Reader<'b>) -> &'b [u8] {
    &before[..before.len() - reader.rest().len()]
}

fn enter(reader: &mut Reader<'_>, recursive: bool) -> Result<(), AvroError> {
    match recursive {
        true => reader.enter(),
        false => Ok(()),
    }
}

fn leave(reader: &mut Reader<'_>, recursive: bool) {
    if recursive {
        reader.leave();
    }
}
