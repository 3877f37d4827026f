//! A pipeline that runs in this process, through the embedding interface.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::thread;

use spate::{Config, ExitReport, Pipeline, RuntimeOptions, ShutdownHandle};

use crate::settings::Settings;
use crate::wait::{LIMIT, Watched};

/// A running pipeline. Dropping it shuts it down without waiting for its end.
pub struct Run {
    shutdown: ShutdownHandle,
    report: Receiver<ExitReport>,
    ended: Option<ExitReport>,
}

impl Run {
    /// Starts `pipeline` on a thread of its own.
    ///
    /// # Panics
    /// When the configuration is refused.
    #[must_use]
    pub fn start(pipeline: Pipeline, settings: &Settings) -> Run {
        let text = settings.yaml();
        let config = Config::from_yaml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let configured = pipeline
            .with_config(config)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let runtime = configured
            .into_runtime(RuntimeOptions::embedded())
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let shutdown = runtime.shutdown_handle();
        let (send, report) = channel();
        thread::spawn(move || {
            // The receiver is gone if the test has failed.
            let _ = send.send(runtime.run());
        });
        Run {
            shutdown,
            report,
            ended: None,
        }
    }

    /// Waits until the pipeline ends by itself.
    ///
    /// # Panics
    /// When it does not within [`LIMIT`], or panicked.
    #[must_use]
    pub fn report(mut self) -> ExitReport {
        if let Some(report) = self.ended.take() {
            return report;
        }
        match self.report.recv_timeout(LIMIT) {
            Ok(report) => report,
            Err(RecvTimeoutError::Timeout) => panic!("the pipeline did not end within {LIMIT:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("the pipeline panicked"),
        }
    }

    /// Shuts the pipeline down and waits for its end.
    ///
    /// # Panics
    /// As [`Run::report`].
    #[must_use]
    pub fn stop(self) -> ExitReport {
        self.shutdown.shutdown();
        self.report()
    }
}

impl Watched for Run {
    fn ended(&mut self) -> Option<String> {
        if self.ended.is_none() {
            match self.report.try_recv() {
                Ok(report) => self.ended = Some(report),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return Some("it panicked".to_owned()),
            }
        }
        self.ended.as_ref().map(ToString::to_string)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.shutdown.shutdown();
    }
}
