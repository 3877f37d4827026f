//! An offset that does not exist on the broker, under `on_offset_gap: fail`: the pipeline stops, with the numbers.
//!
//! Under the other policies the client goes on by itself, and the lane tells what was skipped.

use std::time::Duration;

use spate_runtime::error::ConnectorError;
use spate_runtime::record::Partition;
use spate_runtime::time::Time;

use super::KafkaSource;
use crate::error::{ClientError, Code};
use crate::native::{self, Lookup, Slot};

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
    /// Looks for a gap, and ends the wait for the numbers of one.
    pub(super) fn look_for_gaps(&mut self) -> Result<(), ConnectorError> {
        match &self.gap {
            Some(gap) if self.now.since(gap.since) >= TIMEOUT => {
                Err(explain(&gap.partition, gap.offset, gap.oldest, None))
            }
            Some(_) => Ok(()),
            None => {
                if let Some((partition, offset)) = self.lanes.gap() {
                    let token = self.look_up(&partition, Lookup::Beginnings)?;
                    self.gap = Some(Gap {
                        partition,
                        offset,
                        oldest: None,
                        token,
                        since: self.now,
                    });
                }
                Ok(())
            }
        }
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
        let (partition, offset, oldest) = (gap.partition.clone(), gap.offset, gap.oldest);
        match (oldest, found) {
            (None, Some(_)) => {
                let token = self.look_up(&partition, Lookup::Ends)?;
                if let Some(gap) = &mut self.gap {
                    (gap.oldest, gap.token) = (found, token);
                }
                Ok(true)
            }
            _ => Err(explain(&partition, offset, oldest, found)),
        }
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
