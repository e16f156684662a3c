//! Who may make us send where, and speak for whom.

use super::*;

/// Who never says a word.
pub(super) const VICTIM: &str = "203.0.113.9:7410";

/// Participant `number` on a host of its own.
pub(super) fn remote(number: u8) -> ParticipantConfig {
    let ip = [203, 0, 113, number];
    let listen = |port| Locator::from(SocketAddr::from((ip, port)));
    let interface = InterfaceAddress {
        ip: ip.into(),
        prefix_len: 24,
        mtu: 1500,
        loopback: false,
    };
    ParticipantConfig {
        metatraffic_unicast: vec![listen(7410)],
        default_unicast: vec![listen(7411)],
        interfaces: vec![interface],
        multicast_on_host: false,
        ..config(number)
    }
}

/// As [`remote`], but it says that it listens at the victim's.
pub(super) fn redirecting(number: u8) -> ParticipantConfig {
    ParticipantConfig {
        metatraffic_unicast: vec![at(VICTIM)],
        default_unicast: vec![at(VICTIM)],
        ..remote(number)
    }
}

impl Net {
    pub(super) fn bytes_to(&self, to: Locator) -> usize {
        let sent = self.log.iter().filter(|(_, (it, _, _))| *it == to);
        sent.map(|(_, (_, _, bytes))| bytes.len()).sum()
    }

    pub(super) fn hear(&mut self, number: u8, from: Locator, bytes: &[u8]) -> Result<(), Reject> {
        let (now, wall) = (self.now, self.wall());
        let outcome = receive(self.member(number), now, wall, from, bytes);
        self.settle();
        outcome
    }

    /// Member `number`, as its peers see it, is at `ip` from now on.
    fn move_to(&mut self, number: u8, moved: ParticipantConfig) {
        let now = self.now;
        let member = self.member(number);
        member.config = moved;
        let user_data = member.config.user_data.clone();
        member.set_user_data(now, user_data);
    }
}

/// The question of a built-in reader of `from` that has heard nothing of `to` yet.
pub(super) fn question_of(from: GuidPrefix, to: GuidPrefix) -> Vec<u8> {
    use whimbrel_base::sequence::{Count, SequenceNumber};

    let nothing = whimbrel_wire::number_set::SequenceNumberSet::new(SequenceNumber::FIRST);
    let mut message = MessageBuilder::new(from);
    message.begin(1000);
    message.destination(to);
    message.acknack(
        EntityId::SEDP_PUBLICATIONS_READER,
        EntityId::SEDP_PUBLICATIONS_WRITER,
        nothing,
        Count(1),
        false,
    );
    sent_alone(&mut message)
}

/// An empty heartbeat of the participant `from`, meant for `to`.
pub(super) fn word_for(from: GuidPrefix, to: GuidPrefix) -> Vec<u8> {
    let mut message = MessageBuilder::new(from);
    message.begin(1000);
    message.destination(to);
    let fields = crate::message::HeartbeatFields {
        first: whimbrel_base::sequence::SequenceNumber(1),
        last: whimbrel_base::sequence::SequenceNumber(0),
        count: whimbrel_base::sequence::Count(1),
        is_final: true,
    };
    message.heartbeat(
        EntityId::UNKNOWN,
        EntityId::SEDP_PUBLICATIONS_WRITER,
        fields,
    );
    sent_alone(&mut message)
}

#[test]
fn an_answer_frees_the_address_that_it_came_from_and_no_other() {
    let mut net = Net::of([remote(1)]);
    let now = net.now;
    net.member(1).add_writer(now, local_writer("Square"));
    net.settle();
    let announced = announcement_of(redirecting(7));
    let source = at("203.0.113.77:5000");
    net.hear(1, source, &announced).unwrap();
    let subscription = subscription_of(prefix(7), prefix(1));
    net.hear(1, source, &subscription).unwrap();
    net.run(seconds(9));
    let received = announced.len() + subscription.len();
    assert!(net.bytes_to(at(VICTIM)) > 0);
    assert!(net.bytes_to(at(VICTIM)) <= 3 * received);
    assert!(net.member(1).participant(prefix(7)).unwrap().confirmed);
    assert!(matched_readers(&net.take(1)).is_empty());
    // The victim says itself, from some port, that it hears us.
    let word = word_for(prefix(7), prefix(1));
    net.hear(1, at("203.0.113.9:61000"), &word).unwrap();
    let readers = matched_readers(&net.take(1));
    assert_eq!(readers[0].1.locators, [at(VICTIM)]);
}

