//! Faults that consumers of a registry are known for, each with the answers and payloads that show it.

use spate_avro::{Avro, AvroRecord as _};
use spate_runtime::decode::{Admit, Decode as _, DecoderKind as _};
use spate_runtime::record::{Batch, HeaderSource, Headers, Partition, Record};
use spate_runtime::scratch::Scratch;

use crate::server::{Reply, Server, referring, schema};
use crate::{Pair, Stage, ask, framed, pair, wait};

#[test]
fn no_answer_that_may_be_another_one_later_costs_a_record() {
    let server = Server::start();
    let half = schema(Pair::SCHEMA);
    let Reply::Http(200, "", whole) = half else {
        panic!("a schema")
    };
    let first = [
        Reply::Http(503, "", String::new()),
        Reply::Hang,
        Reply::Http(429, "Retry-After: 0", String::new()),
        Reply::Http(200, "", whole[..whole.len() / 2].to_owned()),
        Reply::Cut(whole.len()),
        Reply::Http(404, "", "<html>no such page</html>".to_owned()),
    ];
    for (n, trouble) in (1..).zip(first) {
        server.script(n, &[trouble, schema(Pair::SCHEMA)]);
        let stage = Stage::with_registry(&server, "");
        let payloads: Vec<Vec<u8>> = (0..100).map(|k| framed(n, k % 64, "v")).collect();
        let expected: Vec<_> = (0..100).map(|k| pair(k % 64, "v")).collect();
        let held = ask(&mut *stage.gate(), &payloads);
        assert!(matches!(held, Admit::Hold), "{n}: {held:?}");
        assert_eq!(stage.run(&payloads), expected, "{n}");
        assert_eq!(server.count(n), 2, "{n}");
    }
}

#[test]
fn an_answer_is_read_however_http_carries_it() {
    let Reply::Http(_, _, body) = schema(Pair::SCHEMA) else {
        panic!("a schema")
    };
    let (half, rest) = body.split_at(body.len() / 2);
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let chunked = |end: &str| {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked";
        Reply::Raw(format!("{head}\r\n\r\n{}{}{end}", chunk(half), chunk(rest)))
    };
    let whole = [
        chunked("0\r\n\r\n"),
        // To the end of the connection, and with a content type that a proxy made up.
        Reply::Raw(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}"
        )),
        Reply::Raw(format!("HTTP/1.0 200 OK\r\n\r\n{body}")),
    ];
    let gzip =
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\u{1f}\u{8}ab";
    let passing = [
        Reply::Raw("HTTP/1.1 100 Continue\r\n\r\n".to_owned()),
        Reply::Raw("no HTTP at all\r\n\r\n".to_owned()),
        Reply::Raw(gzip.to_owned()),
        Reply::Http(
            429,
            "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT",
            String::new(),
        ),
        Reply::Http(429, "Retry-After: -1", String::new()),
        Reply::Http(503, "Retry-After: soon", String::new()),
        Reply::Http(301, "Location: http://127.0.0.1:1/", String::new()),
        chunked(""),
    ];
    let server = Server::start();
    for (id, reply) in (1..).zip(&whole) {
        server.script(id, std::slice::from_ref(reply));
    }
    for (id, reply) in (4..).zip(passing) {
        server.script(id, &[reply, whole[0].clone()]);
    }
    let stage = Stage::with_registry(&server, "");
    let payloads: Vec<Vec<u8>> = (1..12).map(|id| framed(id, 3, "v")).collect();
    assert_eq!(stage.run(&payloads), vec![pair(3, "v"); 11]);
    let asked: Vec<usize> = (1..12).map(|id| server.count(id)).collect();
    assert_eq!(asked, [1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2]);
}

