//! Several calls in one module, in a function, and beside each other share nothing.

spate::pipeline! { pub first { memory -> bytes -> filter(|line| line.len() > 1) -> capture } }
spate::pipeline! { pub second { memory -> bytes -> filter(|line| line.len() > 2) -> capture } }

/// Names of a function are the function's.
pub fn third() -> [spate::Pipeline; 3] {
    spate::pipeline! { first { memory -> bytes -> discard } }
    spate::pipeline! { second(size: usize) { memory -> bytes -> filter(|line| line.len() > size) -> discard } }
    [first(), second(3), self::second()]
}
