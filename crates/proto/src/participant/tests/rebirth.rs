//! Participants that come back with the GUID they had.

use super::*;

/// The endpoints of member `number`: a writer of one topic and a reader of another.
fn add_endpoints(net: &mut Net, number: u8, writes: &str, reads: &str) {
    let now = net.now;
    net.member(number).add_writer(now, local_writer(writes));
    net.member(number).add_reader(now, local_reader(reads));
}

/// One and two, each with a writer that the other reads, for `span`.
fn both_ways(one: ParticipantConfig, two: ParticipantConfig, span: Duration) -> Net {
    let mut net = Net::of([one, two]);
    add_endpoints(&mut net, 1, "Square", "Circle");
    add_endpoints(&mut net, 2, "Circle", "Square");
    net.run(span);
    net
}

/// Member two crashes, and starts again after `down`.
fn restart(net: &mut Net, two: ParticipantConfig, down: Duration) {
    net.members.remove(&2);
    net.run(down);
    net.take(1);
    net.add(two);
    add_endpoints(net, 2, "Circle", "Square");
}

fn check_met_anew(net: &mut Net) {
    let (writer, reader) = (Guid::new(prefix(2), WRITER), Guid::new(prefix(2), READER));
    let one = net.take(1);
    let lost = ParticipantEvent::ParticipantLost {
        prefix: prefix(2),
        departed: false,
    };
    let gone = [
        ParticipantEvent::ReaderUnmatched {
            writer: WRITER,
            reader,
            lost: false,
        },
        ParticipantEvent::WriterUnmatched {
            reader: READER,
            writer,
        },
    ];
    for event in gone.iter().chain([&lost]) {
        assert!(has(&one, event), "{event:?} in {one:#?}");
    }
    // What ended is what was before; what is there now came after it.
    let at = one.iter().position(|it| *it == gone[1]).unwrap();
    assert_eq!(matched_writers(&one[at..]).len(), 1);
    let at = one.iter().rposition(|it| *it == gone[0]).unwrap();
    assert_eq!(matched_readers(&one[at..]).len(), 1);
    assert_eq!(net.member(1).statistics().reborn, 1);
    assert_eq!(net.member(1).statistics().participants_expired, 0);
    assert_eq!(net.member(1).match_count(), 2);
    assert_eq!(net.member(2).match_count(), 2);
}

#[test]
fn who_restarts_with_its_guid_is_met_anew() {
    // Long alive or only just, back at once or later, but always before the lease ends.
    for alive in [2, 5, 60] {
        for down_ms in [1000, 3000, 8000] {
            let mut net = both_ways(config(1), config(2), seconds(alive));
            restart(&mut net, config(2), Duration::from_millis(down_ms));
            net.run(seconds(5));
            check_met_anew(&mut net);
            // And that is that.
            net.run(seconds(60));
            assert_eq!(net.member(1).statistics().reborn, 1);
            assert_eq!(net.take(1), []);
        }
    }
}

#[test]
fn who_restarts_with_its_guid_is_met_anew_where_data_goes_one_way() {
    for reads in [1, 2] {
        let add = |net: &mut Net, number: u8| {
            let now = net.now;
            if number == reads {
                net.member(number).add_reader(now, local_reader("Square"));
            } else {
                net.member(number).add_writer(now, local_writer("Square"));
            }
        };
        for down_ms in [20, 120, 1000, 3000, 6000] {
            let mut net = Net::of([config(1), config(2)]);
            add(&mut net, 1);
            add(&mut net, 2);
            net.run(seconds(10));
            net.members.remove(&2);
            net.run(Duration::from_millis(down_ms));
            net.take(1);
            net.add(config(2));
            add(&mut net, 2);
            net.run(seconds(5));
            assert_eq!(net.member(1).statistics().reborn, 1, "{reads} {down_ms}");
            assert_eq!(net.member(1).match_count(), 1);
            assert_eq!(net.member(2).match_count(), 1);
        }
    }
}

