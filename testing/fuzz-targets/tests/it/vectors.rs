//! The golden datagrams of other implementations (`testing/vectors`): all of each is understood,
//! and each file holds what its README says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use whimbrel_base::guid::EntityId;
use whimbrel_base::time::Duration;
use whimbrel_base::vendor::VendorId;
use whimbrel_fuzz_targets::station::{START, Station, metatraffic, topics};
use whimbrel_net::capture::CaptureReader;
use whimbrel_proto::Participant;
use whimbrel_wire::discovery::{
    Context, ParticipantData, ParticipantMessageData, ReaderData, WriterData, parse_key,
};
use whimbrel_wire::inline_qos::{InlineQos, StatusInfo};
use whimbrel_wire::message::{Submessage, Submessages};
use whimbrel_wire::parameter::ParameterId;
use whimbrel_wire::pretty::Dissection;
use whimbrel_wire::submessage::{Content, Data};

use crate::readable::{self, Types};

/// Files in the folder; one that is lost must be noticed.
const FILES: usize = 22;

/// Builtin writers, what the README calls their DATA, and the parameter that is their key.
const BUILTIN: &[(EntityId, &str, ParameterId)] = &[
    (
        EntityId::SPDP_WRITER,
        "DATA(p)",
        ParameterId::PARTICIPANT_GUID,
    ),
    (
        EntityId::SEDP_PUBLICATIONS_WRITER,
        "DATA(w)",
        ParameterId::ENDPOINT_GUID,
    ),
    (
        EntityId::SEDP_SUBSCRIPTIONS_WRITER,
        "DATA(r)",
        ParameterId::ENDPOINT_GUID,
    ),
    (
        EntityId::PARTICIPANT_MESSAGE_WRITER,
        "DATA(m)",
        ParameterId::PARTICIPANT_GUID,
    ),
];

/// Words of the README that are looked for; other words are prose.
const WORDS: &[&str] = &[
    "DATA",
    "DATA(p)",
    "DATA(w)",
    "DATA(r)",
    "DATA(m)",
    "DATA_FRAG",
    "HEARTBEAT",
    "HEARTBEAT_FRAG",
    "ACKNACK",
    "NACK_FRAG",
    "GAP",
    "dispose",
    "unregister",
];

/// The domain of the captures.
const DOMAIN: u32 = 76;

/// Set to write the readable discovery anew instead of comparing with it; then look at the diff.
const UPDATE: &str = "WHIMBREL_UPDATE_VECTORS";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors")
}

/// The captures, by name.
fn captures() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the vectors");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let mut captures: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "pcap"))
        .collect();
    captures.sort();
    captures
}

/// The rows of the README's table: end of the file's name, what it holds.
fn rows() -> Vec<(String, String)> {
    let readme = std::fs::read_to_string(folder().join("README.md")).expect("a README");
    let cells = readme.lines().filter_map(|line| {
        let (name, holds) = line.strip_prefix("| `")?.split_once("` | ")?;
        Some((name.to_owned(), holds.trim_end_matches(" |").to_owned()))
    });
    cells.collect()
}

/// The words of a row that hold for `file`; "of Cyclone" makes its part of the row hold for
/// Cyclone alone.
fn expected<'a>(holds: &'a str, file: &str) -> BTreeSet<&'a str> {
    let parts = holds.split([',', ';', ':']).map(str::trim);
    parts
        .filter(|part| !part.starts_with("of Cyclone") || file.starts_with("cyclonedds-"))
        .flat_map(str::split_whitespace)
        .filter(|word| WORDS.contains(word))
        .collect()
}

