// errors: 2

spate::pipeline! {
    pub lines<T: Into<usize>>(least: T) {
        memory -> bytes -> filter(|line| line.len() > least.clone().into()) -> capture
    }

    pub others(least: usize) where usize: Copy {
        memory -> bytes -> filter(|line| line.len() > least) -> capture
    }
}
