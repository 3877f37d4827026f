//! Where the partitions of an assignment start: the group's committed offsets, looked up before the assignment is accepted.
//!
//! librdkafka would look them up by itself. But a pause and resume in that time (it makes them itself during rebalances)
//! has left partitions unfetched until the next rebalance, a missing offset could not be told from a reset, and under
//! `latest` a partition that moves before its first commit would lose what came between. So every partition starts at an
//! offset that is known, except that "the oldest record" needs none.
//!
//! A state machine without a client: [`StartLookup::due`] asks for a request, [`StartLookup::answer`] takes its answer.

use std::time::Duration;

use spate_runtime::error::ConnectorError;
use spate_runtime::time::Time;

use crate::config::StartOffset;
use crate::error::{ClientError, Code, Stage};
use crate::native::{Lookup, Slot, client_error};

/// How soon a look-up that failed for a passing reason is made again.
const RETRY: Duration = Duration::from_millis(500);
/// At most this many partitions are named in an error.
const NAMED: usize = 5;

/// Where one partition starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) topic: String,
    pub(crate) partition: i32,
    /// `None`: at the oldest record.
    pub(crate) offset: Option<i64>,
    /// The offset is not committed yet and must be, or another member would start elsewhere.
    pub(crate) commit: bool,
}

/// The look-up of one assignment.
#[derive(Debug)]
pub(crate) struct StartLookup {
    policy: StartOffset,
    group: String,
    what: Lookup,
    /// What is still to be looked up.
    open: Vec<Slot>,
    starts: Vec<Start>,
    not_before: Time,
    asked: bool,
}

impl StartLookup {
    /// A look-up for `partitions`.
    pub(crate) fn new(partitions: Vec<Slot>, policy: StartOffset, group: &str) -> Self {
        StartLookup {
            policy,
            group: group.to_owned(),
            what: Lookup::Committed,
            open: partitions,
            starts: Vec::new(),
            not_before: Time::ZERO,
            asked: false,
        }
    }

    /// What to ask for now, if anything. The answer must be given to [`StartLookup::answer`].
    pub(crate) fn due(&mut self, now: Time) -> Option<(Lookup, &[Slot])> {
        if self.asked || now < self.not_before {
            return None;
        }
        self.asked = true;
        Some((self.what, &self.open))
    }

    /// Takes an answer; the starts of all partitions once they are known.
    ///
    /// # Errors
    /// Retryable: the request is made again. Fatal: `start_offset: fail` found no offset, or trying again cannot help.
    pub(crate) fn answer(
        &mut self,
        answer: Result<Vec<Slot>, ClientError>,
        now: Time,
    ) -> Result<Option<Vec<Start>>, ConnectorError> {
        self.asked = false;
        let found = answer
            .and_then(|found| self.complete(&found))
            .map_err(|error| {
                self.not_before = now.after(RETRY);
                let doing = match self.what {
                    Lookup::Committed => {
                        format!("looking up the committed offsets of group {}", self.group)
                    }
                    Lookup::Ends => "looking up the ends of partitions".to_owned(),
                };
                error
                    .judge(Stage::Request, &doing)
                    .unwrap_or_else(|| ConnectorError::retryable(doing))
            })?;
        let (known, unknown): (Vec<Slot>, Vec<Slot>) =
            found.into_iter().partition(|slot| slot.offset >= 0);
        let commit = self.what == Lookup::Ends;
        self.starts
            .extend(known.into_iter().map(|slot| start(slot, commit, true)));
        match (self.what, self.policy) {
            _ if unknown.is_empty() => {}
            (Lookup::Ends, _) => {
                self.open = unknown;
                self.not_before = now.after(RETRY);
                return Err(ConnectorError::retryable(
                    "looking up the ends of partitions: the broker told no offset",
                ));
            }
            (Lookup::Committed, StartOffset::Earliest) => {
                self.starts
                    .extend(unknown.into_iter().map(|slot| start(slot, false, false)));
            }
            (Lookup::Committed, StartOffset::Latest) => {
                self.open = unknown;
                self.what = Lookup::Ends;
                return Ok(None);
            }
            (Lookup::Committed, StartOffset::Fail) => return Err(self.nothing_committed(&unknown)),
        }
        self.open.clear();
        Ok(Some(std::mem::take(&mut self.starts)))
    }

    /// The slots of all partitions that were asked for, or the first error among them.
    fn complete(&self, found: &[Slot]) -> Result<Vec<Slot>, ClientError> {
        self.open
            .iter()
            .map(|asked| {
                let slot = found
                    .iter()
                    .find(|slot| slot.topic == asked.topic && slot.partition == asked.partition);
                let error = match slot {
                    Some(slot) if slot.error == Code::NONE => return Ok(slot.clone()),
                    Some(slot) => slot.error,
                    None => Code::NO_OFFSET,
                };
                Err(client_error(
                    error,
                    format!("{}/{}", asked.topic, asked.partition),
                    false,
                ))
            })
            .collect()
    }

