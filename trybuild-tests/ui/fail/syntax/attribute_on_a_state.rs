// errors: 1

spate::pipeline! {
    pub lines {
        #[allow(unused_mut)]
        let mut seen = 0;
        memory -> bytes -> filter(|line| line.len() > seen) -> capture
    }
}
