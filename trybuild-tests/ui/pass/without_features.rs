// package: bare

//! What needs no feature is always there.

spate::pipeline! {
    pub lines { memory -> bytes -> filter(|line| !line.is_empty()) -> capture }
}
