//! A pipeline in the shape that the macro generates: memory -> bytes -> filter -> try_map -> capture.
#![allow(unreachable_pub, dead_code)]

use std::time::Duration;

use spate_runtime::capture::{Capture, CaptureSink};
use spate_runtime::config::Config;
use spate_runtime::decode::{Bytes, decoder};
use spate_runtime::exit::ExitReport;
use spate_runtime::graph::{Graph, Mark};
use spate_runtime::memory::{Memory, MemorySource};
use spate_runtime::pipeline::{Pipeline, PipelineBuilder, StageOptions};
use spate_runtime::record::Batch;
use spate_runtime::runtime::{RuntimeOptions, ShutdownHandle};
use spate_runtime::sink::sink;
use spate_runtime::{Output, StageError, Thread, stage};

pub const WAIT: Duration = Duration::from_secs(120);

static GRAPH: Graph = Graph::new(
    "lines",
    &[
        ("memory", "memory", 1),
        ("bytes", "bytes", 1),
        ("keep", "filter", 1),
        ("parse", "try_map", 1),
        ("capture", "capture", 1),
    ],
    &[
        (0, Mark::Source),
        (1, Mark::Decoder),
        (3, Mark::Skip),
        (4, Mark::Sink),
    ],
);

/// Drops payloads that begin with `#`, skips those that are no number, panics on `panic`, fails on `fail`.
pub fn numbers() -> Pipeline {
    let decoder = decoder::<Bytes, &[u8]>();
    let sink0 = sink::<Capture, _>();
    PipelineBuilder::new(&GRAPH)
        .source::<Memory>(StageOptions::new())
        .decoder(decoder, StageOptions::new())
        .sink("capture", sink0, StageOptions::new())
        .build(move |thread: Thread| {
            let mut seen = 0u64;
            let mut decode = decoder.open(&thread);
            Ok(thread.drive(|batch: &Batch<'_>, out: &mut Output| {
                for record in batch.records() {
                    out.begin(record);
                    if record.is_tombstone() {
                        out.tombstone(1);
                        continue;
                    }
                    let r = match stage::decode(decoder, &mut decode, record, batch.scratch()) {
                        Ok(r) => r,
                        Err(e) => return Err(out.fail(1, e)),
                    };
                    out.enter(2);
                    if !stage::filter(&r, |line| !line.starts_with(b"#")) {
                        out.drop_record(2);
                        continue;
                    }
                    out.enter(3);
                    let r = match stage::try_map_with(r, batch.meta(record), |line, meta| {
                        seen += 1;
                        let text = std::str::from_utf8(line)?;
                        assert!(text != "panic", "asked to");
                        if text == "fail" {
                            return Ok(None);
                        }
                        let number: i64 = text.parse()?;
                        Ok(Some(format!(
                            "{}/{}:{number}",
                            meta.partition(),
                            meta.offset()
                        )))
                    }) {
                        Ok(Some(r)) => r,
                        Ok(None) => return Err(out.fail(3, StageError::new("asked to"))),
                        Err(e) => {
                            out.skip(3, e);
                            continue;
                        }
                    };
                    out.enter(4);
                    if let Err(e) = stage::encode(sink0, &r, record, out.sink(0)) {
                        return Err(out.fail(4, e));
                    }
                }
                Ok(())
            }))
        })
}

/// A running pipeline.
pub struct Run {
    pub source: MemorySource,
    pub sink: CaptureSink,
    pub shutdown: ShutdownHandle,
    thread: std::thread::JoinHandle<ExitReport>,
}

impl Run {
    pub fn start(yaml: &str) -> Run {
        let pipeline = numbers();
        let source = pipeline.memory_source().expect("a memory source");
        let sink = pipeline.capture_sink("capture").expect("a capture sink");
        let config = Config::from_yaml(yaml).expect("a configuration");
        let configured = pipeline.with_config(config).expect("it fits");
        let runtime = configured
            .into_runtime(RuntimeOptions::embedded())
            .expect("it opens");
        let shutdown = runtime.shutdown_handle();
        let thread = std::thread::spawn(move || runtime.run());
        Run {
            source,
            sink,
            shutdown,
            thread,
        }
    }

    pub fn join(self) -> ExitReport {
        self.thread.join().expect("the run returns")
    }

    pub fn stop(self) -> ExitReport {
        self.shutdown.shutdown();
        self.join()
    }
}

/// Waits for a condition, bounded.
pub fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + WAIT;
    while !condition() {
        assert!(std::time::Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
