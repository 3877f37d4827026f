// errors: 1

pub struct Table;

spate::pipeline! {
    pub lines {
        memory -> bytes -> crate::Table
    }
}
