//! Records of another writer's schema: by a plan made once for the schema, after Avro's rules of schema resolution, the compiled decoder
//! reads each record in the writer's own bytes where they are what the compiled schema would have, and in bytes made for it where not.
//!
//! 1. `spate-avro-schema` compares two schemas and decides everything that can be decided without a record: which field goes where, which is
//!    passed over, what is promoted, the bytes of defaults. What can never be read is one error that names the paths of the fields.
//! 2. [`seams`] cuts the plan where the bytes of the two differ, and turns the decoder there.
//! 3. [`run`] makes the bytes of a field that is another one here, and passes over what is not wanted. It believes no length and no count,
//!    as the compiled decoder does not.
//!
//! So there is one decoder for each type, whatever the writer's schema is, and the two ways cannot come apart.
//!
//! <https://avro.apache.org/docs/1.12.0/specification/#schema-resolution>
//!
//! Where we are stricter than the specification: two different logical types never resolve, and where it is silent: of several branches
//! of the reader's union that could hold a value, one of the very type comes before one that needs a promotion.

mod kept;
mod program;
mod run;
mod seams;
#[cfg(test)]
mod tests;

use spate_avro_schema::{
    Branch, Canonical, Differences, Extras, Node, NodeId, Plan, SchemaError, Step, Wanted, long,
    parse, parse_reader,
};
use spate_runtime::scratch::Scratch;

use self::program::Program;
use self::run::Runner;
use self::seams::Cuts;
pub(crate) use self::seams::Room;
use crate::error::AvroError;
use crate::record::AvroRecord;
#[cfg(feature = "container")]
use crate::wire::Reader;

/// How records of a writer's schema become records of a compiled one: what the `avro` stage does by itself, for those who read Avro otherwise.
///
/// ```
/// use spate_avro::{AvroRecord, Resolution};
/// use spate_runtime::scratch::Scratch;
///
/// /// Reads records of the schema `writer`.
/// fn read<'b, R: AvroRecord<'b>>(writer: &str, records: &[&'b [u8]], scratch: &'b Scratch) -> Option<Vec<R>> {
///     let mut resolution = Resolution::new::<R>(writer).ok()?;
///     let read = |record: &&'b [u8]| resolution.decode(record, record.len(), scratch).ok();
///     records.iter().map(read).collect()
/// }
/// ```
#[derive(Debug)]
pub struct Resolution {
    resolver: Resolver,
    /// Of the compiled schema that it is for.
    fingerprint: u64,
    room: Room,
}

impl Resolution {
    /// Compares the schema text of a writer with the schema of `R`.
    ///
    /// # Errors
    /// The text is no schema, or no record of it can be read: says why, by the paths of the fields.
    pub fn new<'b, R: AvroRecord<'b>>(writer: &str) -> Result<Self, SchemaError> {
        let (reader, extras) = parse_reader(R::SCHEMA)?;
        let resolver = Resolver::new(&parse(writer)?, &reader, &extras).map_err(|differences| {
            SchemaError::new(format!("it cannot be read as `{}`, {differences}", R::NAME))
        })?;
        Ok(Resolution {
            resolver,
            fingerprint: R::FINGERPRINT,
            room: Room::default(),
        })
    }

    /// Reads the record in `body`, the end of a payload of `size` bytes; `scratch` holds what the writer's bytes do not have.
    ///
    /// # Errors
    /// The body is no record of the writer's schema, or has something in it that `R`'s schema has nothing for.
    ///
    /// # Panics
    /// `R` has another schema than the resolution was made for.
    pub fn decode<'b, R: AvroRecord<'b>>(
        &mut self,
        body: &'b [u8],
        size: usize,
        scratch: &'b Scratch,
    ) -> Result<R, AvroError> {
        assert_eq!(
            R::FINGERPRINT,
            self.fingerprint,
            "`{}` has another schema than the resolution",
            R::NAME
        );
        self.resolver.decode(body, size, &mut self.room, scratch)
    }

    /// Reads the record at the front of a reader, which goes on behind it.
    #[cfg(feature = "container")]
    pub(crate) fn next<'b, R: AvroRecord<'b>>(
        &mut self,
        reader: &mut Reader<'b>,
        scratch: &'b Scratch,
    ) -> Result<R, AvroError> {
        let before = reader.rest();
        let mut end = reader.fork();
        self.resolver.pass(&mut end)?;
        let body = &before[..before.len() - end.rest().len()];
        let record = self.decode(body, reader.position() + body.len(), scratch)?;
        reader.skip(body.len())?;
        Ok(record)
    }
}

/// What is known of a writer's schema: how its records are read by the compiled one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Resolver {
    program: Program,
    cuts: Cuts,
}

impl Resolver {
    /// Compares the writer's schema with the reader's, of which `extras` has aliases and defaults.
    ///
    /// # Errors
    /// No record of the writer's can be read: everywhere that is so, and why.
    pub(crate) fn new(
        writer: &Canonical,
        reader: &Canonical,
        extras: &Extras,
    ) -> Result<Self, Differences> {
        let plan = Plan::new(writer, reader, extras)?;
        let kept = kept::kept(&plan.nodes);
        let fields = match reader {
            Canonical::Record(_, fields) => fields.len(),
            _ => 0,
        };
        let program = Program::new(&plan, &kept);
        Ok(Resolver {
            cuts: seams::seams(&plan, &kept, &program, fields),
            program,
        })
    }

    /// Reads the record in `body`, the end of a payload of `size` bytes.
    ///
    /// # Errors
    /// The body is no record of the writer's schema, or has something in it that the reader has nothing for.
    pub(crate) fn decode<'b, R: AvroRecord<'b>>(
        &self,
        body: &'b [u8],
        size: usize,
        room: &mut Room,
        scratch: &'b Scratch,
    ) -> Result<R, AvroError> {
        let runner = Runner::new(&self.program, body.len());
        seams::decode(runner, &self.cuts, body, size, room, scratch)
    }

    /// Passes a record of the writer's over.
    #[cfg(feature = "container")]
    fn pass(&self, reader: &mut Reader<'_>) -> Result<(), AvroError> {
        let runner = Runner::new(&self.program, reader.rest().len());
        runner.pass(self.program.ops[self.program.root], reader)
    }
}
