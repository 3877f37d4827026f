//! A value by a plan: the writer's bytes in, the bytes of the compiled schema out. Hot path of records of other schemas.
//!
//! Readers go in and come out by value: a loop over fields keeps its own in registers.

use super::program::{Fields, Inside, Make, Op, Part, Program};
use super::{NodeId, Wanted, long};
use crate::error::{AvroError, AvroErrorKind};
use crate::steps::field;
use crate::wire::Reader;

/// The most that a payload of `size` bytes may become: defaults and promotions make records longer, and an array of items without bytes
/// must not fill the memory with their defaults.
fn limit(size: usize) -> usize {
    const ROOM: usize = 1 << 20;
    const EACH: usize = 256;
    size.saturating_mul(EACH).saturating_add(ROOM)
}

type Read<'b> = Result<Reader<'b>, AvroError>;

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
    pub(super) fn fields<'b>(&self, fields: &Fields, mut reader: Reader<'b>) -> Read<'b> {
        for (op, name) in fields.ops.iter().zip(&fields.names) {
            field(name, self.pass(*op, &mut reader))?;
        }
        Ok(reader)
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
                *reader = self.inside(id, reader.fork())?;
                Ok(())
            }
        }
    }

    #[inline(never)]
    fn inside<'b>(&self, id: NodeId, mut reader: Reader<'b>) -> Read<'b> {
        let Some(inside) = &self.program.inside[id] else {
            unreachable!("an op of a value with others inside")
        };
        match inside {
            Inside::Blocks {
                keys,
                least,
                by_size,
                item,
            } => loop {
                let block = reader.block(*least)?;
                if block.count == 0 {
                    return Ok(reader);
                }
                // Items that have to be looked at are, whatever size the writer wrote.
                if *by_size && reader.skip_block(block) || *least == 0 {
                    continue;
                }
                for _ in 0..block.count {
                    if *keys {
                        reader.bytes()?;
                    }
                    self.pass(*item, &mut reader)?;
                }
                reader.end_block(block)?;
            },
            Inside::Branches(branches) => {
                let branch = reader.branch(branches.len())?;
                match branches[branch] {
                    Some(op) => self.pass(op, &mut reader)?,
                    None => return Err(reader.error(AvroErrorKind::UnreadableBranch { branch })),
                }
                Ok(reader)
            }
            Inside::Record { fields, recursive } => {
                enter(&mut reader, *recursive)?;
                let mut reader = self.fields(fields, reader)?;
                leave(&mut reader, *recursive);
                Ok(reader)
            }
        }
    }

    /// Writes what a value of the writer's becomes.
    pub(super) fn value<'b>(
        &self,
        id: NodeId,
        mut reader: Reader<'b>,
        out: &mut Vec<u8>,
    ) -> Read<'b> {
        let Some(make) = &self.program.makes[id] else {
            let before = reader.rest();
            self.pass(self.program.ops[id], &mut reader)?;
            out.extend_from_slice(read(before, &reader));
            return Ok(reader);
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
            Make::Blocks { keys, least, item } => {
                return self.blocks(*keys, *least, *item, reader, out);
            }
            Make::Record { parts, recursive } => {
                enter(&mut reader, *recursive)?;
                reader = self.parts(parts, reader, out)?;
                leave(&mut reader, *recursive);
            }
            Make::Reordered {
                fields,
                wanted,
                recursive,
            } => {
                enter(&mut reader, *recursive)?;
                reader = self.reordered(fields, wanted, reader, out)?;
                leave(&mut reader, *recursive);
            }
            Make::Branches(branches) => {
                let branch = reader.branch(branches.len())?;
                return match branches[branch] {
                    Some(node) => self.value(node, reader, out),
                    None => Err(reader.error(AvroErrorKind::UnreadableBranch { branch })),
                };
            }
            Make::Into(branch, node) => {
                long(i64::from(*branch), out);
                return self.value(*node, reader, out);
            }
        }
        Ok(reader)
    }

    /// Fields in the reader's order.
    fn parts<'b>(&self, parts: &[Part], mut reader: Reader<'b>, out: &mut Vec<u8>) -> Read<'b> {
        for part in parts {
            match part {
                Part::Copy(fields) => {
                    let before = reader.rest();
                    reader = self.fields(fields, reader)?;
                    out.extend_from_slice(read(before, &reader));
                }
                Part::Skip(fields) => reader = self.fields(fields, reader)?,
                Part::Make(name, node) => reader = field(name, self.value(*node, reader, out))?,
                Part::Default(bytes) => out.extend_from_slice(bytes),
            }
        }
        Ok(reader)
    }

    fn reordered<'b>(
        &self,
        fields: &Fields,
        wanted: &[Wanted],
        mut reader: Reader<'b>,
        out: &mut Vec<u8>,
    ) -> Read<'b> {
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
            field(name, self.pass(*op, &mut reader))?;
        }
        for wanted in wanted {
            match wanted {
                Wanted::Field(n, node) => {
                    field(&fields.names[*n], self.value(*node, places[*n].fork(), out))?;
                }
                Wanted::Default(bytes) => out.extend_from_slice(bytes),
            }
        }
        Ok(reader)
    }

    /// Blocks of items, without the sizes that the writer may have written: they are others here.
    fn blocks<'b>(
        &self,
        keys: bool,
        least: usize,
        item: NodeId,
        mut reader: Reader<'b>,
        out: &mut Vec<u8>,
    ) -> Read<'b> {
        loop {
            let block = reader.block(least)?;
            long(block.count as i64, out);
            if block.count == 0 {
                return Ok(reader);
            }
            for _ in 0..block.count {
                if keys {
                    let before = reader.rest();
                    reader.bytes()?;
                    out.extend_from_slice(read(before, &reader));
                }
                reader = self.value(item, reader, out)?;
                if out.len() > self.most {
                    return Err(reader.error(AvroErrorKind::TooLarge { most: self.most }));
                }
            }
            reader.end_block(block)?;
        }
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