#[test]
fn who_restarts_on_another_host_is_met_anew() {
    let mut net = both_ways(reach::remote(1), reach::remote(2), seconds(5));
    restart(&mut net, reach::remote(2), seconds(3));
    net.run(seconds(5));
    check_met_anew(&mut net);
}

#[test]
fn who_only_lost_us_is_not_another() {
    let mut net = both_ways(config(1), config(2), seconds(5));
    for _ in 0..5 {
        let now = net.now;
        net.member(2).forget_participant(now, prefix(1), false);
        net.run(seconds(15));
    }
    assert_eq!(net.member(1).statistics().resumed, 5);
    assert_eq!(net.member(1).statistics().reborn, 0);
    assert_eq!(net.member(1).match_count(), 2);
}

/// Until it hears a heartbeat Cyclone DDS asks the same question with the same count.
#[test]
fn who_asks_again_because_an_answer_was_lost_has_not_forgotten_us() {
    let mut net = both_ways(config(1), config(2), seconds(5));
    net.take(1);
    // The answer to its first question about participant messages was lost.
    let asks = EntityId::PARTICIPANT_MESSAGE_WRITER;
    let remote = net.member(1).remotes.get_mut(&prefix(2));
    assert!(remote.unwrap().hears.remove(&asks));
    net.members.remove(&2);
    let again = |net: &mut Net, writer, reader, count| {
        use whimbrel_base::sequence::{Count, SequenceNumber};
        let nothing = whimbrel_wire::number_set::SequenceNumberSet::new(SequenceNumber::FIRST);
        let mut message = MessageBuilder::new(prefix(2));
        message.begin(1000);
        message.destination(prefix(1));
        message.acknack(reader, writer, nothing, Count(count), false);
        net.log.clear();
        let refused = net.hear(1, address(2), &sent_alone(&mut message));
        assert_eq!(refused.map_err(|it| it.kind), Err(RejectKind::Duplicate));
    };
    for _ in 0..5 {
        again(&mut net, asks, EntityId::PARTICIPANT_MESSAGE_READER, 0);
        // It is answered, and that is all.
        assert!(net.sent_to(address(2)) > 0);
        assert_eq!(net.take(1), []);
        net.run(seconds(2));
    }
    assert_eq!(net.member(1).statistics().resumed, 0);
    // Of a writer that it has heard it cannot have heard nothing.
    again(
        &mut net,
        EntityId::SEDP_PUBLICATIONS_WRITER,
        EntityId::SEDP_PUBLICATIONS_READER,
        0,
    );
    assert_eq!(net.member(1).statistics().resumed, 1);
}

/// The participant of `config`, which says in which process it runs.
fn living(config: ParticipantConfig, process: &str) -> ParticipantConfig {
    let process = ("dds.sys_info.process_id".into(), process.into());
    ParticipantConfig {
        properties: vec![process],
        ..config
    }
}

/// The participant `number`, which says in which process it runs.
fn running(number: u8, process: &str) -> ParticipantConfig {
    living(config(number), process)
}

#[test]
fn who_runs_in_another_process_is_met_anew_at_once() {
    for alive_ms in [1100, 5000] {
        for down_ms in [0, 20, 3000, 8000] {
            let alive = Duration::from_millis(alive_ms);
            let mut net = both_ways(config(1), running(2, "700"), alive);
            restart(&mut net, running(2, "701"), Duration::from_millis(down_ms));
            net.settle();
            assert_eq!(net.member(1).statistics().reborn, 1, "{alive_ms} {down_ms}");
            net.run(seconds(5));
            check_met_anew(&mut net);
            net.run(seconds(60));
            assert_eq!(net.member(1).statistics().reborn, 1);
            assert_eq!(net.take(1), []);
        }
    }
}

