//! The golden datagrams of other implementations (`testing/vectors`): all of each is understood,
//! and each file holds what its README says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use whimbrel_base::guid::EntityId;
use whimbrel_base::vendor::VendorId;
use whimbrel_net::capture::CaptureReader;
use whimbrel_wire::discovery::{
    Context, ParticipantData, ParticipantMessageData, ReaderData, WriterData, parse_key,
};
use whimbrel_wire::inline_qos::{InlineQos, StatusInfo};
use whimbrel_wire::message::{Submessage, Submessages};
use whimbrel_wire::parameter::ParameterId;
use whimbrel_wire::pretty::Dissection;
use whimbrel_wire::submessage::{Content, Data};

/// Files in the folder; one that is lost must be noticed.
const FILES: usize = 21;

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

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors")
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
    for entry in std::fs::read_dir(folder()).expect("the vectors") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|it| it != "pcap") {
            continue;
        }
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
