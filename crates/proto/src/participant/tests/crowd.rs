//! What it takes to meet many, and to stay with them.

use super::*;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_wire::message::{Submessage, Submessages};

/// What `net` has sent, by kind of submessage as `kind` tells.
fn count(net: &Net, kind: impl Fn(&Submessage<'_>) -> bool) -> usize {
    let of = |bytes: &[u8]| {
        let (_, submessages) = Submessages::new(bytes).unwrap();
        let parsed = submessages.map(|raw| raw.unwrap().parse().unwrap());
        parsed.filter(&kind).count()
    };
    net.log.iter().map(|(_, (_, _, bytes))| of(bytes)).sum()
}

/// `count` participants with five writers each that know one another.
fn settled(count: u8) -> Net {
    let mut net = Net::of((1..=count).map(config));
    for number in 1..=count {
        add_writers(&mut net, number);
    }
    net.run(seconds(20));
    net
}

/// A writer of its own number.
fn numbered(key: u32) -> LocalWriter {
    LocalWriter {
        entity: EntityId::user(key, EntityKind::WriterWithKey),
        ..local_writer("Square")
    }
}

fn writers() -> impl Iterator<Item = LocalWriter> {
    (1..=5).map(numbered)
}

fn add_writers(net: &mut Net, number: u8) {
    let now = net.now;
    for writer in writers() {
        net.member(number).add_writer(now, writer);
    }
}

#[test]
fn one_more_among_many_costs_each_a_few_datagrams() {
    let mut net = settled(20);
    net.log.clear();
    net.add(config(21));
    add_writers(&mut net, 21);
    net.run(seconds(20));
    for number in 1..=20 {
        assert!(
            net.member(number)
                .participant(prefix(21))
                .unwrap()
                .confirmed
        );
        // Its answer, its endpoints, two acknowledgements.
        let sent = net.log.iter();
        let sent = sent.filter(|(_, (to, from, _))| *to == address(21) && *from == address(number));
        let sent = sent.count();
        assert!(sent <= 4, "{number}: {sent}");
        assert!(net.sent_to(address(number)) <= 4);
    }
}

#[test]
fn each_endpoint_is_told_once_and_nobody_asks_for_what_nobody_writes() {
    let mut net = settled(12);
    let announcements = |it: &Submessage<'_>| {
        matches!(it, Submessage::Data(data)
            if data.writer == EntityId::SEDP_PUBLICATIONS_WRITER)
    };
    assert_eq!(count(&net, announcements), 12 * 11 * 5);
    // Questions in answers alone.
    let messages = |it: &Submessage<'_>| {
        matches!(it, Submessage::Heartbeat(heartbeat)
            if heartbeat.writer == EntityId::PARTICIPANT_MESSAGE_WRITER)
    };
    assert!(count(&net, messages) <= 12 * 11);
    net.log.clear();
    net.run(seconds(60));
    assert_eq!(count(&net, |it| matches!(it, Submessage::Heartbeat(_))), 0);
}

#[test]
fn endpoints_made_one_after_the_other_are_announced_together() {
    let mut net = settled(2);
    net.log.clear();
    for number in 0..30 {
        let now = net.now;
        net.member(1).add_writer(now, numbered(100 + number));
        net.run(Duration::from_micros(300));
    }
    net.run(Duration::from_millis(20));
    let known = net.member(2).remote_writers.len();
    assert_eq!(known, 35);
    // At once, then every 5 ms: 30 take 9 ms.
    let to_it = net.sent_to(address(2));
    assert!(to_it <= 4, "{to_it}");
}

#[test]
fn who_hears_multicast_again_stops_telling_each_alone() {
    let config = |number| ParticipantConfig {
        probe: (1..=10).map(address).collect(),
        ..config(number)
    };
    let mut net = Net {
        no_multicast: true,
        ..Net::of([config(1), config(2)])
    };
    net.run(seconds(60));
    assert_eq!(net.member(1).participants().count(), 1);
    net.no_multicast = false;
    net.run(seconds(20));
    net.log.clear();
    net.run(seconds(60));
    // Probes of ports that are nobody's go on.
    assert_eq!((net.sent_to(address(1)), net.sent_to(address(2))), (0, 0));
    assert_eq!(net.member(1).participants().count(), 1);
}

/// Lets what members 1 and 2 say to each other take `delay`.
fn slow_meeting(delay: Duration, span: Duration) -> (usize, [Participant; 2]) {
    let start = Instant(1_000_000_000);
    let mut members = [1, 2].map(|number| Participant::new(start, config(number)));
    for member in &mut members {
        for writer in writers() {
            member.add_writer(start, writer);
        }
    }
    let mut way: Vec<(Instant, Sent)> = vec![];
    let mut datagrams = 0;
    let mut now = start;
    while now < start.after(span) {
        let arrived: Vec<Sent> = way
            .extract_if(.., |(at, _)| *at <= now)
            .map(|it| it.1)
            .collect();
        for (to, from, bytes) in arrived {
            for member in &mut members {
                let own = member.config.metatraffic_unicast[0];
                if from != own && (to == own || to == at(GROUP)) {
                    let _ = receive(member, now, Timestamp(1), from, &bytes);
                }
            }
        }
        for member in &mut members {
            let from = member.config.metatraffic_unicast[0];
            let mut sent = vec![];
            let mut wire = Wire {
                from,
                sent: &mut sent,
            };
            member.poll_transmit(now, &mut wire);
            datagrams += sent.iter().filter(|(to, _, _)| *to != at(GROUP)).count();
            way.extend(sent.into_iter().map(|it| (now.after(delay), it)));
        }
        now = now.after(Duration::from_millis(10));
    }
    (datagrams, members)
}

#[test]
fn those_that_are_slow_to_answer_are_not_asked_all_the_time() {
    let (datagrams, members) = slow_meeting(Duration::from_millis(800), seconds(10));
    for (member, other) in members.iter().zip([2, 1]) {
        assert_eq!(member.remote_writers.len(), 5);
        let remote = member.participant(prefix(other)).unwrap();
        assert_eq!(remote.publications_acked, SequenceNumber(5));
    }
    assert!(datagrams <= 40, "{datagrams}");
}

#[test]
fn an_announcement_that_changes_back_counts_again() {
    let mut net = met(config(1), config(2));
    let name = |net: &mut Net| {
        net.member(1)
            .participant(prefix(2))
            .unwrap()
            .data
            .user_data
            .clone()
    };
    for user_data in [b"one", b"two", b"one"] {
        let now = net.now;
        net.member(2).set_user_data(now, user_data.to_vec());
        net.run(Duration::from_millis(10));
        assert_eq!(name(&mut net), user_data);
    }
    let known = net.member(1).participant(prefix(2)).unwrap();
    let repeated = known.announcement.clone();
    assert!(!repeated.is_empty());
    // The same from elsewhere is no repetition.
    let from = at("10.7.0.9:7410");
    let message = announcement_of(config(2));
    let (now, wall) = (net.now, net.wall());
    assert!(receive(net.member(1), now, wall, from, &message).is_ok());
    let known = net.member(1).participant(prefix(2)).unwrap();
    assert!(known.contest.is_some() && known.announcement == repeated);
    assert_eq!(name(&mut net), b"one");
}