#[test]
fn an_id_that_is_slow_to_be_found_holds_no_batch_of_another() {
    let server = Server::start();
    server.script(1, &[Reply::Silence]);
    server.script(2, &[Reply::Http(503, "", String::new())]);
    server.script(3, &[schema(Pair::SCHEMA)]);
    let stage = Stage::with_registry(&server, "");
    for id in [1, 2] {
        let held = ask(&mut *stage.gate(), &[framed(id, 1, "v")]);
        assert!(matches!(held, Admit::Hold), "{held:?}");
    }
    assert_eq!(stage.run(&[framed(3, 1, "v")]), [pair(1, "v")]);
    for id in [1, 2] {
        let held = ask(&mut *stage.gate(), &[framed(id, 1, "v")]);
        assert!(matches!(held, Admit::Hold), "{held:?}");
    }
}

#[test]
fn a_schema_that_is_none_harms_its_own_records_and_says_its_id_and_why() {
    let server = Server::start();
    let twice = r#"{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"record","name":"R","fields":[]}}]}"#;
    let texts = [
        (
            r#"{"type":"record","name":"R","aliases":[":"],"fields":[]}"#,
            "`:` is not a name",
        ),
        (
            r#"{"type":"record","name":"a-b","fields":[]}"#,
            "`a-b` is not a name",
        ),
        (twice, "it defines `R` twice"),
        (
            r#"{"type":"enum","name":"E","symbols":["A","A"]}"#,
            "enum `E` has the symbol `A` twice",
        ),
        (r#"{"type":"record","name":"R","fields":"#, "it is not JSON"),
        ("", "it is not JSON"),
    ];
    let mut payloads = Vec::new();
    for (id, (text, _)) in (1..).zip(texts) {
        server.script(id, &[schema(text)]);
        payloads.push(framed(id, 1, "v"));
    }
    server.script(100, &[schema(Pair::SCHEMA)]);
    payloads.push(framed(100, 7, "v"));
    let stage = Stage::with_registry(&server, "");
    let mut results = stage.run(&payloads);
    assert_eq!(results.pop(), Some(pair(7, "v")));
    for ((id, (_, why)), result) in (1..).zip(texts).zip(results) {
        let said = result.expect_err(why);
        let expected = format!("schema id {id} cannot be used: {why}");
        assert!(said.starts_with(&expected), "{said}");
    }
}

/// Names of fields are told apart by case, as those of columns are.
#[test]
fn a_field_whose_name_differs_in_case_is_another_field() {
    let server = Server::start();
    let both = r#"{"type":"record","name":"Pair","namespace":"test","fields":[
        {"name":"KEY","type":"long"},{"name":"key","type":"long"},{"name":"value","type":"string"}]}"#;
    server.script(1, &[schema(both)]);
    let stage = Stage::with_registry(&server, "");
    let payload = [0, 0, 0, 0, 1, 2, 4, 2, b'v'];
    assert_eq!(stage.run(&[payload.to_vec()]), [pair(2, "v")]);
}

/// A producer's headers.
pub(crate) struct IdHeader;

impl HeaderSource for IdHeader {
    fn header(&self, _: usize, index: usize) -> Option<(&str, Option<&[u8]>)> {
        let all = [
            ("trace", Some(&b"x"[..])),
            ("__value_schema_id", Some(&[0, 0, 0, 0, 7])),
        ];
        all.get(index).copied()
    }
}