/// Reads a DATA to its last octet, as far as the protocol gives it a meaning; counts under the
/// names of the README.
fn check_data(data: &Data<'_>, vendor: VendorId, found: &mut BTreeMap<String, usize>, at: &str) {
    let qos = data.inline_qos.map(InlineQos::parse).transpose();
    let qos = qos
        .unwrap_or_else(|why| panic!("{at}: inline QoS: {why}"))
        .unwrap_or_default();
    for (flag, word) in [
        (StatusInfo::DISPOSED, "dispose"),
        (StatusInfo::UNREGISTERED, "unregister"),
    ] {
        *found.entry(word.to_owned()).or_default() += usize::from(qos.status.contains(flag));
    }
    let Some((writer, word, key)) = BUILTIN.iter().find(|it| it.0 == data.writer) else {
        assert!(!data.writer.is_builtin(), "{at}: from {}", data.writer);
        return;
    };
    *found.entry((*word).to_owned()).or_default() += 1;
    let mut context = Context::new(vendor);
    context.key_hash = qos.key_hash;
    let read = match (data.content, *writer) {
        (Content::Data, EntityId::SPDP_WRITER) => {
            ParticipantData::parse(data.payload, &context).map(drop)
        }
        (Content::Data, EntityId::SEDP_PUBLICATIONS_WRITER) => {
            WriterData::parse(data.payload, &context).map(drop)
        }
        (Content::Data, EntityId::SEDP_SUBSCRIPTIONS_WRITER) => {
            ReaderData::parse(data.payload, &context).map(drop)
        }
        (Content::Data, _) => ParticipantMessageData::parse(data.payload).map(drop),
        (Content::Key | Content::None, _) => parse_key(data.payload, *key, &context).map(drop),
    };
    assert_eq!(read, Ok(()), "{at}: {word}");
}

/// Reads a whole datagram and counts what it holds.
fn check_datagram(bytes: &[u8], found: &mut BTreeMap<String, usize>, at: &str) {
    let (header, submessages) = Submessages::new(bytes).unwrap_or_else(|why| panic!("{at}: {why}"));
    for raw in submessages {
        let raw = raw.unwrap_or_else(|why| panic!("{at}: {why}"));
        let parsed = raw
            .parse()
            .unwrap_or_else(|why| panic!("{at}: {}: {why}", raw.kind));
        *found.entry(raw.kind.to_string()).or_default() += 1;
        match parsed {
            Submessage::Data(data) => check_data(&data, header.vendor, found, at),
            Submessage::Unknown { kind, .. } => {
                assert!(kind.is_vendor_specific(), "{at}: {kind}");
            }
            _ => {}
        }
    }
    let text = Dissection(bytes).to_string();
    assert!(!text.contains("REFUSED"), "{at}: {text}");
}

#[test]
fn every_datagram_of_others_is_understood() {
    let rows = rows();
    let mut files = 0;
    let mut described = BTreeSet::new();
    for path in captures() {
        files += 1;
        let file = path.file_stem().expect("a name").to_string_lossy();
        let bytes = std::fs::read(&path).expect("a readable file");
        let mut reader = CaptureReader::new(&bytes).expect("a capture");
        let mut found = BTreeMap::new();
        let mut datagrams = 0;
        for datagram in reader.by_ref() {
            let datagram = datagram.unwrap_or_else(|why| panic!("{file}: {why}"));
            datagrams += 1;
            let at = format!("{file}, datagram {datagrams}");
            check_datagram(datagram.payload, &mut found, &at);
        }
        assert!(datagrams > 0, "{file} is empty");
        assert_eq!(reader.skipped(), 0, "{file}");
        let row = rows
            .iter()
            .find(|(name, _)| file.ends_with(&format!("-{name}")));
        let (name, holds) = row.unwrap_or_else(|| panic!("{file} is not in the README"));
        let expected = expected(holds, &file);
        assert!(!expected.is_empty(), "{name}: the README names nothing");
        for word in expected {
            let count = found.get(word).copied().unwrap_or(0);
            assert!(count > 0, "{file} has no {word}: {found:?}");
        }
        described.insert(name);
    }
    assert_eq!(files, FILES);
    assert_eq!(
        described.len(),
        rows.len(),
        "rows without a file: {described:?}"
    );
}

/// What peers announce is read today as it was read when it was recorded.
#[test]
fn discovery_reads_as_it_did() {
    let mut compared = 0;
    for path in captures() {
        if !path.to_string_lossy().ends_with("-discovery.pcap") {
            continue;
        }
        let text = readable::capture(&path, Types::Shown);
        let golden = path.with_extension("txt");
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(&golden, &text).expect("a writable folder");
        }
        let known = std::fs::read_to_string(&golden).unwrap_or_default();
        let first = known.lines().zip(text.lines()).position(|(a, b)| a != b);
        assert!(
            known == text,
            "{}: differs from line {:?} on; {UPDATE}=1 writes it anew",
            golden.display(),
            first.map(|line| line + 1)
        );
        compared += 1;
    }
    assert_eq!(compared, 4);
}

