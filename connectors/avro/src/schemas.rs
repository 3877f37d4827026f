//! What is known of writer schemas, shared by all threads: one verdict per id, found out once.
//!
//! 1. A gate asks for the ids of a batch. An id without a verdict is marked as asked for and fetched on the async
//!    runtime; the batch waits, other lanes go on.
//! 2. The fetch repeats what may pass, with growing pauses, until it has a verdict or gives up; then the pipeline stops.
//! 3. Decoders look the verdict up. One that was given is never taken back by a failure; one that an id is unknown is
//!    asked again after a while, and the old one holds until the new one is there.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use spate_runtime::error::ConnectorError;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::framing::is_id;
use crate::limits;
use crate::registry::{Answer, Client, Found};
use crate::resolve::Resolver;
#[cfg(feature = "value")]
use crate::value::ValueReader;
use spate_avro_schema::{Canonical, Extras, SchemaError, parse_reader, parse_with};

/// What is known of an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is the compiled schema.
    Same,
    /// Its records become records of the compiled schema by a plan.
    Resolve(Arc<Resolver>),
    /// Its records become values; there is no compiled schema.
    #[cfg(feature = "value")]
    Values(Arc<ValueReader>),
    /// Its records cannot be decoded: what to say of each.
    Refused(Arc<str>),
}

enum Entry {
    Known(Verdict, Option<Instant>),
    /// Being fetched; the verdict that holds until then.
    Asked(Option<Verdict>),
}

/// A gate's answer for one id.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Its records can be read, for good.
    Readable,
    /// There is a verdict, and it is that they cannot.
    Refused,
    /// Not yet.
    Wait,
}

/// What records of a writer's schema become.
enum Target {
    /// Records of the compiled schema, which has these aliases and defaults.
    Compiled(Canonical, Extras),
    #[cfg(feature = "value")]
    Values,
}

/// The shared table.
pub(crate) struct Schemas {
    record: &'static str,
    target: Target,
    table: Mutex<HashMap<u32, Entry>>,
    stopped: OnceLock<ConnectorError>,
    /// Until the latest schema of the configured subject is compared.
    starting: AtomicBool,
    fetcher: Option<Fetcher>,
}

impl fmt::Debug for Schemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schemas")
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}

struct Fetcher {
    client: Client,
    handle: Handle,
    permits: Semaphore,
}

impl Schemas {
    /// A table for the compiled schema of `record`, in which `ids` are known. Without a `registry` there are no others.
    pub(crate) fn new(
        record: &'static str,
        schema: &str,
        ids: &[u32],
        registry: Option<(Client, Handle)>,
    ) -> Result<Arc<Self>, SchemaError> {
        let (compiled, extras) = parse_reader(schema)?;
        let target = Target::Compiled(compiled, extras);
        Ok(Self::with(record, target, ids, registry))
    }

    /// A table in which every schema is one of values.
    #[cfg(feature = "value")]
    pub(crate) fn of_values(record: &'static str, registry: Option<(Client, Handle)>) -> Arc<Self> {
        Self::with(record, Target::Values, &[], registry)
    }

    fn with(
        record: &'static str,
        target: Target,
        ids: &[u32],
        registry: Option<(Client, Handle)>,
    ) -> Arc<Self> {
        let known = ids
            .iter()
            .map(|id| (*id, Entry::Known(Verdict::Same, None)))
            .collect();
        let fetcher = registry.map(|(client, handle)| Fetcher {
            client,
            handle,
            permits: Semaphore::new(limits::CONCURRENT_REQUESTS),
        });
        let schemas = Arc::new(Schemas {
            record,
            target,
            table: Mutex::new(known),
            stopped: OnceLock::new(),
            starting: AtomicBool::new(false),
            fetcher,
        });
        if let Some(fetcher) = &schemas.fetcher
            && let Some(subject) = &fetcher.client.access.subject
        {
            schemas.starting.store(true, Ordering::Release);
            let check = Arc::clone(&schemas).check_latest(subject.clone());
            fetcher.handle.spawn(check);
        }
        schemas
    }

    /// The compiled schema's fingerprint by the specification; nobody asks for that of values.
    pub(crate) fn fingerprint(&self) -> u64 {
        match &self.target {
            Target::Compiled(compiled, _) => compiled.fingerprint(),
            #[cfg(feature = "value")]
            Target::Values => 0,
        }
    }

    /// Whether the latest schema is still being compared: no batch runs before.
    pub(crate) fn is_starting(&self) -> bool {
        self.starting.load(Ordering::Acquire)
    }

