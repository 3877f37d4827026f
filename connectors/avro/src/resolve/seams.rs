//! A record of another schema, read by the compiled decoder: in the writer's own bytes wherever they are what the compiled schema would have,
//! and in bytes made for it where they are not. Hot path of records of other schemas.
//!
//! A plan's record is cut into [`Seam`]s once. Fields between two seams cost what they cost in a record of the compiled schema; what the
//! writer has and the compiled schema does not is passed over in between.

use spate_runtime::scratch::Scratch;

use super::kept::Kept;
use super::program::{Fields, Op, Program};
use super::run::Runner;
use super::{Node, NodeId, Plan, Step, Wanted};
use crate::error::AvroError;
use crate::record::AvroRecord;
use crate::seams::Seams;
use crate::steps::field;
use crate::wire::{Place, Reader};

/// What is done before a field of the compiled schema.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seam {
    /// The field's number; that of all fields at the record's end.
    at: usize,
    /// In this order. None in a seam that only leads back to the writer's bytes, from the ones that were made.
    acts: Vec<Act>,
}

#[derive(Debug, PartialEq, Eq)]
enum Act {
    /// Passes over all of the writer's fields, and remembers where each begins and where the last ends.
    Survey(Fields),
    /// Goes to one of these places.
    Go(usize),
    /// Looks at the next field by the writer's type, before it is read where it is.
    Check(String, Op),
    /// Passes over fields of the writer's.
    Skip(Fields),
    /// Makes the bytes of the next field out of the writer's.
    Make(String, NodeId),
    /// Makes the bytes of all fields out of the writer's.
    Whole(NodeId),
    /// The bytes of the next field, which the writer does not have.
    Default(Vec<u8>),
}

/// The seams of a plan for a record of so many fields; what becomes of its nodes' bytes is in `kept`.
pub(super) fn seams(plan: &Plan, kept: &[Kept], program: &Program, fields: usize) -> Vec<Seam> {
    let mut cut = Cut::default();
    match &plan.nodes[plan.root] {
        Node::Record { steps, .. } => {
            for step in steps {
                match step {
                    Step::Keep(name, node) => cut.field(kept[*node], name, *node, program),
                    Step::Default(bytes) => cut.make(Act::Default(bytes.clone())),
                    Step::Skip(name, node) => cut.skip(name, program.ops[*node]),
                }
            }
        }
        Node::Reordered { fields, wanted, .. } => {
            cut.acts.push(Act::Survey(program.fields(fields)));
            let mut here = fields.len();
            for wanted in wanted {
                match wanted {
                    Wanted::Field(place, node) => {
                        if *place != here {
                            cut.acts.push(Act::Go(*place));
                        }
                        here = place + 1;
                        cut.field(kept[*node], &fields[*place].0, *node, program);
                    }
                    Wanted::Default(bytes) => cut.make(Act::Default(bytes.clone())),
                }
            }
            if here != fields.len() {
                cut.acts.push(Act::Go(fields.len()));
            }
        }
        // The writer has a union around the record: all of it is made at once.
        _ => {
            cut.acts.push(Act::Whole(program.root));
            (cut.made, cut.at) = (fields, fields);
        }
    }
    cut.end()
}

/// Seams while they are cut.
#[derive(Default)]
struct Cut {
    seams: Vec<Seam>,
    /// The next field of the compiled schema.
    at: usize,
    /// What is to be done before the fields that are made, and how many these are: the last ones up to `at`.
    acts: Vec<Act>,
    made: usize,
    /// Whether the reader has to be led back before the next field.
    back: bool,
}

impl Cut {
    /// The next field is one of the writer's.
    fn field(&mut self, kept: Kept, name: &str, node: NodeId, program: &Program) {
        match kept {
            Kept::AsTheyAre => self.keep(),
            Kept::Checked => {
                self.close();
                self.acts
                    .push(Act::Check(name.to_owned(), program.ops[node]));
                self.keep();
            }
            Kept::Made => self.make(Act::Make(name.to_owned(), node)),
        }
    }

    /// The writer has a field here that nobody wants.
    fn skip(&mut self, name: &str, op: Op) {
        if let Some(Act::Skip(fields)) = self.acts.last_mut() {
            fields.names.push(name.to_owned());
            fields.ops.push(op);
            return;
        }
        self.acts.push(Act::Skip(Fields {
            ops: vec![op],
            names: vec![name.to_owned()],
        }));
    }

    /// The next field is made, with those before it that are.
    fn make(&mut self, act: Act) {
        self.acts.push(act);
        self.made += 1;
        self.at += 1;
    }

    /// The next field is read where it is.
    fn keep(&mut self) {
        self.seam();
        self.at += 1;
    }

    /// Ends the fields that are made.
    fn close(&mut self) {
        if self.made > 0 {
            self.seams.push(Seam {
                at: self.at - self.made,
                acts: std::mem::take(&mut self.acts),
            });
            (self.made, self.back) = (0, true);
        }
    }

