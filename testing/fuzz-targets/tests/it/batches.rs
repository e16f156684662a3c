//! Packets with batches, laid out as Connext documents them, come out as the samples that they were
//! made from. They were made for this purpose, not captured from the product.

use whimbrel_base::reject::Reject;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_compress::{CodecKind, Level};
use whimbrel_wire::compressed::Compressed;
use whimbrel_wire::inline_qos::{InlineQos, StatusInfo};
use whimbrel_wire::message::Submessage;
use whimbrel_wire::submessage::{Content, DataBatch, HeartbeatBatch};

use crate::compressed::datagrams;

/// What is in the one datagram of a capture.
fn found(
    file: &str,
    check: impl FnOnce(&DataBatch<'_>, Option<&HeartbeatBatch>) -> Result<(), Reject>,
) {
    let datagrams = datagrams(file);
    let parsed = datagrams.iter().flat_map(|datagram| {
        let (_, submessages) = whimbrel_wire::message::Submessages::new(datagram).expect("RTPS");
        submessages.map(|it| it.expect("whole").parse().expect("understood"))
    });
    let parsed: Vec<_> = parsed.collect();
    let batch = parsed.iter().find_map(|it| match it {
        Submessage::DataBatch(batch) => Some(batch),
        _ => None,
    });
    let heartbeat = parsed.iter().find_map(|it| match it {
        Submessage::HeartbeatBatch(heartbeat) => Some(heartbeat),
        _ => None,
    });
    check(batch.expect("a batch"), heartbeat).expect("well formed");
}

#[test]
fn ten_samples_and_a_heartbeat() {
    found("batch-plain.pcap", |batch, heartbeat| {
        let samples = batch.samples.with_data(&batch.payload[4..])?;
        for (index, (sample, data)) in (0u32..).zip(samples) {
            assert_eq!(sample.number, SequenceNumber(i64::from(index) + 1));
            assert_eq!(data, index.to_le_bytes());
        }
        assert_eq!((batch.samples.len(), batch.last), (10, SequenceNumber(10)));
        let heartbeat = heartbeat.expect("a heartbeat");
        assert_eq!(heartbeat.batches.last, SequenceNumber(1));
        assert_eq!(heartbeat.last, SequenceNumber(10));
        Ok(())
    });
}

#[test]
fn a_compressed_block_of_eight() {
    found("batch-zlib.pcap", |batch, _| {
        let compressed = Compressed::parse(batch.payload)?.expect("compressed");
        assert_eq!(compressed.plain_bytes, 448);
        let mut plain = vec![0; 448];
        let mut codec = CodecKind::Zlib.codec(Level::BEST).expect("built in");
        codec
            .decompress(compressed.packed, &mut plain)
            .expect("inflates");
        let samples: Vec<_> = batch.samples.with_data(&plain)?.collect();
        assert_eq!(samples.len(), 8);
        assert!(samples.iter().all(|(_, data)| data.len() == 56));
        Ok(())
    });
}

#[test]
fn every_flag_of_a_sample() {
    found("batch-flags.pcap", |batch, _| {
        let samples: Vec<_> = batch.samples.with_data(&batch.payload[4..])?.collect();
        let numbers: Vec<_> = samples.iter().map(|(it, _)| it.number.0).collect();
        assert_eq!(numbers, [11, 14, 16]);
        assert!(samples[0].0.timestamp.is_some());
        let qos = samples[0].0.inline_qos.map(InlineQos::parse).transpose()?;
        assert!(qos.expect("there is some").key_hash.is_some());
        assert_eq!(samples[1].0.content, Content::Data);
        assert_eq!(samples[2].0.content, Content::None);
        let qos = samples[2].0.inline_qos.map(InlineQos::parse).transpose()?;
        assert!(
            qos.expect("there is some")
                .status
                .contains(StatusInfo::DISPOSED)
        );
        Ok(())
    });
}
