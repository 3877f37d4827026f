//! What holds for every input of the codec, one function for each way in.
//!
//! `cargo test` calls them over payloads of other writers and changes of these, the targets in `fuzz/` over whatever a fuzzer
//! finds: the same functions, so the two cannot come to mean different things. See `docs/fuzzing.md`.

// Each of the crates that share this file uses some of it.
#![allow(dead_code)]

use std::fmt::Write as _;
use std::sync::{Mutex, OnceLock};

use spate_avro::{AvroError, AvroRecord, Reader, Resolution, canonical_form, decode_body};
use spate_runtime::scratch::Scratch;

use crate::types::{All, More, Passed, Plain};

/// Looks at all of a value, items of lazy lists as well, and keeps nothing.
struct Looked(usize);

impl std::fmt::Write for Looked {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

fn look(value: &impl std::fmt::Debug) -> usize {
    let mut looked = Looked(0);
    write!(looked, "{value:?}").expect("nothing refuses text");
    looked.0
}

/// A record of every type, or an error: decoding, checking and passing over agree on it.
pub(crate) fn decode(bytes: &[u8]) {
    let all = decode_body::<All<'_>>(bytes, bytes.len());
    let mut reader = Reader::new(bytes, bytes.len());
    let checked = All::check(&mut reader).and_then(|()| reader.finish());
    assert_eq!(said(all.as_ref().err()), said(checked.as_ref().err()));
    if let Ok(all) = &all {
        look(all);
        assert!(
            decode_body::<Passed>(bytes, bytes.len()).is_ok(),
            "what is read is passed over"
        );
    }
    // Other Rust types of the same schema, and other types.
    if let Ok(plain) = decode_body::<Plain>(bytes, bytes.len()) {
        look(&plain);
    }
    if let Ok(more) = decode_body::<More>(bytes, bytes.len()) {
        look(&more);
    }
}

fn said(error: Option<&AvroError>) -> Option<String> {
    error.map(ToString::to_string)
}

/// Records of other schemas: what the first byte chooses says how the rest was written. Resolved to the schema that they have, they are what they are
/// without.
pub(crate) fn resolve(bytes: &[u8]) {
    let Some((which, body)) = bytes.split_first() else {
        return;
    };
    let resolutions = resolutions();
    let which = usize::from(*which) % resolutions.len();
    let scratch = Scratch::new();
    let all = resolutions[which]
        .lock()
        .expect("no claim failed before")
        .decode::<All<'_>>(body, body.len(), &scratch);
    if let Ok(all) = &all {
        look(all);
    }
    // The first of them is the compiled schema.
    if which == 0 {
        let straight = decode_body::<All<'_>>(body, body.len());
        assert_eq!(
            all.ok().map(|all| format!("{all:?}")),
            straight.ok().map(|all| format!("{all:?}"))
        );
    }
}

/// Schemas that the compiled one was, or will be.
pub(crate) fn writers() -> Vec<String> {
    let compiled = All::SCHEMA;
    let changed = |changes: &[(&str, &str)]| {
        let mut text = compiled.to_owned();
        for (here, there) in changes {
            assert!(text.contains(here), "{here}\n{text}");
            text = text.replacen(here, there, 1);
        }
        text
    };
    vec![
        compiled.to_owned(),
        changed(&[
            (
                r#"{"name":"big","type":"long"}"#,
                r#"{"name":"big","type":"int"}"#,
            ),
            (
                r#"{"name":"double","type":"double"}"#,
                r#"{"name":"double","type":"float"}"#,
            ),
            (
                r#"{"name":"raw","type":"bytes"}"#,
                r#"{"name":"raw","type":"string"}"#,
            ),
            (
                r#"{"name":"numbers","type":{"type":"array","items":"long"}}"#,
                r#"{"name":"numbers","type":{"type":"array","items":"int"}}"#,
            ),
        ]),
        // Another order, with more than the compiled one has.
        changed(&[
            (
                r#"{"name":"nothing","type":"null"},{"name":"flag","type":"boolean"},"#,
                r#"{"name":"flag","type":"boolean"},{"name":"gone","type":{"type":"map","values":["null","double"]}},{"name":"nothing","type":"null"},"#,
            ),
            (
                r#""NEW","PAID","IN_TRANSIT""#,
                r#""IN_TRANSIT","LOST","NEW","PAID""#,
            ),
        ]),
        // Unions where there are none, and the other way round.
        changed(&[
            (
                r#"{"name":"text","type":"string"}"#,
                r#"{"name":"text","type":["null","bytes","string"]}"#,
            ),
            (
                r#"{"name":"maybe_status","type":["null","types.Status"]}"#,
                r#"{"name":"maybe_status","type":"types.Status"}"#,
            ),
        ]),
    ]
}

fn resolutions() -> &'static [Mutex<Resolution>] {
    static RESOLUTIONS: OnceLock<Vec<Mutex<Resolution>>> = OnceLock::new();
    RESOLUTIONS.get_or_init(|| {
        let resolution = |writer: String| {
            let resolution = Resolution::new::<All<'_>>(&writer);
            Mutex::new(resolution.unwrap_or_else(|error| panic!("{error}\n{writer}")))
        };
        writers().into_iter().map(resolution).collect()
    })
}

/// A schema's text: it is used or refused.
pub(crate) fn schema(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    // Read again it may mean something else: the specification's form writes no namespaces, so a type that leaves the one
    // around it by an empty one is in it the second time.
    let canonical = canonical_form(text);
    if let Ok(canonical) = &canonical {
        let _ = canonical_form(canonical);
    }
    let resolution = Resolution::new::<All<'_>>(text);
    assert!(canonical.is_ok() || resolution.is_err());
}
