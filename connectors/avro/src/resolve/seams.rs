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
use crate::error::{AvroError, AvroErrorKind};
use crate::record::AvroRecord;
use crate::seams::Seams;
use crate::steps::field;
use crate::wire::Reader;

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
    /// Goes from where the one of the writer's fields begins to where the other does.
    Go { from: usize, to: usize },
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

/// Where the records of one writer's schema are cut.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cuts {
    all: Vec<Seam>,
    /// The writer's fields, if they are read in another order.
    fields: Fields,
}

/// The seams of a plan for a record of so many fields; what becomes of its nodes' bytes is in `kept`.
pub(super) fn seams(plan: &Plan, kept: &[Kept], program: &Program, fields: usize) -> Cuts {
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
            let mut here = 0;
            for wanted in wanted {
                match wanted {
                    Wanted::Field(place, node) => {
                        cut.go(here, *place);
                        here = place + 1;
                        cut.field(kept[*node], &fields[*place].0, *node, program);
                    }
                    Wanted::Default(bytes) => cut.make(Act::Default(bytes.clone())),
                }
            }
            cut.go(here, fields.len());
            return Cuts {
                all: cut.end(),
                fields: program.fields(fields),
            };
        }
        // The writer has a union around the record: all of it is made at once.
        _ => {
            cut.acts.push(Act::Whole(program.root));
            (cut.made, cut.at) = (fields, fields);
        }
    }
    Cuts {
        all: cut.end(),
        fields: Fields::default(),
    }
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
    /// The next field of the writer's is another one than what follows.
    fn go(&mut self, from: usize, to: usize) {
        if from != to {
            self.acts.push(Act::Go { from, to });
        }
    }

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
            return fields.push(name, op);
        }
        self.acts.push(Act::Skip(Fields::one(name, op)));
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
    /// How many bytes are left where each of the writer's fields begins, and behind the last, as far as that is known.
    places: Vec<usize>,
}

