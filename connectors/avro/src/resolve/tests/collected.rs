//! A record of any schema, read as derived decoders read theirs: field by field, asking for the seams.

use std::cell::RefCell;

use spate_avro_schema::{Canonical, Node, Plan, Step, parse_reader};
use spate_runtime::scratch::Scratch;

use super::super::kept::kept;
use super::super::program::{Fields, Program};
use super::super::run::Runner;
use super::super::{Resolver, Room};
use crate::error::AvroError;
use crate::record::AvroRecord;
use crate::seams::Seams;
use crate::wire::Reader;

/// The bytes of all fields one after the other: what the compiled decoder has read.
struct Collected(Vec<u8>);

/// The schema that a test reads by, resolved to itself.
struct Compiled {
    program: Program,
    fields: Fields,
    recursive: bool,
}

thread_local! {
    static COMPILED: RefCell<Option<Compiled>> = const { RefCell::new(None) };
}

impl<'b> AvroRecord<'b> for Collected {
    const NAME: &'static str = "Collected";
    const SCHEMA: &'static str = "";
    const FINGERPRINT: u64 = 0;
    const FIELDS: &'static [&'static str] = &[];
    const MIN_SIZE: usize = 0;
    const POSITIONS: &'static [(&'static str, usize)] = &[];
    const SOLID: usize = 0;

    fn decode_seamed<const N: usize, S: Seams<'b>>(
        reader: &mut Reader<'b>,
        seams: &mut S,
    ) -> Result<Self, AvroError> {
        COMPILED.with_borrow(|compiled| {
            let Some(Compiled {
                program,
                fields,
                recursive,
            }) = compiled
            else {
                unreachable!("set before")
            };
            let runner = Runner::new(program, 0);
            if *recursive {
                reader.enter()?;
            }
            let mut out = Vec::new();
            for (field, (op, name)) in fields.ops.iter().zip(&fields.names).enumerate() {
                seams.before(field, reader)?;
                let before = reader.rest();
                crate::steps::field(name, runner.pass(*op, reader))?;
                out.extend_from_slice(&before[..before.len() - reader.rest().len()]);
            }
            seams.before(fields.ops.len(), reader)?;
            if *recursive {
                reader.leave();
            }
            Ok(Collected(out))
        })
    }

    fn decode_rest<const N: usize>(self, _: &mut Reader<'b>) -> Result<Self, AvroError> {
        Ok(self)
    }
}

/// What the decoder of the schema `reader` has read; none if that is no record.
pub(super) fn collect(
    resolver: &Resolver,
    reader: &str,
    bytes: &[u8],
) -> Option<Result<Vec<u8>, AvroError>> {
    let (schema, extras) = parse_reader(reader).expect("the reader's schema");
    if !matches!(schema, Canonical::Record(..)) {
        return None;
    }
    let plan = Plan::new(&schema, &schema, &extras).expect("a schema onto itself");
    let program = Program::new(&plan, &kept(&plan.nodes));
    let Node::Record { steps, recursive } = &plan.nodes[plan.root] else {
        unreachable!("a record onto itself")
    };
    let field = |step: &Step| match step {
        Step::Keep(name, node) => (name.clone(), *node),
        _ => unreachable!("each field onto itself"),
    };
    let fields: Vec<_> = steps.iter().map(field).collect();
    COMPILED.set(Some(Compiled {
        fields: program.fields(&fields),
        program,
        recursive: *recursive,
    }));
    let scratch = Scratch::new();
    let collected =
        resolver.decode::<Collected>(bytes, bytes.len(), &mut Room::default(), &scratch);
    Some(collected.map(|collected| collected.0))
}
