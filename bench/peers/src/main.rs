//! Other decoders of Avro, measured beside Spate's by `spate-bench avro`.
//!
//! `spate-bench-peers NAME PAYLOADS COUNT` loads the first payloads of a file and then, for each line on its standard input, runs one pass over
//! them: `time` throws the rows away, `hash` hashes them. It answers with a line: nanoseconds, rows, bytes, hash. With a
//! fourth argument, a number, it runs so many passes and ends: for callgrind.

mod apache_avro;
mod serde_avro_fast;
mod spate_published;

// Not everything that the variants over there need is needed here.
#[allow(dead_code, unused_imports)]
#[path = "../../src/avro/shared/mod.rs"]
mod shared;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use shared::{Output, Payloads};

/// The schema that the orders are written with.
const SCHEMA: &str = include_str!("../../schemas/order.avsc");

/// A library, ready to run.
type Pass = Box<dyn FnMut(&Payloads, &mut Output) -> Result<(), Box<dyn Error>>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}: {error}", arguments.join(" "));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [name, path, count, passes @ ..] = arguments else {
        return Err("arguments: NAME PAYLOADS COUNT [PASSES]".into());
    };
    let payloads = Payloads::load(Path::new(path), count.parse()?)?;
    let mut pass = match name.as_str() {
        "spate_default" => spate_published::default(&payloads)?,
        "spate_best" => spate_published::best(&payloads)?,
        "serde_avro_fast" => serde_avro_fast::borrowed()?,
        "apache_avro" => apache_avro::value()?,
        other => return Err(format!("there is no library `{other}`").into()),
    };
    if let [passes] = passes {
        for _ in 0..passes.parse::<u32>()? {
            pass(&payloads, &mut Output::discard())?;
        }
        return Ok(());
    }
    for line in io::stdin().lines() {
        let mut out = match line?.as_str() {
            "time" => Output::discard(),
            "hash" => Output::hash(),
            other => return Err(format!("`time` or `hash`, not `{other}`").into()),
        };
        let began = Instant::now();
        pass(&payloads, &mut out)?;
        let nanos = began.elapsed().as_nanos();
        let written = out.finish();
        println!(
            "{nanos} {} {} {}",
            written.rows, written.bytes, written.hash
        );
        io::stdout().flush()?;
    }
    Ok(())
}
