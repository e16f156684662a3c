//! How participants meet, and what they say when nothing happens.

use super::*;

fn check_met(net: &mut Net) {
    let (writer, reader) = (Guid::new(prefix(1), WRITER), Guid::new(prefix(2), READER));
    let one = net.take(1);
    let two = net.take(2);
    assert!(has(
        &one,
        &ParticipantEvent::ParticipantDiscovered(prefix(2))
    ));
    assert!(has(
        &two,
        &ParticipantEvent::ParticipantDiscovered(prefix(1))
    ));
    assert!(has(&one, &ParticipantEvent::RoutingChanged));
    let readers = matched_readers(&one);
    assert_eq!(readers.len(), 1);
    assert_eq!(readers[0].0, WRITER);
    assert_eq!(readers[0].1.guid, reader);
    assert_eq!(readers[0].1.locators, [at("127.0.0.1:7413")]);
    assert_eq!(readers[0].1.message_bytes_max, 65_507);
    assert!(!readers[0].1.reliable && !readers[0].1.durable);
    let writers = matched_writers(&two);
    assert_eq!(writers.len(), 1);
    assert_eq!(writers[0].1.guid, writer);
    assert_eq!(writers[0].1.locators, [at("127.0.0.1:7411")]);
    assert!(writers[0].1.reliable);
    assert!(has(
        &one,
        &ParticipantEvent::PeerConfirmed {
            local: WRITER,
            remote: reader
        }
    ));
    assert!(has(
        &two,
        &ParticipantEvent::PeerConfirmed {
            local: READER,
            remote: writer
        }
    ));
    let known = net.member(2).participant(prefix(1)).unwrap();
    assert_eq!(known.data.entity_name, "one");
    assert!(known.confirmed);
    assert_eq!(net.member(1).remote_readers().count(), 1);
    assert_eq!(net.member(2).remote_writers().count(), 1);
    assert_eq!(net.member(1).rejects().total(), 0);
    assert_eq!(net.member(2).rejects().total(), 0);
}

#[test]
fn they_meet_by_multicast() {
    check_met(&mut met(config(1), config(2)));
}

#[test]
fn they_meet_by_an_explicit_peer() {
    let alone = |number| ParticipantConfig {
        metatraffic_multicast: vec![],
        announce_to: vec![],
        ..config(number)
    };
    let one = ParticipantConfig {
        announce_to: vec![address(2)],
        ..alone(1)
    };
    check_met(&mut met(one, alone(2)));
}

#[test]
fn they_meet_by_probing_and_then_leave_taken_ports_alone() {
    let mut net = met(probing(1), probing(2));
    check_met(&mut net);
    assert_eq!(net.member(1).statistics().probes_sent, 9);
    net.log.clear();
    net.run(seconds(20));
    // The next round leaves out ourselves and whom we know.
    assert_eq!(net.member(1).statistics().probes_sent, 9 + 8);
    assert_eq!(net.sent_to(address(3)), 2);
    assert_eq!(net.member(1).participants().count(), 1);
    assert!(net.take(1).is_empty());
}

#[test]
fn a_late_participant_by_probing_is_found_by_its_own_probes() {
    let mut net = Net::of([probing(1)]);
    net.run(seconds(7));
    net.add(probing(2));
    net.run(Duration::from_millis(500));
    assert!(net.member(1).participant(prefix(2)).unwrap().confirmed);
    assert!(net.member(2).participant(prefix(1)).unwrap().confirmed);
}

#[test]
fn groups_that_carry_nothing_are_found_out() {
    let one = ParticipantConfig {
        announce_to: vec![at(GROUP), address(2)],
        ..config(1)
    };
    let mut net = Net {
        no_multicast: true,
        ..Net::of([one, config(2)])
    };
    net.run(seconds(2));
    net.take(1);
    net.take(2);
    net.run(seconds(120));
    assert_eq!(net.take(1), []);
    assert_eq!(net.take(2), []);
    assert_eq!(net.member(1).participants().count(), 1);
}

#[test]
fn idle_participants_with_multicast_only_announce() {
    let mut net = met(config(1), config(2));
    net.run(seconds(10));
    net.log.clear();
    net.run(seconds(300));
    assert!(net.log.iter().all(|(_, (to, _, _))| *to == at(GROUP)));
    // Two participants, every 3 s give or take.
    assert!((190..=210).contains(&net.log.len()), "{}", net.log.len());
    let bytes: usize = net.log.iter().map(|(_, (_, _, bytes))| bytes.len()).sum();
    assert!(bytes / 300 / 2 < 120, "{bytes}");
}

#[test]
fn other_domains_and_tags_are_ignored() {
    let other_domain = ParticipantConfig {
        domain_id: 1,
        ..config(2)
    };
    let other_tag = ParticipantConfig {
        domain_tag: "lab".into(),
        ..config(3)
    };
    let mut net = Net::of([config(1), other_domain, other_tag]);
    net.run(seconds(10));
    for number in [1, 2, 3] {
        assert_eq!(net.member(number).participants().count(), 0);
        assert!(net.member(number).statistics().other_domain > 0);
    }
}

#[test]
fn changed_user_data_reaches_the_others_at_once() {
    let mut net = Net::of([config(1), config(2)]);
    net.run(seconds(10));
    let at_first = net.log[0].clone();
    net.take(2);
    let now = net.now;
    net.member(1).set_user_data(now, vec![7; 9]);
    net.settle();
    let seen = net.member(2).participant(prefix(1)).unwrap();
    assert_eq!(seen.data.user_data, [7; 9]);
    assert!(has(&net.take(2), &ParticipantEvent::RoutingChanged));
    // One that was away during the first announcement hears a second one soon.
    let sent = net.sent_to(at(GROUP));
    net.run(seconds(1));
    assert!(net.sent_to(at(GROUP)) > sent + 1);
    // What we said before may come back late; nobody else has said it.
    let (now, wall) = (net.now, net.wall());
    let (_, (_, from, bytes)) = at_first;
    receive(net.member(1), now, wall, from, &bytes).unwrap();
    assert_eq!(net.member(1).rejects().total(), 0);
}

#[test]
fn the_same_inputs_give_the_same_octets() {
    let run = || {
        let mut net = met(config(1), probing(2));
        net.run(seconds(30));
        (net.log, net.events)
    };
    assert_eq!(run(), run());
}

#[test]
fn a_crowd_meets_quickly() {
    let mut net = Net::of((1..=40).map(config));
    let now = net.now;
    for number in 1..=40 {
        net.member(number).add_writer(now, local_writer("Square"));
        net.member(number).add_reader(now, local_reader("Square"));
    }
    net.run(Duration::from_millis(500));
    for number in 1..=40 {
        assert_eq!(net.member(number).participants().count(), 39);
        assert_eq!(net.member(number).match_count(), 80);
        let confirmed =
            |it: &&ParticipantEvent| matches!(it, ParticipantEvent::PeerConfirmed { .. });
        assert_eq!(net.take(number).iter().filter(confirmed).count(), 80);
    }
}