    /// Whether there is a verdict on the id; if not, it is being found out from now on. Never waits.
    pub(crate) fn ask(self: &Arc<Self>, id: u32, now: Instant) -> Known {
        let mut table = self.table();
        let before = match table.get(&id) {
            Some(Entry::Asked(_)) => return Known::Wait,
            Some(Entry::Known(verdict, until)) if until.is_none_or(|until| now < until) => {
                return match verdict {
                    Verdict::Same | Verdict::Resolve(_) => Known::Readable,
                    #[cfg(feature = "value")]
                    Verdict::Values(_) => Known::Readable,
                    Verdict::Refused(_) => Known::Refused,
                };
            }
            Some(Entry::Known(verdict, _)) => Some(verdict.clone()),
            None => None,
        };
        if before.is_none() && table.len() >= limits::REMEMBERED_IDS {
            table.retain(|_, entry| !matches!(entry, Entry::Known(Verdict::Refused(_), _)));
        }
        let Some(fetcher) = &self.fetcher else {
            let reason = format!(
                "schema id {id} is not one of `deserializer.schema_ids`, and no registry is set to ask"
            );
            table.insert(id, Entry::Known(Verdict::Refused(reason.into()), None));
            return Known::Refused;
        };
        table.insert(id, Entry::Asked(before));
        drop(table);
        fetcher.handle.spawn(Arc::clone(self).resolve(id));
        Known::Wait
    }

    /// The verdict on an id that a gate let through.
    #[cold]
    pub(crate) fn verdict(&self, id: u32) -> Verdict {
        match self.table().get(&id) {
            Some(Entry::Known(verdict, _) | Entry::Asked(Some(verdict))) => verdict.clone(),
            _ => Verdict::Refused(format!("schema id {id} has not been looked up").into()),
        }
    }

    /// Why the pipeline has to stop, if it has to.
    pub(crate) fn stopped(&self) -> Option<&ConnectorError> {
        self.stopped.get()
    }

    fn table(&self) -> MutexGuard<'_, HashMap<u32, Entry>> {
        // Every change is one insert: a panic elsewhere leaves the table whole.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, id: u32, verdict: Verdict, until: Option<Instant>) {
        self.table().insert(id, Entry::Known(verdict, until));
    }

    async fn resolve(self: Arc<Self>, id: u32) {
        let Some(fetcher) = &self.fetcher else { return };
        // The semaphore is never closed; if it were, nobody would wait for the answer.
        let Ok(_permit) = fetcher.permits.acquire().await else {
            return;
        };
        let question = || fetcher.client.schema(id);
        let answer = self
            .until_it_holds(fetcher, &format!("id {id}"), question)
            .await;
        if let Some(answer) = answer {
            self.take(id, answer, Instant::now());
        }
    }

    /// The verdict by an answer. What the registry does not know it may learn: that is forgotten after a while.
    fn take(&self, id: u32, answer: Answer, now: Instant) {
        let later = Some(now + limits::FORGET_UNKNOWN_AFTER);
        let (reason, until) = match answer {
            Answer::Schema(found) => return self.settle(id, self.judge(id, &found), None),
            Answer::Unusable(reason) => (format!("schema id {id} {reason}"), None),
            Answer::Incomplete(reason) => (format!("schema id {id} {reason}"), later),
            Answer::Unknown => {
                let reason = format!("unknown schema id {id}: the registry does not have it");
                (reason, later)
            }
            // Either stopped the pipeline.
            Answer::Denied(_) | Answer::Trouble(..) => return,
        };
        self.settle(id, Verdict::Refused(reason.into()), until);
    }

    /// Compares the latest schema of the configured subject, and knows its id from then on.
    async fn check_latest(self: Arc<Self>, subject: String) {
        let Some(fetcher) = &self.fetcher else { return };
        let question = || fetcher.client.latest(&subject);
        let what = format!("subject `{subject}`");
        let refused = match self.until_it_holds(fetcher, &what, question).await {
            Some(Answer::Schema(found)) => {
                let id = found.id.unwrap_or_default();
                match self.judge(id, &found) {
                    Verdict::Refused(reason) => Some(format!(
                        "the latest schema of the subject `{subject}` does not fit: {reason}"
                    )),
                    fits => {
                        if is_id(id) {
                            self.settle(id, fits, None);
                        }
                        None
                    }
                }
            }
            Some(Answer::Unusable(reason) | Answer::Incomplete(reason)) => Some(format!(
                "the latest schema of the subject `{subject}` {reason}"
            )),
            Some(Answer::Unknown) => Some(format!(
                "the schema registry at {} has no subject `{subject}`: check `deserializer.registry.subject`, or leave it out to start before the first schema is registered",
                fetcher.client.access.shown()
            )),
            Some(Answer::Denied(_) | Answer::Trouble(..)) | None => None,
        };
        if let Some(refused) = refused {
            self.stop(refused);
        }
        self.starting.store(false, Ordering::Release);
    }

    /// Asks again while the answer is one that may pass. `None`, or an answer that refuses us, has stopped the pipeline.
    async fn until_it_holds<F: Future<Output = Answer>>(
        &self,
        fetcher: &Fetcher,
        what: &str,
        question: impl Fn() -> F,
    ) -> Option<Answer> {
        let access = &fetcher.client.access;
        let started = tokio::time::Instant::now();
        let mut pause = limits::FIRST_PAUSE;
        loop {
            let (trouble, wanted) = match question().await {
                Answer::Trouble(trouble, wanted) => (trouble, wanted),
                Answer::Denied(reason) => {
                    self.stop(format!(
                        "the schema registry at {} {reason}",
                        access.shown()
                    ));
                    return None;
                }
                holds => return Some(holds),
            };
            let pause_now = next_pause(&mut pause, wanted);
            if started.elapsed() + pause_now > access.give_up_after {
                self.stop(format!(
                    "the schema registry at {} gave no schema for {what} within {:?} (`deserializer.registry.give_up_after`): {trouble}",
                    access.shown(),
                    access.give_up_after
                ));
                return None;
            }
            tracing::warn!(%what, error = %trouble, retry_in = ?pause_now, "the schema registry gave no schema");
            tokio::time::sleep(pause_now).await;
        }
    }

    fn stop(&self, message: String) {
        // The first reason is the one that is reported.
        let _ = self.stopped.set(ConnectorError::fatal(message));
    }

    fn judge(&self, id: u32, found: &Found) -> Verdict {
        let judged = match &self.target {
            Target::Compiled(compiled, extras) => self.compare(id, found, compiled, extras),
            #[cfg(feature = "value")]
            Target::Values => ValueReader::with(&found.text, &found.others)
                .map(|reader| Verdict::Values(Arc::new(reader)))
                .map_err(|error| format!("schema id {id} cannot be used: {error}")),
        };
        judged.unwrap_or_else(|refused| {
            tracing::warn!(id, reason = %refused, "records with this schema id cannot be decoded");
            Verdict::Refused(refused.into())
        })
    }

    fn compare(
        &self,
        id: u32,
        found: &Found,
        compiled: &Canonical,
        extras: &Extras,
    ) -> Result<Verdict, String> {
        let writer = parse_with(&found.text, &found.others)
            .map_err(|error| format!("schema id {id} cannot be used: {error}"))?;
        if writer == *compiled {
            return Ok(Verdict::Same);
        }
        let plan = Resolver::new(&writer, compiled, extras).map_err(|differences| {
            format!(
                "schema id {id} cannot be read as the compiled schema `{}`, {differences}",
                self.record
            )
        })?;
        tracing::info!(
            id,
            "records with this schema id are resolved to the compiled schema"
        );
        Ok(Verdict::Resolve(Arc::new(plan)))
    }
}

