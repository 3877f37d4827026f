//! A store that answers by a script: the sink, its shards' writers and what they stored.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use spate_runtime::error::ConnectorError;
use spate_runtime::sink::{Block, ShardWriter, Sink, SinkFuture};

use super::{Alarms, Answer, Reply, Stores};

/// One attempt to write a block, as its script sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The shard.
    pub shard: usize,
    /// The replica of the shard.
    pub replica: usize,
    /// The block's deduplication token.
    pub token: String,
    /// Its rows.
    pub rows: usize,
    /// Its bytes.
    pub bytes: usize,
    /// The attempts of this sink before this one.
    pub number: usize,
}

/// Rows that a shard stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The attempt that stored them.
    pub attempt: Attempt,
    /// The encoded rows.
    pub data: Vec<u8>,
}

/// What a sink answers, decided at each attempt. The methods are called while the sink is locked: they must not call it.
pub trait SinkScript: Send {
    /// What becomes of an attempt.
    fn attempt(&mut self, attempt: &Attempt) -> Reply {
        let _ = attempt;
        Reply::stored()
    }

    /// What was stored; `false` to keep it out of [`ScriptedSink::stored`].
    fn stored(&mut self, stored: &Stored) -> bool {
        let _ = stored;
        true
    }
}

impl<F: FnMut(&Attempt) -> Reply + Send> SinkScript for F {
    fn attempt(&mut self, attempt: &Attempt) -> Reply {
        self(attempt)
    }
}

struct AlwaysFine;

impl SinkScript for AlwaysFine {}

struct State {
    shards: usize,
    script: Box<dyn SinkScript>,
    next: VecDeque<Reply>,
    attempts: Vec<Attempt>,
    stored: Vec<Stored>,
    alarms: Option<Alarms>,
}

/// The handle of a scripted sink. Clones are the same sink.
#[derive(Clone)]
pub struct ScriptedSink(Arc<Mutex<State>>);

impl Default for ScriptedSink {
    /// One shard.
    fn default() -> Self {
        ScriptedSink::new(1)
    }
}

impl ScriptedSink {
    /// A sink of so many shards.
    ///
    /// # Panics
    /// If there are none.
    #[must_use]
    pub fn new(shards: usize) -> Self {
        assert!(shards > 0, "a sink has at least one shard");
        ScriptedSink(Arc::new(Mutex::new(State {
            shards,
            script: Box::new(AlwaysFine),
            next: VecDeque::new(),
            attempts: Vec::new(),
            stored: Vec::new(),
            alarms: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on so many shards; to be called before the pipeline is opened.
    ///
    /// # Panics
    /// If there are none.
    pub fn shards(&self, shards: usize) {
        assert!(shards > 0, "a sink has at least one shard");
        self.state().shards = shards;
    }

    /// Latencies pass on this clock instead of tokio's.
    pub fn use_alarms(&self, alarms: &Alarms) {
        self.state().alarms = Some(alarms.clone());
    }

    /// The next attempt ends like this; before the script is asked.
    pub fn next(&self, reply: Reply) {
        self.state().next.push_back(reply);
    }

    /// Decides every answer from now on: a closure from [`Attempt`] to [`Reply`], or more.
    pub fn script(&self, script: impl SinkScript + 'static) {
        self.state().script = Box::new(script);
    }

    /// The attempts, in the order in which they began.
    #[must_use]
    pub fn attempts(&self) -> Vec<Attempt> {
        self.state().attempts.clone()
    }

    /// What was stored, in order.
    #[must_use]
    pub fn stored(&self) -> Vec<Stored> {
        self.state().stored.clone()
    }

    /// The rows that were stored, in order, if they were encoded by the stage [`Scripted`](super::Scripted).
    ///
    /// # Panics
    /// If they were not.
    #[must_use]
    pub fn rows(&self) -> Vec<Vec<u8>> {
        let mut rows = Vec::new();
        for stored in &self.state().stored {
            let mut rest: &[u8] = &stored.data;
            while !rest.is_empty() {
                let (length, after) = rest.split_first_chunk::<4>().expect("a row's length");
                let length = u32::from_le_bytes(*length) as usize;
                rows.push(after[..length].to_vec());
                rest = &after[length..];
            }
        }
        rows
    }
}

impl Sink for ScriptedSink {
    fn shards(&self) -> usize {
        self.state().shards
    }

    fn writer(&self, shard: usize) -> Box<dyn ShardWriter> {
        Box::new(Writer {
            sink: self.clone(),
            shard,
        })
    }
}

struct Writer {
    sink: ScriptedSink,
    shard: usize,
}

impl ShardWriter for Writer {
    fn write(&mut self, replica: usize, block: &Block) -> SinkFuture {
        let mut state = self.sink.state();
        let attempt = Attempt {
            shard: self.shard,
            replica,
            token: block.token().to_owned(),
            rows: block.rows(),
            bytes: block.bytes(),
            number: state.attempts.len(),
        };
        let reply = match state.next.pop_front() {
            Some(reply) => reply,
            None => state.script.attempt(&attempt),
        };
        state.attempts.push(attempt.clone());
        let chunks = match reply.stores {
            Stores::Nothing => &[][..],
            Stores::Chunks(chunks) => &block.chunks()[..chunks.min(block.chunks().len())],
            Stores::All => block.chunks(),
        };
        let mut stored = (!chunks.is_empty()).then(|| Stored {
            attempt,
            data: chunks.concat(),
        });
        if reply.early
            && let Some(stored) = stored.take()
        {
            state.store(stored);
        }
        let alarms = state.alarms.clone();
        drop(state);
        if let Answer::PanicInCall(text) = reply.answer {
            panics(text);
        }
        let bomb = Bomb(reply.panics_on_drop);
        let sink = self.sink.clone();
        Box::pin(async move {
            let _bomb = bomb;
            sleep(alarms.as_ref(), reply.after).await;
            if let Some(stored) = stored {
                sink.state().store(stored);
            }
            match reply.answer {
                Answer::Ok => Ok(()),
                Answer::Retryable(text) => Err(ConnectorError::retryable(text)),
                Answer::Fatal(text) => Err(ConnectorError::fatal(text)),
                Answer::Never => std::future::pending().await,
                Answer::PanicInCall(text) | Answer::PanicInPoll(text) => panics(text),
            }
        })
    }
}

impl State {
    fn store(&mut self, stored: Stored) {
        if self.script.stored(&stored) {
            self.stored.push(stored);
        }
    }
}

async fn sleep(alarms: Option<&Alarms>, time: Duration) {
    match alarms {
        _ if time.is_zero() => {}
        Some(alarms) => alarms.sleep_until(alarms.now().after(time)).await,
        None => tokio::time::sleep(time).await,
    }
}

/// Panics without a message on standard error: it is part of a script.
fn panics(text: String) -> ! {
    std::panic::resume_unwind(Box::new(text))
}

struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        // A second panic while one unwinds would end the process.
        if self.0 && !std::thread::panicking() {
            panics("scripted, on drop".to_owned());
        }
    }
}
