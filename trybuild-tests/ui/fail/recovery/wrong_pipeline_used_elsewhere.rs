// errors: 1

spate::pipeline! {
    pub orders(limit: i64) {
        memory -> bytes -> fliter(|line| line.len() > 0) -> discard
    }
}

pub fn name() -> &'static str {
    orders(5).graph().name
}

pub fn main() -> std::process::ExitCode {
    spate::main(orders(5))
}