/// The pause before the next request: what the registry wants within bounds, else the growing one.
fn next_pause(pause: &mut Duration, wanted: Option<Duration>) -> Duration {
    let now = wanted
        .unwrap_or(*pause)
        .clamp(limits::FIRST_PAUSE, limits::LONGEST_PAUSE);
    *pause = (*pause * 2).min(limits::LONGEST_PAUSE);
    now
}

/// Plans that a thread has at hand, for the ids of other schemas.
#[derive(Debug, Default)]
pub(crate) struct KnownPlans(Vec<(u32, Arc<Resolver>)>);

impl KnownPlans {
    /// Where the plan for that id's records is.
    #[inline]
    pub(crate) fn find(&self, id: u32) -> Option<usize> {
        self.0.iter().position(|(known, _)| *known == id)
    }

    /// The plan at that place.
    #[inline]
    pub(crate) fn at(&self, place: usize) -> &Resolver {
        &self.0[place].1
    }

    /// Adds a plan and returns its place.
    pub(crate) fn add(&mut self, id: u32, plan: Arc<Resolver>) -> usize {
        if self.0.len() == limits::IDS_PER_THREAD {
            self.0.clear();
        }
        self.0.push((id, plan));
        self.0.len() - 1
    }
}

/// Ids whose records can be read that a thread has seen: the last one first, without a lock.
#[derive(Debug)]
pub(crate) struct KnownIds {
    /// Wider than an id, so that no id is known at the start.
    last: u64,
    others: Vec<u32>,
}

impl KnownIds {
    pub(crate) fn new() -> Self {
        KnownIds {
            last: u64::MAX,
            others: Vec::new(),
        }
    }

    /// Whether the id is the last one that was seen.
    #[inline(always)]
    pub(crate) fn is_last(&self, id: u32) -> bool {
        self.last == u64::from(id)
    }

    /// Whether the id was seen before; then it is the last one now.
    #[inline]
    pub(crate) fn contains(&mut self, id: u32) -> bool {
        if self.is_last(id) {
            return true;
        }
        let known = self.others.contains(&id);
        if known {
            self.last = u64::from(id);
        }
        known
    }

    pub(crate) fn add(&mut self, id: u32) {
        self.last = u64::from(id);
        if self.others.len() == limits::IDS_PER_THREAD {
            self.others.clear();
        }
        self.others.push(id);
    }
}

#[cfg(test)]
mod tests;
