//! A value by a plan: the writer's bytes in, the bytes of the compiled schema out. Hot path of records of other schemas.

use super::kept::Kept;
use super::{Branch, Node, NodeId, Plan, Step, Wanted, long};
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

/// Walks values by a plan.
pub(super) struct Runner<'p> {
    nodes: &'p [Node],
    /// What becomes of their bytes.
    kept: &'p [Kept],
    /// How many bytes may be made.
    pub(super) most: usize,
}

impl<'p> Runner<'p> {
    /// For a payload of `size` bytes.
    pub(super) fn new(plan: &'p Plan, kept: &'p [Kept], size: usize) -> Self {
        Runner {
            nodes: &plan.nodes,
            kept,
            most: limit(size),
        }
    }
}

impl Runner<'_> {
    /// Writes what a value of the writer's becomes.
    pub(super) fn node(
        &self,
        id: NodeId,
        reader: &mut Reader<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), AvroError> {
        if self.kept[id] != Kept::Made {
            let before = reader.rest();
            self.pass(id, reader)?;
            out.extend_from_slice(read(before, reader));
            return Ok(());
        }
        match &self.nodes[id] {
            Node::Symbols(ours) => {
                let symbol = reader.symbol(ours.len())?;
                match ours[symbol] {
                    Some(ours) => long(i64::from(ours), out),
                    None => return Err(reader.error(AvroErrorKind::UnknownSymbol { symbol })),
                }
            }
            Node::IntToFloat => out.extend_from_slice(&(reader.int()? as f32).to_le_bytes()),
            Node::IntToDouble => out.extend_from_slice(&f64::from(reader.int()?).to_le_bytes()),
            Node::LongToFloat => out.extend_from_slice(&(reader.long()? as f32).to_le_bytes()),
            Node::LongToDouble => out.extend_from_slice(&(reader.long()? as f64).to_le_bytes()),
            Node::FloatToDouble => out.extend_from_slice(&f64::from(reader.float()?).to_le_bytes()),
            Node::Blocks { keys, item, least } => self.blocks(*keys, *item, *least, reader, out)?,
            Node::Record { steps, recursive } => {
                enter(reader, *recursive)?;
                self.steps(steps, reader, out)?;
                leave(reader, *recursive);
            }
            Node::Reordered {
                fields,
                wanted,
                recursive,
            } => {
                enter(reader, *recursive)?;
                self.reordered(fields, wanted, reader, out)?;
                leave(reader, *recursive);
            }
            Node::Branches { branches, .. } => {
                let branch = reader.branch(branches.len())?;
                match &branches[branch] {
                    Branch::Read(node) => self.node(*node, reader, out)?,
                    Branch::Unreadable => {
                        return Err(reader.error(AvroErrorKind::UnreadableBranch { branch }));
                    }
                }
            }
            Node::Into(branch, node) => {
                long(i64::from(*branch), out);
                self.node(*node, reader, out)?;
            }
            Node::Null
            | Node::Boolean
            | Node::Int
            | Node::IntToLong
            | Node::Long
            | Node::Float
            | Node::Double
            | Node::Text
            | Node::Fixed(_)
            | Node::Symbol(_) => unreachable!("left as it is"),
        }
        Ok(())
    }

    /// Fields in the reader's order. Neighbours that stay as they are are written at once.
    fn steps(
        &self,
        steps: &[Step],
        reader: &mut Reader<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), AvroError> {
        let mut begin = reader.rest();
        for step in steps {
            if let Step::Keep(name, node) = step
                && self.kept[*node] != Kept::Made
            {
                field(name, self.pass(*node, reader))?;
                continue;
            }
            out.extend_from_slice(read(begin, reader));
            match step {
                Step::Keep(name, node) => field(name, self.node(*node, reader, out))?,
                Step::Skip(name, node) => field(name, self.pass(*node, reader))?,
                Step::Default(bytes) => out.extend_from_slice(bytes),
            }
            begin = reader.rest();
        }
        out.extend_from_slice(read(begin, reader));
        Ok(())
    }

    fn reordered(
        &self,
        fields: &[(String, NodeId)],
        wanted: &[Wanted],
        reader: &mut Reader<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), AvroError> {
        // Room for most records; a wider one allocates.
        let mut few: [Reader<'_>; 16] = std::array::from_fn(|_| reader.fork());
        let mut many = Vec::new();
        let places = match few.get_mut(..fields.len()) {
            Some(places) => places,
            None => {
                many.resize_with(fields.len(), || reader.fork());
                &mut many[..]
            }
        };
        for ((name, skip), place) in fields.iter().zip(&mut *places) {
            *place = reader.fork();
            field(name, self.pass(*skip, reader))?;
        }
        for wanted in wanted {
            match wanted {
                Wanted::Field(n, node) => {
                    let mut place = places[*n].fork();
                    field(&fields[*n].0, self.node(*node, &mut place, out))?;
                }
                Wanted::Default(bytes) => out.extend_from_slice(bytes),
            }
        }
        Ok(())
    }

    /// Blocks of items, without the sizes that the writer may have written: they are others here.
    fn blocks(
        &self,
        keys: bool,
        item: NodeId,
        least: usize,
        reader: &mut Reader<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), AvroError> {
        let least = least + usize::from(keys);
        loop {
            let block = reader.block(least)?;
            long(block.count as i64, out);
            if block.count == 0 {
                return Ok(());
            }
            for _ in 0..block.count {
                if keys {
                    let before = reader.rest();
                    reader.bytes()?;
                    out.extend_from_slice(read(before, reader));
                }
                self.node(item, reader, out)?;
                if out.len() > self.most {
                    return Err(reader.error(AvroErrorKind::TooLarge { most: self.most }));
                }
            }
            reader.end_block(block)?;
        }
    }

    /// Passes a value of the writer's over.
    pub(super) fn pass(&self, id: NodeId, reader: &mut Reader<'_>) -> Result<(), AvroError> {
        match &self.nodes[id] {
            Node::Null => Ok(()),
            Node::Boolean => reader.boolean().map(drop),
            Node::Int | Node::IntToLong | Node::IntToFloat | Node::IntToDouble => {
                reader.int().map(drop)
            }
            Node::Long | Node::LongToFloat | Node::LongToDouble => reader.skip_long(),
            Node::Float | Node::FloatToDouble => reader.skip(4),
            Node::Double => reader.skip(8),
            Node::Text => reader.bytes().map(drop),
            Node::Fixed(size) => reader.skip(*size),
            Node::Symbol(symbols) => reader.symbol(*symbols).map(drop),
            Node::Symbols(ours) => reader.symbol(ours.len()).map(drop),
            Node::Blocks { keys, item, least } => {
                let least = *least + usize::from(*keys);
                loop {
                    let block = reader.block(least)?;
                    if block.count == 0 {
                        return Ok(());
                    }
                    // Items that have to be looked at are, whatever size the writer wrote.
                    let passed = self.kept[*item] != Kept::Checked && reader.skip_block(block);
                    if passed || least == 0 {
                        continue;
                    }
                    for _ in 0..block.count {
                        if *keys {
                            reader.bytes()?;
                        }
                        self.pass(*item, reader)?;
                    }
                }
            }
            Node::Record { steps, recursive } => {
                enter(reader, *recursive)?;
                for step in steps {
                    match step {
                        Step::Keep(name, node) | Step::Skip(name, node) => {
                            field(name, self.pass(*node, reader))?;
                        }
                        Step::Default(_) => {}
                    }
                }
                leave(reader, *recursive);
                Ok(())
            }
            Node::Reordered {
                fields, recursive, ..
            } => {
                enter(reader, *recursive)?;
                for (name, skip) in fields {
                    field(name, self.pass(*skip, reader))?;
                }
                leave(reader, *recursive);
                Ok(())
            }
            Node::Branches { branches, .. } => {
                let branch = reader.branch(branches.len())?;
                match &branches[branch] {
                    Branch::Read(node) => self.pass(*node, reader),
                    Branch::Unreadable => {
                        Err(reader.error(AvroErrorKind::UnreadableBranch { branch }))
                    }
                }
            }
            Node::Into(_, node) => self.pass(*node, reader),
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
