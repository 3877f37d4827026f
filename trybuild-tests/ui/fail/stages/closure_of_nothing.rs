// errors: 1

spate::pipeline! {
    pub lines { memory -> bytes -> map(|| 1) -> capture }
}
