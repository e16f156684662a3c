//! Wait sets and conditions.

use std::thread;
use std::time::{Duration, Instant};

use whimbrel::{
    Condition, Error, GuardCondition, InstanceStates, SampleState, SampleStates, StatusKind,
    StatusMask, ViewStates, WaitSet,
};

use super::{PATIENCE, Position, matched_pair, pair, position};

const AT_ONCE: Duration = Duration::ZERO;

/// What is true now, in a wait set of just these conditions.
fn check(conditions: &[Condition], met: &[Condition]) {
    let wait_set = WaitSet::new();
    conditions
        .iter()
        .for_each(|condition| wait_set.attach(condition.clone()));
    match wait_set.wait(AT_ONCE) {
        Ok(found) => assert_eq!(found, met),
        Err(error) => {
            assert!(matches!(error, Error::Timeout), "{error}");
            assert!(met.is_empty(), "nothing was true, expected {met:?}");
        }
    }
}

#[test]
fn guards_wake_a_thread_that_waits_also_when_attached_late() {
    let wait_set = WaitSet::new();
    let waiting = thread::spawn({
        let wait_set = wait_set.clone();
        move || wait_set.wait(PATIENCE)
    });
    let (idle, guard) = (GuardCondition::new(), GuardCondition::new());
    wait_set.attach(idle.clone());
    wait_set.attach(guard.clone());
    wait_set.attach(guard.clone());
    assert_eq!(wait_set.conditions().len(), 2);
    guard.set_trigger_value(true);
    let met = waiting.join().unwrap().unwrap();
    assert_eq!(met, [Condition::from(guard.clone())]);
    check(&[idle.clone().into(), guard.clone().into()], &met);
    guard.set_trigger_value(false);
    check(&[idle.into(), guard.into()], &[]);
}

#[test]
fn room_for_what_is_waited_for_is_the_callers_own() {
    let (writer, reader) = matched_pair();
    let (idle, guard) = (GuardCondition::new(), GuardCondition::new());
    let wait_set = WaitSet::new();
    wait_set.attach(guard.clone());
    let mut met = vec![idle.into()];
    let outcome = wait_set.wait_into(AT_ONCE, &mut met);
    assert!(matches!(outcome, Err(Error::Timeout)) && met.is_empty());
    guard.set_trigger_value(true);
    wait_set.wait_into(PATIENCE, &mut met).unwrap();
    assert_eq!(met, [Condition::from(guard)]);
    let mut samples = Vec::new();
    let outcome = reader.take_timeout_into(1, AT_ONCE, &mut samples);
    assert!(matches!(outcome, Err(Error::Timeout)) && samples.is_empty());
    for number in 1..=2 {
        writer.write(&position("tram", number)).unwrap();
        // What is there already stays, and does not count.
        reader.take_timeout_into(1, PATIENCE, &mut samples).unwrap();
    }
    let taken: Vec<_> = samples.iter().map(|it| it.data().cloned()).collect();
    assert_eq!(taken, [1, 2].map(|it| Some(position("tram", it))));
}

#[test]
fn one_thread_waits_and_only_what_is_attached_can_be_detached() {
    let (wait_set, guard) = (WaitSet::new(), GuardCondition::new());
    wait_set.attach(guard.clone());
    let waiting = thread::spawn({
        let wait_set = wait_set.clone();
        move || {
            loop {
                match wait_set.wait(PATIENCE) {
                    Err(Error::PreconditionNotMet(_)) => thread::yield_now(),
                    outcome => return outcome,
                }
            }
        }
    });
    let started = Instant::now();
    loop {
        match wait_set.wait(AT_ONCE) {
            Err(Error::PreconditionNotMet(_)) => break,
            Err(Error::Timeout) => thread::yield_now(),
            other => panic!("{other:?}"),
        }
        assert!(started.elapsed() < PATIENCE, "two waited at once");
    }
    guard.set_trigger_value(true);
    assert_eq!(waiting.join().unwrap().unwrap().len(), 1);
    wait_set.detach(guard.clone()).unwrap();
    let outcome = wait_set.detach(guard);
    assert!(matches!(outcome, Err(Error::PreconditionNotMet(_))));
    assert!(matches!(wait_set.wait(AT_ONCE), Err(Error::Timeout)));
}

#[test]
fn status_conditions_follow_enabled_statuses_until_they_are_read() {
    let (writer, reader) = matched_pair();
    let condition = writer.status_condition();
    assert_eq!(condition.enabled_statuses(), StatusMask::ALL);
    assert_eq!(condition, writer.status_condition());
    assert_ne!(condition, reader.status_condition());
    assert!(condition.trigger_value());
    condition.set_enabled_statuses(StatusKind::OfferedIncompatibleQos);
    check(&[condition.clone().into()], &[]);
    condition.set_enabled_statuses(StatusKind::PublicationMatched);
    check(&[condition.clone().into()], &[condition.clone().into()]);
    assert_eq!(writer.publication_matched_status().current_count, 1);
    check(&[condition.clone().into()], &[]);
    assert!(writer.status_changes().is_empty());

    let wait_set = WaitSet::new();
    wait_set.attach(condition.clone());
    let waiting = thread::spawn(move || wait_set.wait(PATIENCE));
    drop(reader);
    let met = waiting.join().unwrap().unwrap();
    assert_eq!(met, [condition.into()]);
    assert_eq!(writer.publication_matched_status().current_count, 0);
}

