//! A function that ends the process, or panics, is a stage like any other.
#![deny(warnings)]

fn give_up(_: &[u8]) -> ! {
    std::process::exit(1)
}

spate::pipeline! {
    pub lines {
        memory -> bytes -> inspect(|line| { give_up(line) }) -> capture
    }

    pub stops {
        memory
        -> bytes
        -> filter(|line| give_up(line))
        -> filter(|line| { let line = *line; crate::give_up(line) })
        -> filter(|line| if line.is_empty() { give_up(b"") } else { give_up(line) })
        -> capture
    }

    pub panics {
        memory -> bytes -> map(|line| -> String { give_up(line) }) -> inspect(|text| assert!(text.is_empty())) -> capture
    }

    pub todo {
        memory -> bytes -> filter(|_| todo!("decide")) -> map(|_| -> String { unimplemented!() }) -> capture
    }
}
