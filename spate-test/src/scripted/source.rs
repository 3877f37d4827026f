//! One client of a topic: the control plane of a scripted source.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use spate_runtime::error::ConnectorError;
use spate_runtime::record::Partition;
use spate_runtime::source::{Commit, LaneId, Source, SourceEvent, SourceLane};
use spate_runtime::time::Time;

use super::Topic;
use super::lane::ScriptedLane;

/// What a lane's `fetch` answers.
#[derive(Debug, Clone)]
pub enum Fetch {
    /// A batch of at most so many records, if there are any.
    Records(usize),
    /// Nothing now, although there may be records.
    Nothing,
    /// An error.
    Fails(ConnectorError),
}

/// What becomes of a commit. Whatever is scripted, the commit of an assignment that is over is refused.
#[derive(Debug, Clone)]
pub enum CommitReply {
    /// Taken and answered with the next `poll`.
    Taken,
    /// Taken, and answered twice.
    TakenTwice,
    /// Taken and answered so much later.
    Late(Duration),
    /// Not taken; answered with an error that may pass.
    Refused,
    /// Not taken; answered with this error.
    RefusedWith(ConnectorError),
    /// Taken, but answered with an error that may pass.
    TakenButRefused,
    /// Not taken: the call itself fails.
    NotBegun(ConnectorError),
    /// Not taken and never answered.
    Lost,
    /// Taken and never answered.
    AnswerLost,
}

/// A call of the control plane that a script may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// `Source::start`.
    Start,
    /// `Source::poll`.
    Poll,
    /// `Source::pause`; the lanes are not paused.
    Pause,
    /// `Source::resume`; the lanes stay paused.
    Resume,
    /// `Source::release`; the lanes are not given back.
    Release,
}

/// What a source answers, decided at each call. The methods are called while the source is locked: they must not call it.
pub trait SourceScript: Send {
    /// Before each fetch of at most `max` records.
    fn fetch(&mut self, partition: &Partition, max: usize) -> Fetch {
        let _ = partition;
        Fetch::Records(max)
    }

    /// Before each commit.
    fn commit(&mut self, offsets: &[Commit]) -> CommitReply {
        let _ = offsets;
        CommitReply::Taken
    }

    /// Before each other call.
    ///
    /// # Errors
    /// What the call is to fail with.
    fn call(&mut self, call: Call) -> Result<(), ConnectorError> {
        let _ = call;
        Ok(())
    }
}

struct AlwaysFine;

impl SourceScript for AlwaysFine {}

/// How an assignment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    Held,
    Revoking,
    Lost,
    Released,
}

pub(super) struct LaneState {
    pub(super) partition: i32,
    pub(super) stands: Stands,
    /// Whether the lane object exists.
    pub(super) alive: bool,
    /// Where it began to read.
    pub(super) start: i64,
    /// The next offset to run: moved by `finish`.
    pub(super) position: i64,
    /// Behind what was made current, finished or not.
    pub(super) shown: i64,
    pub(super) paused: bool,
    /// Offsets that a paused lane can still read up to.
    pub(super) readable: i64,
    pub(super) ended: bool,
    /// The highest offset of a commit that was begun, and of one that was answered as taken.
    begun: Option<i64>,
    taken: Option<i64>,
}

pub(super) struct State {
    pub(super) topic: Topic,
    pub(super) lanes: BTreeMap<LaneId, LaneState>,
    pub(super) breaches: Vec<String>,
    pub(super) fetches: BTreeMap<i32, VecDeque<Fetch>>,
    script: Box<dyn SourceScript>,
    events: VecDeque<SourceEvent>,
    late: Vec<(Time, u64, Vec<Commit>)>,
    now: Time,
    commits: Vec<Vec<Commit>>,
    next_commits: VecDeque<CommitReply>,
    next_calls: BTreeMap<Call, VecDeque<ConnectorError>>,
    read_ahead: i64,
    ended: bool,
    closed: bool,
}

impl State {
    pub(super) fn breach(&mut self, text: String) {
        self.breaches.push(text);
    }

    pub(super) fn fetch(&mut self, partition: &Partition, max: usize) -> Fetch {
        let next = self.fetches.get_mut(&partition.number);
        match next.and_then(VecDeque::pop_front) {
            Some(fetch) => fetch,
            None => self.script.fetch(partition, max),
        }
    }

    fn call(&mut self, call: Call) -> Result<(), ConnectorError> {
        if self.closed {
            self.breach(format!("{call:?} was called after close"));
        }
        if let Some(error) = self.next_calls.get_mut(&call).and_then(VecDeque::pop_front) {
            return Err(error);
        }
        self.script.call(call)
    }

