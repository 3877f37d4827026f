// errors: 1

async fn limits() -> Vec<usize> {
    vec![80]
}

spate::pipeline! {
    pub lines {
        let limits = limits().await;
        memory -> bytes -> filter(|line| limits.contains(&line.len())) -> capture
    }
}
