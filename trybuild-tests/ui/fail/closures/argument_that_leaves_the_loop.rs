// errors: 2

fn mark<'a>(line: &'a [u8], mark: Option<u8>) -> &'a [u8] {
    line.strip_prefix(mark.as_slice()).unwrap_or(line)
}

spate::pipeline! {
    pub lines(marks: Vec<u8>) {
        memory
        -> bytes
        -> self::mark(if marks.is_empty() { continue } else { marks.first().copied() })
        -> self::mark(Some(match marks.last() { Some(mark) => *mark, None => break }))
        -> capture
    }
}
