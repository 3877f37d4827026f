//! Where the partitions of an assignment start: the group's committed offsets, looked up before the assignment is accepted.
//!
//! librdkafka would look them up by itself. But a pause and resume in that time (it makes them itself during rebalances)
//! has left partitions unfetched until the next rebalance, a missing offset could not be told from a reset, and under
//! `latest` a partition that moves before its first commit would lose what came between. So every partition starts at an
//! offset that is known, except that "the oldest record" needs none.
//!
//! `latest` skips what is there when the group first meets a topic, and nothing else: it holds for what a member is assigned
//! first, of topics for which the group had committed nothing before it joined ([`Skips`]). A partition that was added and a
//! topic that appears later are read from their oldest record. The skipping start is committed before anything is read.
//!
//! State machines without a client: `due` asks for a request, `answer` takes its answer.

use std::collections::BTreeSet;
use std::time::Duration;

use spate_runtime::error::ConnectorError;
use spate_runtime::time::Time;

use crate::config::{StartOffset, Subscription};
use crate::error::{ClientError, Code, Stage};
use crate::native::{Lookup, Slot, client_error};

/// How soon a request that failed for a passing reason is made again.
const RETRY: Duration = Duration::from_millis(500);
/// A request without an answer is made again after this; the client gives up earlier and says so.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// At most this many partitions are named in an error.
const NAMED: usize = 5;

/// Where one partition starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) topic: String,
    pub(crate) partition: i32,
    /// `None`: at the oldest record.
    pub(crate) offset: Option<i64>,
}

/// Of which topics the group had committed nothing when this member joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Skips {
    /// Not known yet.
    Unknown,
    /// All but these.
    AllBut(BTreeSet<String>),
    /// The group knows what it reads: nothing is skipped any more.
    Nothing,
}

impl Skips {
    /// From the partitions for which the group has committed an offset. A pattern counts as one topic.
    pub(crate) fn new(subscription: &Subscription, committed: &[Slot]) -> Skips {
        let known: BTreeSet<String> = committed
            .iter()
            .filter(|slot| slot.offset >= 0)
            .map(|slot| slot.topic.clone())
            .collect();
        match subscription {
            Subscription::Pattern(_) if !known.is_empty() => Skips::Nothing,
            _ => Skips::AllBut(known),
        }
    }

    fn skips(&self, topic: &str) -> bool {
        matches!(self, Skips::AllBut(known) if !known.contains(topic))
    }
}

/// A request that is made until it is answered well.
#[derive(Debug, Default)]
struct Repeat {
    asked: Option<Time>,
    not_before: Time,
}

impl Repeat {
    /// Whether to ask now.
    fn due(&mut self, now: Time) -> bool {
        let waits = |asked: Time| now.since(asked) < ANSWER_TIMEOUT;
        if now < self.not_before || self.asked.is_some_and(waits) {
            return false;
        }
        self.asked = Some(now);
        true
    }

    fn answered(&mut self) {
        self.asked = None;
    }

    /// The answer was an error: what it means. The request is made again later.
    fn failed(&mut self, error: &ClientError, doing: &str, now: Time) -> ConnectorError {
        self.not_before = now.after(RETRY);
        error
            .judge(Stage::Request, doing)
            .unwrap_or_else(|| ConnectorError::retryable(doing))
    }
}

/// The look-up, before the group is joined, of what it has committed.
#[derive(Debug, Default)]
pub(crate) struct GroupLookup {
    repeat: Repeat,
}

impl GroupLookup {
    /// Whether to ask for [`Lookup::Group`] now.
    pub(crate) fn due(&mut self, now: Time) -> bool {
        self.repeat.due(now)
    }

    /// Takes an answer.
    ///
    /// # Errors
    /// Retryable: the request is made again. Fatal: trying again cannot help.
    pub(crate) fn answer(
        &mut self,
        answer: Result<Vec<Slot>, ClientError>,
        now: Time,
    ) -> Result<Vec<Slot>, ConnectorError> {
        self.repeat.answered();
        answer.map_err(|error| {
            let doing = "looking up what the group has committed";
            self.repeat.failed(&error, doing, now)
        })
    }
}

