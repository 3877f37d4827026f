//! Panics inside a simulated machine: kept as a text with their place, and not printed.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Panics of this thread are kept until the guard is dropped.
pub(super) struct Quiet(bool);

pub(super) fn quiet() -> Quiet {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if QUIET.get() {
                let place = info
                    .location()
                    .map_or(String::new(), |l| format!(" at {l}"));
                LAST.set(Some(format!("{}{place}", text(info.payload()))));
            } else {
                before(info);
            }
        }));
    });
    Quiet(QUIET.replace(true))
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(self.0);
    }
}

/// What a caught panic said, and where it was.
pub(super) fn take(panic: &(dyn Any + Send)) -> String {
    LAST.take().unwrap_or_else(|| text(panic))
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no text".to_owned())
}
