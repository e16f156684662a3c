//! A writer and a reader joined by hand, without network or clock.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use whimbrel_base::budget::Budget;
use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, EntityKind, Guid, GuidPrefix};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::locator::Locator;
use whimbrel_base::reject::RejectKind;
use whimbrel_base::sequence::{FragmentNumber, SequenceNumber};
use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::message::Submessage;

use super::{NewChange, WriteError, Writer, WriterConfig, WriterEvent};
use crate::change::ChangeKind;
use crate::outbox::Outbox;
use crate::peer::MatchedReader;
use crate::receive::MessageReceiver;

const READER: Guid = Guid::new(
    GuidPrefix([2; 12]),
    EntityId::user(1, EntityKind::ReaderNoKey),
);

#[derive(Default)]
pub(super) struct Sent(Vec<Vec<u8>>);

impl Outbox for Sent {
    fn send(&mut self, _to: &[Locator], parts: &[&[u8]]) {
        self.0.push(parts.concat());
    }
}

impl Sent {
    /// One word for each submessage sent since the last call.
    pub(super) fn words(&mut self) -> Vec<&'static str> {
        let mut words = vec![];
        for message in core::mem::take(&mut self.0) {
            for inbound in MessageReceiver::new(&message, READER.prefix).unwrap() {
                words.push(match inbound.unwrap().submessage {
                    Submessage::Data(_) => "data",
                    Submessage::DataFrag(_) => "frag",
                    Submessage::Heartbeat(it) if it.is_final => "heartbeat",
                    Submessage::Heartbeat(_) => "heartbeat?",
                    Submessage::HeartbeatFrag(_) => "heartbeatfrag",
                    Submessage::Gap(_) => "gap",
                    _ => "other",
                });
            }
        }
        words
    }
}

pub(super) fn writer(adapt: impl FnOnce(&mut WriterConfig)) -> Writer {
    let guid = Guid::new(
        GuidPrefix([1; 12]),
        EntityId::user(1, EntityKind::WriterNoKey),
    );
    let mut config = WriterConfig::new(guid);
    adapt(&mut config);
    Writer::new(config)
}

pub(super) fn matched(reliable: bool, durable: bool) -> MatchedReader {
    let addr: core::net::SocketAddr = "127.0.0.1:7411".parse().unwrap();
    MatchedReader {
        packed: false,
        guid: READER,
        reliable,
        durable,
        expects_inline_qos: false,
        locators: vec![addr.into()],
        message_bytes_max: 1472,
        vendor: VendorId::WHIMBREL,
    }
}

pub(super) fn change(bytes: usize) -> NewChange {
    NewChange {
        packed: None,
        kind: ChangeKind::Alive,
        instance: InstanceHandle::NIL,
        timestamp: Timestamp(1),
        payload: SharedBytes::from_vec(vec![7; bytes]),
    }
}

pub(super) fn acknack(
    base: i64,
    missing: &[i64],
    count: i32,
) -> whimbrel_wire::submessage::AckNack {
    let mut state = whimbrel_wire::number_set::NumberSet::new(SequenceNumber(base));
    for number in missing {
        assert!(state.insert(SequenceNumber(*number)));
    }
    whimbrel_wire::submessage::AckNack {
        reader: READER.entity,
        writer: EntityId::user(1, EntityKind::WriterNoKey),
        state,
        count: whimbrel_base::sequence::Count(count),
        is_final: true,
    }
}

/// Asks for fragment `missing` of the first change, in a set that begins at `base`.
fn nack_frag(base: u32, missing: u32, count: i32) -> whimbrel_wire::submessage::NackFrag {
    let mut state = whimbrel_wire::number_set::NumberSet::new(FragmentNumber(base));
    assert!(state.insert(FragmentNumber(missing)));
    whimbrel_wire::submessage::NackFrag {
        reader: READER.entity,
        writer: EntityId::user(1, EntityKind::WriterNoKey),
        number: SequenceNumber(1),
        state,
        count: whimbrel_base::sequence::Count(count),
    }
}

const NOW: Instant = Instant(1_000_000_000);

