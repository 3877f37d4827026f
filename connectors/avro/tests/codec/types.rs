//! Every type of the specification, as applications would declare it.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher};

use spate_avro::{
    BigDecimal, Date, Decimal, Duration, LocalTimestampMicros, LocalTimestampMillis,
    LocalTimestampNanos, Seq, TimeMicros, TimeMillis, TimestampMicros, TimestampMillis,
    TimestampNanos, Uuid,
};
use spate_macros::{AvroEnum, AvroRecord, AvroUnion};

/// Maps of the same entries print alike with it.
type Hasher = BuildHasherDefault<DefaultHasher>;

/// All of them, borrowed where that is possible.
#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/all.avsc", crate = crate::facade)]
pub(crate) struct All<'a> {
    pub(crate) nothing: (),
    pub(crate) flag: bool,
    pub(crate) small: i32,
    pub(crate) big: i64,
    pub(crate) single: f32,
    pub(crate) double: f64,
    pub(crate) raw: &'a [u8],
    pub(crate) text: &'a str,
    pub(crate) status: Status,
    pub(crate) status_text: &'a str,
    pub(crate) statuses: Seq<'a, Status>,
    pub(crate) digest: [u8; 4],
    pub(crate) digest_bytes: &'a [u8],
    pub(crate) digests: Seq<'a, &'a [u8; 4]>,
    pub(crate) numbers: Seq<'a, i64>,
    pub(crate) nulls: Vec<()>,
    pub(crate) ages: Seq<'a, (&'a str, i32)>,
    pub(crate) names: Vec<(&'a str, &'a str)>,
    pub(crate) places: HashMap<&'a str, Place<'a>, Hasher>,
    pub(crate) origin: Origin<'a>,
    pub(crate) events: Seq<'a, Event<'a>>,
    pub(crate) maybe_status: Option<Status>,
    pub(crate) chain: Node,
    pub(crate) day: Date,
    pub(crate) time_millis: TimeMillis,
    pub(crate) time_micros: TimeMicros,
    pub(crate) at_millis: TimestampMillis,
    pub(crate) at_micros: TimestampMicros,
    pub(crate) at_nanos: TimestampNanos,
    pub(crate) local_millis: LocalTimestampMillis,
    pub(crate) local_micros: LocalTimestampMicros,
    pub(crate) local_nanos: LocalTimestampNanos,
    pub(crate) price: Decimal<2>,
    pub(crate) amount: Decimal<4>,
    pub(crate) id: Uuid,
    pub(crate) span: Duration,
    pub(crate) maybe_price: Option<Decimal<2>>,
    pub(crate) prices: BTreeMap<String, Decimal<2>>,
    pub(crate) days: Seq<'a, Date>,
    pub(crate) only_at: TimestampMicros,
}

/// The same schema, owned and as plain as it goes; what is lazy above is collected here and the other way round.
#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/all.avsc", crate = crate::facade)]
pub(crate) struct Plain {
    pub(crate) status: String,
    pub(crate) statuses: Vec<Status>,
    pub(crate) digest: Vec<u8>,
    pub(crate) digests: Vec<[u8; 4]>,
    pub(crate) ages: BTreeMap<String, i64>,
    pub(crate) names: HashMap<String, String, Hasher>,
    pub(crate) chain: Box<Node>,
    pub(crate) day: i32,
    pub(crate) time_micros: i64,
    pub(crate) local_nanos: i64,
    pub(crate) price: Vec<u8>,
    pub(crate) amount: [u8; 8],
    pub(crate) id: String,
    pub(crate) span: [u8; 12],
    pub(crate) days: Vec<i64>,
    pub(crate) only_at: i64,
}

/// The types that another implementation has in another way.
#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/more.avsc", crate = crate::facade)]
pub(crate) struct More {
    pub(crate) big: BigDecimal,
    pub(crate) key: Uuid,
    pub(crate) wide: Decimal<3>,
}

/// Nothing is kept: everything is passed over.
#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/all.avsc", crate = crate::facade)]
pub(crate) struct Passed {}

#[derive(AvroEnum, Debug, Clone, Copy, PartialEq, Eq)]
#[avro(schema = "tests/schemas/all.avsc", crate = crate::facade)]
pub(crate) enum Status {
    // Neither the order nor the spelling has to be the schema's.
    InTransit,
    New,
    #[avro(rename = "PAID")]
    Settled,
}

#[derive(AvroRecord, Debug, PartialEq, Clone, Copy)]
#[avro(schema = "tests/schemas/all.avsc", record = "Place", crate = crate::facade)]
pub(crate) struct Place<'a> {
    pub(crate) city: &'a str,
    pub(crate) zip: Option<i32>,
}

#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/all.avsc", record = "Node", crate = crate::facade)]
pub(crate) struct Node {
    pub(crate) value: i32,
    pub(crate) next: Option<Box<Node>>,
}

#[derive(AvroUnion, Debug, PartialEq)]
#[avro(schema = "tests/schemas/all.avsc", field = "All.origin", crate = crate::facade)]
pub(crate) enum Origin<'a> {
    Somewhere(Place<'a>),
    Nowhere,
    Number(i32),
    Known(Status),
    Text(&'a str),
    Path(Vec<i64>),
}

#[derive(AvroUnion, Debug, PartialEq)]
#[avro(schema = "tests/schemas/all.avsc", field = "events", crate = crate::facade)]
pub(crate) enum Event<'a> {
    #[avro(branch = "string")]
    Text(&'a str),
    Arrived(Place<'a>),
}
