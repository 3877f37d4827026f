//! Before the group is joined: how many partitions the topics have decides how much the client may fetch ahead of each, and
//! under `latest`, what the group has committed so far decides what may be skipped.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rdkafka::consumer::Consumer;
use spate_runtime::error::ConnectorError;

use super::KafkaSource;
use crate::client::Client;
use crate::config::StartOffset;
use crate::error::{ClientError, Code};
use crate::native::{self, Lookup, Slot};
use crate::read_ahead;
use crate::start::{GroupLookup, Skips};

/// How long the number of partitions is waited for.
const COUNT_TIMEOUT: Duration = Duration::from_secs(3);

/// The number of partitions, once the brokers have told it.
pub(super) struct Counting(mpsc::Receiver<usize>);

/// What the source waits for before it joins.
pub(super) struct Joining {
    lookup: GroupLookup,
    token: usize,
}

impl KafkaSource {
    /// Asks how many partitions there are, on a thread of its own: the client has no call for it that does not block. Of a
    /// pattern it is not known, and nobody waits for it.
    pub(super) fn count(&mut self) -> Result<(), ConnectorError> {
        let topics = self.settings.subscription.listed().to_vec();
        if topics.is_empty() {
            return self.join();
        }
        let (tell, told) = mpsc::sync_channel(1);
        let client = Arc::clone(&self.connection()?.client);
        let counting = thread::Builder::new()
            .name("spate-kafka-count".to_owned())
            .spawn(move || {
                // The receiver is gone if the source was closed meanwhile.
                let _ = tell.send(count(&client, &topics));
            });
        match counting {
            Ok(_) => {
                self.counting = Some(Counting(told));
                Ok(())
            }
            Err(_) => self.join(),
        }
    }

    /// Joins when the number of partitions is known, with another client if they are many.
    pub(super) fn look_for_count(&mut self) -> Result<(), ConnectorError> {
        let told = self.counting.as_ref().map(|Counting(told)| told.try_recv());
        let partitions = match told {
            None | Some(Err(mpsc::TryRecvError::Empty)) => return Ok(()),
            Some(Ok(partitions)) => partitions,
            Some(Err(mpsc::TryRecvError::Disconnected)) => 0,
        };
        self.counting = None;
        if read_ahead::is_shared(partitions) {
            // The one before has joined nothing yet.
            self.connect(partitions)?;
        }
        self.join()
    }

    /// Joins, or begins to find out what must be known before.
    fn join(&mut self) -> Result<(), ConnectorError> {
        if self.settings.start_offset != StartOffset::Latest {
            self.skips = Skips::Nothing;
            return self.subscribe();
        }
        self.joining = Some(Joining {
            lookup: GroupLookup::default(),
            token: 0,
        });
        Ok(())
    }

    fn subscribe(&mut self) -> Result<(), ConnectorError> {
        let consumer = self.connection()?.client.consumer();
        consumer
            .subscribe(&self.settings.subscription.entries())
            .map_err(|error| {
                ConnectorError::fatal(format!(
                    "the topics were not subscribed: {}",
                    self.settings.redact(&error.to_string())
                ))
            })
    }

    pub(super) fn ask_for_group(&mut self) {
        let next = self.last_token + 1;
        let (Some(joining), Some(connection)) = (&mut self.joining, &self.connection) else {
            return;
        };
        if joining.lookup.due(self.now) {
            joining.token = next;
            self.last_token = next;
            let (group, stable) = (&self.settings.group_id, self.settings.read_committed);
            native::look_up(&connection.queue, next, Lookup::Group, group, &[], stable);
        }
    }

    /// Takes an answer if it is the one for the group; whether it was.
    pub(super) fn found_group(
        &mut self,
        answered: usize,
        result: &Result<Vec<Slot>, ClientError>,
    ) -> Result<bool, ConnectorError> {
        let now = self.now;
        let Some(joining) = &mut self.joining else {
            return Ok(false);
        };
        if joining.token != answered {
            return Ok(false);
        }
        let code = result.as_ref().err().map_or(Code::NONE, |error| error.code);
        match joining.lookup.answer(result.clone(), now) {
            Ok(committed) => {
                self.joining = None;
                self.skips = Skips::new(&self.settings.subscription, &committed);
                self.subscribe()?;
            }
            Err(error) => self.trouble(code, error)?,
        }
        Ok(true)
    }
}

/// How many partitions these topics have; those that are not told in time count for nothing.
fn count(client: &Client, topics: &[String]) -> usize {
    let end = Instant::now() + COUNT_TIMEOUT;
    let partitions = |topic: &String| {
        let left = end.saturating_duration_since(Instant::now());
        let metadata = client.consumer().fetch_metadata(Some(topic), left);
        metadata.map_or(0, |metadata| {
            let topics = metadata.topics().iter();
            topics.map(|topic| topic.partitions().len()).sum()
        })
    };
    topics.iter().map(partitions).sum()
}