#[test]
fn a_lone_sample_is_one_message() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.words(), ["heartbeat?"]);
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
fn a_full_history_blocks_until_acknowledged() {
    let mut writer = writer(|config| {
        config.depth = None;
        config.samples_max = 2;
    });
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(16)).unwrap();
    writer.write(NOW, change(16)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.write(NOW, change(16)), Err(WriteError::WouldBlock));
    sent.words();
    writer.poll_transmit(NOW, &mut sent);
    assert!(sent.words().contains(&"heartbeat?"));
    while writer.poll_event().is_some() {}
    writer
        .handle_acknack(NOW, READER, &acknack(2, &[], 1))
        .unwrap();
    assert_eq!(writer.poll_event(), Some(WriterEvent::Progress));
    writer.write(NOW, change(16)).unwrap();
}

#[test]
fn a_history_without_limits_blocks_by_the_octets_under_way() {
    let mut writer = writer(|config| {
        config.depth = None;
        config.unacknowledged_bytes_max = 100;
    });
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    // What is alone may be of any size.
    writer.write(NOW, change(200)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.write(NOW, change(1)), Err(WriteError::WouldBlock));
    writer
        .handle_acknack(NOW, READER, &acknack(2, &[], 1))
        .unwrap();
    writer.write(NOW, change(60)).unwrap();
    writer.write(NOW, change(40)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.write(NOW, change(1)), Err(WriteError::WouldBlock));
    writer
        .handle_acknack(NOW, READER, &acknack(3, &[], 2))
        .unwrap();
    assert_eq!(writer.write(NOW, change(61)), Err(WriteError::WouldBlock));
    writer.write(NOW, change(60)).unwrap();
    // Two that are each over the limit, so that one leaves while the other is repaired.
    writer.poll_transmit(NOW, &mut sent);
    writer
        .handle_acknack(NOW, READER, &acknack(5, &[], 3))
        .unwrap();
    writer.write(NOW, change(200)).unwrap();
    writer.write(NOW, change(200)).unwrap();
    assert_eq!(writer.write(NOW, change(200)), Err(WriteError::WouldBlock));
    assert_eq!(writer.statistics().blocked, 4);
}

