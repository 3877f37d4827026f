//! The thin shell around the machines: threads for drivers, tasks for sink workers, the caller's thread for the
//! controller. Nothing is decided here; it only calls `step` and waits as long as the step said.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread::JoinHandle;

use super::controller::Controller;
use super::mailbox::{DriverStatus, Mailbox};
use crate::failure::{Failure, FailureSlot, panic_text};
use crate::pipeline::Factory;
use crate::sink::SinkWorker;
use crate::thread::Thread;
use crate::time::Clock;

/// Starts a driver's thread.
pub(crate) fn spawn_driver(
    index: usize,
    core: Option<core_affinity::CoreId>,
    thread: Thread,
    factory: Factory,
    mailbox: Arc<Mailbox>,
    status: Arc<DriverStatus>,
    failure: Arc<FailureSlot>,
) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(format!("spate-driver-{index}"))
        .spawn(move || {
            mailbox.attach(std::thread::current());
            if let Some(core) = core
                && !core_affinity::set_for_current(core)
            {
                tracing::warn!(
                    driver = index,
                    core = core.id,
                    "the thread could not be pinned"
                );
            }
            run_driver(index, thread, &factory, &failure);
            // Lanes may still wait in the mailbox of a driver that failed; they must not outlive it.
            mailbox.end(&status);
        })
}

fn run_driver(index: usize, mut thread: Thread, factory: &Factory, failure: &FailureSlot) {
    let phase = Arc::clone(&thread.phase);
    let place = || format!("thread {index} of the pipeline");
    loop {
        phase.begin();
        // A torn state is not used again: the thread ends here.
        match catch_unwind(AssertUnwindSafe(|| factory(thread))) {
            Ok(Ok(end)) if end.renew => thread = end.thread,
            Ok(Ok(end)) => {
                // Lanes of a user's own source and its gate may have destructors.
                let dropped = catch_unwind(AssertUnwindSafe(|| drop(end)));
                return dropped.unwrap_or_else(|panic| {
                    let text = format!("panicked when it ended: {}", panic_text(&*panic));
                    failure.set(Failure::new(place(), text));
                });
            }
            Ok(Err(error)) => {
                return failure.set(Failure::new(
                    place(),
                    format!("its state could not be made: {error}"),
                ));
            }
            Err(panic) => {
                let text = format!("panicked {}: {}", phase.when(), panic_text(&*panic));
                return failure.set(Failure::new(place(), text));
            }
        }
    }
}

/// Counts a worker as ended, whatever way it goes: the controller waits for all of them.
struct CountEnd(Arc<AtomicUsize>);

impl Drop for CountEnd {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Runs a sink worker to its end.
pub(crate) async fn run_worker(
    worker: SinkWorker,
    clock: Arc<dyn Clock>,
    failure: Arc<FailureSlot>,
    ended: Arc<AtomicUsize>,
) {
    // Before the worker, so dropped after it: the worker's acks are given back before the controller may look at the
    // trackers for the last time.
    let _ended = CountEnd(ended);
    let mut worker = worker;
    let mut sleep = pin!(tokio::time::sleep(std::time::Duration::ZERO));
    poll_fn(|cx| {
        loop {
            let now = clock.now();
            let step = match catch_unwind(AssertUnwindSafe(|| worker.step(now, cx))) {
                Ok(step) => step,
                Err(panic) => {
                    let text = format!("its worker panicked: {}", panic_text(&*panic));
                    failure.set(Failure::new(worker.place(), text));
                    return Poll::Ready(());
                }
            };
            if step.done {
                return Poll::Ready(());
            }
            let Some(wake_at) = step.wake_at else {
                return Poll::Pending;
            };
            sleep
                .as_mut()
                .reset(tokio::time::Instant::now() + wake_at.since(now));
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    })
    .await;
}

/// Runs the controller on this thread until the run is over; `signalled` is asked between steps.
pub(crate) fn run_controller(
    controller: &mut Controller,
    clock: &dyn Clock,
    mut signalled: impl FnMut(),
) {
    loop {
        signalled();
        let now = clock.now();
        let step = controller.step(now);
        if step.done {
            return;
        }
        let wait = step.wake_at.since(now);
        if !wait.is_zero() {
            std::thread::park_timeout(wait);
        }
    }
}