    /// Takes the commit if the assignments stand.
    fn take(&mut self, offsets: &[Commit]) -> Result<(), ConnectorError> {
        if !self.topic.commit(offsets) {
            return Err(ConnectorError::retryable(
                "the commit was refused: the assignment is over",
            ));
        }
        Ok(())
    }

    fn answer(&mut self, id: u64, offsets: &[Commit], result: Result<(), ConnectorError>) {
        for commit in offsets.iter().filter(|_| result.is_ok()) {
            if let Some(lane) = self.lanes.get_mut(&commit.lane) {
                lane.taken = lane.taken.max(Some(commit.offset));
            }
        }
        self.events.push_back(SourceEvent::Committed { id, result });
    }

    /// An event without the lanes that were given back before it was told; `None` if none is left.
    fn still_true(&self, event: SourceEvent) -> Option<SourceEvent> {
        let left = |lanes: Vec<LaneId>| -> Option<Vec<LaneId>> {
            let stands = |lane: &LaneId| self.lanes[lane].stands != Stands::Released;
            let left: Vec<LaneId> = lanes.iter().copied().filter(stands).collect();
            (lanes.is_empty() || !left.is_empty()).then_some(left)
        };
        Some(match event {
            SourceEvent::Revoking(lanes) => SourceEvent::Revoking(left(lanes)?),
            SourceEvent::Lost(lanes) => SourceEvent::Lost(left(lanes)?),
            event => event,
        })
    }

    /// What the contract says of a commit.
    fn check_commit(&mut self, offsets: &[Commit]) {
        let mut breaches = Vec::new();
        if offsets.is_empty() {
            breaches.push("a commit of nothing".to_owned());
        }
        for commit in offsets {
            let place = format!("the commit of {} to {}", commit.partition, commit.offset);
            let Some(lane) = self.lanes.get_mut(&commit.lane) else {
                breaches.push(format!("{place} names an unknown lane"));
                continue;
            };
            if lane.partition != commit.partition.number {
                breaches.push(format!("{place} names a lane of another partition"));
            }
            if lane.stands == Stands::Released {
                breaches.push(format!("{place} names a lane that was given back"));
            }
            if commit.offset > lane.shown {
                breaches.push(format!("{place} lies behind what was read, {}", lane.shown));
            }
            if commit.offset <= lane.start {
                breaches.push(format!(
                    "{place} does not lie behind the start, {}",
                    lane.start
                ));
            }
            if let Some(begun) = lane.begun.filter(|begun| commit.offset < *begun) {
                breaches.push(format!("{place} goes back from {begun}"));
            }
            if lane.taken.is_some_and(|taken| commit.offset == taken) {
                breaches.push(format!("{place} was taken already"));
            }
            lane.begun = lane.begun.max(Some(commit.offset));
        }
        self.breaches.append(&mut breaches);
    }
}

/// The handle of a scripted source. Clones are the same source.
#[derive(Clone)]
pub struct ScriptedSource(Arc<Mutex<State>>);

