//! Before the group is joined: under `latest`, what the group has committed so far decides what may be skipped.

use rdkafka::consumer::Consumer;
use spate_runtime::error::ConnectorError;

use super::KafkaSource;
use crate::config::StartOffset;
use crate::error::{ClientError, Code};
use crate::native::{self, Lookup, Slot};
use crate::start::{GroupLookup, Skips};

/// What the source waits for before it joins.
pub(super) struct Joining {
    lookup: GroupLookup,
    token: usize,
}

impl KafkaSource {
    /// Joins, or begins to find out what must be known before.
    pub(super) fn join(&mut self) -> Result<(), ConnectorError> {
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
