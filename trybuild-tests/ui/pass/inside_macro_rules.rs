//! A macro may write pipelines: names, stages, closures and states come from its caller or from itself.

macro_rules! lines_longer_than {
    ($(#[$attribute:meta])* $name:ident, $least:expr, $keep:expr => $($sink:tt)+) => {
        spate::pipeline! {
            $(#[$attribute])*
            pub $name(extra: usize) {
                let least = $least;
                memory
                -> bytes
                -> filter(|line| line.len() > least + extra)
                -> filter($keep)
                -> $($sink)+
            }
        }
    };
}

lines_longer_than!(
    /// Long lines that are no comments.
    long_lines, 80, |line| line.first() != Some(&b'#') => capture
);
lines_longer_than!(longer_lines, 80 + 40, |_| true => all: discard);

/// Both names are there.
pub fn names() -> [&'static str; 2] {
    [long_lines(1).graph().name, longer_lines(1).graph().node(4).map_or("", |node| node.name)]
}
