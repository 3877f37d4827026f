// errors: 1

spate::pipeline! {
    pub lines(longest: usize) {
        memory -> bytes -> filter(|line| line.len() <= longst) -> capture
    }
}
