// errors: 1

pub fn shorten(text: &str) -> &str {
    &text[..1]
}

spate::pipeline! {
    pub lines {
        memory -> bytes -> self::shorten -> capture
    }
}