impl ScriptedSource {
    /// A client of `topic`, without an assignment.
    #[must_use]
    pub fn new(topic: &Topic) -> Self {
        ScriptedSource(Arc::new(Mutex::new(State {
            topic: topic.clone(),
            lanes: BTreeMap::new(),
            breaches: Vec::new(),
            fetches: BTreeMap::new(),
            script: Box::new(AlwaysFine),
            events: VecDeque::new(),
            late: Vec::new(),
            now: Time::ZERO,
            commits: Vec::new(),
            next_commits: VecDeque::new(),
            next_calls: BTreeMap::new(),
            read_ahead: 0,
            ended: false,
            closed: false,
        })))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The source itself; to be driven once.
    #[must_use]
    pub fn source(&self) -> Box<dyn Source> {
        Box::new(Control(self.clone()))
    }

    /// The topic that it reads.
    #[must_use]
    pub fn topic(&self) -> Topic {
        self.state().topic.clone()
    }

    /// Assigns partitions, each from its committed offset on (0 without one).
    ///
    /// # Panics
    /// If an assignment of one of them stands.
    pub fn assign(&self, partitions: &[i32]) -> Vec<LaneId> {
        let mut state = self.state();
        let mut ids = Vec::new();
        let mut lanes: Vec<Box<dyn SourceLane>> = Vec::new();
        for &partition in partitions {
            let (id, start) = state.topic.take(partition);
            let lane = LaneState {
                partition,
                stands: Stands::Held,
                alive: true,
                start,
                position: start,
                shown: start,
                paused: false,
                readable: i64::MAX,
                ended: false,
                begun: None,
                taken: None,
            };
            state.lanes.insert(id, lane);
            let partition = Partition::new(Arc::clone(state.topic.name()), partition);
            lanes.push(Box::new(ScriptedLane::new(id, partition, self.clone())));
            ids.push(id);
        }
        state.ended = false;
        state.events.push_back(SourceEvent::Assigned(lanes));
        ids
    }

    /// Begins to take partitions away, as a rebalance does; those that are not held are ignored.
    pub fn revoke(&self, partitions: &[i32]) {
        let mut state = self.state();
        let mut lanes = Vec::new();
        for (id, lane) in &mut state.lanes {
            if lane.stands == Stands::Held && partitions.contains(&lane.partition) {
                lane.stands = Stands::Revoking;
                lanes.push(*id);
            }
        }
        state.events.push_back(SourceEvent::Revoking(lanes));
    }

    /// Takes partitions away at once, as a lost session does: commits are refused from now on. Those that are not held are
    /// ignored.
    pub fn lose(&self, partitions: &[i32]) {
        let mut state = self.state();
        let mut lanes = Vec::new();
        for (id, lane) in &mut state.lanes {
            let held = matches!(lane.stands, Stands::Held | Stands::Revoking);
            if held && partitions.contains(&lane.partition) {
                lane.stands = Stands::Lost;
                lanes.push((*id, lane.partition));
            }
        }
        for (id, partition) in &lanes {
            state.topic.give_back(*partition, *id);
        }
        let lanes = lanes.into_iter().map(|(id, _)| id).collect();
        state.events.push_back(SourceEvent::Lost(lanes));
    }

    /// Tells of something that may pass.
    pub fn trouble(&self, message: impl Into<String>) {
        let event = SourceEvent::Trouble(ConnectorError::retryable(message));
        self.state().events.push_back(event);
    }

    /// The next fetch of a partition answers this; before the script is asked.
    pub fn next_fetch(&self, partition: i32, fetch: Fetch) {
        let mut state = self.state();
        state.fetches.entry(partition).or_default().push_back(fetch);
    }

    /// The next commit ends like this; before the script is asked.
    pub fn next_commit(&self, reply: CommitReply) {
        self.state().next_commits.push_back(reply);
    }

    /// The next such call fails; before the script is asked.
    pub fn next_call(&self, call: Call, error: ConnectorError) {
        let mut state = self.state();
        state.next_calls.entry(call).or_default().push_back(error);
    }

    /// Decides every answer from now on.
    pub fn script(&self, script: impl SourceScript + 'static) {
        self.state().script = Box::new(script);
    }

    /// How many offsets a lane can still read after it was paused: what a client has fetched ahead. Default: 0.
    pub fn read_ahead(&self, offsets: u32) {
        self.state().read_ahead = i64::from(offsets);
    }

    /// The commits that were begun, whatever became of them.
    #[must_use]
    pub fn commits(&self) -> Vec<Vec<Commit>> {
        self.state().commits.clone()
    }

    /// The assignments that were neither lost nor given back, by partition.
    #[must_use]
    pub fn assigned(&self) -> Vec<(i32, LaneId)> {
        let state = self.state();
        let held = state.lanes.iter();
        held.filter(|(_, lane)| matches!(lane.stands, Stands::Held | Stands::Revoking))
            .map(|(id, lane)| (lane.partition, *id))
            .collect()
    }

    /// Whether an assignment was given back by [`Source::release`], lost ones included.
    #[must_use]
    pub fn is_released(&self, lane: LaneId) -> bool {
        let state = self.state();
        let lane = state.lanes.get(&lane);
        lane.is_some_and(|lane| lane.stands == Stands::Released)
    }

    /// Whether an assignment is paused.
    #[must_use]
    pub fn is_paused(&self, lane: LaneId) -> bool {
        self.state()
            .lanes
            .get(&lane)
            .is_some_and(|lane| lane.paused)
    }

    /// The offset up to which an assignment was run, and the one where it began; what was run may still be in flight.
    #[must_use]
    pub fn progress(&self, lane: LaneId) -> Option<(i64, i64)> {
        let state = self.state();
        state
            .lanes
            .get(&lane)
            .map(|lane| (lane.start, lane.position))
    }

    /// Whether the source was closed by whoever drove it.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// What was done against the contract of a source: a lane that was read after its end, a commit that goes back or names a
    /// lane that was given back, a lane that was given back while it stood with a driver, a call after the close.
    #[must_use]
    pub fn breaches(&self) -> Vec<String> {
        self.state().breaches.clone()
    }
}

struct Control(ScriptedSource);

impl Source for Control {
    fn start(&mut self, now: Time) -> Result<(), ConnectorError> {
        let mut state = self.0.state();
        state.now = now;
        state.call(Call::Start)
    }