#[test]
fn who_restarts_in_a_process_of_the_same_number_is_met_anew_once() {
    for down_ms in [20, 1000, 8000] {
        let mut net = both_ways(config(1), running(2, "1"), seconds(5));
        restart(&mut net, running(2, "1"), Duration::from_millis(down_ms));
        net.run(seconds(5));
        check_met_anew(&mut net);
        net.run(seconds(60));
        assert_eq!(net.take(1), []);
    }
}

#[test]
fn a_life_that_was_not_announced_is_not_taken_for_the_next_one() {
    let mut net = both_ways(config(1), running(2, "700"), seconds(5));
    net.members.remove(&2);
    net.run(seconds(2));
    // Of the second life nothing is heard but what shows that it is another.
    for bytes in [
        reach::word_for(prefix(2), prefix(1)),
        reach::question_of(prefix(2), prefix(1)),
    ] {
        let _ = net.hear(1, address(2), &bytes);
    }
    assert_eq!(net.member(1).statistics().reborn, 0);
    net.take(1);
    restart(&mut net, running(2, "702"), seconds(2));
    net.run(seconds(5));
    check_met_anew(&mut net);
}

#[test]
fn an_echo_of_a_former_life_is_not_believed() {
    let mut net = both_ways(config(1), running(2, "700"), seconds(5));
    let echo = announcement_of(running(2, "700"));
    restart(&mut net, running(2, "701"), Duration::from_millis(20));
    net.settle();
    let refused = net.hear(1, address(2), &echo);
    assert_eq!(refused.map_err(|it| it.kind), Err(RejectKind::Duplicate));
    net.run(seconds(5));
    assert_eq!(net.member(1).statistics().reborn, 1);
    assert_eq!(net.member(1).match_count(), 2);
}

#[test]
fn another_process_elsewhere_is_believed_where_the_first_is_silent() {
    let elsewhere = |process: &str| ParticipantConfig {
        metatraffic_unicast: vec![at("203.0.113.5:7410")],
        default_unicast: vec![at("203.0.113.5:7411")],
        ..living(reach::remote(2), process)
    };
    let home = |process: &str| ParticipantConfig {
        metatraffic_unicast: vec![at("203.0.113.2:7410")],
        default_unicast: vec![at("203.0.113.2:7411")],
        ..elsewhere(process)
    };
    let mut net = both_ways(reach::remote(1), home("700"), seconds(5));
    // While the first is there nobody speaks for it.
    let forged = announcement_of(elsewhere("666"));
    let _ = net.hear(1, at("203.0.113.5:7410"), &forged);
    net.run(seconds(2));
    assert_eq!(net.member(1).statistics().reborn, 0);
    restart(&mut net, elsewhere("701"), Duration::from_millis(20));
    net.run(seconds(5));
    check_met_anew(&mut net);
}

#[test]
fn nobody_elses_words_start_a_participant_over() {
    let mut net = both_ways(reach::remote(1), reach::remote(2), seconds(5));
    net.take(1);
    let stranger = at("198.51.100.1:7410");
    let forged = [
        reach::word_for(prefix(2), prefix(1)),
        reach::question_of(prefix(2), prefix(1)),
    ];
    for _ in 0..10 {
        for bytes in &forged {
            let refused = net.hear(1, stranger, bytes);
            assert_eq!(refused.map_err(|it| it.kind), Err(RejectKind::Source));
        }
        net.run(Duration::from_millis(500));
    }
    assert_eq!(net.take(1), []);
    assert_eq!(net.member(1).statistics().reborn, 0);
    // From where it is known to be the same words are believed.
    for bytes in &forged {
        let _ = net.hear(1, at("203.0.113.2:7410"), bytes);
    }
    assert_eq!(net.member(1).statistics().reborn, 1);
}

