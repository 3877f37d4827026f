// errors: 1

spate::pipeline! {
    pub lines {
        memory -> bytes -> filter(|line| line.len() > least) -> capture;
        let least = 3;
    }
}