/// Reads the record in `body`, the end of a payload of `size` bytes, by the plan's seams.
///
/// # Errors
/// The body is no record of the writer's schema, or has something in it that the compiled schema has nothing for.
#[inline(never)]
pub(super) fn decode<'b, R: AvroRecord<'b>>(
    runner: Runner<'_>,
    cuts: &Cuts,
    body: &'b [u8],
    size: usize,
    room: &mut Room,
    scratch: &'b Scratch,
) -> Result<R, AvroError> {
    // A record that failed may have left some.
    room.made.clear();
    if !cuts.fields.ops.is_empty() {
        room.places.resize(cuts.fields.ops.len() + 1, 0);
        room.places[0] = body.len();
    }
    let mut seamed = Seamed {
        runner,
        seams: &cuts.all,
        next: next(&cuts.all),
        fields: &cuts.fields,
        known: 0,
        writer: Reader::new(body, size),
        size,
        body,
        away: false,
        failed: None,
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
    fields: &'p Fields,
    /// Up to which of them it is known where they begin.
    known: usize,
    /// Where the writer's bytes were left. It has bounds of its own: the decoder counts once more what is made here.
    writer: Reader<'b>,
    /// The size of what the decoder reads, for the positions of its errors.
    size: usize,
    /// All of the writer's bytes, for the places.
    body: &'b [u8],
    /// Whether the decoder is in bytes that were made.
    away: bool,
    failed: Option<AvroError>,
    room: &'p mut Room,
    scratch: &'b Scratch,
}

impl<'b> Seams<'b> for Seamed<'_, 'b> {
    #[inline(always)]
    fn before(&mut self, field: usize, reader: &mut Reader<'b>) -> Result<(), AvroError> {
        if field != self.next {
            return Ok(());
        }
        // Slices go in and come out, so that the decoder's reader stays in registers.
        match self.turn(reader.rest()) {
            Some(rest) => {
                reader.turn_to(rest, self.size);
                Ok(())
            }
            None => Err(self.failure()),
        }
    }
}

impl<'b> Seamed<'_, 'b> {
    /// Where the decoder goes on that has come to the next seam with so much left.
    #[inline(never)]
    fn turn(&mut self, rest: &'b [u8]) -> Option<&'b [u8]> {
        let (seam, seams) = self.seams.split_first()?;
        self.seams = seams;
        self.next = next(seams);
        // What most seams are, without the way that all take.
        match (self.away, seam.acts.as_slice()) {
            (away, []) => {
                debug_assert!(!away || rest.is_empty(), "what was made is what was read");
                self.away = false;
                self.size = self.writer.size();
                Some(self.writer.rest())
            }
            (false, [Act::Go { from, to }]) => match self.known(*from, *to, rest) {
                None => self.first(*to),
                known => known,
            },
            (_, acts) => self.far(acts, rest),
        }
    }

    /// The place `to`, if it is known; what is left at `from` is.
    #[inline(always)]
    fn known(&mut self, from: usize, to: usize, rest: &'b [u8]) -> Option<&'b [u8]> {
        if from == self.known + 1 {
            self.known = from;
            self.room.places[from] = rest.len();
        }
        match to <= self.known {
            true => self.body.get(self.body.len() - self.room.places[to]..),
            false => None,
        }
    }

    /// The place `to`, over the fields in front of it.
    #[inline(never)]
    fn first(&mut self, to: usize) -> Option<&'b [u8]> {
        let passed = self.pass_to(to).map(|()| self.writer.rest());
        self.told(passed)
    }

    #[inline(never)]
    fn far(&mut self, acts: &[Act], rest: &'b [u8]) -> Option<&'b [u8]> {
        let done = self.acts(acts, rest);
        self.told(done)
    }

    /// Keeps an error for the decoder.
    #[inline(always)]
    fn told(&mut self, result: Result<&'b [u8], AvroError>) -> Option<&'b [u8]> {
        match result {
            Ok(rest) => Some(rest),
            Err(error) => {
                self.failed = Some(error);
                None
            }
        }
    }

    #[inline(always)]
    fn acts(&mut self, acts: &[Act], rest: &'b [u8]) -> Result<&'b [u8], AvroError> {
        if self.away {
            debug_assert!(rest.is_empty(), "what was made is what was read");
        } else {
            self.writer.go_to(rest);
        }
        for act in acts {
            self.act(act)?;
        }
        self.away = !self.room.made.is_empty();
        if !self.away {
            self.size = self.writer.size();
            return Ok(self.writer.rest());
        }
        let made = self.scratch.keep(&self.room.made);
        self.runner.most = self.runner.most.saturating_sub(made.len());
        self.room.made.clear();
        // An error in them is at the position that was left.
        self.size = self.writer.position() + made.len();
        Ok(made)
    }

    #[inline(always)]
    fn act(&mut self, act: &Act) -> Result<(), AvroError> {
        let Seamed { runner, writer, .. } = self;
        match act {
            Act::Skip(fields) => runner.fields(fields, writer),
            Act::Check(name, op) => field(name, runner.pass(*op, &mut writer.fork())),
            Act::Default(bytes) => {
                self.room.made.extend_from_slice(bytes);
                Ok(())
            }
            Act::Make(name, node) => field(name, runner.value(*node, writer, &mut self.room.made)),
            Act::Whole(node) => runner.value(*node, writer, &mut self.room.made),
            Act::Go { from, to } => self.go(*from, *to),
        }
    }

    fn go(&mut self, from: usize, to: usize) -> Result<(), AvroError> {
        match self.known(from, to, self.writer.rest()) {
            Some(rest) => {
                self.writer.go_to(rest);
                Ok(())
            }
            None => self.pass_to(to),
        }
    }

    /// Passes over the fields up to a place that is not known yet.
    #[inline]
    fn pass_to(&mut self, to: usize) -> Result<(), AvroError> {
        let mut reader = self.writer.fork();
        let left = self.room.places[self.known];
        reader.go_to(&self.body[self.body.len() - left..]);
        let ops = &self.fields.ops[self.known..to];
        let places = &mut self.room.places[self.known + 1..=to];
        for (op, place) in ops.iter().zip(places) {
            if let Err(error) = self.runner.pass(*op, &mut reader) {
                return Err(self.fields.named(op, error));
            }
            *place = reader.rest().len();
        }
        self.known = to;
        self.writer = reader;
        Ok(())
    }

    #[cold]
    fn failure(&mut self) -> AvroError {
        let failed = self.failed.take();
        // Without one there was no seam, and nobody asks then.
        failed.unwrap_or_else(|| self.writer.error(AvroErrorKind::Trailing { left: 0 }))
    }
}

fn next(seams: &[Seam]) -> usize {
    seams.first().map_or(usize::MAX, |seam| seam.at)
}
