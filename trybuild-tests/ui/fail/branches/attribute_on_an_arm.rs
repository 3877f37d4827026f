// errors: 2

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> route(|line| line.len()) {
            #[cfg(debug_assertions)]
            0 => drop,
            /// Everything else.
            _ => capture,
        }
    }
}
