//! Every type in every container: that a combination compiles, and that what is read from it is what was written.

use std::collections::{BTreeMap, HashMap};

use spate_avro::{
    BigDecimal, Date, Decimal, Duration, FromAvro, ItemOf, LocalTimestampMicros,
    LocalTimestampMillis, LocalTimestampNanos, Seq, TimeMicros, TimeMillis, TimestampMicros,
    TimestampMillis, TimestampNanos, Uuid, decode_body, wire,
};
use spate_macros::{AvroEnum, AvroRecord, AvroUnion};

#[derive(AvroEnum, Debug, PartialEq, Clone, Copy)]
#[avro(schema = "tests/schemas/containers.avsc", name = "Suit", crate = crate::facade)]
enum Suit {
    Hearts,
    Clubs,
}

#[derive(AvroRecord, Debug, PartialEq, Clone)]
#[avro(schema = "tests/schemas/containers.avsc", record = "Point", crate = crate::facade)]
struct Point {
    x: i32,
    tag: String,
}

#[derive(AvroEnum, Debug, PartialEq, Clone, Copy)]
#[avro(schema = "tests/schemas/containers.avsc", name = "Flag", crate = crate::facade)]
enum Flag {
    On,
    Off,
}

/// One without null, with a logical type among its branches.
#[derive(AvroUnion, Debug, PartialEq, Clone)]
#[avro(schema = "tests/schemas/containers.avsc", field = "OfUnion.field", crate = crate::facade)]
enum Several {
    Id(Uuid),
    Number(i32),
    Flag(Flag),
}

/// One with null, which stands in an `Option`.
#[derive(AvroUnion, Debug, PartialEq, Clone)]
#[avro(schema = "tests/schemas/containers.avsc", field = "OfNullableUnion.field", crate = crate::facade)]
enum SeveralOrNull {
    Number(i32),
    Price(Decimal<2>),
    Point(Box<Point>),
}

/// The same with a variant for null.
#[derive(AvroUnion, Debug, PartialEq, Clone)]
#[avro(schema = "tests/schemas/containers.avsc", field = "OfNullableUnion.field", crate = crate::facade)]
enum SeveralAndNull {
    Nothing,
    Number(i32),
    Price(Decimal<2>),
    Point(Point),
}

type Bytes = Vec<u8>;

/// A block of these items and the end; or a block for each of them, with its size in front of it.
fn list(sized: bool, items: &[Bytes]) -> Bytes {
    let mut out = Vec::new();
    if sized {
        for item in items {
            // Minus one item.
            out.push(1);
            let size = item.len() * 2;
            match size < 0x80 {
                true => out.push(size as u8),
                false => out.extend([size as u8 | 0x80, (size >> 7) as u8]),
            }
            out.extend(item);
        }
    } else if !items.is_empty() {
        out.push((items.len() * 2) as u8);
        out.extend(items.concat());
    }
    out.push(0);
    out
}

fn entry(key: &str, value: &[u8]) -> Bytes {
    [&[(key.len() * 2) as u8], key.as_bytes(), value].concat()
}

fn branch(number: u8, value: &[u8]) -> Bytes {
    [&[number * 2], value].concat()
}

/// The containers that every type has, in the order of the schema.
fn in_containers(a: &[u8], b: &[u8]) -> Bytes {
    let (a, b) = (a.to_vec(), b.to_vec());
    let ab = |sized| list(sized, &[a.clone(), b.clone()]);
    let map = |sized| list(sized, &[entry("k", &a), entry("l", &b)]);
    let lists = |sized| list(sized, &[ab(!sized), list(sized, &[]), ab(sized)]);
    let maps = |sized| list(sized, &[map(!sized), list(sized, &[]), map(sized)]);
    let map_of_lists = |sized| list(sized, &[entry("k", &ab(sized)), entry("l", &ab(!sized))]);
    [
        a.clone(),
        ab(false),
        ab(true),
        map(false),
        map(true),
        map(true),
        map(false),
        lists(false),
        lists(true),
        lists(false),
        lists(true),
        maps(false),
        maps(true),
        maps(false),
        maps(true),
        map_of_lists(false),
        map_of_lists(true),
        branch(1, &ab(true)),
        branch(0, &ab(false)),
        list(
            true,
            &[branch(1, &ab(true)), branch(0, &[]), branch(1, &ab(false))],
        ),
    ]
    .concat()
}

