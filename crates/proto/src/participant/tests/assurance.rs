//! Participants without multicast that keep each other alive in few octets.

use super::*;

/// Octets of a sign of life: RTPS header and HEARTBEAT.
const REMINDER_BYTES: usize = 20 + 32;

/// Two that know of each other by probing only, at rest.
fn at_rest() -> Net {
    let mut net = met(probing(1), probing(2));
    net.run(seconds(10));
    net.take(1);
    net.take(2);
    net.log.clear();
    net
}

/// Lengths of what was sent to participant `number`.
fn lengths(net: &Net, number: u8) -> Vec<usize> {
    let to = |(_, (to, _, _)): &&(Instant, Sent)| *to == address(number);
    let sent = net.log.iter().filter(to);
    sent.map(|(_, (_, _, bytes))| bytes.len()).collect()
}

#[test]
fn who_has_our_announcement_is_reminded_and_stays() {
    let mut net = at_rest();
    net.run(seconds(60));
    for number in [1, 2] {
        let lengths = lengths(&net, number);
        assert!((18..=23).contains(&lengths.len()), "{lengths:?}");
        assert!(
            lengths.iter().all(|it| *it == REMINDER_BYTES),
            "{lengths:?}"
        );
        assert!(net.take(number).is_empty());
        assert_eq!(net.member(number).rejects().total(), 0);
    }
}

#[test]
fn little_is_sent_at_rest_by_each_of_six() {
    let wide = |number| ParticipantConfig {
        probe: (1..=120).map(address).collect(),
        name: "a name of some length".into(),
        ..probing(number)
    };
    let mut net = Net::of((1..=6).map(wide));
    net.run(seconds(300));
    net.log.clear();
    let window = 240;
    net.run(seconds(window));
    for number in 1..=6 {
        let from = |(_, (_, from, _)): &&(Instant, Sent)| *from == address(number);
        let bytes = net.log.iter().filter(from);
        let bytes: usize = bytes.map(|(_, (_, _, bytes))| bytes.len()).sum();
        let rate = bytes as i64 / window;
        assert!(rate < 400, "{number} sends {rate} B/s");
        assert_eq!(net.member(number).participants().count(), 5);
    }
}

#[test]
fn changed_user_data_reaches_who_was_only_reminded() {
    let mut net = at_rest();
    let now = net.now;
    net.member(1).set_user_data(now, vec![9]);
    net.run(seconds(4));
    let known = |net: &mut Net| {
        let one = net.member(2).participant(prefix(1)).unwrap();
        one.data.user_data.clone()
    };
    assert_eq!(known(&mut net), [9]);
    // The next change is lost at first, so that nothing is answered, and is told until it is.
    net.run(seconds(10));
    let now = net.now;
    net.member(1).set_user_data(now, vec![10]);
    let two = net.members.remove(&2).unwrap();
    net.run(seconds(5));
    net.members.insert(2, two);
    net.run(seconds(4));
    assert_eq!(known(&mut net), [10]);
}

#[test]
fn who_has_lost_the_other_asks_when_it_is_reminded() {
    let mut net = at_rest();
    let now = net.now;
    net.member(2).forget_participant(now, prefix(1), false);
    net.run(Duration::from_millis(3400));
    assert!(net.member(2).participant(prefix(1)).unwrap().confirmed);
    let writer = Guid::new(prefix(1), WRITER);
    assert!(net.member(2).remote_writer(writer).is_some());
    assert_eq!(matched_writers(&net.take(2)).len(), 1);
    // It is told all again, and reminded once it has answered that.
    net.run(seconds(10));
    net.log.clear();
    net.run(seconds(10));
    assert!(lengths(&net, 2).iter().all(|it| *it == REMINDER_BYTES));
}

#[test]
fn strangers_are_not_asked_and_lost_ones_not_too_often() {
    let mut net = at_rest();
    let now = net.now;
    net.member(2).forget_participant(now, prefix(1), false);
    net.members.remove(&1);
    let reminder = |from: GuidPrefix| {
        let fields = crate::message::HeartbeatFields {
            first: whimbrel_base::sequence::SequenceNumber(1),
            last: whimbrel_base::sequence::SequenceNumber(0),
            count: whimbrel_base::sequence::Count(100),
            is_final: true,
        };
        let mut message = MessageBuilder::new(from);
        message.begin(1400);
        message.heartbeat(
            EntityId::PARTICIPANT_MESSAGE_READER,
            EntityId::PARTICIPANT_MESSAGE_WRITER,
            fields,
        );
        sent_alone(&mut message)
    };
    net.settle();
    net.log.clear();
    let wall = net.wall();
    for from in [prefix(1), prefix(1), prefix(7)] {
        let _ = receive(net.member(2), now, wall, address(1), &reminder(from));
        net.settle();
    }
    assert_eq!(net.sent_to(address(1)), 1);
    assert_eq!(net.log.len(), 1);
}

#[test]
fn other_products_are_told_in_full() {
    let mut net = at_rest();
    let vendor = whimbrel_base::vendor::VendorId::CYCLONE_DDS;
    let one = net.member(1);
    one.remotes.get_mut(&prefix(2)).unwrap().data.vendor = vendor;
    net.run(seconds(10));
    assert!(lengths(&net, 2).iter().all(|it| *it > REMINDER_BYTES));
    assert!(lengths(&net, 1).contains(&REMINDER_BYTES));
}
