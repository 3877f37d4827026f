//! The ack cell on one thread; the crate `loom` has it on several.

use std::sync::Arc;

use crate::ack::{AckCell, AckState};

#[test]
fn a_batch_is_delivered_when_every_share_is() {
    let (cell, ack) = AckCell::new(Arc::default());
    let second = ack.share();
    ack.delivered();
    assert_eq!(cell.state(), AckState::Pending);
    second.delivered();
    assert_eq!(cell.state(), AckState::Delivered);
}

#[test]
fn a_dropped_share_fails_the_batch_whatever_the_others_say() {
    let (cell, ack) = AckCell::new(Arc::default());
    let second = ack.share();
    drop(second);
    assert_eq!(cell.state(), AckState::Pending);
    ack.delivered();
    assert_eq!(cell.state(), AckState::Failed);
}

#[test]
fn a_panic_that_unwinds_past_a_share_fails_the_batch() {
    let (cell, ack) = AckCell::new(Arc::default());
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _held = ack;
        panic!("in the kernel");
    }));
    assert!(unwound.is_err());
    assert_eq!(cell.state(), AckState::Failed);
}
