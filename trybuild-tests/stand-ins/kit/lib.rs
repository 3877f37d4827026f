//! Passes the facade on, by its name and with all that is in it.

pub use spate;

/// What the facade has, under a name of the house.
pub mod etl {
    pub use spate::*;
}

/// A pipeline of the house: its applications give the name and what is kept.
#[macro_export]
macro_rules! house_lines {
    ($name:ident, $least:expr, $keep:expr) => {
        $crate::spate::pipeline! {
            /// Lines of the house.
            pub $name(mark: u8) {
                let mut seen = ::std::collections::HashSet::new();
                let least = $least;
                memory
                -> bytes
                -> filter(|line| line.len() > least && seen.insert(line.to_vec()))
                -> filter($keep)
                -> $crate::marked(mark)
                -> route(|line| line.len()) {
                    0 => drop,
                    n if n > least && matches!(n, 1..=80) => short: capture,
                    _ => long: capture,
                }
            }
        }
    };
}

/// A stage of the house.
pub fn marked(line: &[u8], mark: u8) -> Vec<u8> {
    [&[mark], line].concat()
}