/// Those in which a type that is no union is one.
fn in_unions(a: &[u8], b: &[u8]) -> Bytes {
    let ones = |sized| list(sized, &[branch(0, a), branch(0, b)]);
    let holes = |null: u8| [branch(1 - null, a), branch(null, &[]), branch(1 - null, b)];
    [
        branch(1, a),
        branch(0, a),
        branch(0, a),
        list(false, &holes(0)),
        list(true, &holes(0)),
        list(false, &holes(1)),
        list(true, &[branch(0, a), branch(0, b)]),
        list(false, &[ones(true), ones(false)]),
        list(true, &[list(false, &[ones(false)]), list(false, &[])]),
        list(false, &[list(true, &[entry("k", &branch(0, a))])]),
        list(
            true,
            &[entry("k", &branch(0, a)), entry("l", &branch(0, b))],
        ),
        list(
            false,
            &[entry("k", &branch(1, a)), entry("l", &branch(0, &[]))],
        ),
    ]
    .concat()
}

/// What an iterator has.
fn all<T>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().collect()
}

macro_rules! check_containers {
    ($of:ident, $a:ident, $b:ident) => {{
        let (a, b) = (|| Clone::clone(&$a), || Clone::clone(&$b));
        let ab = || vec![a(), b()];
        let map = || HashMap::from([("k", a()), ("l", b())]);
        let entries = || vec![("k", a()), ("l", b())];
        assert_eq!($of.field, a());
        assert_eq!($of.list, ab());
        assert_eq!(all($of.lazy), ab());
        assert_eq!($of.map, map());
        assert_eq!(
            $of.tree_map,
            BTreeMap::from([("k".to_owned(), a()), ("l".to_owned(), b())])
        );
        assert_eq!($of.entries, entries());
        assert_eq!(all($of.lazy_map), entries());
        let lists = || vec![ab(), vec![], ab()];
        assert_eq!($of.lists, lists());
        assert_eq!(all($of.lazy_lists.iter().map(all)), lists());
        assert_eq!(all($of.lazy_of_lists), lists());
        assert_eq!(all($of.list_of_lazy.iter().map(all)), lists());
        assert_eq!(all($of.lazy_lists.iter().map(|list| list.len())), [2, 0, 2]);
        let maps = || vec![map(), HashMap::new(), map()];
        assert_eq!($of.maps, maps());
        assert_eq!(all($of.lazy_of_maps), maps());
        let sorted = || BTreeMap::from([("k", a()), ("l", b())]);
        assert_eq!(
            all($of.lazy_of_tree_maps),
            [sorted(), BTreeMap::new(), sorted()]
        );
        let lazy_maps = all($of.lazy_of_lazy_maps.iter().map(all));
        assert_eq!(lazy_maps, [entries(), vec![], entries()]);
        assert_eq!($of.map_of_lists, HashMap::from([("k", ab()), ("l", ab())]));
        let lazy = all($of
            .lazy_map_of_lazy
            .iter()
            .map(|(key, list)| (key, all(list))));
        assert_eq!(lazy, [("k", ab()), ("l", ab())]);
        assert_eq!($of.maybe_list, Some(ab()));
        assert_eq!($of.maybe_lazy.map(all), Some(ab()));
        let lazy = all($of.lazy_of_maybe_lazy.iter().map(|list| list.map(all)));
        assert_eq!(lazy, [Some(ab()), None, Some(ab())]);
    }};
}

