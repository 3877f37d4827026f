//! A filter that is asked early keeps the rows that it keeps otherwise, for payloads that are whole and for damaged ones. What
//! may differ is where damage behind the filter's last field is noticed: a record that the filter drops is not looked at further.

use proptest::prelude::*;
use spate::prelude::*;

/// The schema has, in this order: id (long), region (string), total (long), note (null or string), tags (array of string).
#[derive(AvroRecord)]
#[avro(schema = "tests/files/sale.avsc")]
struct Sale<'a> {
    id: i64,
    region: &'a str,
    total: i64,
    note: Option<&'a str>,
    tags: Vec<&'a str>,
}

fn line(sale: &Sale<'_>) -> String {
    format!(
        "{} {} {} {:?} {:?}",
        sale.id, sale.region, sale.total, sale.note, sale.tags
    )
}

spate::pipeline! {
    early(least: i64) {
        memory
        -> avro::<Sale<'_>>(on_error = skip)
        -> filter(|sale| sale.total >= least && sale.region != "test")
        -> map(|sale| line(&sale))
        -> capture
    }

    whole(least: i64) {
        memory
        -> avro::<Sale<'_>>(on_error = skip, pushdown = off)
        -> filter(|sale| sale.total >= least && sale.region != "test")
        -> map(|sale| line(&sale))
        -> capture
    }
}

/// What a run of a pipeline over these payloads wrote, dropped and skipped.
fn run(pipeline: spate::Pipeline, payloads: &[Vec<u8>]) -> (Vec<String>, u64, u64) {
    let source = pipeline.memory_source().expect("the source is `memory`");
    let sink = pipeline
        .capture_sink("capture")
        .expect("the sink is `capture`");
    let yaml = "{pipeline: {threads: 1, pin: false}, checkpoint: {interval: 100ms}, deserializer: {framing: raw}}";
    let config = spate::Config::from_yaml(yaml).expect("it is YAML");
    let configured = pipeline.with_config(config).expect("it fits");
    let runtime = configured
        .into_runtime(spate::RuntimeOptions::embedded())
        .expect("it starts");
    for payload in payloads {
        source.push(0, payload.clone());
    }
    source.assign_lanes(1);
    source.close();
    let report = runtime.run();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(report.totals().unaccounted(), 0);
    let stage = |name: &str| report.stage(name).expect("a stage");
    (sink.lines(), stage("filter").dropped, stage("avro").skipped)
}

fn long(value: i64, out: &mut Vec<u8>) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn text(value: &str, out: &mut Vec<u8>) {
    long(value.len() as i64, out);
    out.extend_from_slice(value.as_bytes());
}

prop_compose! {
    fn payload()(
        id in any::<i64>(),
        region in prop_oneof![Just("test"), Just("eu"), Just("")],
        total in -3i64..6,
        note in prop::option::of("[a-z]{0,3}"),
        tags in prop::collection::vec("[a-zé]{0,3}", 0..3),
        damage in prop::option::weighted(0.4, (any::<prop::sample::Index>(), any::<u8>(), any::<bool>())),
    ) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        long(id, &mut out);
        text(region, &mut out);
        long(total, &mut out);
        match &note {
            None => long(0, &mut out),
            Some(note) => {
                long(1, &mut out);
                text(note, &mut out);
            }
        }
        if !tags.is_empty() {
            long(tags.len() as i64, &mut out);
            tags.iter().for_each(|tag| text(tag, &mut out));
        }
        long(0, &mut out);
        let whole = damage.is_none();
        if let Some((place, byte, cut)) = damage {
            let place = place.index(out.len());
            if cut { out.truncate(place) } else { out[place] = byte }
        }
        (out, whole)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn the_same_rows_come_out(records in prop::collection::vec(payload(), 1..40)) {
        let payloads: Vec<Vec<u8>> = records.iter().map(|(payload, _)| payload.clone()).collect();
        let (early_rows, early_dropped, early_skipped) = run(early(2), &payloads);
        let (rows, dropped, skipped) = run(whole(2), &payloads);
        prop_assert_eq!(&early_rows, &rows);
        // Damage behind the filter's last field turns from skipped to dropped, and nothing else changes.
        prop_assert_eq!(early_dropped + early_skipped, dropped + skipped);
        prop_assert!(early_skipped <= skipped);
        if records.iter().all(|(_, whole)| *whole) {
            prop_assert_eq!((early_dropped, early_skipped), (dropped, skipped));
        }
    }
}

#[test]
fn the_two_pipelines_differ_as_their_graphs_say() {
    let remark = "-> filter (asked after total, region)";
    assert!(early(1).graph().to_text().contains(remark));
    assert!(!whole(1).graph().to_text().contains("asked after"));
}

#[test]
fn damage_behind_the_filter_is_noticed_in_records_that_pass_only() {
    let mut good = Vec::new();
    long(1, &mut good);
    text("eu", &mut good);
    long(5, &mut good);
    let mut cheap = Vec::new();
    long(2, &mut cheap);
    text("eu", &mut cheap);
    long(0, &mut cheap);
    // Both end where the note should begin.
    let payloads = [good, cheap];
    assert_eq!(run(early(2), &payloads), (Vec::new(), 1, 1));
    assert_eq!(run(whole(2), &payloads), (Vec::new(), 0, 2));
}