#[test]
fn endpoints_elsewhere_than_their_participant_wait_for_an_answer_from_there() {
    let mut two = remote(2);
    // Announced for each endpoint by other implementations; ours announces none.
    two.default_unicast = vec![at(VICTIM)];
    let mut net = met(remote(1), two);
    assert!(matched_readers(&net.take(1)).is_empty());
    assert!(net.member(1).participant(prefix(2)).unwrap().confirmed);
    assert_eq!(net.bytes_to(at(VICTIM)), 0);
}

#[test]
fn who_has_answered_cannot_send_us_to_a_third_party() {
    let mut net = met(remote(1), remote(2));
    net.take(1);
    net.log.clear();
    let (home, user) = (at("203.0.113.2:7410"), at("203.0.113.2:7411"));
    let moved = announcement_of(redirecting(2));
    net.hear(1, home, &moved).unwrap();
    net.run(seconds(2));
    assert!(net.bytes_to(at(VICTIM)) <= 3 * moved.len());
    // It is served where it answered.
    assert!(net.bytes_to(home) > 0);
    assert!(matched_readers(&net.take(1)).is_empty());
    let served = net.member(1).writer_pairs.matched_of(WRITER, prefix(2));
    let served: Vec<_> = served.map(|(_, it)| it.locators.clone()).collect();
    assert_eq!(served, [[user]]);
}

#[test]
fn who_moves_to_another_address_is_served_there_when_it_answers() {
    let mut net = met(remote(1), remote(2));
    net.run(seconds(10));
    net.take(1);
    let mut moved = remote(2);
    moved.metatraffic_unicast = vec![at("203.0.113.22:7410")];
    moved.default_unicast = vec![at("203.0.113.22:7411")];
    net.move_to(2, moved);
    net.run(Duration::from_millis(1500));
    let readers = matched_readers(&net.take(1));
    assert_eq!(readers[0].1.locators, [at("203.0.113.22:7411")]);
    let now = net.now;
    let late = LocalReader {
        entity: EntityId([0, 0, 9, 7]),
        ..local_reader("Square")
    };
    net.member(2).add_reader(now, late);
    net.run(seconds(1));
    assert_eq!(matched_readers(&net.take(1)).len(), 1);
}

#[test]
fn nobody_moves_or_ends_another_from_elsewhere() {
    let mut net = met(remote(1), remote(2));
    net.take(1);
    let intruder = at("203.0.113.66:7410");
    // It lives at the intruder's, says the intruder.
    let stolen = announcement_of(ParticipantConfig {
        metatraffic_unicast: vec![intruder],
        default_unicast: vec![intruder],
        ..remote(2)
    });
    for _ in 0..20 {
        let _ = net.hear(1, intruder, &stolen);
        net.run(Duration::from_millis(300));
    }
    assert!(net.member(1).rejects().of(RejectKind::Source) >= 2);
    // It leaves, says the intruder, and so does its reader.
    let mut leaving = Participant::new(net.now, remote(2));
    leaving.add_reader(net.now, local_reader("Square"));
    leaving.depart(net.now);
    let mut said = vec![];
    leaving.poll_transmit(
        net.now,
        &mut Wire {
            from: intruder,
            sent: &mut said,
        },
    );
    let refused = net.hear(1, intruder, &said.pop().unwrap().2).unwrap_err();
    assert_eq!(refused.kind, RejectKind::Source);
    let word = word_for(prefix(2), prefix(1));
    let refused = net.hear(1, intruder, &word).unwrap_err();
    assert_eq!(refused.kind, RejectKind::Source);
    net.run(seconds(30));
    assert_eq!(net.bytes_to(intruder), 0);
    let known = net.member(1).participant(prefix(2)).unwrap();
    assert_eq!(known.metatraffic.locators, [at("203.0.113.2:7410")]);
    let events = net.take(1);
    assert!(
        events
            .iter()
            .all(|event| *event == ParticipantEvent::RoutingChanged),
        "{events:?}"
    );
    // It itself may leave.
    let now = net.now;
    net.member(2).depart(now);
    net.run(seconds(1));
    assert!(net.member(1).participant(prefix(2)).is_none());
}

