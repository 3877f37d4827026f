// errors: 1

spate::pipeline! {
    pub lines(limit: usize) { memory -> bytes -> filter(|line| line.len() > limit) -> discard }
}

pub fn name() -> &'static str {
    lines("5").graph().name
}
