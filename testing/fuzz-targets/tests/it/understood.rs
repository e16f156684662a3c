//! The valid seeds are understood: a target that refuses everything would prove nothing.

use whimbrel_base::vendor::VendorId;
use whimbrel_compress::{CodecKind, Level};
use whimbrel_fuzz_targets::corpus;
use whimbrel_fuzz_targets::targets::xcdr::{Appendable, Final, Plain};
use whimbrel_net::capture::CaptureReader;
use whimbrel_types::from_payload;
use whimbrel_wire::discovery::{
    Context, ParticipantData, ParticipantMessageData, ReaderData, WriterData,
};
use whimbrel_wire::message::Submessages;
use whimbrel_wire::parameter::ParameterList;
use whimbrel_wire::pretty::Dissection;
use whimbrel_wire::submessage::SubmessageKind;

fn seed(target: &str, name: &str) -> Vec<u8> {
    let path = corpus::folder().join(target).join(format!("seed-{name}"));
    std::fs::read(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn check_submessage(kind: SubmessageKind, target: &str, name: &str) {
    for order in ["le", "be"] {
        let bytes = seed(target, &format!("{name}-{order}"));
        let parsed = whimbrel_wire::message::Submessage::parse(kind, bytes[0], &bytes[1..]);
        assert!(parsed.is_ok(), "{target} {name} {order}: {parsed:?}");
    }
}

#[test]
fn submessages() {
    check_submessage(SubmessageKind::DATA, "data", "plain");
    check_submessage(SubmessageKind::DATA, "data", "qos-and-data");
    check_submessage(SubmessageKind::DATA, "data", "qos-far");
    check_submessage(SubmessageKind::DATA, "data", "dispose");
    check_submessage(SubmessageKind::DATA_FRAG, "data_frag", "first-of-three");
    check_submessage(SubmessageKind::DATA_FRAG, "data_frag", "last-of-three");
    check_submessage(SubmessageKind::HEARTBEAT, "heartbeat", "ten");
    check_submessage(SubmessageKind::HEARTBEAT, "heartbeat", "empty");
    check_submessage(SubmessageKind::HEARTBEAT, "heartbeat", "group");
    check_submessage(SubmessageKind::HEARTBEAT_FRAG, "heartbeat_frag", "eight");
    check_submessage(SubmessageKind::ACKNACK, "acknack", "three");
    check_submessage(SubmessageKind::ACKNACK, "acknack", "full");
    check_submessage(SubmessageKind::NACK_FRAG, "nack_frag", "three");
    check_submessage(SubmessageKind::GAP, "gap", "with-bits");
    check_submessage(SubmessageKind::GAP, "gap", "group");
    check_submessage(SubmessageKind::GAP, "gap", "filtered-count");
    check_submessage(SubmessageKind::INFO_TS, "info_ts", "time");
    check_submessage(SubmessageKind::INFO_DST, "info_dst", "prefix");
    check_submessage(SubmessageKind::INFO_SRC, "info_src", "prefix");
    check_submessage(SubmessageKind::INFO_REPLY, "info_reply", "multicast");
    check_submessage(
        SubmessageKind::INFO_REPLY_IP4,
        "info_reply_ip4",
        "multicast",
    );
    check_submessage(SubmessageKind::PAD, "pad", "some");
    check_submessage(
        SubmessageKind::HEADER_EXTENSION,
        "header_extension",
        "length",
    );
}

#[test]
fn messages() {
    let bytes = seed("message", "unknown-skipped");
    let (_, submessages) = Submessages::new(&bytes).expect("a message");
    let parsed = submessages.map(|raw| raw.and_then(|raw| raw.parse().map(drop)));
    assert_eq!(
        parsed.collect::<Result<Vec<()>, _>>().map(|all| all.len()),
        Ok(3)
    );
}

#[test]
fn parameter_lists() {
    for (order, endian) in [
        ("le", whimbrel_types::Endian::Little),
        ("be", whimbrel_types::Endian::Big),
    ] {
        let bytes = seed("parameter_list", &format!("key-and-status-{order}"));
        let list = ParameterList::parse(&bytes[1..], endian).expect("a list");
        assert_eq!(list.iter().count(), 2);
    }
}

#[test]
fn announcements() {
    for order in ["le", "be"] {
        let context = Context::new(VendorId::CONNEXT);
        let whole = |target| seed(target, &format!("whole-{order}"));
        let participant = ParticipantData::parse(&whole("participant_data"), &context);
        assert_eq!(
            participant.map(|it| it.default_unicast.len()),
            Ok(1),
            "{order}"
        );
        let writer = WriterData::parse(&whole("writer_data"), &context);
        assert_eq!(
            writer.map(|it| it.endpoint.topic_name),
            Ok("Square".to_owned()),
            "{order}"
        );
        let reader = ReaderData::parse(&whole("reader_data"), &context);
        assert_eq!(
            reader.map(|it| it.endpoint.topic_name),
            Ok("Square".to_owned()),
            "{order}"
        );
        let manual = seed("participant_message", &format!("manual-{order}"));
        let message = ParticipantMessageData::parse(&manual);
        assert_eq!(
            message.map(|it| it.data),
            Ok([1, 2, 3, 4].as_slice()),
            "{order}"
        );
    }
}

#[test]
fn dissections() {
    let text = Dissection(&seed("dissection", "data-heartbeat")).to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    assert!(lines.iter().any(|line| line.starts_with("DATA")), "{text}");
    assert!(
        lines.iter().any(|line| line.starts_with("HEARTBEAT")),
        "{text}"
    );
}

#[test]
fn user_data() {
    for order in ["be", "le"] {
        for encoding in ["xcdr1", "xcdr2"] {
            let plain = seed("xcdr_plain", &format!("plain-{encoding}-{order}"));
            assert_eq!(
                from_payload(&plain),
                Ok(Plain::example()),
                "{encoding} {order}"
            );
            let rich = format!("rich-{encoding}-{order}");
            assert_eq!(
                from_payload(&seed("xcdr_final", &rich)),
                Ok(Final::example())
            );
            assert_eq!(
                from_payload(&seed("xcdr_appendable", &rich)),
                Ok(Appendable::example())
            );
        }
        let delimited = seed("xcdr_plain", &format!("delimited-delimited-{order}"));
        assert_eq!(from_payload(&delimited), Ok(Plain::example()), "{order}");
    }
}

#[test]
fn captures() {
    for order in ["le", "be"] {
        for name in ["ethernet", "nanoseconds", "ipv6", "link-101", "two"] {
            let bytes = seed("capture", &format!("{name}-{order}"));
            let reader = CaptureReader::new(&bytes).expect("a capture");
            let found: Vec<_> = reader.map(|datagram| datagram.expect("whole")).collect();
            assert_eq!(
                found.len(),
                if name == "two" { 2 } else { 1 },
                "{name} {order}"
            );
            assert!(
                found
                    .iter()
                    .all(|datagram| datagram.payload.starts_with(b"RTPS"))
            );
        }
    }
}

#[test]
fn a_recorded_peer_is_matched_and_its_samples_arrive() {
    let input = whimbrel_fuzz_targets::record::exchange();
    let station = whimbrel_fuzz_targets::targets::participant::play(&input);
    assert_eq!(station.control.statistics().participants_departed, 1);
    assert!(station.readers[0].statistics().delivered >= 3);
    assert!(station.writers[0].statistics().acknacks >= 3);
    let path = corpus::folder().join("participant/recorded-exchange");
    let committed = std::fs::read(path).expect("a recording");
    let station = whimbrel_fuzz_targets::targets::participant::play(&committed);
    assert!(station.readers[0].statistics().delivered > 0);
}

#[test]
fn two_participants_exchange_everything_on_a_clean_network() {
    let outcome = whimbrel_fuzz_targets::targets::participant_pair::play(&[]);
    assert!(outcome.complete && !outcome.tainted);
}

#[test]
fn compressed_data() {
    for kind in CodecKind::ALL {
        let text = b"to be or not to be, to be or not to be";
        let wanted: &[u8] = match kind {
            CodecKind::Zlib | CodecKind::Bzip2 | CodecKind::Lz4 => text,
            CodecKind::Zstd | CodecKind::Lzo | CodecKind::Lz => text,
            CodecKind::Huffman => b"aaaa",
        };
        let packed = &seed("codecs", kind.name())[4..];
        let mut codec = kind.codec(Level::BEST).expect("a codec");
        let mut plain = vec![0; wanted.len()];
        assert_eq!(codec.decompress(packed, &mut plain), Ok(()), "{kind}");
        assert_eq!(plain, wanted, "{kind}");
    }
}
