//! Looking after the topics: see [`crate::topics`].

use spate_runtime::error::ConnectorError;
use spate_runtime::source::SourceEvent;

use super::KafkaSource;
use crate::error::{ClientError, Code};
use crate::native::{self, client_error};
use crate::topics::Described;

impl KafkaSource {
    pub(super) fn look_at_topics(&mut self) -> Result<(), ConnectorError> {
        if !self.topics.is_due(self.now) {
            return Ok(());
        }
        self.lanes.try_refused_again();
        let names = self.topics.ask(self.lanes.topics(), self.now);
        if !names.is_empty() {
            self.topics_token = self.token();
            native::describe_topics(&self.connection()?.queue, self.topics_token, &names);
        }
        Ok(())
    }

    pub(super) fn described(
        &mut self,
        answered: usize,
        mut result: Result<Vec<Described>, ClientError>,
    ) -> Result<(), ConnectorError> {
        if answered != self.topics_token {
            return Ok(());
        }
        let refused = self.lanes.refused();
        for described in result.iter_mut().flatten() {
            // A topic that may be described and not read.
            if described.result.is_ok() && refused.contains(&described.topic) {
                let code = Code::TOPIC_AUTHORIZATION_FAILED;
                described.result = Err(client_error(code, String::new(), false));
            }
        }
        let news = self.topics.answer(result, self.now)?;
        for trouble in news.troubles {
            self.tell(trouble);
        }
        news.recreated
            .iter()
            .for_each(|topic| self.created_anew(topic));
        Ok(())
    }

    /// The client's word that a topic is not there, or may not be read.
    pub(super) fn topic_error(&mut self, error: &ClientError) -> Result<(), ConnectorError> {
        match self.topics.named(&error.reason) {
            Some(topic) => {
                let told = self.topics.missing(&topic, error, self.now);
                told.into_iter().for_each(|trouble| self.tell(trouble));
                Ok(())
            }
            None => self.report(error),
        }
    }

    fn tell(&mut self, trouble: ConnectorError) {
        self.health.note(&trouble, self.now);
        self.events.push_back(SourceEvent::Trouble(trouble));
    }

    /// The offsets of a topic that is another one now mean nothing: nothing of its lanes is committed any more, and the
    /// pipeline stops.
    fn created_anew(&mut self, topic: &str) {
        let lanes = self.lanes.of_topic(topic);
        if lanes.is_empty() {
            return;
        }
        self.events.push_back(SourceEvent::Lost(lanes));
        self.doom.get_or_insert_with(|| {
            ConnectorError::fatal(format!(
                "the topic `{topic}` was deleted and created anew while it was read: offsets that were committed before are \
                 not the new topic's; see that the group has none for it (a deleted topic takes them along) and restart the \
                 pipeline, which then begins by `source.start_offset`"
            ))
        });
    }
}