    fn nothing_committed(&self, partitions: &[Slot]) -> ConnectorError {
        let mut names: Vec<String> = partitions
            .iter()
            .take(NAMED)
            .map(|slot| format!("{}/{}", slot.topic, slot.partition))
            .collect();
        if partitions.len() > NAMED {
            names.push(format!("{} more", partitions.len() - NAMED));
        }
        ConnectorError::fatal(format!(
            "group {} has committed no offset of {} and `source.start_offset` is `fail`; set it to `earliest` or `latest` to \
             begin there",
            self.group,
            names.join(", ")
        ))
    }
}

fn start(slot: Slot, commit: bool, known: bool) -> Start {
    Start {
        topic: slot.topic,
        partition: slot.partition,
        offset: known.then_some(slot.offset),
        commit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(partition: i32, offset: i64) -> Slot {
        Slot {
            topic: "t".to_owned(),
            partition,
            offset,
            error: Code::NONE,
        }
    }

    fn lookup(policy: StartOffset) -> StartLookup {
        StartLookup::new(vec![slot(0, -1001), slot(1, -1001)], policy, "g")
    }

    fn starts(answer: Result<Option<Vec<Start>>, ConnectorError>) -> Vec<(i32, Option<i64>, bool)> {
        let starts = answer.expect("no error").expect("all are known");
        starts
            .into_iter()
            .map(|start| (start.partition, start.offset, start.commit))
            .collect()
    }

    #[test]
    fn a_committed_offset_wins_over_every_policy() {
        for policy in [
            StartOffset::Earliest,
            StartOffset::Latest,
            StartOffset::Fail,
        ] {
            let mut lookup = lookup(policy);
            assert_eq!(
                lookup.due(Time::ZERO).expect("it is due").0,
                Lookup::Committed
            );
            assert_eq!(lookup.due(Time::ZERO), None, "it was asked for");
            let answer = lookup.answer(Ok(vec![slot(1, 7), slot(0, 0)]), Time::ZERO);
            assert_eq!(starts(answer), [(0, Some(0), false), (1, Some(7), false)]);
        }
    }

    #[test]
    fn without_a_committed_offset_earliest_starts_at_the_oldest_record() {
        let mut lookup = lookup(StartOffset::Earliest);
        let answer = lookup.answer(Ok(vec![slot(0, 5), slot(1, -1001)]), Time::ZERO);
        assert_eq!(starts(answer), [(0, Some(5), false), (1, None, false)]);
    }

    #[test]
    fn without_a_committed_offset_latest_starts_at_an_end_that_is_committed() {
        let mut lookup = lookup(StartOffset::Latest);
        assert_eq!(
            lookup
                .answer(Ok(vec![slot(0, 5), slot(1, -1001)]), Time::ZERO)
                .ok(),
            Some(None)
        );
        let (what, asked) = lookup.due(Time::ZERO).expect("the ends are due");
        assert_eq!(
            (what, asked.len(), asked[0].partition),
            (Lookup::Ends, 1, 1)
        );
        assert_eq!(
            starts(lookup.answer(Ok(vec![slot(1, 40)]), Time::ZERO)),
            [(0, Some(5), false), (1, Some(40), true)]
        );
    }

    #[test]
    fn without_a_committed_offset_fail_names_the_partitions() {
        let mut lookup = lookup(StartOffset::Fail);
        let error = lookup
            .answer(Ok(vec![slot(0, 5), slot(1, -1001)]), Time::ZERO)
            .expect_err("it fails");
        assert!(!error.is_retryable());
        assert!(
            error.message.contains("t/1") && !error.message.contains("t/0"),
            "{error}"
        );
        assert!(error.message.contains("source.start_offset"), "{error}");
    }

    #[test]
    fn a_failed_look_up_is_made_again_later() {
        let mut lookup = lookup(StartOffset::Earliest);
        let transport = ClientError {
            code: Code(-195),
            name: "_TRANSPORT".into(),
            reason: "down".into(),
            fatal: false,
        };
        lookup.due(Time::ZERO);
        let error = lookup
            .answer(Err(transport), Time::ZERO)
            .expect_err("it failed");
        assert!(error.is_retryable());
        assert!(lookup.due(Time::ZERO).is_none());
        assert!(lookup.due(Time::ZERO.after(RETRY)).is_some());
    }

    #[test]
    fn an_error_or_a_gap_in_the_answer_fails_all_of_it() {
        let unstable = Slot {
            error: Code(88),
            ..slot(1, -1001)
        };
        for answer in [vec![slot(0, 5), unstable], vec![slot(0, 5)]] {
            let error = lookup(StartOffset::Earliest)
                .answer(Ok(answer), Time::ZERO)
                .expect_err("it is incomplete");
            assert!(
                error.is_retryable() && error.message.contains("t/1"),
                "{error}"
            );
        }
        let forbidden = Slot {
            error: Code::TOPIC_AUTHORIZATION_FAILED,
            ..slot(0, -1001)
        };
        let error =
            lookup(StartOffset::Earliest).answer(Ok(vec![forbidden, slot(1, 1)]), Time::ZERO);
        assert!(error.is_err_and(|error| !error.is_retryable()));
    }
}
