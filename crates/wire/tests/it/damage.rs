//! Damaged messages: whatever a datagram holds, it is parsed or refused.

use whimbrel_base::vendor::VendorId;
use whimbrel_wire::discovery::{
    Context, ParticipantData, ParticipantMessageData, ReaderData, WriterData, parse_key,
};
use whimbrel_wire::inline_qos::InlineQos;
use whimbrel_wire::message::{Submessage, Submessages};
use whimbrel_wire::parameter::ParameterId;
use whimbrel_wire::pretty::Dissection;

use crate::messages;

/// Parses all there is in `datagram`, as discovery data as well; returns how many submessages were
/// parsed and how many refused.
fn exhaust(datagram: &[u8]) -> (usize, usize) {
    let text = Dissection(datagram).to_string();
    // What is printed stays in proportion to what came in.
    assert!(text.len() < 1000 + 200 * datagram.len());
    let Ok((header, submessages)) = Submessages::new(datagram) else {
        return (0, 1);
    };
    let mut outcome = (0, 0);
    for raw in submessages {
        match raw.and_then(|raw| raw.parse()) {
            Ok(submessage) => {
                outcome.0 += 1;
                look_into(&submessage, header.vendor);
            }
            Err(_) => outcome.1 += 1,
        }
    }
    outcome
}

fn look_into(submessage: &Submessage<'_>, vendor: VendorId) {
    let context = Context::new(vendor);
    match submessage {
        Submessage::Data(data) => {
            if let Some(list) = data.inline_qos {
                let _ = InlineQos::parse(list);
            }
            let _ = ParticipantData::parse(data.payload, &context);
            let _ = WriterData::parse(data.payload, &context);
            let _ = ReaderData::parse(data.payload, &context);
            let _ = ParticipantMessageData::parse(data.payload);
            let _ = parse_key(data.payload, ParameterId::ENDPOINT_GUID, &context);
        }
        Submessage::DataFrag(data) => {
            let (start, end) = data.range().unwrap();
            assert!(start < end && end <= data.sample_size);
            assert_eq!((end - start) as usize, data.payload.len());
        }
        Submessage::AckNack(acknack) => assert!(acknack.state.iter().count() <= 256),
        Submessage::Gap(gap) => assert!(gap.list.iter().all(|number| gap.contains(number))),
        Submessage::NackFrag(nack) => assert!(nack.state.iter().count() <= 256),
        Submessage::Heartbeat(heartbeat) => {
            assert!(heartbeat.first.is_valid());
            assert!(heartbeat.last >= heartbeat.first.previous());
        }
        _ => {}
    }
}

/// Numbers that look random and are the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

const INTERESTING: [u8; 8] = [0, 1, 2, 4, 0x7f, 0x80, 0xfe, 0xff];

#[test]
fn undamaged_messages_are_parsed_whole() {
    for message in messages::all() {
        let (parsed, refused) = exhaust(&message);
        assert!(parsed > 0 && refused == 0, "{}", Dissection(&message));
        assert!(!Dissection(&message).to_string().contains("REFUSED"));
    }
}

#[test]
fn every_truncation_is_parsed_or_refused() {
    for message in messages::all() {
        for len in 0..message.len() {
            exhaust(&message[..len]);
        }
    }
}

#[test]
fn damage_is_parsed_or_refused() {
    let mut numbers = Numbers(0x5eed_0001);
    let mut refusals = 0;
    for message in messages::all() {
        for _ in 0..400 {
            let mut damaged = message.clone();
            for _ in 0..1 + numbers.below(6) {
                let at = 20 + numbers.below(damaged.len() - 20);
                damaged[at] = match numbers.below(2) {
                    0 => INTERESTING[numbers.below(INTERESTING.len())],
                    _ => numbers.below(256) as u8,
                };
            }
            let len = damaged.len();
            match numbers.below(8) {
                0 => damaged.truncate(numbers.below(len)),
                1 => damaged.extend_from_within(numbers.below(len)..),
                _ => {}
            }
            refusals += exhaust(&damaged).1;
        }
    }
    // Otherwise the damage never reached anything that is checked.
    assert!(refusals > 500, "{refusals}");
}

#[test]
fn a_hundred_thousand_parameters_end() {
    let mut payload = vec![0, 3, 0, 0];
    for _ in 0..100_000 {
        payload.extend_from_slice(&[0x01, 0x80, 0, 0]);
    }
    payload.extend_from_slice(&[1, 0, 0, 0]);
    let context = Context::new(VendorId::CONNEXT);
    assert!(ParticipantData::parse(&payload, &context).is_err());
}

/// Kinds of Connext that we do not know, in front of a compressed sample.
#[test]
fn what_only_connext_knows_is_skipped() {
    let mut message = b"RTPS\x02\x05\x01\x01abcdefghijkl".to_vec();
    message.extend_from_slice(&[0x17, 0x01, 4, 0, 0, 0, 32, 0]);
    message.extend_from_slice(&[0x1a, 0x01, 4, 0, 0x80, 0, 0, 4]);
    message.extend_from_slice(&[
        0x15, 0x05, 0x30, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00,
        0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x06, 0x00, 0x00,
        0x00, 0xd0, 0x78, 0xda, 0x3b, 0xc9, 0xc0, 0xc0, 0xe0, 0x38, 0x4c, 0x00, 0xd0, 0x2b, 0x0c,
        0x00, 0x5f, 0xff, 0x33, 0x92, 0x00, 0x00,
    ]);
    let (_, submessages) = Submessages::new(&message).unwrap();
    let parsed: Vec<_> = submessages
        .map(|raw| raw.unwrap().parse().unwrap())
        .collect();
    assert!(matches!(parsed[0], Submessage::Unknown { .. }));
    assert!(matches!(parsed[1], Submessage::Unknown { .. }));
    let Submessage::Data(data) = parsed[2] else {
        panic!("{}", parsed[2]);
    };
    assert_eq!(data.payload.len(), 28);
}
