// errors: 1

spate::pipeline! {
    pub lines {
        memory
        -> bytes
        -> route(|line| line.first()) {
            Some(_) => inspect(|_| ()) -> drop,
            None => drop,
        }
    }
}