#[test]
fn what_named_other_addresses_is_nothing_to_the_one_that_a_contest_ends_with() {
    let mut one = remote(1);
    // A single answer is longer than three announcements of the other.
    one.user_data = vec![7; 2000];
    let mut net = met(one, remote(2));
    net.members.remove(&2);
    let elsewhere = at("198.51.100.2:5000");
    let moved = announcement_of(redirecting(2));
    for number in 20..30 {
        let mut other = redirecting(2);
        other.metatraffic_unicast = vec![address(number)];
        net.hear(1, elsewhere, &announcement_of(other)).unwrap();
    }
    net.hear(1, elsewhere, &moved).unwrap();
    net.run(seconds(1));
    let known = net.member(1).participant(prefix(2)).unwrap();
    assert_eq!(known.metatraffic.locators, [at(VICTIM)]);
    assert!(net.bytes_to(at(VICTIM)) <= 3 * moved.len());
}

#[test]
fn claims_to_an_address_in_use_get_nothing_but_announcements() {
    let mut net = met(remote(1), remote(2));
    net.run(seconds(10));
    net.log.clear();
    let home = at("203.0.113.2:7410");
    let claim = announcement_of(ParticipantConfig {
        metatraffic_unicast: vec![home],
        ..remote(7)
    });
    net.hear(1, at("203.0.113.77:1"), &claim).unwrap();
    net.run(seconds(20));
    assert!(net.sent_to(home) == 1, "{}", net.sent_to(home));
    assert!(net.bytes_to(home) <= 3 * claim.len());
}

#[test]
fn claims_to_an_address_outlive_who_answered_there_and_are_guarded() {
    let mut net = met(remote(1), remote(2));
    let home = at("203.0.113.2:7410");
    let claim = announcement_of(ParticipantConfig {
        metatraffic_unicast: vec![home],
        ..remote(7)
    });
    net.hear(1, at("203.0.113.77:1"), &claim).unwrap();
    assert_eq!(net.member(1).guard.len(), 0);
    let now = net.now;
    net.member(2).depart(now);
    net.run(seconds(1));
    assert!(net.member(1).participant(prefix(2)).is_none());
    assert_eq!(net.member(1).guard.len(), 1);
}

#[test]
fn being_heard_is_news() {
    let mut net = Net::of([remote(1)]);
    let announced = announcement_of(remote(7));
    let source = at("203.0.113.7:5000");
    net.hear(1, source, &announced).unwrap();
    let heard = ParticipantEvent::ParticipantHeard(prefix(7));
    assert_eq!(net.take(1), [heard]);
    net.hear(1, source, &word_for(prefix(7), prefix(1)))
        .unwrap();
    assert!(net.member(1).participant(prefix(7)).unwrap().confirmed);
    let discovered = ParticipantEvent::ParticipantDiscovered(prefix(7));
    assert_eq!(net.take(1), [discovered, ParticipantEvent::RoutingChanged]);
}

#[test]
fn it_is_news_when_one_goes_who_was_only_heard() {
    let source = at("203.0.113.7:5000");
    let leaves: fn(&mut Net) = |net| {
        let gone = departure_of(remote(7));
        net.hear(1, at("203.0.113.7:5000"), &gone).unwrap();
    };
    let falls_silent: fn(&mut Net) = |net| net.run(seconds(60));
    for go in [leaves, falls_silent] {
        let mut net = Net::of([remote(1)]);
        let announced = announcement_of(remote(7));
        net.hear(1, source, &announced).unwrap();
        net.take(1);
        go(&mut net);
        assert_eq!(net.member(1).participants().count(), 0);
        let forgotten = ParticipantEvent::ParticipantForgotten(prefix(7));
        assert_eq!(net.take(1), [forgotten]);
    }
}

#[test]
fn the_users_word_for_a_peers_address_is_enough() {
    let mut one = remote(1);
    one.announce_to.push(at("203.0.113.2:7410"));
    // It sends by another interface than the one it announces.
    let mut net = Net::of([one]);
    let now = net.now;
    net.member(1).add_writer(now, local_writer("Square"));
    let source = at("198.51.100.2:5000");
    net.hear(1, source, &announcement_of(remote(2))).unwrap();
    let said = subscription_of(prefix(2), prefix(1));
    net.hear(1, source, &said).unwrap();
    assert_eq!(matched_readers(&net.take(1)).len(), 1);
}
