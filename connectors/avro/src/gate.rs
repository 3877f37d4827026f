//! The gate: before a batch runs, every schema id in it has a verdict.

use std::sync::Arc;
use std::time::Instant;

use spate_runtime::decode::{Admit, Gate};
use spate_runtime::record::Batch;

use crate::framing::{confluent, has_id_in_header, is_id};
use crate::schemas::{Known, KnownIds, Schemas};

/// One thread's gate.
pub(crate) struct IdGate {
    schemas: Arc<Schemas>,
    known: KnownIds,
}

impl IdGate {
    pub(crate) fn new(schemas: Arc<Schemas>) -> Self {
        IdGate {
            schemas,
            known: KnownIds::new(),
        }
    }

    #[cold]
    fn ask(&mut self, id: u32) -> Known {
        let known = self.schemas.ask(id, Instant::now());
        if known == Known::Readable {
            self.known.add(id);
        }
        known
    }
}

impl Gate for IdGate {
    fn admit(&mut self, batch: &Batch<'_>) -> Admit {
        if self.schemas.is_starting() {
            return Admit::Hold;
        }
        let mut wait = false;
        for record in batch.records() {
            // What is not framed, or names no id that a registry gives, is the record's own error and no question.
            let Ok((id, _)) = confluent(record.payload()) else {
                continue;
            };
            if self.known.contains(id) || !is_id(id) || has_id_in_header(record) {
                continue;
            }
            // All ids of the batch are asked for at once, not one after the other.
            wait |= self.ask(id) == Known::Wait;
        }
        match self.schemas.stopped() {
            Some(reason) => Admit::Stop(reason.clone()),
            None if wait => Admit::Hold,
            None => Admit::Ready,
        }
    }
}