/// A record with a field for each container of the type, and what is in it.
macro_rules! containers {
    ($($test:ident: $record:literal $ty:ty, $a:expr => $a_is:expr, $b:expr => $b_is:expr;)*) => {$(
        #[test]
        fn $test() {
            #[derive(AvroRecord, Debug)]
            #[avro(schema = "tests/schemas/containers.avsc", record = $record, crate = crate::facade)]
            struct Of<'a> {
                field: $ty,
                list: Vec<$ty>,
                lazy: Seq<'a, $ty>,
                map: HashMap<&'a str, $ty>,
                tree_map: BTreeMap<String, $ty>,
                entries: Vec<(&'a str, $ty)>,
                lazy_map: Seq<'a, (&'a str, $ty)>,
                lists: Vec<Vec<$ty>>,
                lazy_lists: Seq<'a, Seq<'a, $ty>>,
                lazy_of_lists: Seq<'a, Vec<$ty>>,
                list_of_lazy: Vec<Seq<'a, $ty>>,
                maps: Vec<HashMap<&'a str, $ty>>,
                lazy_of_maps: Seq<'a, HashMap<&'a str, $ty>>,
                lazy_of_tree_maps: Seq<'a, BTreeMap<&'a str, $ty>>,
                lazy_of_lazy_maps: Seq<'a, Seq<'a, (&'a str, $ty)>>,
                map_of_lists: HashMap<&'a str, Vec<$ty>>,
                lazy_map_of_lazy: Seq<'a, (&'a str, Seq<'a, $ty>)>,
                maybe_list: Option<Vec<$ty>>,
                maybe_lazy: Option<Seq<'a, $ty>>,
                lazy_of_maybe_lazy: Seq<'a, Option<Seq<'a, $ty>>>,
                first: Option<$ty>,
                last: Option<$ty>,
                only: $ty,
                options: Vec<Option<$ty>>,
                lazy_options: Seq<'a, Option<$ty>>,
                lazy_options_last: Seq<'a, Option<$ty>>,
                lazy_only: Seq<'a, $ty>,
                lazy_lists_only: Seq<'a, Seq<'a, $ty>>,
                lazy_lists_of_lists_only: Seq<'a, Seq<'a, Vec<$ty>>>,
                lazy_of_maps_only: Seq<'a, HashMap<&'a str, $ty>>,
                lazy_map_only: Seq<'a, (&'a str, $ty)>,
                lazy_map_of_options: Seq<'a, (&'a str, Option<$ty>)>,
            }
            let (a, b): (&[u8], &[u8]) = (&$a, &$b);
            let bytes = [in_containers(a, b), in_unions(a, b)].concat();
            let of: Of<'_> = decode_body(&bytes, bytes.len()).expect("a record");
            let (a, b) = ($a_is, $b_is);
            check_containers!(of, a, b);
            let (a, b) = (|| Clone::clone(&a), || Clone::clone(&b));
            assert_eq!((of.first, of.last, of.only), (Some(a()), Some(a()), a()));
            let holes = || vec![Some(a()), None, Some(b())];
            assert_eq!(of.options, holes());
            assert_eq!(all(of.lazy_options), holes());
            assert_eq!(all(of.lazy_options_last), holes());
            assert_eq!(all(of.lazy_only), [a(), b()]);
            let ab = || vec![a(), b()];
            assert_eq!(all(of.lazy_lists_only.iter().map(all)), [ab(), ab()]);
            let deep = of.lazy_lists_of_lists_only.iter().map(all);
            assert_eq!(all(deep), [vec![ab()], vec![]]);
            assert_eq!(all(of.lazy_of_maps_only), [HashMap::from([("k", a())])]);
            assert_eq!(all(of.lazy_map_only), [("k", a()), ("l", b())]);
            assert_eq!(all(of.lazy_map_of_options), [("k", Some(a())), ("l", None)]);
            cut_anywhere::<Of<'_>>(&bytes);
        }
    )*};
}

