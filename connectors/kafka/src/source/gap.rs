//! An offset that does not exist on the broker, under `on_offset_gap: fail`: the pipeline stops, with the numbers.
//!
//! Under the other policies the client goes on by itself, and the lane tells what was skipped. Whatever the policy, a
//! partition that goes on before what was read of it stops the pipeline: the offsets that were read are another log's, so
//! nothing of it is committed any more.

use std::time::Duration;

use spate_runtime::error::ConnectorError;
use spate_runtime::record::Partition;
use spate_runtime::source::SourceEvent;
use spate_runtime::time::Time;

use super::KafkaSource;
use crate::error::{ClientError, Code};
use crate::native::{self, Lookup, Slot};
use crate::progress::Stop;

/// How long the numbers are waited for.
const TIMEOUT: Duration = Duration::from_secs(15);

/// A gap whose numbers are looked up.
pub(super) struct Gap {
    partition: Partition,
    offset: i64,
    oldest: Option<i64>,
    token: usize,
    since: Time,
}

impl KafkaSource {
    /// Looks for a lane that has stopped, and ends the wait for its numbers.
    pub(super) fn look_for_gaps(&mut self) -> Result<(), ConnectorError> {
        if let Some(gap) = &self.gap {
            if self.now.since(gap.since) >= TIMEOUT {
                self.end(None);
            }
            return Ok(());
        }
        if self.doom.is_some() {
            return Ok(());
        }
        match self.lanes.stopped() {
            None => {}
            Some((partition, offset, Stop::Gap)) => {
                let token = self.look_up(&partition, Lookup::Beginnings)?;
                self.gap = Some(Gap {
                    partition,
                    offset,
                    oldest: None,
                    token,
                    since: self.now,
                });
            }
            Some((partition, reached, Stop::Restarted(offset))) => {
                let text = format!(
                    "reading {partition}: the partition goes on at offset {offset} although offset {reached} was reached: it \
                     was truncated or created anew; restart the pipeline, which then goes on by `source.on_offset_gap` and \
                     `source.start_offset`"
                );
                self.lose(&partition);
                self.doom = Some(ConnectorError::fatal(text));
            }
        }
        Ok(())
    }

    /// Stops with what is known of the gap.
    fn end(&mut self, end: Option<i64>) {
        let Some(gap) = self.gap.take() else { return };
        if gap.oldest.is_none_or(|oldest| gap.offset >= oldest) {
            self.lose(&gap.partition);
        }
        self.doom = Some(explain(&gap.partition, gap.offset, gap.oldest, end));
    }

    /// Commits nothing of a partition any more: its offsets may be those of another log.
    fn lose(&mut self, partition: &Partition) {
        let lane = self.lanes.find(&partition.topic, partition.number);
        let lost = lane.map(|lane| SourceEvent::Lost(vec![lane]));
        self.events.extend(lost);
    }

    fn look_up(&mut self, partition: &Partition, what: Lookup) -> Result<usize, ConnectorError> {
        let token = self.token();
        let slot = Slot {
            topic: partition.topic.to_string(),
            partition: partition.number,
            offset: 0,
            error: Code::NONE,
        };
        let (group, stable) = (&self.settings.group_id, self.settings.read_committed);
        native::look_up(
            &self.connection()?.queue,
            token,
            what,
            group,
            &[slot],
            stable,
        );
        Ok(token)
    }

    /// Takes an answer if it is one of a gap; whether it was.
    pub(super) fn found_bounds(
        &mut self,
        answered: usize,
        result: &Result<Vec<Slot>, ClientError>,
    ) -> Result<bool, ConnectorError> {
        let Some(gap) = self.gap.as_ref().filter(|gap| gap.token == answered) else {
            return Ok(false);
        };
        let found = result
            .as_ref()
            .ok()
            .and_then(|slots| slots.first())
            .map(|slot| slot.offset)
            .filter(|offset| *offset >= 0);
        if gap.oldest.is_none() && found.is_some() {
            let token = self.look_up(&gap.partition.clone(), Lookup::Ends)?;
            if let Some(gap) = &mut self.gap {
                (gap.oldest, gap.token) = (found, token);
            }
        } else {
            self.end(found);
        }
        Ok(true)
    }
}

fn explain(
    partition: &Partition,
    offset: i64,
    oldest: Option<i64>,
    end: Option<i64>,
) -> ConnectorError {
    let (what, now) = match (oldest, end) {
        (Some(oldest), _) if offset < oldest => (
            format!(
                "the oldest record has offset {oldest}, {} are lost",
                oldest - offset
            ),
            "",
        ),
        (_, Some(end)) if offset > end => (
            format!("the partition ends at offset {end}: it was truncated or created anew"),
            "",
        ),
        _ => ("the broker refused it".to_owned(), " now"),
    };
    ConnectorError::fatal(format!(
        "offset {offset} of {partition} does not exist{now}: {what}; to go on set `source.on_offset_gap` to `earliest`, the \
         oldest record that there is, or to `latest`, what is produced from then on; or move the group's offset"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_tell_what_happened() {
        let explained = |oldest, end| {
            let error = explain(&Partition::new("t", 3), 50, oldest, end);
            assert!(!error.is_retryable());
            error.message
        };
        for (oldest, end, words) in [
            (Some(80), Some(100), "offset 80, 30 are lost"),
            (Some(80), None, "offset 80, 30 are lost"),
            (Some(0), Some(20), "ends at offset 20"),
            (Some(0), Some(100), "refused"),
            (None, None, "refused"),
        ] {
            let text = explained(oldest, end);
            assert!(text.contains(words), "{words}: {text}");
            assert!(
                text.contains("offset 50 of t/3") && text.contains("source.on_offset_gap"),
                "{text}"
            );
        }
    }
}
