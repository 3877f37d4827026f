//! `kill -9` in the middle of the work, five times: every record is in the table, and no commit ever ran ahead of it.
//!
//! The moments are random. The seed is printed; `SPATE_CRASH_SEED` repeats it. Whatever else a run of the pipeline does is
//! not repeated by the seed: it draws the number of rows after which each kill comes.

use std::thread;
use std::time::Duration;

use spate_it::{OrdersProcess, Stack, Watched};

const RECORDS: u64 = 500_000;
const PARTITIONS: i32 = 8;
const KILLS: u64 = 5;
/// The share of the work that each kill falls into, and the last run.
const SLICE: u64 = RECORDS / (KILLS + 1);
/// How often a kill may come after the work.
const LATE: u64 = 10;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        return println!("crash: test");
    }
    let mut filters = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .peekable();
    if filters.peek().is_some() && !filters.any(|filter| "crash".contains(filter.as_str())) {
        return;
    }
    let seed = match std::env::var("SPATE_CRASH_SEED") {
        Ok(text) => text.parse().expect("SPATE_CRASH_SEED is a whole number"),
        Err(_) => fastrand::u64(..1_000_000),
    };
    let Some(stack) = Stack::apache(PARTITIONS) else {
        return;
    };
    crash(stack, seed);
}

fn crash(mut stack: Stack<'_>, seed: u64) {
    println!("crash: seed={seed}, producing {RECORDS} records");
    let mut random = fastrand::Rng::with_seed(seed);
    stack.orders(0..RECORDS);
    // Small blocks and frequent commits: many moments at which something is half done. A long queue: what was read is always
    // far ahead of what is stored, so that a commit that went by the one would show in the other.
    let settings = stack
        .settings()
        .set("sink.batch.max_rows", 2_000)
        .set("sink.queue.capacity", 64)
        .set("pipeline.batch_records", 250);

    let (mut produced, mut kill, mut late) = (RECORDS, 0, 0);
    while kill < KILLS {
        let before = stack.count();
        let mut process = OrdersProcess::start(env!("CARGO_BIN_EXE_orders"), &settings);
        // Within the kill's share of the work, and after this process has stored something.
        let rows = (kill * SLICE + random.u64(..SLICE)).max(before + 1);
        stack.wait_rows(rows, &mut process);
        thread::sleep(Duration::from_millis(random.u64(..100)));
        assert_eq!(process.ended(), None, "it ended before it was killed");
        process.kill();
        let committed: i64 = stack.assert_committed_is_stored().iter().sum();
        println!(
            "crash: kill {} of {KILLS}: rows={} committed={committed}",
            kill + 1,
            stack.count()
        );
        let left = produced - u64::try_from(committed).expect("a count");
        if left > 0 {
            kill += 1;
        } else {
            // It shows nothing: this process was held up, and the pipeline was not.
            late += 1;
            assert!(late < LATE, "{late} kills came after the work");
        }
        // So much that the next kill falls into the work.
        if left < SLICE {
            stack.orders(produced..produced + SLICE);
            produced += SLICE;
        }
    }

    let mut process = OrdersProcess::start(env!("CARGO_BIN_EXE_orders"), &settings);
    stack.wait_committed(&mut process);
    process.signal("TERM");
    let (code, output) = process.finish();
    assert_eq!(code, Some(0), "{output}");

    let number = |sql: &str| -> u64 {
        stack
            .db
            .query(sql)
            .expect("an answer")
            .parse()
            .expect("a number")
    };
    let distinct = number("SELECT uniqExact(id) FROM orders");
    let duplicates = number("SELECT count() - uniqExact(id) FROM orders");
    let missing = number(&format!(
        "SELECT count() FROM numbers({produced}) WHERE number NOT IN (SELECT id FROM orders)"
    ));
    println!(
        "crash: seed={seed} kills={KILLS} produced={produced} distinct={distinct} duplicates={duplicates} missing={missing}"
    );
    assert_eq!((distinct, missing), (produced, 0));
    stack.assert_every_row();
}
