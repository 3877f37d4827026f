//! `checkpoint.stalled_fail_after`: what is refused at load. How a run ends whose sink never answers is in `pool.rs`.

mod common;

use common::numbers;
use spate_runtime::config::Config;

fn refused(yaml: &str) -> String {
    let config = Config::from_yaml(yaml).expect("it parses");
    numbers().with_config(config).unwrap_err().to_string()
}

#[test]
fn a_limit_below_the_patience_of_a_sink_is_refused_with_both_paths() {
    assert_eq!(
        refused("checkpoint: { stalled_fail_after: 119s }"),
        "configuration:1:15: checkpoint.stalled_fail_after: must be at least `sink.retry.give_up_after`; raise it, or let the sink \
         give up earlier"
    );
    let text = refused("sinks: { capture: { retry: { give_up_after: 601s } } }");
    assert!(
        text.contains("checkpoint.stalled_fail_after")
            && text.contains("`sinks.capture.retry.give_up_after`"),
        "the default is checked as well: {text}"
    );
    let same = "checkpoint: { stalled_fail_after: 2m }\nsink: { retry: { give_up_after: 2m } }";
    let config = Config::from_yaml(same).expect("it parses");
    assert!(numbers().with_config(config).is_ok());
}