#[test]
fn every_framing_that_is_not_ours_is_said_and_no_id_is_read_out_of_it() {
    let server = Server::start();
    server.script(7, &[schema(Pair::SCHEMA)]);
    let stage = Stage::with_registry(&server, "");
    let guid = [&[1][..], &[0x5a; 16], &[2, 2, b'v']].concat();
    let single_object = [&[0xc3, 1][..], &[7; 8], &[2, 2, b'v']].concat();
    let in_header = Headers::new(&IdHeader, 0);
    let good = framed(7, 1, "v");
    let records = [
        (Record::new(0, Some(&good)), None),
        (
            Record::new(1, Some(&[0, 0, 0])),
            Some("the payload has 3 bytes, too few"),
        ),
        (
            Record::new(2, Some(&guid)),
            Some("magic byte 0x01: framing by schema GUID"),
        ),
        (
            Record::new(3, Some(&single_object)),
            Some("the payload begins with c3 01"),
        ),
        (
            Record::new(4, Some(b"{}")),
            Some("the payload of 2 bytes begins like text ('{')"),
        ),
        // Bodies alone: one that begins like none of ours, and one of a long 0 that begins as a prefix does.
        (
            Record::new(5, Some(&[2, 2, b'v'])).with_headers(in_header),
            Some("the schema id is in the header `__value_schema_id`"),
        ),
        (
            Record::new(6, Some(&[0, 8, b'a', b'b', b'c', b'd'])).with_headers(in_header),
            Some("the schema id is in the header `__value_schema_id`"),
        ),
        (
            Record::new(7, Some(&[0, 0, 0, 0, 0, 2])),
            Some("schema id 0 is none that a registry gives"),
        ),
        (
            Record::new(8, Some(&[0, 0x80, 0, 0, 0, 2])),
            Some("schema id 2147483648 is none that a registry gives"),
        ),
    ];
    let partition = Partition::new("orders", 0);
    let all: Vec<Record<'_>> = records.iter().map(|(record, _)| *record).collect();
    wait(&mut *stage.gate(), &[framed(7, 1, "v")]);
    let admit = stage.gate().admit(&Batch::new(&partition, &all, 9));
    assert!(matches!(admit, Admit::Ready), "{admit:?}");
    let mut thread = Avro::thread(&*stage.decoder);
    let scratch = Scratch::new();
    // Whatever was read last: an id that is known may not be found where none is.
    for (record, said) in records.iter().rev().chain(&records) {
        let result: Result<Pair<'_>, _> = Avro::decode(&mut thread, record, &scratch);
        match said {
            None => assert!(result.is_ok(), "{result:?}"),
            Some(said) => {
                let error = result.expect_err(said).to_string();
                assert!(error.starts_with(said), "{error}");
            }
        }
    }
    let asked: Vec<String> = server.asked().into_iter().map(|(path, _)| path).collect();
    assert_eq!(asked, ["/schemas/ids/7"]);
}

#[test]
fn references_may_meet_again_and_come_in_any_order() {
    const ORDER: &str = r#"{"type":"record","name":"Pair","namespace":"test","fields":[
        {"name":"customer","type":"shop.Customer"},{"name":"ship_to","type":"shop.Address"},
        {"name":"key","type":"long"},{"name":"value","type":"string"}]}"#;
    const CUSTOMER: &str = r#"{"type":"record","name":"Customer","namespace":"shop","fields":[
        {"name":"name","type":"string"},{"name":"address","type":"Address"}]}"#;
    const ADDRESS: &str = r#"{"type":"record","name":"Address","namespace":"shop","fields":[{"name":"city","type":"string"}]}"#;
    let customer = ("shop.Customer", "crm/customer v2", 2);
    let address = ("shop.Address", "address", 1);
    // Name and city of the customer, the city of the order, then the pair.
    let body = [2, b'n', 2, b'c', 2, b'd', 6, 2, b'v'];
    let payload = [&[0, 0, 0, 0, 7][..], &body].concat();
    for run in 0..50 {
        let server = Server::start();
        let mut of_order = [customer, address];
        of_order.rotate_left(run % 2);
        server.script(7, &[referring(ORDER, &of_order)]);
        server.script_path(
            "/subjects/crm%2Fcustomer%20v2/versions/2?deleted=true",
            &[referring(CUSTOMER, &[address])],
        );
        server.script_path(
            "/subjects/address/versions/1?deleted=true",
            &[referring(ADDRESS, &[])],
        );
        let stage = Stage::with_registry(&server, "");
        assert_eq!(stage.run(std::slice::from_ref(&payload)), [pair(3, "v")]);
        assert_eq!(server.asked().len(), 3, "{:?}", server.asked());
    }
}
