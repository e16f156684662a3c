//! Samples that follow one another in a message are taken in together, and nothing else is seen of
//! that than of one by one.

use alloc::format;

use whimbrel_base::cursor::Endian;
use whimbrel_base::vendor::ProtocolVersion;
use whimbrel_wire::header::Header;
use whimbrel_wire::submessage::{Content, Data, InfoDestination, InfoTimestamp};

use super::*;
use crate::tests::random::Random;

/// The first octet of a sample is its key.
#[derive(Debug)]
struct FirstOctet;

impl KeyExtractor for FirstOctet {
    fn instance_of(&self, payload: &[u8], _is_key: bool) -> Option<InstanceHandle> {
        let key = *payload.first()?;
        // One that cannot be read.
        (key != 3).then_some(InstanceHandle([key; 16]))
    }

    fn instance_of_unreadable(&self, _key_hash: Option<InstanceHandle>) -> Option<InstanceHandle> {
        None
    }
}

/// A message with samples from `next` on, most of them in order.
fn message(dice: &mut Random, next: &mut i64) -> Vec<u8> {
    let mut out = Vec::new();
    let header = Header {
        version: ProtocolVersion::V2_5,
        vendor: VendorId::WHIMBREL,
        prefix: WRITER.prefix,
    };
    header.compose(&mut out);
    for _ in 0..dice.below(12) + 1 {
        let what = dice.below(40);
        let number = match what {
            0 => *next - 1,
            1 => *next + 2,
            2 => *next + 1,
            _ => *next,
        };
        if what == 3 {
            let prefix = [READER.prefix, GuidPrefix([9; 12])][dice.below(2) as usize];
            InfoDestination { prefix }.compose(&mut out, Endian::Little);
        }
        if dice.below(3) > 0 {
            let time = (dice.below(4) > 0).then_some(Timestamp(number.saturating_mul(1000)));
            InfoTimestamp { time }.compose(&mut out, Endian::Little);
        }
        let bytes = [dice.below(3) as u8 + u8::from(what == 4); 40];
        let payload = &bytes[..dice.below(41) as usize & !3];
        let data = Data {
            reader: [EntityId::UNKNOWN, READER.entity][usize::from(what == 5)],
            writer: WRITER.entity,
            number: SequenceNumber(number.max(1)),
            inline_qos: None,
            content: [Content::Data, Content::Key][usize::from(what == 6)],
            non_standard_payload: what == 7,
            payload,
        };
        let endian = [Endian::Little, Endian::Big][dice.below(2) as usize];
        data.compose(&mut out, endian);
        *next = (*next).max(number + 1);
    }
    out
}

/// Takes in a message one by one, or `together`; gives what was refused.
fn receive(reader: &mut Reader, message: &SharedBytes, together: bool) -> Vec<RejectKind> {
    let mut refused = Vec::new();
    let mut rest = MessageReceiver::new(message, READER.prefix).unwrap();
    let wall = Timestamp(7);
    while let Some(inbound) = rest.next() {
        let inbound = inbound.unwrap();
        let mut refuse = |reject: whimbrel_base::reject::Reject| refused.push(reject.kind);
        let said = reader.handle_inbound(NOW, wall, WRITER, message, &inbound, |it| it);
        said.unwrap_or_else(&mut refuse);
        if together && let Submessage::Data(data) = &inbound.submessage {
            let next = || {
                Some(
                    rest.next_alike((data.writer, data.reader))?
                        .change(WRITER, message, wall),
                )
            };
            reader.handle_alike(NOW, WRITER, next, refuse);
        }
    }
    refused
}

fn compare(seed: u64, adapt: &dyn Fn(&mut ReaderConfig)) {
    let mut dice = Random::new(seed);
    let mut readers = [reader(adapt), reader(adapt)];
    for reader in &mut readers {
        reader.handle_matched(NOW, matched(true));
        let first = heartbeat(1, 0, 1, true);
        reader.handle_heartbeat(NOW, WRITER, &first).unwrap();
    }
    let mut next = 1;
    for round in 2..200 {
        let message = SharedBytes::from_vec(message(&mut dice, &mut next));
        let [one, other] = &mut readers;
        assert_eq!(
            receive(one, &message, false),
            receive(other, &message, true),
            "seed {seed}, round {round}"
        );
        let (tells, takes, repairs) = (dice.below(5), dice.below(4), dice.below(6));
        let seen = readers.each_mut().map(|reader| {
            let mut seen = Vec::new();
            if takes == 0 {
                reader.cache_mut().take(&Selector::ALL, &mut seen);
                reader.handle_room(NOW);
            } else if takes == 1 {
                reader.cache_mut().read(&Selector::ALL, &mut seen);
            }
            if tells == 0 {
                // What is missing will never come.
                let all_gone = heartbeat(next, next - 1, round, repairs == 0);
                reader.handle_heartbeat(NOW, WRITER, &all_gone).unwrap();
            }
            let mut events = Vec::new();
            while let Some(event) = reader.poll_event() {
                events.push(event);
            }
            let cache = reader.cache();
            let counts = (cache.valid_sample_count(), cache.instance_count());
            let statistics = format!("{:?}", reader.statistics());
            let held = (reader.held_bytes(), reader.waits_for_room());
            (seen, events, answers(reader, NOW), counts, statistics, held)
        });
        assert_eq!(seen[0], seen[1], "seed {seed}, round {round}");
    }
    assert!(readers[0].statistics().delivered > 100, "seed {seed}");
}

#[test]
fn together_or_one_by_one_the_same_is_delivered() {
    for seed in 0..40 {
        compare(seed, &|_| {});
        compare(seed, &|config| config.cache = keep_all(9));
        compare(seed, &|config| config.cache.history = History::KeepLast(3));
        compare(seed, &|config| {
            config.cache.keyed = true;
            config.keys = Some(Box::new(FirstOctet));
        });
        compare(seed, &|config| {
            config.cache.keyed = true;
            config.cache.limits.max_samples_per_instance = Limit::at_most(4);
            config.keys = Some(Box::new(FirstOctet));
        });
        compare(seed, &|config| {
            config.budget = Some(Arc::new(Budget::new(6000)));
        });
    }
}

#[test]
fn what_is_not_alike_or_not_picked_is_left_for_the_usual_way() {
    let mut dice = Random::new(5);
    for _ in 0..300 {
        let bytes = message(&mut dice, &mut 5);
        let mut picks = Random::new(dice.below(1000));
        let mut all = |plain: bool, together: bool| {
            let mut rest = MessageReceiver::new(&bytes, READER.prefix).unwrap();
            let mut found = Vec::new();
            loop {
                let mut picked = |ids| (plain && picks.below(3) > 0).then_some(ids);
                let ids = if let Some((ids, Plain::Sample(it))) = rest.next_plain(&mut picked) {
                    found.push((it.timestamp, it.number, it.payload));
                    ids
                } else if let Some(inbound) = rest.next() {
                    let inbound = inbound.unwrap();
                    let Submessage::Data(data) = &inbound.submessage else {
                        continue;
                    };
                    found.push((inbound.timestamp, data.number, data.payload));
                    (data.writer, data.reader)
                } else {
                    return found;
                };
                while together && let Some(it) = rest.next_alike(ids) {
                    found.push((it.timestamp, it.number, it.payload));
                }
            }
        };
        let usual = all(false, false);
        assert_eq!(all(false, true), usual);
        assert_eq!(all(true, false), usual);
        assert_eq!(all(true, true), usual);
    }
}
