//! Participants that move, or seem to.

use super::*;

#[test]
fn who_moves_is_followed() {
    let mut net = met(config(1), config(2));
    net.take(1);
    let mut moved = config(2);
    moved.default_unicast = vec![at("127.0.0.1:9999")];
    let (now, wall) = (net.now, net.wall());
    let bytes = announcement_of(moved);
    receive(net.member(1), now, wall, address(2), &bytes).unwrap();
    net.settle();
    let readers = matched_readers(&net.take(1));
    assert_eq!(readers.len(), 1);
    assert_eq!(readers[0].1.locators, [at("127.0.0.1:9999")]);
}

#[test]
fn announcements_by_two_ways_do_not_flap() {
    let interface = |ip: [u8; 4]| InterfaceAddress {
        ip: ip.into(),
        prefix_len: 24,
        mtu: 1500,
        loopback: false,
    };
    let one = ParticipantConfig {
        interfaces: vec![interface([10, 0, 0, 1]), interface([10, 0, 1, 1])],
        ..config(1)
    };
    let mut participant = Participant::new(Instant(0), one);
    let both = vec![at("10.0.0.2:7412"), at("10.0.1.2:7412")];
    let bytes = announcement_of(ParticipantConfig {
        metatraffic_unicast: both,
        ..config(2)
    });
    let mut hear = |second: u64, from: &str| {
        let now = Instant(second * 1_000_000_000);
        receive(&mut participant, now, Timestamp(0), at(from), &bytes).unwrap();
        participant
            .participant(prefix(2))
            .unwrap()
            .metatraffic
            .locators[0]
            .to_string()
    };
    for second in 0..20 {
        assert_eq!(hear(second, "10.0.0.2:1"), "udp/10.0.0.2:7412");
        assert_eq!(hear(second, "10.0.1.2:1"), "udp/10.0.0.2:7412");
    }
    for second in 20..30 {
        hear(second, "10.0.1.2:1");
    }
    assert_eq!(hear(30, "10.0.1.2:1"), "udp/10.0.1.2:7412");
}

fn elsewhere(number: u8, ip: &str) -> ParticipantConfig {
    let listens = at(&alloc::format!("{ip}:7410"));
    ParticipantConfig {
        metatraffic_unicast: vec![listens],
        default_unicast: vec![listens],
        interfaces: vec![link(ip)],
        ..config(number)
    }
}

fn link(ip: &str) -> InterfaceAddress {
    InterfaceAddress {
        ip: ip.parse().unwrap(),
        prefix_len: 24,
        mtu: 1500,
        loopback: false,
    }
}

#[test]
fn an_address_that_changes_is_announced_at_once_and_keeps_the_match() {
    let mut net = Net::of([elsewhere(1, "10.7.0.1"), elsewhere(2, "10.7.0.2")]);
    let now = net.now;
    net.member(1).add_writer(now, local_writer("Square"));
    net.member(2).add_reader(now, local_reader("Square"));
    net.run(seconds(10));
    assert_eq!(matched_readers(&net.take(1)).len(), 1);
    net.take(2);

    let now = net.now;
    let moved = Addresses {
        unicast: vec![at("10.7.0.9:7410")],
        interfaces: vec![link("10.7.0.9")],
        ..net.member(2).config.addresses()
    };
    net.member(2).handle_addresses(now, moved.clone());
    net.run(Duration::from_millis(600));
    let events = net.take(1);
    let matches = matched_readers(&events);
    assert_eq!(matches.len(), 1, "{events:?}");
    assert_eq!(matches[0].1.locators, [at("10.7.0.9:7410")]);
    assert!(!events.iter().any(|event| matches!(
        event,
        ParticipantEvent::ReaderUnmatched { .. } | ParticipantEvent::ParticipantLost { .. }
    )));
    // An echo of what was sent from the old address is nobody else's claim.
    net.run(seconds(1));
    let claimed = |it: &ParticipantEvent| matches!(it, ParticipantEvent::OwnGuidClaimed { .. });
    assert!(!net.take(2).iter().any(claimed));

    // The same addresses again are no news.
    let before = net.log.len();
    let now = net.now;
    net.member(2).handle_addresses(now, moved);
    net.settle();
    assert_eq!(net.log.len(), before);

    // A narrower path reaches the writers and is not worth an announcement.
    let paths = vec![("10.7.0.9".parse().unwrap(), 548)];
    let narrow = Addresses {
        paths,
        ..net.member(1).config.addresses()
    };
    net.member(1).handle_addresses(now, narrow);
    net.settle();
    assert_eq!(net.log.len(), before);
    let matches = matched_readers(&net.take(1));
    assert_eq!(matches[0].1.message_bytes_max, 548);
}