    /// A seam before the next field, if there is anything to do.
    fn seam(&mut self) {
        self.close();
        if self.back || !self.acts.is_empty() {
            self.seams.push(Seam {
                at: self.at,
                acts: std::mem::take(&mut self.acts),
            });
            self.back = false;
        }
    }

    /// Behind the last field.
    fn end(mut self) -> Vec<Seam> {
        self.seam();
        self.seams
    }
}

/// What a thread keeps for the records of other schemas, for its room.
#[derive(Debug, Default)]
pub(crate) struct Room {
    /// Bytes that were made, before they are kept.
    made: Vec<u8>,
    /// How many bytes are left where each of the writer's fields begins, and behind the last.
    places: Vec<usize>,
}

/// Reads the record in `body`, the end of a payload of `size` bytes, by the plan's seams.
///
/// # Errors
/// The body is no record of the writer's schema, or has something in it that the compiled schema has nothing for.
#[inline(never)]
pub(super) fn decode<'b, R: AvroRecord<'b>>(
    runner: Runner<'_>,
    seams: &[Seam],
    body: &'b [u8],
    size: usize,
    room: &mut Room,
    scratch: &'b Scratch,
) -> Result<R, AvroError> {
    // A record that failed may have left some.
    room.made.clear();
    let mut seamed = Seamed {
        runner,
        seams,
        next: next(seams),
        body,
        away: None,
        room,
        scratch,
    };
    let mut reader = Reader::new(body, size);
    let record = R::decode_seamed::<{ usize::MAX }, _>(&mut reader, &mut seamed)?;
    reader.finish()?;
    Ok(record)
}

/// The seams of one record.
struct Seamed<'p, 'b> {
    runner: Runner<'p>,
    seams: &'p [Seam],
    /// The field of the first of them.
    next: usize,
    /// All of the writer's bytes, for the places.
    body: &'b [u8],
    /// Where the writer's bytes were left, while the reader is in ones that were made.
    away: Option<Place<'b>>,
    room: &'p mut Room,
    scratch: &'b Scratch,
}

impl<'b> Seams<'b> for Seamed<'_, 'b> {
    #[inline(always)]
    fn before(&mut self, field: usize, reader: &mut Reader<'b>) -> Result<(), AvroError> {
        if field == self.next {
            // A copy: the decoder's reader stays in registers.
            let mut copy = reader.fork();
            self.turn(&mut copy)?;
            *reader = copy;
        }
        Ok(())
    }
}

impl<'b> Seamed<'_, 'b> {
    #[inline(never)]
    fn turn(&mut self, reader: &mut Reader<'b>) -> Result<(), AvroError> {
        let Some((seam, rest)) = self.seams.split_first() else {
            unreachable!("the first one's field was asked for")
        };
        self.seams = rest;
        self.next = next(rest);
        match (&self.away, seam.acts.as_slice()) {
            // Nothing but another place.
            (None, [Act::Go(place)]) => {
                self.go(*place, reader);
                Ok(())
            }
            _ => self.acts(&seam.acts, reader),
        }
    }

    #[inline(always)]
    fn go(&self, place: usize, reader: &mut Reader<'b>) {
        reader.go_to(&self.body[self.body.len() - self.room.places[place]..]);
    }

    #[inline(never)]
    fn acts(&mut self, acts: &[Act], reader: &mut Reader<'b>) -> Result<(), AvroError> {
        if let Some(place) = self.away.take() {
            debug_assert!(reader.rest().is_empty(), "what was made is what was read");
            reader.back_to(place);
        }
        for act in acts {
            self.act(act, reader)?;
        }
        if !self.room.made.is_empty() {
            self.away = Some(reader.turn_to(self.scratch.keep(&self.room.made)));
            self.runner.most = self.runner.most.saturating_sub(self.room.made.len());
            self.room.made.clear();
        }
        Ok(())
    }

    #[inline(always)]
    fn act(&mut self, act: &Act, reader: &mut Reader<'b>) -> Result<(), AvroError> {
        match act {
            Act::Go(place) => self.go(*place, reader),
            Act::Skip(fields) => return self.runner.fields(fields, reader),
            Act::Check(name, op) => field(name, self.runner.pass(*op, &mut reader.fork()))?,
            Act::Default(bytes) => self.room.made.extend_from_slice(bytes),
            Act::Make(name, node) => return field(name, self.make(*node, reader)),
            Act::Whole(node) => return self.make(*node, reader),
            Act::Survey(fields) => {
                self.room.places.clear();
                for (op, name) in fields.ops.iter().zip(&fields.names) {
                    self.room.places.push(reader.rest().len());
                    field(name, self.runner.pass(*op, reader))?;
                }
                self.room.places.push(reader.rest().len());
            }
        }
        Ok(())
    }

    fn make(&mut self, node: NodeId, reader: &mut Reader<'b>) -> Result<(), AvroError> {
        // With bounds of its own: the decoder counts once more what is made here.
        let mut copy = reader.fork();
        self.runner.value(node, &mut copy, &mut self.room.made)?;
        reader.go_to(copy.rest());
        Ok(())
    }
}

fn next(seams: &[Seam]) -> usize {
    seams.first().map_or(usize::MAX, |seam| seam.at)
}
