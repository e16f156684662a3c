//! Who is believed, served and admitted.

use super::*;

#[test]
fn our_own_voice_is_known_and_impostors_are_reported() {
    let mut net = Net::of([config(1)]);
    net.run(seconds(5));
    assert!(net.take(1).is_empty());
    assert!(net.member(1).statistics().own_heard > 3);
    assert_eq!(net.member(1).rejects().total(), 0);
    let (_, (_, _, own)) = net.log[0].clone();
    let (now, wall) = (net.now, net.wall());
    // Somebody on this host who announces something else under our name.
    let other = ParticipantConfig {
        name: "impostor".into(),
        ..config(1)
    };
    let mut twin = Participant::new(now, other);
    let mut sent = vec![];
    twin.poll_transmit(
        now,
        &mut Wire {
            from: address(5),
            sent: &mut sent,
        },
    );
    for from in [address(5), address(5)] {
        let refused = receive(net.member(1), now, wall, from, &sent[0].2).unwrap_err();
        assert_eq!(refused.kind, RejectKind::OwnGuid);
    }
    // Our farewell comes back too.
    let mut leaving = Participant::new(now, config(9));
    leaving.poll_transmit(
        now,
        &mut Wire {
            from: address(9),
            sent: &mut sent,
        },
    );
    leaving.depart(now);
    leaving.poll_transmit(
        now,
        &mut Wire {
            from: address(9),
            sent: &mut sent,
        },
    );
    let farewell = sent.pop().unwrap().2;
    receive(&mut leaving, now, wall, address(9), &farewell).unwrap();
    assert_eq!(leaving.rejects().total(), 0);
    // Somebody elsewhere who repeats our words.
    let elsewhere = at("203.0.113.9:7410");
    assert!(receive(net.member(1), now, wall, elsewhere, &own).is_err());
    net.settle();
    let claims: Vec<_> = net
        .take(1)
        .into_iter()
        .filter(|event| *event != ParticipantEvent::RoutingChanged)
        .collect();
    let claimed = |from| ParticipantEvent::OwnGuidClaimed { from };
    assert_eq!(claims, [claimed(address(5)), claimed(elsewhere)]);
    assert_eq!(net.member(1).participants().count(), 0);
}

#[test]
fn nobody_speaks_for_another() {
    let mut net = met(config(1), config(2));
    net.take(1);
    let (now, wall) = (net.now, net.wall());
    // Three announces, and disposes of, what is two's.
    let stranger = ParticipantConfig {
        guid_prefix: prefix(3),
        ..config(3)
    };
    let mut forged = announcement_of(stranger.clone());
    for at in 0..forged.len() - 12 {
        if at > 20 && forged[at..at + 12] == prefix(3).0 {
            forged[at..at + 12].copy_from_slice(&prefix(2).0);
        }
    }
    let refused = receive(net.member(1), now, wall, address(3), &forged).unwrap_err();
    assert_eq!(refused.kind, RejectKind::Stranger);
    let mut leaving = Participant::new(now, stranger);
    let mut sent = vec![];
    leaving.poll_transmit(
        now,
        &mut Wire {
            from: address(3),
            sent: &mut sent,
        },
    );
    sent.clear();
    leaving.depart(now);
    leaving.poll_transmit(
        now,
        &mut Wire {
            from: address(3),
            sent: &mut sent,
        },
    );
    let mut forged = sent.pop().unwrap().2;
    assert!(receive(net.member(1), now, wall, address(3), &forged).is_ok());
    for at in 20..forged.len() - 12 {
        if forged[at..at + 12] == prefix(3).0 {
            forged[at..at + 12].copy_from_slice(&prefix(2).0);
        }
    }
    let refused = receive(net.member(1), now, wall, address(3), &forged).unwrap_err();
    assert_eq!(refused.kind, RejectKind::Stranger);
    net.settle();
    assert!(net.take(1).is_empty());
    assert!(net.member(1).participant(prefix(2)).is_some());
    // The same for endpoints: three disposes of two's reader by its own SEDP writer.
    net.add(config(3));
    net.run(seconds(1));
    net.take(1);
    let reader = Guid::new(prefix(2), READER);
    let mut key = vec![];
    use whimbrel_wire::discovery::compose_key;
    compose_key(
        reader,
        whimbrel_wire::parameter::ParameterId::ENDPOINT_GUID,
        &mut key,
    );
    let now = net.now;
    let before = net.member(1).rejects().of(RejectKind::Stranger);
    net.member(3).builtin.announce(
        now,
        EntityId::SEDP_SUBSCRIPTIONS_WRITER,
        reader,
        crate::change::ChangeKind::DisposedUnregistered,
        key,
    );
    net.run(seconds(1));
    assert_eq!(net.member(1).rejects().of(RejectKind::Stranger), before + 1);
    assert!(net.member(1).remote_reader(reader).is_some());
    assert!(matched_readers(&net.take(1)).is_empty());
}

