use super::*;

fn at(seconds: u64) -> Time {
    Time::ZERO.after(Duration::from_secs(seconds))
}

fn topics() -> Topics {
    let listed = vec!["orders".to_owned(), "lines".to_owned()];
    Topics::new(listed, Duration::from_secs(30), Duration::from_secs(300))
}

fn error(code: Code) -> ClientError {
    ClientError {
        code,
        name: "NAME".to_owned(),
        reason: "words".to_owned(),
        fatal: false,
    }
}

fn there(topic: &str, id: u128) -> Described {
    Described {
        topic: topic.to_owned(),
        result: Ok(TopicId(id)),
    }
}

fn gone(topic: &str) -> Described {
    Described {
        topic: topic.to_owned(),
        result: Err(error(Code::UNKNOWN_TOPIC_OR_PART)),
    }
}

/// Asks every second from one time to before another; when it was told what, and the end.
fn watch(
    topics: &mut Topics,
    seconds: std::ops::Range<u64>,
    answer: impl Fn(u64) -> Vec<Described>,
) -> (Vec<u64>, Option<(u64, String)>) {
    let mut told = Vec::new();
    for second in seconds {
        if !topics.is_due(at(second)) {
            continue;
        }
        topics.ask(BTreeSet::new(), at(second));
        match topics.answer(Ok(answer(second)), at(second)) {
            Ok(news) => told.extend(news.troubles.iter().map(|_| second)),
            Err(error) => return (told, Some((second, error.message))),
        }
    }
    (told, None)
}

#[test]
fn a_topic_that_was_never_there_ends_the_pipeline_after_the_startup_timeout() {
    let mut topics = topics();
    let (told, end) = watch(&mut topics, 0..1_000, |_| {
        vec![there("orders", 1), gone("lines")]
    });
    assert_eq!(told, [0], "once a minute");
    let (second, text) = end.expect("it ends");
    assert_eq!(second, 30);
    for part in ["`lines` does not exist", "30s", "source.startup_timeout"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("orders"), "{text}");
}

#[test]
fn a_topic_that_was_there_is_waited_for_as_long_as_an_assignment_and_named_meanwhile() {
    let mut topics = topics();
    let (told, end) = watch(&mut topics, 0..1_000, |second| {
        vec![
            there("orders", 1),
            if second < 100 {
                there("lines", 2)
            } else {
                gone("lines")
            },
        ]
    });
    assert_eq!(told, [100, 160, 220, 280, 340]);
    let (second, text) = end.expect("it ends");
    assert_eq!(second, 400);
    assert!(text.contains("source.assignment_timeout"), "{text}");
}

#[test]
fn an_answer_that_passes_by_ends_nothing() {
    let mut topics = topics();
    let (told, end) = watch(&mut topics, 0..5_000, |second| {
        vec![if second % 20 == 0 {
            gone("orders")
        } else {
            there("orders", 1)
        }]
    });
    assert!(!told.is_empty());
    assert_eq!(end, None);
}

#[test]
fn an_outage_tells_nothing_of_topics() {
    let mut topics = topics();
    let told = topics.missing("lines", &error(Code::UNKNOWN_TOPIC_OR_PART), at(0));
    assert!(told.is_some_and(|error| error.is_retryable()));
    for second in [1, 100, 10_000] {
        topics.ask(BTreeSet::new(), at(second));
        let news = topics.answer(Err(error(Code(-195))), at(second));
        assert!(news.is_ok_and(|news| news.troubles.is_empty()));
    }
    topics.ask(BTreeSet::new(), at(10_001));
    assert!(
        topics.answer(Ok(vec![gone("lines")]), at(10_001)).is_err(),
        "the first answer counts"
    );
}

#[test]
fn a_timeout_of_zero_is_none() {
    let mut topics = Topics::new(vec!["t".to_owned()], Duration::ZERO, Duration::ZERO);
    let (told, end) = watch(&mut topics, 0..10_000, |_| vec![gone("t")]);
    assert!(told.len() > 100);
    assert_eq!(end, None);
}

#[test]
fn a_forbidden_topic_is_named_with_what_to_do() {
    let mut topics = topics();
    let forbidden = error(Code::TOPIC_AUTHORIZATION_FAILED);
    let text = topics
        .missing("lines", &forbidden, at(0))
        .expect("told")
        .message;
    assert!(
        text.contains("`lines`") && text.contains("allow it to READ"),
        "{text}"
    );
    assert_eq!(topics.complaints(), [text]);
}

#[test]
fn a_topic_with_another_id_was_created_anew() {
    let mut topics = topics();
    let mut recreated = |id: u128, second: u64| {
        topics.ask(BTreeSet::new(), at(second));
        topics
            .answer(Ok(vec![there("orders", id)]), at(second))
            .expect("no error")
            .recreated
    };
    assert_eq!(recreated(7, 0), Vec::<String>::new());
    assert_eq!(recreated(7, 10), Vec::<String>::new());
    assert_eq!(recreated(8, 20), ["orders"]);
    assert_eq!(recreated(8, 30), Vec::<String>::new(), "it is told once");
}

#[test]
fn lanes_that_begin_after_a_topic_was_created_anew_read_the_new_one() {
    let mut topics = topics();
    for (second, id) in [(0, 7), (10, 8)] {
        topics.begins("orders", at(second));
        assert!(topics.is_due(at(second)), "it is asked for at once");
        topics.ask(BTreeSet::new(), at(second));
        let news = topics.answer(Ok(vec![there("orders", id)]), at(second));
        assert!(news.is_ok_and(|news| news.recreated.is_empty()), "{second}");
    }
}

#[test]
fn a_broker_without_ids_never_creates_anew() {
    let mut topics = topics();
    for (second, id) in [(0, 0), (10, 0), (20, 5), (30, 5), (40, 0), (50, 5)] {
        topics.ask(BTreeSet::new(), at(second));
        let news = topics.answer(Ok(vec![there("orders", id)]), at(second));
        assert!(news.is_ok_and(|news| news.recreated.is_empty()), "{second}");
    }
}

#[test]
fn topics_of_a_pattern_are_asked_for_while_they_have_lanes() {
    let mut topics = Topics::new(
        Vec::new(),
        Duration::from_secs(30),
        Duration::from_secs(300),
    );
    assert_eq!(topics.ask(BTreeSet::new(), at(0)), Vec::<String>::new());
    assert!(
        topics.is_due(at(10)),
        "nothing was asked, so nothing is waited for"
    );
    let held = || BTreeSet::from(["a".to_owned()]);
    assert_eq!(topics.ask(held(), at(10)), ["a"]);
    assert!(topics.answer(Ok(vec![gone("a")]), at(10)).is_ok());
    assert!(topics.is_missing("a"));
    assert_eq!(topics.ask(BTreeSet::new(), at(12)), Vec::<String>::new());
    assert!(
        !topics.is_missing("a"),
        "a topic that left a pattern is no error"
    );
}

#[test]
fn a_request_without_an_answer_is_made_again() {
    let mut topics = topics();
    assert!(topics.is_due(at(0)));
    topics.ask(BTreeSet::new(), at(0));
    assert!(!topics.is_due(at(19)));
    assert!(topics.is_due(at(20)));
}

#[test]
fn the_topic_is_found_in_the_words_of_the_client() {
    let topics = topics();
    let text = "Subscribed topic not available: lines: Broker: Unknown topic or partition";
    assert_eq!(topics.named(text).as_deref(), Some("lines"));
    assert_eq!(topics.named(&text.replace("lines", "lines2")), None);
}
