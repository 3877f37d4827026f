// errors: 2

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        /// Not the empty ones.
        -> filter(|line| !line.is_empty())
        -> #[cfg(debug_assertions)] inspect(|line| println!("{line:?}"))
        -> capture
    }
}
