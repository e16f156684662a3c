//! What leaves, what is repaired, what is refused.

use super::*;

#[test]
fn a_lone_sample_is_one_message() {
    let (mut writer, mut sent) = greeting(|_| {});
    writer.write(NOW, change(16)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.0.len(), 1);
    assert_eq!(sent.words()[0], "data");
}

#[test]
fn without_readers_nothing_leaves_and_nothing_is_kept() {
    let mut writer = writer(|config| config.depth = None);
    let mut sent = Sent::default();
    for _ in 0..10 {
        writer.write(NOW, change(16)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    assert!(sent.0.is_empty());
    assert_eq!(writer.history_len(), 0);
    assert_eq!(writer.poll_timeout(), None);
}

#[test]
fn what_is_missing_is_sent_again_and_what_is_gone_becomes_a_gap() {
    let mut writer = writer(|config| config.depth = Some(2));
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    for _ in 0..4 {
        writer.write(NOW, change(16)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    sent.words();
    writer
        .handle_acknack(NOW, READER, &acknack(1, &[1, 2, 3], 1))
        .unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.words(), ["gap", "data", "heartbeat?"]);
    assert!(
        writer
            .handle_acknack(NOW, READER, &acknack(1, &[3], 1))
            .is_err()
    );
    writer
        .handle_acknack(NOW, READER, &acknack(1, &[3], 2))
        .unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.statistics().suppressed_repairs, 1);
    assert!(!sent.words().contains(&"data"));
}

#[test]
fn a_late_joiner_hears_of_history_only_when_it_wants_it() {
    for (durable, first) in [(true, 1), (false, 4)] {
        let mut writer = writer(|config| {
            config.depth = None;
            config.durable = true;
        });
        let mut sent = Sent::default();
        for _ in 0..3 {
            writer.write(NOW, change(16)).unwrap();
            writer.poll_transmit(NOW, &mut sent);
        }
        assert_eq!(writer.history_len(), 3);
        writer.handle_matched(NOW, matched(true, durable));
        writer.poll_transmit(NOW, &mut sent);
        let message = sent.0.pop().unwrap();
        let mut inbound = MessageReceiver::new(&message, READER.prefix).unwrap();
        match inbound.next().unwrap().unwrap().submessage {
            Submessage::Heartbeat(heartbeat) => {
                assert_eq!(heartbeat.first, SequenceNumber(first));
                assert_eq!(heartbeat.last, SequenceNumber(3));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_last_sample_is_announced_until_acknowledged() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer
        .handle_acknack(NOW, READER, &acknack(1, &[], 1))
        .unwrap();
    writer.poll_transmit(NOW, &mut sent);
    writer.write(NOW, change(16)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    let mut now = NOW;
    for _ in 0..5 {
        now = writer.poll_timeout().unwrap().0;
        writer.poll_transmit(now, &mut sent);
        assert_eq!(sent.words(), ["heartbeat?"]);
    }
    assert!(now.since(NOW) >= Duration::from_millis(310));
    writer
        .handle_acknack(now, READER, &acknack(2, &[], 2))
        .unwrap();
    assert_eq!(writer.poll_timeout(), None);
    assert_eq!(writer.acknowledged_through(), SequenceNumber(1));
}

#[test]
fn impossible_acknowledgements_are_refused() {
    let mut writer = writer(|_| {});
    writer.handle_matched(NOW, matched(true, false));
    assert!(
        writer
            .handle_acknack(NOW, READER, &acknack(3, &[], 1))
            .is_err()
    );
    let stranger = Guid::new(GuidPrefix([9; 12]), READER.entity);
    assert!(
        writer
            .handle_acknack(NOW, stranger, &acknack(1, &[], 1))
            .is_err()
    );
    assert!(writer.write(NOW, change(100)).is_ok());
    let mut small = self::writer(|config| config.sample_bytes_max = 8);
    assert_eq!(
        small.write(NOW, change(9)),
        Err(WriteError::TooLarge { bytes_max: 8 })
    );
}

#[test]
fn what_precedes_a_match_is_gapped_however_it_is_asked_for() {
    let mut writer = writer(|config| {
        config.durable = true;
        config.depth = None;
    });
    let mut sent = Sent::default();
    for _ in 0..3 {
        writer.write(NOW, change(5000)).unwrap();
    }
    writer.poll_transmit(NOW, &mut sent);
    writer.handle_matched(NOW, matched(true, false));
    writer
        .handle_acknack(NOW, READER, &acknack(1, &[], 1))
        .unwrap();
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    writer
        .handle_acknack(NOW, READER, &acknack(1, &[2], 2))
        .unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.words(), ["gap", "heartbeat?"]);
    let nack = nack_frag(2, 2, 1);
    writer.handle_nack_frag(NOW, READER, &nack).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.words(), ["gap", "heartbeat?"]);
}

#[test]
fn acknowledgement_waits_for_late_joiners_too() {
    let mut writer = writer(|config| config.durable = true);
    let mut sent = Sent::default();
    let sequence = writer.write(NOW, change(16)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert!(writer.is_acknowledged(sequence));
    writer.handle_matched(NOW, matched(true, true));
    assert!(!writer.is_acknowledged(sequence));
    while writer.poll_event().is_some() {}
    writer
        .handle_acknack(NOW, READER, &acknack(2, &[], 1))
        .unwrap();
    assert_eq!(writer.poll_event(), Some(WriterEvent::Progress));
    assert!(writer.is_acknowledged(sequence));
}

#[test]
fn strangers_are_refused_as_strangers() {
    let mut writer = writer(|_| {});
    for base in [1, i64::MAX] {
        let refused = writer.handle_acknack(NOW, READER, &acknack(base, &[], 1));
        assert_eq!(refused.unwrap_err().kind, RejectKind::Stranger);
    }
}

#[test]
fn nobody_waits_for_what_was_held_back_for_a_reader_that_is_gone() {
    let mut writer = writer(|config| config.push_period = Duration::from_millis(10));
    writer.handle_matched(NOW, matched(false, false));
    let mut sent = Sent::default();
    for _ in 0..2 {
        writer.write(NOW, change(8)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    let (at, reason) = writer.poll_timeout().unwrap();
    assert_eq!(reason, crate::deadline::Reason::Pace);
    writer.handle_unmatched(NOW, READER, false);
    writer.poll_transmit(at, &mut sent);
    assert_eq!(writer.poll_timeout(), None);
}

#[test]
fn a_silent_reader_is_asked_in_its_own_time_whatever_others_answer() {
    let mut writer = writer(|config| {
        config.depth = None;
        config.heartbeat_period = Duration::from_millis(100);
        config.heartbeat_period_max = Duration::from_secs(1);
    });
    let mut sent = Sent::default();
    let silent = Guid::new(GuidPrefix([3; 12]), READER.entity);
    writer.handle_matched(NOW, matched(true, false));
    writer.handle_matched(
        NOW,
        MatchedReader {
            guid: silent,
            ..matched(true, false)
        },
    );
    for _ in 0..60 {
        writer.write(NOW, change(16)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    // The other one answers once, right after the silent one was asked for the fifth time.
    let (mut now, mut asked_at, mut asked) = (NOW, NOW, 0);
    while now < NOW.after(Duration::from_secs(20)) {
        now = writer.poll_timeout().unwrap().0.max(now);
        sent.0.clear();
        writer.poll_transmit(now, &mut sent);
        let waited = now.since(asked_at);
        assert!(waited <= Duration::from_millis(1100), "{waited:?}");
        let to_silent = |message: &Vec<u8>| message.windows(12).any(|it| it == silent.prefix.0);
        if sent.0.iter().any(to_silent) {
            (asked_at, asked) = (now, asked + 1);
            if asked == 5 {
                now = now.after(Duration::from_millis(50));
                let answer = acknack(30, &[], 1);
                writer.handle_acknack(now, READER, &answer).unwrap();
            }
        }
    }
    assert!(asked > 20, "{asked}");
}

/// Where messages went, and what the first submessage with a word for it was.
#[derive(Default)]
struct Addressed(Vec<(Vec<Locator>, Vec<&'static str>)>);

impl Outbox for Addressed {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        let mut sent = Sent::default();
        sent.send(to, parts);
        self.0.push((to.to_vec(), sent.words()));
    }
}

#[test]
fn new_changes_go_to_the_group_once_and_repairs_to_each() {
    let at = |text: &str| Locator::from(text.parse::<core::net::SocketAddr>().unwrap());
    let group = at("239.255.0.1:7401");
    let mut writer = writer(|config| config.depth = None);
    let mut other = matched(true, false);
    other.guid.prefix = GuidPrefix([3; 12]);
    other.locators = vec![at("10.0.0.3:7411")];
    for mut reader in [matched(true, false), other] {
        reader.group = Some(group);
        writer.handle_matched(NOW, reader);
    }
    let mut sent = Addressed::default();
    writer.poll_transmit(NOW, &mut sent);
    // What there is, is told to each by itself.
    assert!(sent.0.iter().all(|(to, _)| *to != [group]), "{:?}", sent.0);
    sent.0.clear();
    for bytes in [16, 3000] {
        writer.write(NOW, change(bytes)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    let data = |it: &(Vec<Locator>, Vec<&str>)| it.1.contains(&"data") || it.1.contains(&"frag");
    let news: Vec<_> = sent.0.drain(..).filter(data).collect();
    assert_eq!(news.len(), 4, "{news:?}");
    assert!(news.iter().all(|(to, _)| *to == [group]), "{news:?}");
    let asked = acknack(1, &[1], 1);
    writer.handle_acknack(NOW, READER, &asked).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    let repairs: Vec<_> = sent.0.drain(..).filter(data).collect();
    assert_eq!(repairs.len(), 1, "{repairs:?}");
    assert_eq!(repairs[0].0, matched(true, false).locators);
    // Who goes does not take the group from the other.
    writer.handle_unmatched(NOW, READER, false);
    writer.write(NOW, change(16)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.0[0].0, [group]);
}
