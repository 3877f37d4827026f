// errors: 1

mod etl {
    spate::pipeline! {
        lines { memory -> bytes -> discard }
    }
}

pub fn run() -> std::process::ExitCode {
    spate::main(etl::lines())
}
