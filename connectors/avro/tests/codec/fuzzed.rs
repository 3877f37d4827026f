//! The claims about the codec, over payloads of other writers and changes of them; a fuzzer goes on from there.

use proptest::prelude::*;

use crate::claims;

/// Payloads of every type, as other implementations wrote them.
pub(crate) fn written() -> Vec<Vec<u8>> {
    [
        include_str!("../written/fastavro.hex"),
        include_str!("../written/python.hex"),
    ]
    .into_iter()
    .flat_map(str::lines)
    .filter_map(bytes)
    .collect()
}

/// A line's bytes, if it is all hexadecimal.
fn bytes(line: &str) -> Option<Vec<u8>> {
    let line = line.rsplit(' ').next()?.trim();
    (!line.is_empty() && line.len() % 2 == 0)
        .then(|| (0..line.len()).step_by(2))?
        .map(|at| u8::from_str_radix(line.get(at..at + 2)?, 16).ok())
        .collect()
}

#[test]
fn the_claims_hold_for_what_others_wrote() {
    let written = written();
    assert!(written.len() >= 4, "{}", written.len());
    for payload in &written {
        claims::decode(payload);
        for which in 0..claims::writers().len() {
            claims::resolve(&[&[which as u8][..], payload].concat());
        }
    }
    for schema in claims::writers() {
        claims::schema(schema.as_bytes());
    }
}

/// The inputs that the fuzzer's runs left.
pub(crate) fn kept(target: &str) -> Vec<Vec<u8>> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let files = std::fs::read_dir(dir.join(target)).expect("the kept corpus");
    files
        .map(|file| std::fs::read(file.expect("a file").path()).expect("a file"))
        .collect()
}

#[test]
fn the_claims_hold_for_the_kept_corpus() {
    let hold = |target: &str, claim: fn(&[u8])| {
        let kept = kept(target);
        assert!(!kept.is_empty(), "{target}");
        kept.iter().for_each(|input| claim(input));
    };
    hold("decode", claims::decode);
    hold("resolve", claims::resolve);
    hold("writer_schema", claims::schema);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_claims_hold_for_changed_payloads(
        which in any::<prop::sample::Index>(),
        writer in any::<u8>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
    ) {
        let mut payload = which.get(&written()).clone();
        for (at, byte) in changes {
            let at = at.index(payload.len());
            payload[at] = byte;
        }
        if cuts {
            payload.truncate(cut.index(payload.len() + 1));
        }
        claims::decode(&payload);
        payload.insert(0, writer);
        claims::resolve(&payload);
    }

    #[test]
    fn the_claims_hold_for_changed_schemas(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"{}[]\",:aN0"[..])), 0..4),
        copies in any::<bool>(),
        (from, to) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let mut text = which.get(&claims::writers()).clone().into_bytes();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        if copies {
            let piece = text[from.index(text.len())..].iter().take(60).copied().collect::<Vec<u8>>();
            let to = to.index(text.len());
            text.splice(to..to, piece);
        }
        claims::schema(&text);
    }
}
