// errors: 1

pub fn run() -> std::process::ExitCode {
    let pipeline = spate::pipeline! { memory -> bytes -> fliter(|line| line.len() > 0) -> discard };
    println!("{}", pipeline.graph().name);
    spate::main(pipeline)
}
