//! Packets with compressed samples, laid out as Connext documents it, inflate to what they were
//! made from. They were made for this purpose, not captured from the product.

use std::path::{Path, PathBuf};

use whimbrel_base::qos::CompressionIds;
use whimbrel_compress::{CodecKind, Level};
use whimbrel_net::capture::CaptureReader;
use whimbrel_wire::compressed::Compressed;
use whimbrel_wire::message::{Submessage, Submessages};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/connext-synthetic")
}

/// The datagrams of a capture.
pub(crate) fn datagrams(file: &str) -> Vec<Vec<u8>> {
    let capture = std::fs::read(folder().join(file)).expect("a capture");
    let datagrams = CaptureReader::new(&capture).expect("a capture");
    datagrams
        .map(|it| it.expect("a datagram").payload.to_vec())
        .collect()
}

/// The payload of the DATA, or of all DATA_FRAG, of a capture.
fn payload(file: &str) -> Vec<u8> {
    let mut payload = Vec::new();
    for datagram in datagrams(file) {
        let (_, submessages) = Submessages::new(&datagram).expect("a message");
        for submessage in submessages {
            let submessage = submessage.expect("a submessage").parse();
            match submessage.expect("a known one") {
                Submessage::Data(data) => payload.extend_from_slice(data.payload),
                Submessage::DataFrag(frag) => payload.extend_from_slice(frag.payload),
                _ => {}
            }
        }
    }
    payload
}

fn inflated(file: &str, codec: CompressionIds, kind: CodecKind) -> Vec<u8> {
    let payload = payload(file);
    let compressed = Compressed::parse(&payload);
    let compressed = compressed.expect("well formed").expect("compressed");
    assert_eq!(compressed.codec, codec, "{file}");
    let mut codec = kind.codec(Level::BEST).expect("built in");
    let mut plain = vec![0; compressed.plain_bytes as usize];
    codec
        .decompress(compressed.packed, &mut plain)
        .unwrap_or_else(|_| panic!("{file} does not inflate"));
    plain
}

#[test]
fn the_same_sample_by_every_codec() {
    let zlib = inflated("data-zlib.pcap", CompressionIds::ZLIB, CodecKind::Zlib);
    let text = "A".repeat(200);
    assert_eq!(zlib[..4], [0xc9, 0, 0, 0]);
    assert!(zlib[4..].starts_with(text.as_bytes()));
    assert_eq!(zlib.len(), 208);
    let bzip2 = inflated("data-bzip2.pcap", CompressionIds::BZIP2, CodecKind::Bzip2);
    assert_eq!(bzip2, zlib);
    let lz4 = inflated("data-lz4.pcap", CompressionIds::LZ4, CodecKind::Lz4);
    assert_eq!(lz4, zlib);
}

#[test]
fn fragments_are_of_the_compressed_sample() {
    let plain = inflated("datafrag-zlib.pcap", CompressionIds::ZLIB, CodecKind::Zlib);
    assert_eq!(plain.len(), 4008);
}

#[test]
fn plain_samples_are_plain() {
    let payload = payload("data-plain.pcap");
    assert_eq!(Compressed::parse(&payload), Ok(None));
}
