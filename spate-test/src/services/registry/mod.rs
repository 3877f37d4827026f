//! A stub of the Confluent schema registry's REST API, in this process: what consumers and producers of schemas ask,
//! with switches for what goes wrong.
//!
//! Not there: compatibility checks, deletion, `/config`, `/mode`, contexts.

mod routes;
mod store;

use super::error::ServiceError;
use super::place::free_port;
use crate::http::{HttpStub, Reply, Request, Wire};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::Store;

pub use store::{Reference, SchemaType};

/// Who may ask.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Auth {
    /// Everybody.
    #[default]
    None,
    /// HTTP Basic.
    Basic {
        /// The user's name.
        user: String,
        /// The user's password.
        password: String,
    },
    /// `Authorization: Bearer`.
    Bearer {
        /// The token.
        token: String,
    },
}

/// A registry on a free port of 127.0.0.1. Dropping it closes all connections.
pub struct SchemaRegistry {
    server: HttpStub,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    store: Store,
    auth: Auth,
    faults: Faults,
    requests: BTreeMap<String, u64>,
}

#[derive(Default)]
struct Faults {
    delay: Duration,
    hang: bool,
    drops: u32,
    cuts: u32,
    errors: u32,
    throttles: u32,
    retry_after: u32,
}

impl SchemaRegistry {
    /// Starts an empty registry that anybody may ask, on a port that another one can be started on later.
    ///
    /// # Errors
    /// [`ServiceError::Io`] when no port can be bound.
    pub fn start() -> Result<SchemaRegistry, ServiceError> {
        let mut tries_left = 3;
        loop {
            match SchemaRegistry::start_on(free_port()?) {
                // Another process can take a free port between the look and the bind.
                Err(_) if tries_left > 0 => tries_left -= 1,
                done => return done,
            }
        }
    }

    /// [`SchemaRegistry::start`] on a port of choice; 0 is a free one.
    ///
    /// # Errors
    /// [`ServiceError::Io`] when the port cannot be bound.
    pub fn start_on(port: u16) -> Result<SchemaRegistry, ServiceError> {
        let state: Arc<Mutex<State>> = Arc::default();
        let for_server = Arc::clone(&state);
        let server = HttpStub::start_on(port, move |request| answer(&for_server, request))
            .map_err(ServiceError::io("bind", format!("127.0.0.1:{port}")))?;
        Ok(SchemaRegistry { server, state })
    }

    /// The base URL, without a final slash.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Registers an Avro schema as the next version of `subject` and returns its id. The same schema has one id, in any
    /// subject.
    ///
    /// # Errors
    /// [`ServiceError::State`] when the schema is not valid.
    pub fn register(&self, subject: &str, schema: &str) -> Result<u32, ServiceError> {
        self.register_as(subject, SchemaType::Avro, schema, &[])
    }

    /// [`SchemaRegistry::register`] for any type, with references to other subjects.
    ///
    /// # Errors
    /// As [`SchemaRegistry::register`].
    pub fn register_as(
        &self,
        subject: &str,
        schema_type: SchemaType,
        schema: &str,
        references: &[Reference],
    ) -> Result<u32, ServiceError> {
        self.lock()
            .store
            .register(subject, schema_type, schema, references)
            .map_err(|detail| ServiceError::state("schema registry", detail))
    }

    /// Registers an Avro schema under an id of choice, for payloads that carry it already.
    ///
    /// # Errors
    /// [`ServiceError::State`] when the id is taken by another schema or the schema is not valid.
    pub fn register_with_id(
        &self,
        subject: &str,
        id: u32,
        schema: &str,
    ) -> Result<(), ServiceError> {
        self.lock()
            .store
            .register_with_id(subject, id, schema)
            .map_err(|detail| ServiceError::state("schema registry", detail))
    }

    /// From now on answers only those who present these credentials.
    pub fn set_auth(&self, auth: Auth) {
        self.lock().auth = auth;
    }

    /// Answers every request this much later.
    pub fn delay(&self, delay: Duration) {
        self.lock().faults.delay = delay;
    }

    /// Leaves requests without an answer while on. Those that hang stay so.
    pub fn hang(&self, on: bool) {
        self.lock().faults.hang = on;
    }

    /// Closes the connection of the next `count` requests without an answer.
    pub fn drop_next(&self, count: u32) {
        self.lock().faults.drops = count;
    }

    /// Cuts the answers of the next `count` requests in the middle of the body.
    pub fn cut_next(&self, count: u32) {
        self.lock().faults.cuts = count;
    }

    /// Answers the next `count` requests with 500 (code 50001).
    pub fn fail_next(&self, count: u32) {
        self.lock().faults.errors = count;
    }

    /// Answers the next `count` requests with 429 and `Retry-After: seconds`.
    pub fn throttle_next(&self, count: u32, retry_after_seconds: u32) {
        let faults = &mut self.lock().faults;
        (faults.throttles, faults.retry_after) = (count, retry_after_seconds);
    }

    /// Switches all faults off.
    pub fn clear_faults(&self) {
        self.lock().faults = Faults::default();
    }

    /// How many requests came, failed ones included.
    pub fn requests(&self) -> u64 {
        self.lock().requests.values().sum()
    }

    /// How many requests came for this method and path, as in `GET /schemas/ids/7` (no query).
    pub fn requests_for(&self, method_and_path: &str) -> u64 {
        self.lock()
            .requests
            .get(method_and_path)
            .copied()
            .unwrap_or(0)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn answer(state: &Mutex<State>, request: &Request) -> Reply {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    *state
        .requests
        .entry(format!("{} {}", request.method, request.path()))
        .or_default() += 1;
    let faults = &mut state.faults;
    let delay = faults.delay;
    let take = |left: &mut u32| {
        let on = *left > 0;
        *left = left.saturating_sub(1);
        on
    };
    if faults.hang {
        return Reply::new(200, "").wire(Wire::Hang);
    }
    if take(&mut faults.drops) {
        return Reply::new(200, "").wire(Wire::Drop);
    }
    if take(&mut faults.errors) {
        return routes::error(500, 50001, "Error in the backend data store").delay(delay);
    }
    if take(&mut faults.throttles) {
        let seconds = faults.retry_after.to_string();
        return routes::error(429, 429, "Too Many Requests")
            .header("Retry-After", &seconds)
            .delay(delay);
    }
    let cut = take(&mut faults.cuts);
    if let Some(refusal) = routes::refuse(&state.auth, request) {
        return refusal.delay(delay);
    }
    let reply = routes::route(&mut state.store, request).delay(delay);
    if cut {
        let half = reply.body.len() / 2;
        return reply.wire(Wire::CutAfter(half));
    }
    reply
}
