//! The thin shell around the machines: threads for drivers and sink workers, the caller's thread for the
//! controller. Nothing is decided here; it only calls `step` and waits as long as the step said.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread::JoinHandle;

use super::controller::Controller;
use super::mailbox::{DriverStatus, Mailbox};
use crate::failure::{Failure, FailureSlot, panic_text};
use crate::limits::START_POLL;
use crate::pipeline::Factory;
use crate::sink::{SinkWorker, StartCheck, StartStep, WorkerWatch};
use crate::thread::Thread;
use crate::time::{Clock, Time};

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

/// A sink worker on its thread.
pub(crate) struct WorkerHandle {
    pub(crate) thread: JoinHandle<()>,
    pub(crate) watch: Arc<WorkerWatch>,
}

/// Starts the thread of a sink worker. Each has one of its own, and a tokio runtime on it, so that a write which blocks its
/// thread harms no other shard.
pub(crate) fn spawn_worker(
    worker: SinkWorker,
    clock: Arc<dyn Clock>,
    ended: Arc<AtomicUsize>,
) -> std::io::Result<WorkerHandle> {
    let watch = worker.watch();
    let over = Over {
        watch: Arc::clone(&watch),
        ended,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let thread = std::thread::Builder::new()
        .name("spate-sink".into())
        .spawn(move || {
            runtime.block_on(run_worker(worker, clock, over));
            // Nobody waits for a look-up of a name that is still under way.
            runtime.shutdown_background();
        })?;
    Ok(WorkerHandle { thread, watch })
}

/// Tells that a worker has ended, whatever ended it.
struct Over {
    watch: Arc<WorkerWatch>,
    ended: Arc<AtomicUsize>,
}

impl Drop for Over {
    fn drop(&mut self) {
        self.watch.set_ended();
        self.ended.fetch_add(1, Ordering::Release);
    }
}

/// Runs a sink worker to its end; `over` is dropped when it has given its acks back, because the controller then looks at
/// the trackers for the last time.
async fn run_worker(worker: SinkWorker, clock: Arc<dyn Clock>, over: Over) {
    let orphan = worker.orphan();
    let mut worker = Some(worker);
    let panicked = step_until_done(&*clock, |now, cx| {
        let step = || worker.as_mut().map(|worker| worker.step(now, cx));
        match catch_unwind(AssertUnwindSafe(step)) {
            Ok(step) => Ok(step.filter(|step| !step.done).map(|step| step.wake_at)),
            Err(panic) => Err(panic_text(&*panic)),
        }
    })
    .await
    .err();
    // Outside of the unwinding: a second panic in there would end the process.
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(worker.take())));
    if let Some(text) = panicked.or(dropped.err().map(|panic| panic_text(&*panic))) {
        orphan.begin(&text, over.watch.held_rows());
        let rest = step_until_done(&*clock, |now, cx| {
            let step = orphan.step(now, cx);
            Ok((!step.done).then_some(step.wake_at))
        });
        let _: Result<(), String> = rest.await;
    }
    drop(over);
}

/// Runs the look at the sinks before the run.
pub(crate) async fn run_start_check(
    mut check: StartCheck,
    clock: Arc<dyn Clock>,
) -> Result<(), Failure> {
    let mut outcome = Ok(());
    step_until_done(&*clock, |now, cx| match check.step(now, cx) {
        // Looked at often, so that a clock that is moved by hand is noticed.
        StartStep::Wait(wake_at) => Ok(Some(Some(wake_at.min(now.after(START_POLL))))),
        StartStep::Done(done) => {
            outcome = done;
            Ok(None)
        }
    })
    .await
    .unwrap_or_else(|never: std::convert::Infallible| match never {});
    outcome
}

/// Calls `step` until it says that it is done (`None`) or fails; it is called again when it is woken, and at the time that it
/// asks for.
async fn step_until_done<E>(
    clock: &dyn Clock,
    mut step: impl FnMut(Time, &mut Context<'_>) -> Result<Option<Option<Time>>, E>,
) -> Result<(), E> {
    let mut sleep = pin!(tokio::time::sleep(std::time::Duration::ZERO));
    poll_fn(|cx| {
        loop {
            let now = clock.now();
            let Some(wake_at) = step(now, cx)? else {
                return Poll::Ready(Ok(()));
            };
            let Some(wake_at) = wake_at else {
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
    .await
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

#[cfg(test)]
mod tests;
