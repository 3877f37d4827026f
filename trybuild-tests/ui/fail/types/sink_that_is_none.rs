// errors: 1
// repeated: 1

pub struct Table;

spate::pipeline! {
    pub lines {
        memory -> bytes -> crate::Table
    }
}
