// errors: 1

async fn is_known(line: &[u8]) -> bool {
    !line.is_empty()
}

spate::pipeline! {
    pub lines {
        memory -> bytes -> filter(|line| is_known(line).await) -> capture
    }
}
