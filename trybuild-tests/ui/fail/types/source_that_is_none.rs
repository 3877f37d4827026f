// errors: 1

pub struct Files;

spate::pipeline! {
    pub lines {
        crate::Files -> bytes -> capture
    }
}
