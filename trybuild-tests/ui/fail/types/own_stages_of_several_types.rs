// errors: 1

pub mod ops {
    pub fn pair<A, B: Default>(first: A) -> (A, B) {
        (first, B::default())
    }
}

spate::pipeline! {
    pub lines {
        memory -> bytes -> ops::pair::<_, u64> -> discard::<&[u8], u64>
    }
}