/// The same for what is no branch of a union: null, and unions themselves.
macro_rules! containers_of_unions {
    ($($test:ident: $record:literal $ty:ty, $a:expr => $a_is:expr, $b:expr => $b_is:expr;)*) => {$(
        #[test]
        fn $test() {
            #[derive(AvroRecord, Debug)]
            #[avro(schema = "tests/schemas/containers.avsc", record = $record, crate = crate::facade)]
            struct Of<'a> {
                field: $ty,
                list: Vec<$ty>,
                lazy: Seq<'a, $ty>,
                map: HashMap<&'a str, $ty>,
                tree_map: BTreeMap<String, $ty>,
                entries: Vec<(&'a str, $ty)>,
                lazy_map: Seq<'a, (&'a str, $ty)>,
                lists: Vec<Vec<$ty>>,
                lazy_lists: Seq<'a, Seq<'a, $ty>>,
                lazy_of_lists: Seq<'a, Vec<$ty>>,
                list_of_lazy: Vec<Seq<'a, $ty>>,
                maps: Vec<HashMap<&'a str, $ty>>,
                lazy_of_maps: Seq<'a, HashMap<&'a str, $ty>>,
                lazy_of_tree_maps: Seq<'a, BTreeMap<&'a str, $ty>>,
                lazy_of_lazy_maps: Seq<'a, Seq<'a, (&'a str, $ty)>>,
                map_of_lists: HashMap<&'a str, Vec<$ty>>,
                lazy_map_of_lazy: Seq<'a, (&'a str, Seq<'a, $ty>)>,
                maybe_list: Option<Vec<$ty>>,
                maybe_lazy: Option<Seq<'a, $ty>>,
                lazy_of_maybe_lazy: Seq<'a, Option<Seq<'a, $ty>>>,
            }
            let (a, b): (&[u8], &[u8]) = (&$a, &$b);
            let bytes = in_containers(a, b);
            let of: Of<'_> = decode_body(&bytes, bytes.len()).expect("a record");
            let (a, b) = ($a_is, $b_is);
            check_containers!(of, a, b);
            cut_anywhere::<Of<'_>>(&bytes);
        }
    )*};
}

/// No payload that ends early is a record, and checking says the same.
fn cut_anywhere<'b, R: spate_avro::AvroRecord<'b>>(bytes: &'b [u8]) {
    for cut in 0..bytes.len() {
        let bytes = &bytes[..cut];
        assert!(decode_body::<R>(bytes, cut).is_err(), "{cut}");
        let mut reader = spate_avro::Reader::new(bytes, cut);
        assert!(R::check(&mut reader).is_err(), "{cut}");
    }
}

const ID: &str = "61f0c404-5cb3-11e7-907b-a6006ad3dba0";
const ID_BYTES: [u8; 16] = [
    0x61, 0xf0, 0xc4, 0x04, 0x5c, 0xb3, 0x11, 0xe7, 0x90, 0x7b, 0xa6, 0x00, 0x6a, 0xd3, 0xdb, 0xa0,
];
const AMOUNT: [u8; 8] = (-1_230_000i64).to_be_bytes();
const SPAN: [u8; 12] = [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0];

fn id_text() -> Bytes {
    [&[72], ID.as_bytes()].concat()
}

fn point(x: i32, tag: &str) -> Point {
    Point {
        x,
        tag: tag.to_owned(),
    }
}

