// errors: 1

spate::pipeline! {
    pub lines { memory -> bytes -> discard }
    pub lines { memory -> bytes -> capture }
}
