//! Each kind of submessage by itself: the flags octet, then the body.

use whimbrel_base::cursor::Endian;
use whimbrel_base::time::Timestamp;
use whimbrel_wire::message::Submessage;
use whimbrel_wire::submessage::frame::{FLAG_ENDIAN, SUBMESSAGE_HEADER_LEN};
use whimbrel_wire::submessage::{HeaderExtension, SubmessageKind};

macro_rules! targets {
    ($($name:ident = $kind:ident,)+) => {$(
        #[doc = concat!("Parses, prints and composes a ", stringify!($kind), ".")]
        pub fn $name(data: &[u8]) {
            submessage(SubmessageKind::$kind, data);
        }
    )+};
}

targets! {
    data = DATA,
    data_batch = DATA_BATCH,
    data_frag = DATA_FRAG,
    heartbeat = HEARTBEAT,
    heartbeat_batch = HEARTBEAT_BATCH,
    heartbeat_frag = HEARTBEAT_FRAG,
    acknack = ACKNACK,
    nack_frag = NACK_FRAG,
    gap = GAP,
    info_ts = INFO_TS,
    info_dst = INFO_DST,
    info_src = INFO_SRC,
    info_reply = INFO_REPLY,
    info_reply_ip4 = INFO_REPLY_IP4,
    pad = PAD,
    header_extension = HEADER_EXTENSION,
}

/// What was understood must be understood again from its own composition, in the same octets.
fn submessage(kind: SubmessageKind, data: &[u8]) {
    let Some((flags, body)) = data.split_first() else {
        return;
    };
    // One submessage cannot state more.
    let body = body.get(..usize::from(u16::MAX) & !3).unwrap_or(body);
    let Ok(parsed) = Submessage::parse(kind, *flags, body) else {
        return;
    };
    assert!(!parsed.to_string().is_empty());
    if cannot_travel(&parsed) {
        return;
    }
    let endian = Endian::from_flag(flags & FLAG_ENDIAN != 0);
    let once = compose(&parsed, endian);
    let (head, body) = once.split_at(SUBMESSAGE_HEADER_LEN);
    let again = Submessage::parse(kind, head[1], body);
    let again = again.unwrap_or_else(|why| panic!("{parsed} is refused as composed: {why}"));
    assert_eq!(compose(&again, endian), once, "{parsed}");
    assert_eq!(
        again.to_string().split(' ').next(),
        parsed.to_string().split(' ').next()
    );
}

/// An extension that says nothing is left out, and a time past 2106 travels as no time at all.
fn cannot_travel(submessage: &Submessage<'_>) -> bool {
    match submessage {
        Submessage::HeaderExtension(it) => *it == HeaderExtension::default(),
        Submessage::InfoTimestamp(it) => it
            .time
            .is_some_and(|time| time.to_wire() == Timestamp::INVALID.to_wire()),
        _ => false,
    }
}

fn compose(submessage: &Submessage<'_>, endian: Endian) -> Vec<u8> {
    let mut out = Vec::new();
    match submessage {
        Submessage::Data(it) => it.compose(&mut out, endian),
        Submessage::DataBatch(it) => it.compose(&mut out, endian),
        Submessage::DataFrag(it) => it.compose(&mut out, endian),
        Submessage::Heartbeat(it) => it.compose(&mut out, endian),
        Submessage::HeartbeatBatch(it) => it.compose(&mut out, endian),
        Submessage::HeartbeatFrag(it) => it.compose(&mut out, endian),
        Submessage::AckNack(it) => it.compose(&mut out, endian),
        Submessage::NackFrag(it) => it.compose(&mut out, endian),
        Submessage::Gap(it) => it.compose(&mut out, endian),
        Submessage::InfoTimestamp(it) => it.compose(&mut out, endian),
        Submessage::InfoDestination(it) => it.compose(&mut out, endian),
        Submessage::InfoSource(it) => it.compose(&mut out, endian),
        Submessage::InfoReply(it) => it.compose(&mut out, endian),
        Submessage::InfoReplyIp4(it) => it.compose(&mut out, endian),
        Submessage::HeaderExtension(it) => it.compose(&mut out, endian),
        Submessage::Pad(it) => it.compose(&mut out, endian),
        Submessage::Unknown { kind, .. } => panic!("{kind} is a kind that must be known"),
    }
    out
}
