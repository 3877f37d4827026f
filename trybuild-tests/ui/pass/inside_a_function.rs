//! Both forms inside a function body, beside locals of the same names as generated code may use.

/// Four pipelines.
pub fn pipelines() -> Vec<spate::Pipeline> {
    let (decoder, decode, sink0, batch, out, record, r) = (1usize, 2usize, 3usize, 4usize, 5usize, 6usize, 7usize);

    spate::pipeline! {
        lines(mark: u8) { memory -> bytes -> filter(|line| line.first() != Some(&mark)) -> capture }
    }

    let all = spate::pipeline! {
        memory
        -> bytes
        -> filter(|line| line.len() > decoder + decode + sink0 + batch + out + record + r)
        -> discard
    };
    vec![lines(b'#'), lines(b'%'), all, spate::pipeline!(memory -> bytes -> discard)]
}