#[test]
fn a_silent_reader_is_given_up_and_may_come_back() {
    let mut writer = writer(|config| {
        config.depth = None;
        config.samples_max = 1;
    });
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(16)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.write(NOW, change(16)), Err(WriteError::WouldBlock));
    let mut now = NOW;
    let mut events = vec![];
    while now < NOW.after(Duration::from_secs(11)) {
        now = writer.poll_timeout().unwrap().0.max(now);
        writer.handle_timeout(now);
        writer.poll_transmit(now, &mut sent);
        events.extend(core::iter::from_fn(|| writer.poll_event()));
    }
    assert!(events.contains(&WriterEvent::ReaderGivenUp(READER)));
    assert_eq!(writer.statistics().given_up, 1);
    writer.write(now, change(16)).unwrap();
    // An answer without progress changes nothing.
    writer
        .handle_acknack(now, READER, &acknack(1, &[1], 1))
        .unwrap();
    sent.words();
    writer.poll_transmit(now, &mut sent);
    assert!(sent.words().contains(&"gap"));
    writer.write(now, change(16)).unwrap();
    writer.poll_transmit(now, &mut sent);
    writer
        .handle_acknack(now, READER, &acknack(4, &[], 2))
        .unwrap();
    let resumed = core::iter::from_fn(|| writer.poll_event())
        .any(|event| event == WriterEvent::ReaderResumed(READER));
    assert!(resumed);
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
fn large_samples_leave_in_paced_fragments() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    writer.write(NOW, change(1_000_000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    let first = sent.words();
    assert_eq!(first[first.len() - 2..], ["heartbeatfrag", "heartbeat?"]);
    assert!(first.len() < 300);
    // KEEP_LAST 1 must not replace what has not left yet.
    assert_eq!(writer.write(NOW, change(4)), Err(WriteError::WouldBlock));
    let mut frags = first.iter().filter(|word| **word == "frag").count();
    let mut now = NOW;
    while frags < 782 {
        now = writer.poll_timeout().unwrap().0.max(now);
        writer.poll_transmit(now, &mut sent);
        frags += sent.words().iter().filter(|word| **word == "frag").count();
        assert!(now < NOW.after(Duration::from_secs(1)));
    }
    assert_eq!(frags, 782);
    assert!(writer.write(now, change(4)).is_ok());
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
fn a_deleted_instance_is_forgotten_once_everybody_knows() {
    let mut writer = writer(|config| {
        config.durable = true;
        config.instances_max = 1;
    });
    let mut sent = Sent::default();
    let instance = |byte| InstanceHandle([byte; 16]);
    let keyed = |kind, byte| NewChange {
        packed: None,
        kind,
        instance: instance(byte),
        ..change(4)
    };
    writer.write(NOW, keyed(ChangeKind::Alive, 1)).unwrap();
    assert_eq!(
        writer.write(NOW, keyed(ChangeKind::Alive, 2)),
        Err(WriteError::TooManyInstances)
    );
    writer
        .write(NOW, keyed(ChangeKind::DisposedUnregistered, 1))
        .unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.history_len(), 0);
    writer.write(NOW, keyed(ChangeKind::Alive, 2)).unwrap();
}

fn keyed(kind: ChangeKind, number: u32) -> NewChange {
    let mut instance = [0; 16];
    instance[..4].copy_from_slice(&number.to_be_bytes());
    NewChange {
        packed: None,
        kind,
        instance: InstanceHandle(instance),
        ..change(4)
    }
}

#[test]
fn of_disposed_instances_only_the_newest_are_remembered() {
    for durable in [false, true] {
        let mut writer = writer(|config| config.durable = durable);
        let mut sent = Sent::default();
        let mut forgotten = 0;
        for number in 0..3000 {
            writer.write(NOW, keyed(ChangeKind::Alive, number)).unwrap();
            writer
                .write(NOW, keyed(ChangeKind::Disposed, number))
                .unwrap();
            writer.poll_transmit(NOW, &mut sent);
            while let Some(event) = writer.poll_event() {
                forgotten += usize::from(matches!(event, WriterEvent::InstanceForgotten(_)));
            }
        }
        assert_eq!(writer.registered_instances().count(), 1024);
        assert_eq!(writer.history_len(), if durable { 1024 } else { 0 });
        assert_eq!(forgotten, 3000 - 1024);
        assert!(writer.is_registered(keyed(ChangeKind::Alive, 2999).instance));
        assert!(!writer.is_registered(keyed(ChangeKind::Alive, 0).instance));
    }
}

#[test]
fn a_disposed_instance_that_lives_again_is_not_forgotten() {
    let mut writer = writer(|config| config.disposed_instances_max = 0);
    let mut sent = Sent::default();
    for kind in [ChangeKind::Alive, ChangeKind::Disposed, ChangeKind::Alive] {
        writer.write(NOW, keyed(kind, 1)).unwrap();
    }
    writer.write(NOW, keyed(ChangeKind::Disposed, 2)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert!(writer.is_registered(keyed(ChangeKind::Alive, 1).instance));
    assert!(!writer.is_registered(keyed(ChangeKind::Alive, 2).instance));
}

#[test]
fn keys_that_are_unregistered_leave_nothing_in_a_durable_history() {
    let mut writer = writer(|config| config.durable = true);
    let mut sent = Sent::default();
    for number in 0..100 {
        writer.write(NOW, keyed(ChangeKind::Alive, number)).unwrap();
        writer
            .write(NOW, keyed(ChangeKind::Unregistered, number))
            .unwrap();
    }
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.history_len(), 0);
}

#[test]
fn an_instance_deleted_again_and_again_before_a_reader_that_is_stuck_costs_no_more_than_once() {
    let mut writer = writer(|config| config.durable = true);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, true));
    for _ in 0..1000 {
        for kind in [
            ChangeKind::Alive,
            ChangeKind::Disposed,
            ChangeKind::DisposedUnregistered,
        ] {
            writer.write(NOW, keyed(kind, 1)).unwrap();
            writer.poll_transmit(NOW, &mut sent);
        }
    }
    assert_eq!(writer.history_len(), 1);
    assert_eq!(writer.endings.len(), 1);
}

#[test]
fn what_a_reborn_instance_wrote_since_its_deletion_is_kept() {
    let mut writer = writer(|config| {
        config.durable = true;
        config.depth = None;
    });
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, true));
    let keyed = |kind| NewChange {
        packed: None,
        kind,
        instance: InstanceHandle([1; 16]),
        ..change(4)
    };
    for kind in [
        ChangeKind::DisposedUnregistered,
        ChangeKind::Alive,
        ChangeKind::Unregistered,
    ] {
        writer.write(NOW, keyed(kind)).unwrap();
    }
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    writer
        .handle_acknack(NOW, READER, &acknack(2, &[2, 3], 1))
        .unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.words(), ["data", "data", "heartbeat?"]);
    assert_eq!(writer.history_len(), 2);
}

