//! ClickHouse is down and a large backlog waits: the memory of the process stays below what `docs/memory.md` says, and
//! afterwards every record is in the table.
//!
//! `--seconds N` sets how long it is down (20). `--unbounded` makes budget, queues and read-ahead absurdly large and fails
//! unless the memory exceeds the bound then: what a run without the flag shows is not a matter of course.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use spate_it::{OrdersProcess, Stack, Watched};
use spate_test::services::{ClickHouse, ClickHouseOptions};

const THREADS: u64 = 2;
const PARTITIONS: u64 = 8;
const BROKERS: u64 = 1;
const CHUNK: u64 = 64 << 10;
/// A backlog of about 600 MiB of payload, in records of 0.1 to 4 KiB.
const BACKLOG: u64 = 300_000;
const NOTE: u64 = 4_000;
/// What is stored before ClickHouse goes.
const FIRST: u64 = 1_000;

const MIB: u64 = 1 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        return println!("memory: test");
    }
    let mut seconds = 20;
    let mut filters = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--seconds" {
            let number = rest.next().and_then(|text| text.parse().ok());
            seconds = number.expect("--seconds takes a whole number");
        } else if !argument.starts_with('-') {
            filters.push(argument.as_str());
        }
    }
    if !filters.is_empty() && !filters.iter().any(|filter| "memory".contains(filter)) {
        return;
    }
    let unbounded = arguments.iter().any(|argument| argument == "--unbounded");
    let Some(server) = ClickHouse::required_own(ClickHouseOptions::default()) else {
        return;
    };
    let Some(stack) = Stack::apache_with_clickhouse(&server, PARTITIONS as i32) else {
        return;
    };
    memory(&server, stack, Duration::from_secs(seconds), unbounded);
}

/// The formula of `docs/memory.md`, for one shard.
fn bound(budget: u64) -> u64 {
    let batch = MIB;
    let in_flight = budget + THREADS * (CHUNK + batch);
    in_flight + in_flight / 4 + PARTITIONS * 4 * MIB + BROKERS * 16 * MIB + 64 * MIB
}

/// The most memory that a process had so far, and what of it now is not of a file.
fn resident(pid: u32) -> (u64, u64) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process is there");
    let field = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let text = line.unwrap_or_else(|| panic!("no {name} in {status}"));
        let number = text.trim().trim_end_matches(" kB").parse::<u64>();
        number.expect("a number") << 10
    };
    (field("VmHWM:"), field("RssAnon:"))
}

fn memory(server: &ClickHouse, mut stack: Stack<'_>, down: Duration, unbounded: bool) {
    let mut settings = stack
        .settings()
        .set("pipeline.threads", THREADS)
        .set("sink.batch.max_bytes", "16MiB")
        .set("sink.batch.linger", "200ms")
        .set("sink.chunk.target_bytes", CHUNK)
        .set("sink.retry.give_up_after", "1h")
        .set("checkpoint.stalled_fail_after", "2h");
    if unbounded {
        settings = settings
            .set("backpressure.max_in_flight_bytes", "1TiB")
            .set("sink.queue.capacity", 65_536);
    }
    stack.many_orders(0..FIRST, NOTE);
    let mut process = OrdersProcess::start(env!("CARGO_BIN_EXE_orders"), &settings);
    stack.wait_committed(&mut process);
    server.kill().expect("it is killed");
    let (_, before) = resident(process.pid());
    println!("memory: ClickHouse is down, producing {BACKLOG} records");
    stack.many_orders(FIRST..FIRST + BACKLOG, NOTE);

    let mut most_anonymous = 0;
    let began = Instant::now();
    while began.elapsed() < down {
        assert_eq!(process.ended(), None, "it ended");
        let (_, anonymous) = resident(process.pid());
        most_anonymous = most_anonymous.max(anonymous);
        thread::sleep(Duration::from_millis(100));
    }
    let (peak_down, _) = resident(process.pid());
    println!(
        "memory: without the backlog {}MiB, with it {}MiB of its own, {}MiB in all",
        before / MIB,
        most_anonymous / MIB,
        peak_down / MIB
    );

    server.restart().expect("it starts again");
    let back = Instant::now();
    stack.wait_committed(&mut process);
    let seconds = back.elapsed().as_secs_f64();
    // The backlog's way through the pipeline counts as well.
    let (peak, _) = resident(process.pid());
    let budget = budget(&process.output());
    process.signal("TERM");
    let (code, output) = process.finish();
    assert_eq!(code, Some(0), "{output}");

    let number = |sql: &str| -> u64 {
        let text = stack.db.query(sql).expect("an answer");
        text.parse().expect("a number")
    };
    let produced = FIRST + BACKLOG;
    let distinct = number("SELECT uniqExact(id) FROM orders");
    let missing = number(&format!(
        "SELECT count() FROM numbers({produced}) WHERE number NOT IN (SELECT id FROM orders)"
    ));
    println!("memory: the backlog was stored within {seconds:.1}s");
    let bound = if unbounded {
        bound(DEFAULT_BUDGET)
    } else {
        bound(budget)
    };
    println!(
        "memory: down={}s peak={}MiB bound={}MiB produced={produced} distinct={distinct} missing={missing}",
        down.as_secs(),
        peak / MIB,
        bound / MIB
    );
    assert_eq!((distinct, missing), (produced, 0));
    if unbounded {
        assert!(
            peak > bound,
            "the bound holds without a budget: it says nothing"
        );
    } else {
        assert_eq!(budget, DEFAULT_BUDGET);
        assert!(peak <= bound, "more than the documentation says");
    }
}

/// The default of these settings: two blocks, the queue and two chunks of each thread are 0.8 of it.
const DEFAULT_BUDGET: u64 = (2 * 16 * MIB + (8 + 2 * THREADS) * CHUNK) * 10 / 8;

/// The budget, as the process tells it when it starts: `max_in_flight_bytes=1`, or `"max_in_flight_bytes":1`.
fn budget(output: &str) -> u64 {
    let (_, told) = output
        .split_once("max_in_flight_bytes")
        .unwrap_or_else(|| panic!("the budget is not told: {output}"));
    let told = told.trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits = told.split(|c: char| !c.is_ascii_digit()).next();
    digits
        .and_then(|digits| digits.parse().ok())
        .expect("a number")
}