containers! {
    booleans: "OfBoolean" bool, [1] => true, [0] => false;
    ints: "OfInt" i32, [1] => -1, [0xfe, 0xff, 0xff, 0xff, 0x0f] => i32::MAX;
    ints_that_widen: "OfInt" i64, [1] => -1, [0xfe, 0xff, 0xff, 0xff, 0x0f] => i64::from(i32::MAX);
    longs: "OfLong" i64, [1] => -1, [0x80, 0x80, 0x80, 0x80, 0x10] => 1 << 31;
    floats: "OfFloat" f32, 1.5f32.to_le_bytes() => 1.5f32, 0f32.to_le_bytes() => 0.0;
    doubles: "OfDouble" f64, 1.5f64.to_le_bytes() => 1.5, (-0.25f64).to_le_bytes() => -0.25;
    bytes: "OfBytes" &'a [u8], [4, 0xff, 0] => &[0xff, 0][..], [0] => &[][..];
    texts: "OfText" &'a str, [4, b'o', b'k'] => "ok", [0] => "";
    texts_of_ones_own: "OfText" String, [4, b'o', b'k'] => "ok".to_owned(), [0] => String::new();
    fixed: "OfFixed" [u8; 4], *b"abcd" => *b"abcd", [0; 4] => [0; 4];
    fixed_borrowed: "OfFixed" &'a [u8; 4], *b"abcd" => b"abcd", [0; 4] => &[0; 4];
    fixed_as_bytes: "OfFixed" &'a [u8], *b"abcd" => &b"abcd"[..], [0; 4] => &[0; 4][..];
    enums: "OfEnum" Suit, [2] => Suit::Hearts, [0] => Suit::Clubs;
    enums_as_text: "OfEnum" &'a str, [2] => "HEARTS", [0] => "CLUBS";
    records: "OfRecord" Point, [2, 2, b'p'] => point(1, "p"), [3, 0] => point(-2, "");
    decimals: "OfDecimal" Decimal<2>, [4, 0xfb, 0x32] => Decimal(-1230), [0] => Decimal(0);
    fixed_decimals: "OfDecimalFixed" Decimal<4>, AMOUNT => Decimal(-1_230_000), [0; 8] => Decimal(0);
    big_decimals: "OfBigDecimal" BigDecimal, [8, 4, 0xfb, 0x32, 4] => BigDecimal { unscaled: -1230, scale: 2 },
        [6, 2, 7, 1] => BigDecimal { unscaled: 7, scale: -1 };
    uuids: "OfUuidText" Uuid, id_text() => Uuid(ID_BYTES), id_text() => Uuid(ID_BYTES);
    fixed_uuids: "OfUuidFixed" Uuid, ID_BYTES => Uuid(ID_BYTES), [0; 16] => Uuid([0; 16]);
    durations: "OfDuration" Duration, SPAN => Duration { months: 1, days: 2, millis: 3 }, [0; 12] => Duration::default();
    dates: "OfDate" Date, [2] => Date(1), [1] => Date(-1);
    times_in_millis: "OfTimeMillis" TimeMillis, [2] => TimeMillis(1), [1] => TimeMillis(-1);
    timestamps_in_millis: "OfTimestampMillis" TimestampMillis, [2] => TimestampMillis(1), [1] => TimestampMillis(-1);
}

containers_of_unions! {
    unions: "OfUnion" Several, [2, 2] => Several::Flag(Flag::On), [&[4], &id_text()[..]].concat() => Several::Id(Uuid(ID_BYTES));
    unions_that_may_be_null: "OfNullableUnion" Option<SeveralOrNull>, [4, 4, 0xfb, 0x32] => Some(SeveralOrNull::Price(Decimal(-1230))),
        [0] => None::<SeveralOrNull>;
    records_in_unions_that_may_be_null: "OfNullableUnion" Option<SeveralOrNull>,
        [6, 2, 2, b'p'] => Some(SeveralOrNull::Point(Box::new(point(1, "p")))), [2, 4] => Some(SeveralOrNull::Number(2));
    unions_with_null: "OfNullableUnion" SeveralAndNull, [4, 4, 0xfb, 0x32] => SeveralAndNull::Price(Decimal(-1230)),
        [0] => SeveralAndNull::Nothing;
}

#[test]
fn nulls() {
    #[derive(AvroRecord, Debug, PartialEq)]
    #[avro(schema = "tests/schemas/containers.avsc", record = "OfNull", crate = crate::facade)]
    struct Of<'a> {
        field: (),
        list: Vec<()>,
        lazy: Seq<'a, ()>,
        lazy_map: Seq<'a, (&'a str, ())>,
        lazy_lists: Seq<'a, Seq<'a, ()>>,
        lazy_of_maybe_lazy: Seq<'a, Option<Seq<'a, ()>>>,
    }
    let bytes = in_containers(&[], &[]);
    let of: Of<'_> = decode_body(&bytes, bytes.len()).expect("a record");
    assert_eq!(
        (of.field, of.list.len(), of.lazy.iter().count()),
        ((), 2, 2)
    );
    assert_eq!(all(of.lazy_map), [("k", ()), ("l", ())]);
    assert_eq!(all(of.lazy_lists.iter().map(|list| list.len())), [2, 0, 2]);
    let counts = of
        .lazy_of_maybe_lazy
        .iter()
        .map(|list| list.map(|list| list.iter().count()));
    assert_eq!(all(counts), [Some(2), None, Some(2)]);
}

