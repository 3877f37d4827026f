//! The program under test: lines from memory, fed by a thread of its own, to a sink that does what the program's kind says.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use spate::connector::error::RowError;
use spate::connector::sink::{
    Block, CheckFuture, RowEncoder, RowInfo, ShardWriter, Sink, SinkFuture, SinkKind,
};
use spate::connector::source::{Attachment, OpenContext};
use spate::connector::{OpenError, Section};
use spate::{Config, MemorySource, Pipeline, RuntimeOptions};
use spate_test::scripted::{Reply, Scripted, ScriptedSink};

/// What a closure of the program does with a line.
fn look(line: &[u8]) -> Vec<u8> {
    match line {
        b"panic" => panic!("asked to"),
        b"loop" => {
            say("CLOSURE LOOPS");
            loop {
                thread::sleep(Duration::from_secs(1));
            }
        }
        _ => line.to_vec(),
    }
}

fn number(line: &[u8]) -> Result<i64, spate::StageError> {
    Ok(std::str::from_utf8(line)?.parse()?)
}

/// A sink whose check never answers.
struct Deaf;

impl SinkKind for Deaf {
    const KIND: &'static str = "deaf";
    const CONFIGURED: bool = false;

    fn attach() -> Option<Attachment> {
        None
    }

    fn open(_: &Section, _: RowInfo, _: &OpenContext) -> Result<Box<dyn Sink>, OpenError> {
        Ok(Box::new(Deaf))
    }
}

impl<R> RowEncoder<R> for Deaf {
    fn row() -> RowInfo {
        RowInfo {
            row: "any",
            columns: &[],
        }
    }

    fn encode(_: &R, _: &mut Vec<u8>) -> Result<(), RowError> {
        Ok(())
    }
}

impl Sink for Deaf {
    fn shards(&self) -> usize {
        1
    }

    fn writer(&self, _: usize) -> Box<dyn ShardWriter> {
        Box::new(Deaf)
    }
}

impl ShardWriter for Deaf {
    fn check(&mut self, _: usize) -> CheckFuture {
        say("SINK CHECKED");
        Box::pin(std::future::pending())
    }

    fn write(&mut self, _: usize, _: &Block) -> SinkFuture {
        unreachable!("the run never begins")
    }
}

spate::pipeline! {
    /// Lines.
    lines() {
        memory -> bytes -> look: map(look) -> store: Scripted
    }

    /// Numbers; other lines are skipped.
    numbers() {
        memory
        -> bytes
        -> parse: try_map(number, on_error = skip)
        -> map(|n| n.to_string())
        -> store: Scripted
    }

    /// Lines for a sink that does not answer at start.
    unheard() {
        memory -> bytes -> Deaf
    }
}

/// For the test to wait for; whether anybody hears it does not matter.
fn say(text: &str) {
    let mut out = std::io::stdout();
    // Nobody reads it in the cases about broken pipes.
    let _ = out.write_all(format!("{text}\n").as_bytes());
    let _ = out.flush();
}

/// Feeds the lines and says when all have been read.
fn feed(source: MemorySource, lines: Vec<&'static str>) {
    thread::spawn(move || {
        for line in &lines {
            source.push(0, *line);
        }
        source.assign_lanes(1);
        while source.position(0) < lines.len() as i64 {
            thread::sleep(Duration::from_millis(5));
        }
        say("ALL LINES FED");
        if let Some(path) = std::env::var_os("SPATE_PROGRAM_READ") {
            std::fs::write(path, "read").expect("written");
        }
    });
}

pub(crate) fn main(kind: &str) -> ExitCode {
    if kind == "unheard" {
        return spate::main(unheard());
    }
    if kind == "twice" {
        return twice();
    }
    let pipeline = match kind {
        "skips" => numbers(),
        _ => lines(),
    };
    let source = pipeline.memory_source().expect("a memory source");
    let sink: ScriptedSink = pipeline.sink_handle("store").expect("a scripted sink");
    if kind == "hangs" {
        sink.next(Reply::hang());
    }
    let last = match kind {
        "panics" => "panic",
        "loops" => "loop",
        _ => "three",
    };
    let fed = match kind {
        "skips" => vec!["no number"; 100],
        _ => vec!["one", "two", last],
    };
    feed(source.clone(), fed);
    let code = spate::main(pipeline);
    if let Some(path) = std::env::var_os("SPATE_PROGRAM_OUT") {
        // What no pipe can lose.
        let text = format!("{:?} {}", source.last_committed(0), sink.rows().len());
        std::fs::write(path, text).expect("written");
    }
    code
}

fn run(pipeline: Pipeline) -> u8 {
    let config = Config::from_yaml("pipeline: { threads: 1, pin: false }").expect("right");
    let runtime = pipeline
        .with_config(config)
        .expect("it fits")
        .into_runtime(RuntimeOptions::default())
        .expect("it opens");
    runtime.run().exit_code()
}

/// Two runs in one process, which listen to signals, and a time in which none does.
fn twice() -> ExitCode {
    for text in ["first", "second"] {
        let pipeline = lines();
        let source = pipeline.memory_source().expect("a memory source");
        let running = Arc::new(AtomicBool::new(true));
        let watch = {
            let running = Arc::clone(&running);
            thread::spawn(move || {
                source.push(0, "one");
                source.assign_lanes(1);
                while source.position(0) < 1 && running.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(5));
                }
                say(text);
            })
        };
        let code = run(pipeline);
        running.store(false, Ordering::SeqCst);
        watch.join().expect("it ends");
        say(&format!("{text} ended with {code}"));
    }
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}
