//! What a scripted sink does with one attempt to write a block.

use std::time::Duration;

/// How much of the block is stored, whatever the answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stores {
    /// Nothing.
    Nothing,
    /// Its first so many chunks, or all if it has fewer.
    Chunks(usize),
    /// All of it.
    All,
}

/// What the writer is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The block is durable.
    Ok,
    /// An error that may pass.
    Retryable(String),
    /// An error that will not pass.
    Fatal(String),
    /// Nothing, for ever.
    Never,
    /// The call of `ShardWriter::write` panics; nothing is stored.
    PanicInCall(String),
    /// The future panics in the poll that would have ended it.
    PanicInPoll(String),
}

/// What becomes of one attempt to write a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// How long the attempt takes.
    pub after: Duration,
    /// What is stored.
    pub stores: Stores,
    /// Whether it is stored when the attempt begins, so that it stands also if the attempt is given up; otherwise at its end.
    pub early: bool,
    /// What the writer is told.
    pub answer: Answer,
    /// Whether the future panics when it is dropped.
    pub panics_on_drop: bool,
}

impl Reply {
    fn new(stores: Stores, answer: Answer) -> Self {
        Reply {
            after: Duration::ZERO,
            stores,
            early: false,
            answer,
            panics_on_drop: false,
        }
    }

    /// The block is stored.
    #[must_use]
    pub fn stored() -> Self {
        Reply::new(Stores::All, Answer::Ok)
    }

    /// Nothing is stored, because of an error that may pass.
    #[must_use]
    pub fn retryable(message: impl Into<String>) -> Self {
        Reply::new(Stores::Nothing, Answer::Retryable(message.into()))
    }

    /// Nothing is stored, because of an error that will not pass.
    #[must_use]
    pub fn fatal(message: impl Into<String>) -> Self {
        Reply::new(Stores::Nothing, Answer::Fatal(message.into()))
    }

    /// The block is stored and the answer is lost: the writer sees an error that may pass.
    #[must_use]
    pub fn lost() -> Self {
        let answer = Answer::Retryable("the connection was closed before the answer".into());
        Reply {
            early: true,
            ..Reply::new(Stores::All, answer)
        }
    }

    /// The first `chunks` chunks of the block are stored, then an error that may pass.
    #[must_use]
    pub fn partly(chunks: usize) -> Self {
        let answer =
            Answer::Retryable("the connection was closed in the middle of the block".into());
        Reply {
            early: true,
            ..Reply::new(Stores::Chunks(chunks), answer)
        }
    }

    /// Nothing is stored and no answer comes.
    #[must_use]
    pub fn hang() -> Self {
        Reply::new(Stores::Nothing, Answer::Never)
    }

    /// The call of `write` panics.
    #[must_use]
    pub fn panic_in_call() -> Self {
        Reply::new(
            Stores::Nothing,
            Answer::PanicInCall("scripted, in write".into()),
        )
    }

    /// The future panics.
    #[must_use]
    pub fn panic_in_poll() -> Self {
        Reply::new(
            Stores::Nothing,
            Answer::PanicInPoll("scripted, in poll".into()),
        )
    }

    /// The same, but the attempt takes so long.
    #[must_use]
    pub fn after(self, after: Duration) -> Self {
        Reply { after, ..self }
    }

    /// The same, and the future panics when it is dropped.
    #[must_use]
    pub fn panic_on_drop(self) -> Self {
        Reply {
            panics_on_drop: true,
            ..self
        }
    }
}
