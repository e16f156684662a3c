//! Departures, leases, and who forgets whom.

use super::*;

#[test]
fn departure_is_told() {
    let mut net = met(config(1), config(2));
    net.take(1);
    let now = net.now;
    net.member(2).depart(now);
    net.run(Duration::ZERO);
    let events = net.take(1);
    let reader = Guid::new(prefix(2), READER);
    assert!(has(
        &events,
        &ParticipantEvent::ReaderUnmatched {
            writer: WRITER,
            reader,
            lost: false,
        }
    ));
    let lost = ParticipantEvent::ParticipantLost {
        prefix: prefix(2),
        departed: true,
    };
    assert!(has(&events, &lost));
    assert_eq!(net.member(2).poll_timeout(), None);
    let one = net.member(1);
    assert_eq!(
        (one.participants().count(), one.remote_readers().count()),
        (0, 0)
    );
    assert_eq!(one.match_count(), 0);
    assert_eq!(one.statistics().participants_departed, 1);
    // An announcement that was overtaken by the departure brings nobody back.
    let (_, late) = net
        .log
        .iter()
        .find(|(_, sent)| sent.1 == address(2))
        .unwrap()
        .clone();
    net.deliver(&late);
    assert_eq!(net.member(1).participants().count(), 0);
}

#[test]
fn leases_end_and_any_packet_renews_them() {
    let mut net = met(config(1), config(2));
    net.take(1);
    let now = net.now;
    let left = net
        .member(1)
        .participant(prefix(2))
        .unwrap()
        .lease_left(now);
    assert!(left > seconds(7) && left <= seconds(10));
    // Two falls silent, but the driver goes on hearing user data for a while.
    net.members.remove(&2);
    let heard = net.member(1).heard(prefix(2)).unwrap();
    for _ in 0..3 {
        net.run(seconds(8));
        heard.note(net.now);
    }
    assert!(net.member(1).participant(prefix(2)).is_some());
    net.run(Duration::from_millis(9_900));
    assert!(net.take(1).is_empty());
    net.run(Duration::from_millis(200));
    let events = net.take(1);
    let lost = ParticipantEvent::ParticipantLost {
        prefix: prefix(2),
        departed: false,
    };
    let reader = Guid::new(prefix(2), READER);
    assert!(has(&events, &lost));
    assert!(has(
        &events,
        &ParticipantEvent::ReaderUnmatched {
            writer: WRITER,
            reader,
            lost: true,
        }
    ));
    assert_eq!(net.member(1).statistics().participants_expired, 1);
    assert!(net.member(1).heard(prefix(2)).is_none());
}

#[test]
fn they_keep_each_other_for_ever() {
    for (one, two) in [(config(1), config(2)), (probing(1), probing(2))] {
        let mut net = met(one, two);
        net.take(1);
        net.take(2);
        net.run(seconds(120));
        assert_eq!(net.take(1), []);
        assert_eq!(net.take(2), []);
    }
}

#[test]
fn who_forgot_us_is_served_from_the_start() {
    let mut net = met(config(1), config(2));
    net.take(1);
    net.take(2);
    // Two forgets one, which does not notice.
    let now = net.now;
    net.member(2).forget_participant(now, prefix(1), false);
    net.run(seconds(15));
    let writer = Guid::new(prefix(1), WRITER);
    assert!(net.member(2).remote_writer(writer).is_some());
    assert_eq!(matched_writers(&net.take(2)).len(), 1);
    let one = net.take(1);
    let reader = Guid::new(prefix(2), READER);
    assert!(has(
        &one,
        &ParticipantEvent::ReaderUnmatched {
            writer: WRITER,
            reader,
            lost: true,
        }
    ));
    assert_eq!(matched_readers(&one).len(), 1);
    assert_eq!(net.member(1).statistics().resumed, 1);
}

#[test]
fn who_comes_back_hears_of_what_ended_meanwhile() {
    let mut net = met(config(1), config(2));
    let late = LocalWriter {
        entity: EntityId([0, 0, 5, 2]),
        ..local_writer("Square")
    };
    let now = net.now;
    net.member(1).add_writer(now, late);
    net.run(seconds(1));
    net.take(2);
    // One takes two for lost, which goes on hearing one, and meanwhile a writer ends.
    let now = net.now;
    net.member(1).forget_participant(now, prefix(2), false);
    net.member(1).remove_writer(now, WRITER);
    net.run(seconds(15));
    let gone = Guid::new(prefix(1), WRITER);
    assert!(net.member(2).remote_writer(gone).is_none());
    let unmatched = ParticipantEvent::WriterUnmatched {
        reader: READER,
        writer: gone,
    };
    assert!(has(&net.take(2), &unmatched));
    assert_eq!(net.member(2).remote_writers().count(), 1);
    assert_eq!(net.member(1).remote_readers().count(), 1);
}