/// The same datagrams in big-endian (testing/interop/bigendian) say the same.
#[test]
fn the_order_of_octets_changes_nothing() {
    let captures = captures();
    for path in &captures {
        let file = path.file_name().expect("a name");
        let turned = folder().join("big-endian").join(file);
        let at = turned.display();
        let bytes = std::fs::read(&turned).unwrap_or_else(|why| panic!("{at}: {why}"));
        let mut reader = CaptureReader::new(&bytes).expect("a capture");
        let mut found = BTreeMap::new();
        for datagram in reader.by_ref() {
            let payload = datagram.expect("a packet").payload;
            assert_eq!(payload[21] & 1, 0, "{at}: little-endian");
            check_datagram(payload, &mut found, &at.to_string());
        }
        let (little, big) = (path, &turned);
        assert_eq!(
            readable::capture(little, Types::Counted),
            readable::capture(big, Types::Counted),
            "{at}"
        );
    }
    assert_eq!(captures.len(), FILES);
}

/// A whole participant that hears a capture as if it were meant for it: what it knows after each
/// datagram, and the most endpoints it knew.
fn heard(path: &Path) -> (Vec<String>, usize) {
    let mut station = Station::new(1, topics(1));
    let mut config = station.control.config().clone();
    config.domain_id = DOMAIN;
    let own = config.guid_prefix;
    station.control = Participant::new(START, config);
    for index in [0, 1] {
        station.announce_writer(index);
        station.announce_reader(index);
    }
    let (mut known, mut most) = (Vec::new(), 0);
    let bytes = std::fs::read(path).expect("a readable file");
    for datagram in CaptureReader::new(&bytes).expect("a capture") {
        let mut octets = datagram.expect("a packet").payload.to_vec();
        for at in destinations(&octets) {
            octets[at..at + 12].copy_from_slice(&own.0);
        }
        station.receive(metatraffic(9), &octets);
        station.advance(Duration::from_millis(1));
        let participants: Vec<_> = station.control.participants().collect();
        let writers: Vec<_> = station.control.remote_writers().collect();
        let readers: Vec<_> = station.control.remote_readers().collect();
        most = most.max(writers.len() + readers.len());
        let (rejects, sent) = (station.rejects(), station.control.statistics());
        let text = format!("{participants:#?}{writers:#?}{readers:#?}{rejects:#?}{sent:#?}");
        known.push(without_kept_octets(&text));
    }
    (known, most)
}

/// TypeInformation and the announcement itself are kept as the sender wrote them, in the sender's
/// order of octets.
fn without_kept_octets(text: &str) -> String {
    let mut until = None;
    let mut kept = String::new();
    for line in text.lines() {
        let line = line.trim_start();
        if line.starts_with("type_information: Some(") {
            until = Some("),");
        } else if line == "announcement: [" {
            until = Some("],");
        }
        match until {
            Some(end) if line == end => until = None,
            Some(_) => {}
            None => {
                kept.push_str(line);
                kept.push('\n');
            }
        }
    }
    kept
}

/// Where the datagram's INFO_DST have their prefix.
fn destinations(octets: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 20;
    while let Some([kind, flags, a, b]) = octets.get(at..at + 4).and_then(|it| it.first_chunk()) {
        let length = match flags & 1 {
            1 => u16::from_le_bytes([*a, *b]),
            _ => u16::from_be_bytes([*a, *b]),
        };
        if *kind == 0x0e {
            found.push(at + 4);
        }
        at += 4 + usize::from(length);
    }
    found
}

#[test]
fn a_whole_participant_hears_both_orders_alike() {
    for path in captures() {
        let file = path.file_name().expect("a name");
        let (little, most) = heard(&path);
        let (big, _) = heard(&folder().join("big-endian").join(file));
        let first = little.iter().zip(&big).position(|(a, b)| a != b);
        assert!(little == big, "{}: datagram {first:?}", path.display());
        let discovery = file.to_string_lossy().ends_with("-discovery.pcap");
        assert!(!discovery || most > 0, "{}: nothing known", path.display());
    }
}
