//! The threads of a run and how long its end waits for them: each wait ends at one point in time that all share.

use std::thread::JoinHandle;
use std::time::Duration;

use crate::time::{Clock, Time};

/// How often a thread that is waited for is looked at.
const LOOK: Duration = Duration::from_millis(1);

/// Joins a thread that ends until `end`; one that does not is left behind. Whether it ended.
pub(super) fn join_until(thread: JoinHandle<()>, clock: &dyn Clock, end: Time) -> bool {
    while !thread.is_finished() {
        if clock.now() >= end {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    // Panics are caught and told inside of every thread; there is nothing to learn from the join.
    let _ = thread.join();
    true
}

/// Joins the threads that end until `end`; how many are left behind: they are stuck in user code, and the report says so.
pub(super) fn join_all(threads: Vec<JoinHandle<()>>, clock: &dyn Clock, end: Time) -> usize {
    let left = threads
        .into_iter()
        .map(|thread| join_until(thread, clock, end));
    left.filter(|ended| !ended).count()
}

/// The thread of the asynchronous runtime: the looks at the sinks before the run, registry look-ups.
pub(super) struct IoThread {
    pub(super) handle: tokio::runtime::Handle,
    stop: tokio::sync::oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl IoThread {
    pub(super) fn start() -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let thread = std::thread::Builder::new()
            .name("spate-io".into())
            .spawn(move || {
                // Ends when the sender is used or dropped; tasks that are left are dropped with the runtime.
                let _ = runtime.block_on(stopped);
                // Blocking calls under way (the resolver's) end with the process.
                runtime.shutdown_background();
            })?;
        Ok(IoThread {
            handle,
            stop,
            thread,
        })
    }

    /// Ends the runtime. A task that blocks the thread is left behind at `end`; whether the thread ended.
    pub(super) fn stop(self, clock: &dyn Clock, end: Time) -> bool {
        drop(self.stop);
        join_until(self.thread, clock, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MonotonicClock;
    use std::sync::mpsc;

    #[test]
    fn a_task_that_blocks_the_thread_does_not_hold_the_end() {
        let io = IoThread::start().expect("a thread");
        let (release, released) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        io.handle.spawn(async move {
            // The receivers are there.
            let _ = begin.send(());
            let _ = released.recv();
        });
        begun.recv().expect("the task runs");
        let clock = MonotonicClock::default();
        let end = clock.now().after(Duration::from_millis(20));
        assert!(!io.stop(&clock, end), "it is left behind");
        drop(release);
    }

    #[test]
    fn tasks_that_wait_are_dropped() {
        let io = IoThread::start().expect("a thread");
        let (hold, held) = mpsc::channel::<()>();
        io.handle.spawn(async move {
            std::future::pending::<()>().await;
            drop(hold);
        });
        let clock = MonotonicClock::default();
        assert!(io.stop(&clock, Time::ZERO.after(Duration::from_secs(60))));
        assert!(held.recv().is_err(), "the task is gone");
    }

    #[test]
    fn one_point_in_time_ends_the_wait_for_all_threads() {
        let (release, released) = mpsc::channel::<()>();
        let stuck = std::thread::spawn(move || {
            // It ends when the sender is dropped.
            let _ = released.recv();
        });
        let ended = std::thread::spawn(|| {});
        let panicked = std::thread::spawn(|| panic!("expected"));
        while !(ended.is_finished() && panicked.is_finished()) {
            std::thread::sleep(LOOK);
        }
        let clock = MonotonicClock::default();
        let end = Time::ZERO.after(Duration::from_millis(20));
        assert_eq!(join_all(vec![stuck, ended, panicked], &clock, end), 1);
        drop(release);
    }
}
