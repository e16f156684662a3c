//! What makes the bus fast is played, and makes the difference that it is meant to.

use whimbrel_sim::scenario::script;
use whimbrel_sim::world::{Outcome, play};

/// Plays the scenario that `text` describes, in which nothing may be found.
fn played(text: &str) -> Outcome {
    let scenario = script::read(text).expect("a scenario");
    let outcome = play(&scenario, false);
    let findings = &outcome.findings;
    assert!(findings.is_empty(), "{findings:#?}\n{scenario}");
    outcome
}

/// A writer of 300 samples at once to a reader on its host that is slower; `words` are said of the
/// network.
fn burst(words: &str) -> Outcome {
    let mut text = format!(
        "seed 7\n\
         network {words} datagram-bytes=65507 queue-bytes=212992 service=20us heals=100ms\n\
         topics\n\
         node host=0\n\
         node host=0\n\
         writer node=0\n\
         reader node=1\n\
         at 0s start writer=0\n\
         at 0s start reader=0\n"
    );
    for _ in 0..300 {
        text += "at 1ms write writer=0 bytes=3000\n";
    }
    played(&text)
}

#[test]
fn best_effort_loses_nothing_on_a_host_that_says_what_its_queues_hold() {
    let (told, untold) = (burst("queue-told"), burst(""));
    assert!(untold.overflowed > 100, "{untold:?}");
    assert_eq!(untold.credits, 0);
    assert_eq!(told.overflowed, 0, "{told:?}");
    assert!(told.credits > 10, "{told:?}");
}

/// A sample of 1 MB that a reader on the host of its writer waits for.
fn large(words: &str) -> Outcome {
    played(&format!(
        "seed 7\n\
         network {words} datagram-bytes=65507 heals=100ms\n\
         topics\n\
         node host=0\n\
         node host=0\n\
         writer node=0 reliable\n\
         reader node=1 reliable\n\
         at 0s start writer=0\n\
         at 0s start reader=0\n\
         at 1ms write writer=0 bytes=1000000\n"
    ))
}

#[test]
fn large_samples_leave_in_larger_windows_where_queues_are_known() {
    let (told, untold) = (large("queue-told"), large(""));
    assert!(told.played < untold.played, "{told:?} {untold:?}");
    assert!(told.datagrams < untold.datagrams, "{told:?} {untold:?}");
}

/// What a writer writes to two readers of its node, KEEP_LAST 3 of each of two keys, one of which
/// takes now and then, and to one elsewhere while that is there; `words` are said of the network.
fn neighbours(words: &str) -> Outcome {
    let mut text = format!(
        "seed 7\n\
         network {words} heals=300ms\n\
         topics keys=2\n\
         node host=0\n\
         node host=1\n\
         writer node=0 reliable depth=3\n\
         reader node=0 reliable\n\
         reader node=0 reliable depth=3 take=20ms\n\
         reader node=1 reliable\n\
         at 0s start writer=0\n\
         at 0s start reader=0\n\
         at 0s start reader=1\n\
         at 100ms start reader=2\n\
         at 200ms stop reader=2\n"
    );
    for ms in 1..300 {
        text += &format!("at {ms}ms write writer=0 key={} bytes=100\n", ms % 2);
    }
    played(&text)
}

/// What a writer writes to a reader of its participant and to one of another participant, which
/// leaves at half time; `words` are said of the network, `node` of the other participant.
fn participants(words: &str, node: &str) -> Outcome {
    let mut text = format!(
        "seed 7\n\
         network {words} heals=300ms\n\
         topics keys=2\n\
         node host=0\n\
         node host=0 {node}\n\
         writer node=0 reliable\n\
         reader node=0 reliable\n\
         reader node=1 reliable\n\
         at 0s start writer=0\n\
         at 0s start reader=0\n\
         at 0s start reader=1\n\
         at 150500us leave node=1\n"
    );
    for ms in 1..300 {
        text += &format!("at {ms}ms write writer=0 key={} bytes=100\n", ms % 2);
    }
    played(&text)
}

#[test]
fn readers_of_a_process_get_what_is_written_past_the_network_whatever_their_participant() {
    let apart = participants("in-process", "");
    let together = participants("in-process", "process=0");
    assert_eq!(apart.across, 0, "{apart:?}");
    assert!(apart.handed > 280 && apart.passed < 160, "{apart:?}");
    // The first one leaves by the network, where its readers have not answered yet.
    let across = together.across;
    assert!(across > 140 && across <= 150, "{together:?}");
    assert!(together.handed > 280 + 140, "{together:?}");
    assert!(together.passed > 270 + 140, "{together:?}");
    assert!(together.datagrams < apart.datagrams / 2, "{together:?}");
    assert_eq!(participants("", "process=0").handed, 0);
}

#[test]
fn readers_of_a_node_get_what_is_written_past_the_network() {
    let (handed, sent) = (neighbours("in-process"), neighbours(""));
    assert_eq!((sent.handed, sent.passed), (0, 0));
    assert!(sent.datagrams > 300, "{sent:?}");
    // The first one leaves by the network, where its readers have not answered yet.
    assert!(handed.handed > 2 * 280, "{handed:?}");
    // Not while there is a reader elsewhere.
    let passed = handed.passed;
    assert!(passed > 2 * 180 && passed < 2 * 200, "{handed:?}");
    assert!(handed.datagrams < sent.datagrams / 2, "{handed:?} {sent:?}");
}