#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/containers.avsc", record = "Tree", crate = crate::facade)]
struct Tree<'a> {
    value: i32,
    children: Seq<'a, Tree<'a>>,
    named: Seq<'a, (&'a str, Tree<'a>)>,
    other: Option<Other<'a>>,
    next: Option<Box<Tree<'a>>>,
}

#[derive(AvroUnion, Debug, PartialEq)]
#[avro(schema = "tests/schemas/containers.avsc", field = "Tree.other", crate = crate::facade)]
enum Other<'a> {
    Text(&'a str),
    Tree(Box<Tree<'a>>),
}

#[derive(AvroRecord, Debug, PartialEq)]
#[avro(schema = "tests/schemas/containers.avsc", record = "Tree", crate = crate::facade)]
struct Owned {
    value: i32,
    children: Vec<Owned>,
    named: HashMap<String, Owned>,
    other: OtherOwned,
    next: Option<Box<Owned>>,
}

#[derive(AvroUnion, Debug, PartialEq)]
#[avro(schema = "tests/schemas/containers.avsc", field = "Tree.other", crate = crate::facade)]
enum OtherOwned {
    Nothing,
    Text(String),
    Tree(Box<Owned>),
}

#[test]
fn a_record_contains_itself_through_every_container() {
    let leaf = |value: u8| vec![value * 2, 0, 0, 0, 0];
    let bytes = [
        vec![0],
        list(true, &[leaf(1), leaf(2)]),
        list(false, &[entry("k", &leaf(3))]),
        branch(2, &leaf(4)),
        branch(1, &leaf(5)),
    ]
    .concat();
    let tree: Tree<'_> = decode_body(&bytes, bytes.len()).expect("a record");
    assert_eq!(all(tree.children.iter().map(|tree| tree.value)), [1, 2]);
    let named = all(tree.named.iter().map(|(key, tree)| (key, tree.value)));
    assert_eq!(named, [("k", 3)]);
    assert!(matches!(&tree.other, Some(Other::Tree(tree)) if tree.value == 4));
    assert!(
        tree.next
            .is_some_and(|tree| tree.value == 5 && tree.other.is_none())
    );
    let owned: Owned = decode_body(&bytes, bytes.len()).expect("a record");
    assert_eq!((owned.children[1].value, owned.named["k"].value), (2, 3));
    assert!(matches!(owned.other, OtherOwned::Tree(tree) if tree.other == OtherOwned::Nothing));
    cut_anywhere::<Tree<'_>>(&bytes);
}

/// Whatever a field can be an item can be: those that are read like one above.
#[test]
fn every_other_type_is_an_item_as_well() {
    fn is<'b, W, T: ItemOf<'b, W> + FromAvro<'b, W>>() {}
    macro_rules! are {
        ($($wire:ty: $($ty:ty),+;)*) => {$($(is::<$wire, $ty>();)+)*};
    }
    are! {
        wire::Record: Box<Point>;
        wire::Bytes: Vec<u8>;
        wire::Enum<Suit>: String;
        wire::Fixed<4>: Vec<u8>;
        wire::Decimal<9, 2>: &[u8], Vec<u8>;
        wire::DecimalFixed<8, 18, 4>: [u8; 8], &[u8; 8], &[u8], Vec<u8>;
        wire::BigDecimal: &[u8], Vec<u8>;
        wire::Uuid: &str, String;
        wire::UuidFixed: [u8; 16], &[u8; 16], &[u8], Vec<u8>;
        wire::Duration: [u8; 12], &[u8; 12], &[u8], Vec<u8>;
        wire::Date: i32, i64;
        wire::TimeMillis: i32, i64;
        wire::TimeMicros: TimeMicros, i64;
        wire::TimestampMillis: i64;
        wire::TimestampMicros: TimestampMicros, i64;
        wire::TimestampNanos: TimestampNanos, i64;
        wire::LocalTimestampMillis: LocalTimestampMillis, i64;
        wire::LocalTimestampMicros: LocalTimestampMicros, i64;
        wire::LocalTimestampNanos: LocalTimestampNanos, i64;
    }
}
