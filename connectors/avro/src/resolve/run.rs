//! A record by a plan: the writer's bytes in, the bytes of the compiled schema out. Hot path of records of other schemas.

use super::{Branch, Node, NodeId, Plan, Step, Wanted};
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

/// Where the bytes go.
trait Out {
    fn put(&mut self, bytes: &[u8]);
    fn len(&self) -> usize;
}

impl Out for Vec<u8> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    #[inline(always)]
    fn len(&self) -> usize {
        Vec::len(self)
    }
}

/// For what is passed over.
struct Nowhere;

impl Out for Nowhere {
    #[inline(always)]
    fn put(&mut self, _: &[u8]) {}

    #[inline(always)]
    fn len(&self) -> usize {
        0
    }
}

impl Plan {
    /// Appends to `out` what the record in `body` is by the compiled schema; `body` is the end of a payload of `size` bytes.
    ///
    /// # Errors
    /// The body is no record of the writer's schema, or has something in it that the reader has nothing for.
    pub(crate) fn run(&self, body: &[u8], size: usize, out: &mut Vec<u8>) -> Result<(), AvroError> {
        let mut reader = Reader::new(body, size);
        Runner {
            nodes: &self.nodes,
            most: out.len() + limit(size),
        }
        .node(self.root, &mut reader, out)?;
        reader.finish()
    }
}

struct Runner<'p> {
    nodes: &'p [Node],
    most: usize,
}

impl Runner<'_> {
    fn node<O: Out>(
        &self,
        id: NodeId,
        reader: &mut Reader<'_>,
        out: &mut O,
    ) -> Result<(), AvroError> {
        match &self.nodes[id] {
            Node::Null => Ok(()),
            Node::Boolean => copied(reader, out, |reader| reader.boolean().map(drop)),
            Node::Int => copied(reader, out, |reader| reader.int().map(drop)),
            Node::Long => copied(reader, out, Reader::skip_long),
            Node::Float => copied(reader, out, |reader| reader.skip(4)),
            Node::Double => copied(reader, out, |reader| reader.skip(8)),
            Node::Text => copied(reader, out, |reader| reader.bytes().map(drop)),
            Node::Fixed(size) => copied(reader, out, |reader| reader.skip(*size)),
            Node::Symbol(symbols) => {
                copied(reader, out, |reader| reader.symbol(*symbols).map(drop))
            }
            Node::Symbols(ours) => {
                let symbol = reader.symbol(ours.len())?;
                match ours[symbol] {
                    Some(ours) => number(out, u64::from(ours)),
                    None => return Err(reader.error(AvroErrorKind::UnknownSymbol { symbol })),
                }
                Ok(())
            }
            Node::IntToFloat => {
                out.put(&(reader.int()? as f32).to_le_bytes());
                Ok(())
            }
            Node::IntToDouble => {
                out.put(&f64::from(reader.int()?).to_le_bytes());
                Ok(())
            }
            Node::LongToFloat => {
                out.put(&(reader.long()? as f32).to_le_bytes());
                Ok(())
            }
            Node::LongToDouble => {
                out.put(&(reader.long()? as f64).to_le_bytes());
                Ok(())
            }
            Node::FloatToDouble => {
                out.put(&f64::from(reader.float()?).to_le_bytes());
                Ok(())
            }
            Node::Blocks { keys, item, least } => self.blocks(*keys, *item, *least, reader, out),
            Node::Record { steps, recursive } => {
                enter(reader, *recursive)?;
                for step in steps {
                    match step {
                        Step::Keep(name, node) => field(name, self.node(*node, reader, out))?,
                        Step::Skip(name, node) => {
                            field(name, self.node(*node, reader, &mut Nowhere))?;
                        }
                        Step::Default(bytes) => out.put(bytes),
                    }
                }
                leave(reader, *recursive);
                Ok(())
            }
            Node::Reordered {
                fields,
                wanted,
                recursive,
            } => {
                enter(reader, *recursive)?;
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
                    field(name, self.node(*skip, reader, &mut Nowhere))?;
                }
                for wanted in wanted {
                    match wanted {
                        Wanted::Field(n, node) => {
                            let mut place = places[*n].fork();
                            field(&fields[*n].0, self.node(*node, &mut place, out))?;
                        }
                        Wanted::Default(bytes) => out.put(bytes),
                    }
                }
                leave(reader, *recursive);
                Ok(())
            }
            Node::Branches(branches) => {
                let branch = reader.branch(branches.len())?;
                match &branches[branch] {
                    Branch::Read(node) => self.node(*node, reader, out),
                    Branch::Unreadable => {
                        Err(reader.error(AvroErrorKind::UnreadableBranch { branch }))
                    }
                }
            }
            Node::Into(branch, node) => {
                number(out, u64::from(*branch));
                self.node(*node, reader, out)
            }
        }
    }

    /// Blocks of items, without the sizes that the writer may have written: they are others here.
    fn blocks<O: Out>(
        &self,
        keys: bool,
        item: NodeId,
        least: usize,
        reader: &mut Reader<'_>,
        out: &mut O,
    ) -> Result<(), AvroError> {
        let least = least + usize::from(keys);
        loop {
            let block = reader.block(least)?;
            if block.count == 0 {
                out.put(&[0]);
                return Ok(());
            }
            number(out, block.count as u64);
            for _ in 0..block.count {
                if keys {
                    copied(reader, out, |reader| reader.bytes().map(drop))?;
                }
                self.node(item, reader, out)?;
                if out.len() > self.most {
                    return Err(reader.error(AvroErrorKind::TooLarge { most: self.most }));
                }
            }
            reader.end_block(block)?;
        }
    }
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

/// The bytes that a value takes, as they are.
#[inline(always)]
fn copied<'b, O: Out>(
    reader: &mut Reader<'b>,
    out: &mut O,
    pass: impl FnOnce(&mut Reader<'b>) -> Result<(), AvroError>,
) -> Result<(), AvroError> {
    let before = reader.rest();
    pass(reader)?;
    out.put(&before[..before.len() - reader.rest().len()]);
    Ok(())
}

/// A count, a branch or a symbol.
#[inline(always)]
fn number<O: Out>(out: &mut O, value: u64) {
    // Far from the sign's bit: counts are bounded by the payload.
    let mut left = value << 1;
    let mut bytes = [0u8; 10];
    let mut length = 0;
    loop {
        bytes[length] = left as u8 & 0x7f;
        left >>= 7;
        if left == 0 {
            break;
        }
        bytes[length] |= 0x80;
        length += 1;
    }
    out.put(&bytes[..=length]);
}
