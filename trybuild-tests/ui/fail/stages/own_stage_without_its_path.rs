// errors: 1

pub struct Lines;

spate::pipeline! {
    pub lines {
        memory -> bytes -> enrich -> capture
    }
}
