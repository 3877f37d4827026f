// errors: 1

pub struct Lines;

spate::pipeline! {
    pub lines {
        memory -> crate::Lines -> map(|line: String| line) -> capture
    }
}