#[test]
fn read_conditions_follow_the_samples_of_their_reader() {
    let (writer, reader) = matched_pair();
    let any = (ViewStates::ANY, InstanceStates::ANY);
    let unread = reader.create_readcondition(SampleStates::of(SampleState::NotRead), any.0, any.1);
    let read = reader.create_readcondition(SampleStates::of(SampleState::Read), any.0, any.1);
    let gone = reader.create_readcondition(SampleStates::ANY, any.0, InstanceStates::NOT_ALIVE);
    let all = [&unread, &read, &gone].map(|it| Condition::from(it.clone()));
    check(&all, &[]);

    let wait_set = WaitSet::new();
    all.iter().for_each(|it| wait_set.attach(it.clone()));
    writer.write(&position("tram", 1)).unwrap();
    assert_eq!(wait_set.wait(PATIENCE).unwrap(), [unread.clone().into()]);
    assert!(reader.take_w_condition(&read, 10).unwrap().is_empty());

    // Another thread waits for what this one's reading brings about.
    let only_read = WaitSet::new();
    only_read.attach(read.clone());
    let waiting = thread::spawn(move || only_read.wait(PATIENCE));
    assert_eq!(reader.read_w_condition(&unread, 10).unwrap().len(), 1);
    assert_eq!(waiting.join().unwrap().unwrap(), [read.clone().into()]);
    check(&all, &[read.clone().into()]);

    writer.dispose(&position("tram", 1)).unwrap();
    wait_set.detach(read.clone()).unwrap();
    let met = wait_set.wait(PATIENCE).unwrap();
    assert!(met.contains(&gone.clone().into()), "{met:?}");
    let taken = reader.take_w_condition(&gone, 10).unwrap();
    let without_data = taken.iter().filter(|sample| sample.data().is_none());
    assert_eq!(without_data.count(), 1);
    check(&all, &[]);

    let (_, other) = matched_pair();
    let outcome = other.take_w_condition(&read, 1);
    assert!(matches!(outcome, Err(Error::PreconditionNotMet(_))));
}

#[test]
fn conditions_of_entities_that_are_gone_are_never_true() {
    let (writer, reader) = matched_pair();
    writer.write(&position("tram", 1)).unwrap();
    reader.wait_for_data(PATIENCE).unwrap();
    let status = reader.status_condition();
    let any = reader.create_readcondition(SampleStates::ANY, ViewStates::ANY, InstanceStates::ANY);
    let all = [status.clone().into(), any.into()];
    check(&all, &all);
    drop(reader);
    check(&all, &[]);
    assert!(status.enabled_statuses().is_empty());
    status.set_enabled_statuses(StatusMask::ALL);
}

#[test]
fn entities_may_go_while_threads_wait_for_them() {
    let (writer, reader) = matched_pair();
    let (guard, wait_set) = (GuardCondition::new(), WaitSet::new());
    // The match has been read, so that nothing is true yet.
    let _ = (
        reader.subscription_matched_status(),
        reader.liveliness_changed_status(),
    );
    wait_set.attach(reader.status_condition());
    wait_set.attach(guard.clone());
    let on_set = thread::spawn(move || wait_set.wait(PATIENCE));
    let blocked = thread::spawn({
        let reader = reader.clone();
        move || reader.take_timeout(1, PATIENCE)
    });
    drop(reader);
    writer.write(&position("tram", 7)).unwrap();
    let taken = blocked.join().unwrap().unwrap();
    assert_eq!(taken[0].data(), Some(&position("tram", 7)));
    drop(writer);
    guard.set_trigger_value(true);
    assert!(!on_set.join().unwrap().unwrap().is_empty());
}

#[test]
fn subscribers_know_of_data_in_their_readers() {
    let (here, there) = pair();
    let writer = here
        .create_datawriter(
            &here.create_topic::<Position>("positions").unwrap(),
            whimbrel::DataWriterQos::default().reliable(),
        )
        .unwrap();
    let subscriber = there.create_subscriber(Default::default()).unwrap();
    let topic = there.create_topic::<Position>("positions").unwrap();
    let qos = whimbrel::DataReaderQos::default().reliable();
    let reader = subscriber.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    let condition = subscriber.status_condition();
    check(&[condition.clone().into()], &[]);
    let wait_set = WaitSet::new();
    wait_set.attach(condition.clone());
    writer.write(&position("tram", 1)).unwrap();
    wait_set.wait(PATIENCE).unwrap();
    let changed = subscriber.status_changes();
    assert_eq!(changed, StatusMask::of(StatusKind::DataOnReaders));
    assert_eq!(reader.take(10).unwrap().len(), 1);
    check(&[condition.clone().into()], &[]);
    // DDS 1.4 §2.2.4.1: a look at any of its readers ends it, also one that finds nothing.
    let topic = there.create_topic::<Position>("others").unwrap();
    let qos = whimbrel::DataReaderQos::default();
    let idle = subscriber.create_datareader(&topic, qos).unwrap();
    assert!(idle.take(10).unwrap().is_empty());
    writer.write(&position("tram", 2)).unwrap();
    wait_set.wait(PATIENCE).unwrap();
    assert!(idle.take(10).unwrap().is_empty());
    check(&[condition.into()], &[]);
}