    fn poll(&mut self, now: Time) -> Result<Option<SourceEvent>, ConnectorError> {
        let mut state = self.0.state();
        state.now = now;
        state.call(Call::Poll)?;
        let (due, late) = std::mem::take(&mut state.late)
            .into_iter()
            .partition::<Vec<_>, _>(|(at, ..)| *at <= now);
        state.late = late;
        for (_, id, offsets) in due {
            let result = state.take(&offsets);
            state.answer(id, &offsets, result);
        }
        while let Some(event) = state.events.pop_front() {
            if let Some(event) = state.still_true(event) {
                return Ok(Some(event));
            }
        }
        let mut held = state
            .lanes
            .values()
            .filter(|lane| lane.stands != Stands::Released);
        let all_ended = held.all(|lane| lane.ended);
        if all_ended && !state.ended && state.topic.state().closed && !state.lanes.is_empty() {
            state.ended = true;
            return Ok(Some(SourceEvent::Ended));
        }
        Ok(None)
    }

    fn commit(&mut self, id: u64, offsets: &[Commit]) -> Result<(), ConnectorError> {
        let mut state = self.0.state();
        if state.closed {
            state.breach("commit was called after close".to_owned());
        }
        state.check_commit(offsets);
        state.commits.push(offsets.to_vec());
        let reply = match state.next_commits.pop_front() {
            Some(reply) => reply,
            None => state.script.commit(offsets),
        };
        let refusal = || ConnectorError::retryable("scripted: the commit was refused");
        match reply {
            CommitReply::Taken => {
                let result = state.take(offsets);
                state.answer(id, offsets, result);
            }
            CommitReply::TakenTwice => {
                let result = state.take(offsets);
                state.answer(id, offsets, result.clone());
                state.answer(id, offsets, result);
            }
            CommitReply::Late(after) => {
                let at = state.now.after(after);
                state.late.push((at, id, offsets.to_vec()));
            }
            CommitReply::Refused => state.answer(id, offsets, Err(refusal())),
            CommitReply::RefusedWith(error) => state.answer(id, offsets, Err(error)),
            CommitReply::TakenButRefused => {
                // Refused in any case.
                let _ = state.take(offsets);
                state.answer(id, offsets, Err(refusal()));
            }
            CommitReply::NotBegun(error) => return Err(error),
            CommitReply::Lost => {}
            CommitReply::AnswerLost => {
                // Nobody hears of it.
                let _ = state.take(offsets);
            }
        }
        Ok(())
    }

    fn pause(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        let mut state = self.0.state();
        state.call(Call::Pause)?;
        let ahead = state.read_ahead;
        for lane in lanes {
            if let Some(lane) = state.lanes.get_mut(lane) {
                lane.paused = true;
                lane.readable = lane.shown + ahead;
            }
        }
        Ok(())
    }

    fn resume(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        let mut state = self.0.state();
        state.call(Call::Resume)?;
        for lane in lanes {
            if let Some(lane) = state.lanes.get_mut(lane) {
                lane.paused = false;
                lane.readable = i64::MAX;
            }
        }
        Ok(())
    }

    fn release(&mut self, lanes: &[LaneId]) -> Result<(), ConnectorError> {
        let mut state = self.0.state();
        state.call(Call::Release)?;
        for id in lanes {
            let Some(lane) = state.lanes.get_mut(id) else {
                state.breach(format!("an unknown lane was given back: {id:?}"));
                continue;
            };
            let partition = lane.partition;
            let (alive, before) = (lane.alive, lane.stands);
            lane.stands = Stands::Released;
            if alive {
                state.breach(format!(
                    "{id:?} was given back while it stood with a driver"
                ));
            }
            if before == Stands::Released {
                state.breach(format!("{id:?} was given back twice"));
            }
            state.topic.give_back(partition, *id);
        }
        Ok(())
    }

    fn close(&mut self) {
        // Lanes that nobody took are still the source's own; dropped unlocked, because they lock.
        let untaken = std::mem::take(&mut self.0.state().events);
        drop(untaken);
        let mut state = self.0.state();
        if state.lanes.values().any(|lane| lane.alive) {
            state.breach("the source was closed while lanes stood with drivers".to_owned());
        }
        let held: Vec<(i32, LaneId)> = state
            .lanes
            .iter_mut()
            .filter(|(_, lane)| lane.stands != Stands::Released)
            .map(|(id, lane)| {
                lane.stands = Stands::Released;
                (lane.partition, *id)
            })
            .collect();
        for (partition, id) in held {
            state.topic.give_back(partition, id);
        }
        state.closed = true;
    }
}