#[test]
fn who_starts_over_cannot_send_us_to_a_third_party() {
    let mut one = reach::remote(1);
    // A single answer is longer than three announcements of the other.
    one.user_data = vec![7; 2000];
    let mut net = both_ways(one, reach::remote(2), seconds(5));
    net.members.remove(&2);
    let home = at("203.0.113.2:7410");
    let moved = announcement_of(reach::redirecting(2));
    net.hear(1, home, &moved).unwrap();
    let said = [
        reach::word_for(prefix(2), prefix(1)),
        reach::question_of(prefix(2), prefix(1)),
    ];
    net.run(seconds(2));
    for _ in 0..3 {
        for bytes in &said {
            let _ = net.hear(1, home, bytes);
            net.run(seconds(1));
        }
    }
    assert_eq!(net.member(1).statistics().reborn, 1);
    assert!(net.bytes_to(at(reach::VICTIM)) <= 3 * moved.len());
}

#[test]
fn what_is_said_to_everybody_is_no_answer_of_who_starts_over() {
    let mut two = reach::remote(2);
    two.metatraffic_unicast.push(at(reach::VICTIM));
    let mut net = both_ways(reach::remote(1), two, seconds(5));
    net.members.remove(&2);
    net.run(seconds(2));
    let home = at("203.0.113.2:7410");
    let _ = net.hear(1, home, &reach::question_of(prefix(2), prefix(1)));
    let word = reach::word_for(prefix(2), GuidPrefix::UNKNOWN);
    let _ = net.hear(1, at(reach::VICTIM), &word);
    let one = net.member(1);
    assert_eq!(one.statistics().reborn, 1);
    let remote = one.participant(prefix(2)).unwrap();
    assert!(one.has_answered(remote, home));
    assert!(!one.has_answered(remote, at(reach::VICTIM)));
}

#[test]
fn it_is_news_when_one_who_was_only_heard_is_met_anew() {
    let mut net = Net::of([reach::remote(1)]);
    let mut hear = |process: &str| {
        let announced = announcement_of(living(reach::remote(7), process));
        net.hear(1, at("203.0.113.7:5000"), &announced).unwrap();
        net.run(seconds(2));
        net.take(1)
    };
    let seven = prefix(7);
    let heard = || ParticipantEvent::ParticipantHeard(seven);
    assert_eq!(hear("200"), [heard()]);
    let forgotten = ParticipantEvent::ParticipantForgotten(seven);
    assert_eq!(hear("201"), [forgotten, heard()]);
}

#[test]
fn who_leaves_and_returns_in_another_process_is_met_at_once() {
    let mut net = both_ways(running(1, "100"), running(2, "200"), seconds(5));
    let now = net.now;
    net.member(2).depart(now);
    net.settle();
    let farewell = net.log.last().unwrap().1.clone();
    restart(&mut net, running(2, "201"), Duration::from_millis(300));
    net.run(Duration::from_millis(300));
    // What the life before said last comes once more.
    net.deliver(&farewell);
    net.run(seconds(1));
    let events = net.take(1);
    assert_eq!(matched_writers(&events).len(), 1);
    assert_eq!(matched_readers(&events).len(), 1);
    assert_eq!(net.member(1).statistics().participants_departed, 1);
    assert_eq!(net.member(1).match_count(), 2);
    // This one leaves as well, later.
    let now = net.now;
    net.member(2).depart(now);
    net.run(Duration::ZERO);
    assert_eq!(net.member(1).statistics().participants_departed, 2);
    assert_eq!(net.member(1).match_count(), 0);
}

#[test]
fn who_leaves_and_returns_in_what_may_be_the_same_process_is_an_echo_for_a_while() {
    for (one, other) in [
        (Some("200"), Some("200")),
        (None, Some("201")),
        (None, None),
    ] {
        let two = |process: Option<&str>| {
            process.map_or_else(|| config(2), |process| running(2, process))
        };
        let mut net = both_ways(running(1, "100"), two(one), seconds(5));
        let now = net.now;
        net.member(2).depart(now);
        net.settle();
        restart(&mut net, two(other), Duration::from_millis(300));
        net.run(seconds(9));
        assert_eq!(net.member(1).match_count(), 0);
        net.run(seconds(5));
        assert_eq!(net.member(1).match_count(), 2);
    }
}