#[test]
fn a_write_blocked_by_the_pace_is_not_told_of_progress_that_is_none() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(1_000_000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.write(NOW, change(4)), Err(WriteError::WouldBlock));
    while writer.poll_event().is_some() {}
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.poll_event(), None);
}

#[test]
fn the_first_reader_after_one_that_left_in_mid_sample_gets_whole_samples() {
    let mut writer = writer(|config| config.depth = None);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(1_000_000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    writer.handle_unmatched(NOW, READER);
    writer.poll_transmit(NOW, &mut sent);
    writer.handle_matched(NOW, matched(true, false));
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    let later = NOW.after(Duration::from_secs(1));
    writer.write(later, change(5_000)).unwrap();
    writer.poll_transmit(later, &mut sent);
    assert_eq!(
        sent.words().iter().filter(|word| **word == "frag").count(),
        4
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
fn an_unregistration_that_takes_a_disposals_place_tells_of_both() {
    let mut writer = writer(|config| config.durable = true);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    let keyed = |kind| NewChange {
        packed: None,
        kind,
        instance: InstanceHandle([1; 16]),
        ..change(4)
    };
    for kind in [
        ChangeKind::Alive,
        ChangeKind::Disposed,
        ChangeKind::Unregistered,
    ] {
        writer.write(NOW, keyed(kind)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    let kept = writer.sample_of(InstanceHandle([1; 16])).unwrap();
    assert_eq!(kept.kind, ChangeKind::DisposedUnregistered);
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
fn an_unsent_sample_may_be_skipped_and_replaced() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(1_000_000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.write(NOW, change(16)), Err(WriteError::WouldBlock));
    writer.skip_unsent();
    writer.write(NOW, change(16)).unwrap();
    sent.words();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.words()[0], "data");
}

#[test]
fn a_large_sample_that_the_pace_holds_up_from_its_start_is_not_passed_over() {
    let mut writer = writer(|config| config.depth = None);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(false, false));
    for bytes in [300_000, 5_000, 16] {
        writer.write(NOW, change(bytes)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    let mut now = NOW;
    while writer.poll_timeout().is_some() && now < NOW.after(Duration::from_secs(1)) {
        now = writer.poll_timeout().unwrap().0.max(now);
        writer.poll_transmit(now, &mut sent);
    }
    let words = sent.words();
    let count = |wanted| words.iter().filter(|word| **word == wanted).count();
    assert_eq!(count("frag"), 300_000usize.div_ceil(1280) + 4);
    assert_eq!(count("data"), 1);
}

/// How long a sample of 60 MB takes to a reader that answers every question after `answer_us`.
fn transfer_ms(answer_us: i64) -> i64 {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.poll_transmit(NOW, &mut sent);
    writer.write(NOW, change(60_000_000)).unwrap();
    let (mut now, mut count) = (NOW, 0);
    loop {
        writer.handle_timeout(now);
        writer.poll_transmit(now, &mut sent);
        if writer.is_acknowledged(SequenceNumber(0)) && writer.paced_until.is_none() {
            return now.since(NOW).as_nanos() / 1_000_000;
        }
        sent.words();
        let answered = now.after(Duration::from_micros(answer_us));
        let timer = writer
            .poll_timeout()
            .map_or(answered, |(at, _)| at.max(now));
        now = answered.min(timer);
        if answered <= timer {
            count += 1;
            writer
                .handle_acknack(now, READER, &acknack(1, &[], count))
                .unwrap();
        }
    }
}

#[test]
fn readers_that_take_in_quickly_are_sent_more() {
    assert!(transfer_ms(50) < 100);
    // Answers that take for ever cost no more than the rate allows.
    assert!((200..2000).contains(&transfer_ms(1_000_000)));
}

#[test]
fn a_request_repeated_while_it_waits_is_lost_once() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(100_000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    for count in 1..10 {
        let nack = nack_frag(1, 1, count);
        writer.handle_nack_frag(NOW, READER, &nack).unwrap();
    }
    let settled = writer.readers[&READER].pace.settled();
    assert_eq!((settled.arrived, settled.lost), (0, 1));
}

#[test]
fn a_fragment_that_was_just_repaired_is_not_sent_again_at_once() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(5000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    let mut ask = |at: Instant, count: i32| {
        let nack = nack_frag(1, 2, count);
        writer.handle_nack_frag(at, READER, &nack).unwrap();
        writer.poll_transmit(at, &mut sent);
        sent.words().iter().filter(|word| **word == "frag").count()
    };
    assert_eq!(ask(NOW, 1), 1);
    let answers: usize = (2..200).map(|count| ask(NOW, count)).sum();
    assert_eq!(answers, 0);
    assert_eq!(ask(NOW.after(Duration::from_millis(3)), 200), 1);
    assert_eq!(writer.statistics().suppressed_repairs, 198);
}

#[test]
fn strangers_are_refused_as_strangers() {
    let mut writer = writer(|_| {});
    for base in [1, i64::MAX] {
        let refused = writer.handle_acknack(NOW, READER, &acknack(base, &[], 1));
        assert_eq!(refused.unwrap_err().kind, RejectKind::Stranger);
    }
}

/// Fragment numbers and sizes of what was sent.
fn fragments(sent: &mut Sent) -> Vec<(u32, u16)> {
    let mut found = vec![];
    for message in core::mem::take(&mut sent.0) {
        assert!(message.len() <= 1472);
        for inbound in MessageReceiver::new(&message, READER.prefix).unwrap() {
            if let Submessage::DataFrag(it) = inbound.unwrap().submessage {
                found.push((it.first.0, it.fragment_size));
            }
        }
    }
    found
}

#[test]
fn a_narrower_path_divides_what_is_kept_anew() {
    let mut writer = writer(|config| config.depth = None);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(1200)).unwrap();
    writer.write(NOW, change(3000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(fragments(&mut sent), [(1, 1280), (2, 1280), (3, 1280)]);
    // The reader misses the first and the middle of the second.
    writer
        .handle_acknack(NOW, READER, &acknack(1, &[1], 1))
        .unwrap();
    let narrow = MatchedReader {
        message_bytes_max: 548,
        ..matched(true, false)
    };
    writer.handle_matched(NOW, narrow);
    writer.poll_transmit(NOW, &mut sent);
    assert!(sent.0.iter().all(|message| message.len() <= 548));
    assert_eq!(
        fragments(&mut sent),
        [(1, 356), (2, 356), (3, 356), (4, 356)]
    );
    writer.write(NOW, change(700)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(fragments(&mut sent), [(1, 356), (2, 356)]);
}

#[test]
fn a_history_stays_within_its_budget_and_replaces_without_more() {
    let budget = Arc::new(Budget::new(2000));
    let mut writer = writer(|config| {
        config.durable = true;
        config.budget = Some(Arc::clone(&budget));
    });
    let mut sent = Sent::default();
    let mut written = 0;
    while writer.write(NOW, keyed(ChangeKind::Alive, written)).is_ok() {
        writer.poll_transmit(NOW, &mut sent);
        written += 1;
    }
    assert!((3..20).contains(&written), "{written}");
    assert!(budget.held() <= 2000);
    assert_eq!(writer.held_bytes(), budget.held());
    let refused = writer.write(NOW, keyed(ChangeKind::Alive, 99));
    assert_eq!(refused, Err(WriteError::OutOfMemory));
    // What takes another's place needs no more room, and makes some where it ends an instance.
    for kind in [ChangeKind::Alive, ChangeKind::DisposedUnregistered] {
        writer.write(NOW, keyed(kind, 0)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    writer.write(NOW, keyed(ChangeKind::Alive, 99)).unwrap();
    drop(writer);
    assert_eq!(budget.held(), 0);
}

#[test]
fn who_asks_for_fragments_is_asked_again_as_soon_as_at_first() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(5000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    let mut now = NOW;
    // Nobody answers, so the wait has grown.
    while now < NOW.after(Duration::from_secs(3)) {
        now = writer.poll_timeout().unwrap().0.max(now);
        writer.poll_transmit(now, &mut sent);
    }
    for count in 1..4 {
        let nack = nack_frag(1, 2, count);
        writer.handle_nack_frag(now, READER, &nack).unwrap();
        writer.poll_transmit(now, &mut sent);
        sent.words();
        let next = writer.poll_timeout().unwrap().0;
        assert!(next.since(now) <= Duration::from_millis(200), "{count}");
        writer.poll_transmit(next, &mut sent);
        assert!(sent.words().contains(&"heartbeat?"));
        now = next.after(Duration::from_millis(20));
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
    writer.handle_unmatched(NOW, READER);
    writer.poll_transmit(at, &mut sent);
    assert_eq!(writer.poll_timeout(), None);
}