#[test]
fn who_only_seems_to_have_forgotten_us_hears_of_the_end_that_it_missed() {
    let mut net = Net::of([config(1), config(2), config(3)]);
    let now = net.now;
    net.member(1).add_writer(now, local_writer("Square"));
    net.run(seconds(2));
    let gone = Guid::new(prefix(1), WRITER);
    assert!(net.member(2).remote_writer(gone).is_some());
    // The end is lost on its way to two, and so is the first answer to what looks like its start.
    let two = net.members.remove(&2).unwrap();
    let now = net.now;
    net.member(1).remove_writer(now, WRITER);
    net.run(Duration::from_millis(20));
    assert!(net.member(3).remote_writer(gone).is_none());
    let now = net.now;
    net.member(1).resume_participant(now, prefix(2));
    net.run(Duration::from_millis(20));
    net.members.insert(2, two);
    net.run(seconds(5));
    assert!(net.member(2).remote_writer(gone).is_none());
    assert_eq!(net.member(1).statistics().participants_expired, 0);
}

#[test]
fn endpoints_that_are_gone_are_forgotten_though_others_come_and_go_all_the_time() {
    let mut net = Net::of([config(1)]);
    let now = net.now;
    net.member(1).add_writer(now, local_writer("Square"));
    let mut held = vec![];
    for number in 2..=200 {
        net.add(config(number));
        let late = LocalWriter {
            entity: EntityId([0, number, 5, 2]),
            ..local_writer("Square")
        };
        let now = net.now;
        net.member(1).add_writer(now, late.clone());
        net.run(Duration::from_millis(500));
        assert_eq!(net.member(number).remote_writers().count(), 2);
        // It leaves before it hears of the end.
        let now = net.now;
        net.member(1).remove_writer(now, late.entity);
        net.member(number).depart(now);
        net.run(Duration::from_millis(500));
        net.members.remove(&number);
        held.push(net.member(1).builtin.held_bytes());
    }
    assert_eq!(net.member(1).participants().count(), 0);
    assert_eq!(held.first(), held.last(), "{held:?}");
}

#[derive(Default)]
struct Reached {
    sent_to: Vec<Locator>,
    /// The only port at which somebody listens, where that is known.
    listening: Option<u32>,
}

impl Outbox for Reached {
    fn send(&mut self, to: &[Locator], _parts: &[&[u8]]) {
        self.sent_to.extend_from_slice(to);
    }

    fn retain_listened(&mut self, to: &mut Vec<Locator>) {
        to.retain(|it| self.listening.is_none_or(|port| it.port == port));
    }
}

#[test]
fn a_farewell_reaches_those_that_were_only_probed() {
    let mut participant = Participant::new(Instant(0), probing(1));
    let mut probed = Reached::default();
    participant.handle_timeout(Instant(0));
    participant.poll_transmit(Instant(0), &mut probed);
    assert!(!probed.sent_to.is_empty());
    participant.depart(Instant(1));
    let mut farewell = Reached::default();
    participant.poll_transmit(Instant(1), &mut farewell);
    let is_told = |locator| farewell.sent_to.contains(locator);
    assert!(probed.sent_to.iter().all(is_told));
}

#[test]
fn ports_at_which_nobody_listens_are_probed_once() {
    let config = probing(1);
    let probe = config.probe.clone();
    let listening = probe[3];
    let mut participant = Participant::new(Instant(0), config);
    let mut reached = Reached {
        listening: Some(listening.port),
        ..Reached::default()
    };
    // Several rounds: a minute of announcements.
    let mut now = Instant(0);
    while now < Instant(0).after(Duration::from_secs(60)) {
        participant.handle_timeout(now);
        participant.poll_transmit(now, &mut reached);
        now = participant.poll_timeout().unwrap().0;
    }
    let times = |of: &Locator| reached.sent_to.iter().filter(|to| *to == of).count();
    // The first is its own.
    for locator in probe.iter().skip(1) {
        let rounds = times(locator);
        assert_eq!(rounds > 1, *locator == listening, "{rounds}");
        assert!(rounds > 0);
    }
}