#[test]
fn admission_has_limits() {
    let mut narrow = config(1);
    narrow.limits.remote_participants_max = 2;
    narrow.limits.remote_endpoints_per_participant_max = 3;
    let mut net = Net::of([narrow, config(2), config(3), config(4)]);
    let now = net.now;
    for number in 0..5 {
        let entity = EntityId::user(number, EntityKind::ReaderWithKey);
        let reader = LocalReader {
            entity,
            ..local_reader("Square")
        };
        for other in [2, 3, 4] {
            net.member(other).add_reader(now, reader.clone());
        }
    }
    net.run(seconds(5));
    assert_eq!(net.member(1).participants().count(), 2);
    assert_eq!(net.member(1).remote_readers().count(), 2 * 3);
    assert!(net.member(1).statistics().not_admitted >= 3);
    assert!(net.member(1).rejects().of(RejectKind::Limit) >= 3);
    assert_eq!(net.member(4).participants().count(), 3);
}

#[test]
fn unconfirmed_addresses_get_at_most_three_times_what_came_in() {
    let victim = at("203.0.113.9:7410");
    let mut one = config(1);
    one.user_data = vec![7; 400];
    let mut net = Net::of([one]);
    net.run(seconds(1));
    net.log.clear();
    let forged = announcement_of(ParticipantConfig {
        metatraffic_unicast: vec![victim],
        default_unicast: vec![victim],
        lease: Duration::INFINITE,
        ..config(7)
    });
    let mut received = 0;
    for _ in 0..10 {
        let (now, wall) = (net.now, net.wall());
        receive(net.member(1), now, wall, at("203.0.113.77:1"), &forged).unwrap();
        received += forged.len();
        net.run(seconds(1));
        let to_victim = net.log.iter().filter(|(_, (to, _, _))| *to == victim);
        let sent: usize = to_victim.map(|(_, (_, _, bytes))| bytes.len()).sum();
        assert!(sent <= 3 * received, "{sent} for {received}");
        assert!(sent > 0 || received < 1000);
    }
    assert!(net.member(1).statistics().withheld > 0);
    assert!(!net.member(1).participant(prefix(7)).unwrap().confirmed);
    // It is forgotten soon, however long it claims to live.
    net.run(seconds(25));
    assert_eq!(net.member(1).participants().count(), 0);
    assert_eq!(net.member(1).guard.len(), 0);
}

#[test]
fn who_takes_back_its_endpoints_is_sent_nothing_more() {
    let victim = at("203.0.113.9:7410");
    let mut net = Net::of([config(1)]);
    let (now, wall) = (net.now, net.wall());
    let claim = |metatraffic_unicast| {
        announcement_of(ParticipantConfig {
            metatraffic_unicast,
            ..config(7)
        })
    };
    let mut none = claim(vec![]);
    // BUILTIN_ENDPOINT_SET. RTPS 2.5 §9.6.3.
    let set = [0x58, 0, 4, 0];
    let position = none.windows(4).position(|octets| octets == set).unwrap();
    none[position + 4..position + 8].fill(0);
    for forged in [claim(vec![victim]), none] {
        receive(net.member(1), now, wall, at("203.0.113.77:1"), &forged).unwrap();
    }
    net.run(seconds(5));
    assert_eq!(net.sent_to(victim), 0);
    assert_eq!(net.member(1).participants().count(), 1);
}

#[test]
fn endpoints_of_unconfirmed_participants_are_not_served() {
    let mut net = Net::of([config(1)]);
    let now = net.now;
    net.member(1).add_writer(now, local_writer("Square"));
    net.settle();
    // Seven says everything without having heard anything: it could be anybody.
    let (now, wall) = (net.now, net.wall());
    let announced = announcement_of(config(7));
    receive(net.member(1), now, wall, address(7), &announced).unwrap();
    let mut said = subscription_of(prefix(7), GuidPrefix::UNKNOWN);
    let refused = receive(net.member(1), now, wall, address(7), &said).unwrap_err();
    assert_eq!(refused.kind, RejectKind::Stranger);
    net.settle();
    assert_eq!(net.member(1).remote_readers().count(), 0);
    assert!(matched_readers(&net.take(1)).is_empty());
    // Only who has heard us knows our prefix.
    said = subscription_of(prefix(7), prefix(1));
    let _ = receive(net.member(1), now, wall, address(7), &said);
    net.settle();
    assert_eq!(matched_readers(&net.take(1)).len(), 1);
}

#[test]
fn claims_to_an_explicit_peers_address_do_not_shut_it_out() {
    let one = ParticipantConfig {
        announce_to: vec![address(2)],
        metatraffic_multicast: vec![],
        ..config(1)
    };
    let mut net = Net::of([one]);
    let claim = announcement_of(ParticipantConfig {
        metatraffic_unicast: vec![address(2)],
        ..config(7)
    });
    let (now, wall) = (net.now, net.wall());
    receive(net.member(1), now, wall, address(7), &claim).unwrap();
    net.run(seconds(2));
    net.add(ParticipantConfig {
        announce_to: vec![],
        metatraffic_multicast: vec![],
        ..config(2)
    });
    net.run(seconds(4));
    assert!(net.member(1).participant(prefix(2)).unwrap().confirmed);
}