/// What a [`StartLookup`] asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ask<'a> {
    LookUp(Lookup, &'a [Slot]),
    /// Commit these.
    Commit(&'a [Slot]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Committed,
    Ends,
    /// The ends that were found are committed.
    Commit,
}

/// The look-up of one assignment.
#[derive(Debug)]
pub(crate) struct StartLookup {
    policy: StartOffset,
    group: String,
    skips: Skips,
    step: Step,
    /// What is still to be looked up or committed.
    open: Vec<Slot>,
    starts: Vec<Start>,
    repeat: Repeat,
}

impl StartLookup {
    /// A look-up for `partitions`.
    pub(crate) fn new(
        partitions: Vec<Slot>,
        policy: StartOffset,
        group: &str,
        skips: Skips,
    ) -> Self {
        StartLookup {
            policy,
            group: group.to_owned(),
            skips,
            step: Step::Committed,
            open: partitions,
            starts: Vec::new(),
            repeat: Repeat::default(),
        }
    }

    /// What to ask for now, if anything. The answer must be given to [`StartLookup::answer`], that of a commit as no slots.
    pub(crate) fn due(&mut self, now: Time) -> Option<Ask<'_>> {
        if !self.repeat.due(now) {
            return None;
        }
        Some(match self.step {
            Step::Committed => Ask::LookUp(Lookup::Committed, &self.open),
            Step::Ends => Ask::LookUp(Lookup::Ends, &self.open),
            Step::Commit => Ask::Commit(&self.open),
        })
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
        self.repeat.answered();
        let answer = answer.and_then(|found| match self.step {
            Step::Commit => Ok(self.open.clone()),
            _ => self.complete(&found),
        });
        let found = match answer {
            Ok(found) => found,
            Err(error) => {
                let doing = match self.step {
                    Step::Committed => {
                        format!("looking up the committed offsets of group {}", self.group)
                    }
                    Step::Ends => "looking up the ends of partitions".to_owned(),
                    Step::Commit => "committing the ends of partitions".to_owned(),
                };
                return Err(self.repeat.failed(&error, &doing, now));
            }
        };
        let (known, unknown): (Vec<Slot>, Vec<Slot>) =
            found.into_iter().partition(|slot| slot.offset >= 0);
        match self.step {
            Step::Committed => {
                self.begin_at(known, true);
                if self.policy == StartOffset::Fail && !unknown.is_empty() {
                    return Err(self.nothing_committed(&unknown));
                }
                let latest = self.policy == StartOffset::Latest;
                let (skipped, read): (Vec<Slot>, Vec<Slot>) = unknown
                    .into_iter()
                    .partition(|slot| latest && self.skips.skips(&slot.topic));
                self.begin_at(read, false);
                self.step = Step::Ends;
                self.open = skipped;
            }
            Step::Ends if unknown.is_empty() => {
                self.step = Step::Commit;
                self.open = known;
            }
            Step::Ends => {
                self.repeat.not_before = now.after(RETRY);
                return Err(ConnectorError::retryable(
                    "looking up the ends of partitions: the broker told no offset",
                ));
            }
            Step::Commit => {
                let found = std::mem::take(&mut self.open);
                self.begin_at(found, true);
            }
        }
        Ok(self
            .open
            .is_empty()
            .then(|| std::mem::take(&mut self.starts)))
    }

    /// Gives up; what the next look-up may skip.
    pub(crate) fn into_skips(self) -> Skips {
        self.skips
    }

    fn begin_at(&mut self, slots: Vec<Slot>, known: bool) {
        self.starts.extend(slots.into_iter().map(|slot| Start {
            topic: slot.topic,
            partition: slot.partition,
            offset: known.then_some(slot.offset),
        }));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(partition: i32, offset: i64) -> Slot {
        slot_of("t", partition, offset)
    }

    fn slot_of(topic: &str, partition: i32, offset: i64) -> Slot {
        Slot {
            topic: topic.to_owned(),
            partition,
            offset,
            error: Code::NONE,
        }
    }

    fn skips_all() -> Skips {
        Skips::AllBut(BTreeSet::new())
    }

    fn lookup(policy: StartOffset) -> StartLookup {
        StartLookup::new(
            vec![slot(0, -1001), slot(1, -1001)],
            policy,
            "g",
            skips_all(),
        )
    }

    fn starts(answer: Result<Option<Vec<Start>>, ConnectorError>) -> Vec<(i32, Option<i64>)> {
        let starts = answer.expect("no error").expect("all are known");
        starts
            .into_iter()
            .map(|start| (start.partition, start.offset))
            .collect()
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO.after(Duration::from_secs(seconds))
    }

    fn transport() -> ClientError {
        ClientError {
            code: Code(-195),
            name: "_TRANSPORT".into(),
            reason: "down".into(),
            fatal: false,
        }
    }

    #[test]
    fn a_committed_offset_wins_over_every_policy() {
        for policy in [
            StartOffset::Earliest,
            StartOffset::Latest,
            StartOffset::Fail,
        ] {
            let mut lookup = lookup(policy);
            assert!(matches!(
                lookup.due(Time::ZERO),
                Some(Ask::LookUp(Lookup::Committed, _))
            ));
            assert_eq!(lookup.due(Time::ZERO), None, "it was asked for");
            let answer = lookup.answer(Ok(vec![slot(1, 7), slot(0, 0)]), Time::ZERO);
            assert_eq!(starts(answer), [(0, Some(0)), (1, Some(7))]);
        }
    }

    #[test]
    fn without_a_committed_offset_earliest_starts_at_the_oldest_record() {
        let mut lookup = lookup(StartOffset::Earliest);
        let answer = lookup.answer(Ok(vec![slot(0, 5), slot(1, -1001)]), Time::ZERO);
        assert_eq!(starts(answer), [(0, Some(5)), (1, None)]);
    }

    #[test]
    fn without_a_committed_offset_latest_starts_at_an_end_that_is_committed_first() {
        let mut lookup = lookup(StartOffset::Latest);
        let found = lookup.answer(Ok(vec![slot(0, 5), slot(1, -1001)]), at(0));
        assert_eq!(found.ok(), Some(None));
        assert_eq!(
            lookup.due(at(0)),
            Some(Ask::LookUp(Lookup::Ends, &[slot(1, -1001)]))
        );
        assert_eq!(
            lookup.answer(Ok(vec![slot(1, 40)]), at(0)).ok(),
            Some(None),
            "nothing is read before the end is committed"
        );
        assert_eq!(lookup.due(at(0)), Some(Ask::Commit(&[slot(1, 40)])));
        let refused = lookup.answer(Err(transport()), at(0));
        assert!(refused.is_err_and(|error| error.is_retryable()));
        assert_eq!(lookup.due(at(0)), None);
        assert_eq!(
            lookup.due(at(1)),
            Some(Ask::Commit(&[slot(1, 40)])),
            "the same end, not a later one"
        );
        let answer = lookup.answer(Ok(Vec::new()), at(1));
        assert_eq!(starts(answer), [(0, Some(5)), (1, Some(40))]);
    }

    #[test]
    fn latest_skips_nothing_of_what_the_group_knows() {
        let known = Skips::AllBut(BTreeSet::from(["t".to_owned()]));
        for skips in [known, Skips::Nothing, Skips::Unknown] {
            let partitions = vec![slot(0, -1001), slot(1, -1001)];
            let mut lookup = StartLookup::new(partitions, StartOffset::Latest, "g", skips);
            let answer = lookup.answer(Ok(vec![slot(0, 5), slot(1, -1001)]), Time::ZERO);
            assert_eq!(starts(answer), [(0, Some(5)), (1, None)]);
        }
    }

    #[test]
    fn what_the_group_has_committed_tells_what_it_knows() {
        let list = Subscription::Topics(vec!["a".to_owned(), "b".to_owned()]);
        let pattern = Subscription::Pattern("^.".to_owned());
        let committed = [slot_of("a", 0, 3), slot_of("b", 0, -1001)];
        let skips = Skips::new(&list, &committed);
        assert!(!skips.skips("a") && skips.skips("b"));
        assert_eq!(Skips::new(&pattern, &committed), Skips::Nothing);
        assert!(Skips::new(&pattern, &committed[1..]).skips("new"));
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
        lookup.due(Time::ZERO);
        let error = lookup
            .answer(Err(transport()), Time::ZERO)
            .expect_err("it failed");
        assert!(error.is_retryable());
        assert!(lookup.due(Time::ZERO).is_none());
        assert!(lookup.due(Time::ZERO.after(RETRY)).is_some());
    }

    #[test]
    fn a_look_up_that_is_never_answered_is_made_again() {
        let mut lookup = lookup(StartOffset::Latest);
        let mut group = GroupLookup::default();
        assert!(lookup.due(at(100)).is_some() && group.due(at(100)));
        assert!(lookup.due(at(129)).is_none() && !group.due(at(129)));
        assert!(lookup.due(at(130)).is_some() && group.due(at(130)));
        assert!(lookup.due(at(131)).is_none() && !group.due(at(131)));
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
            error: Code::GROUP_AUTHORIZATION_FAILED,
            ..slot(0, -1001)
        };
        let error =
            lookup(StartOffset::Earliest).answer(Ok(vec![forbidden, slot(1, 1)]), Time::ZERO);
        assert!(error.is_err_and(|error| !error.is_retryable()));
    }
}
