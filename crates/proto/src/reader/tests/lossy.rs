//! A writer and a reader joined by a lossy in-memory wire.

use super::*;

/// Has a volatile writer and a reader know each other.
pub(super) fn join(writer: &mut Writer, reader: &mut Reader) {
    let addr: core::net::SocketAddr = "127.0.0.1:7411".parse().unwrap();
    writer.handle_matched(
        NOW,
        MatchedReader {
            group: None,
            receive_buffer_bytes: 0,
            packed_messages: whimbrel_base::qos::CompressionIds::NONE,
            packed: false,
            batches: false,
            guid: READER,
            reliable: true,
            durable: false,
            expects_inline_qos: false,
            locators: vec![addr.into()],
            message_bytes_max: 1400,
            vendor: VendorId::WHIMBREL,
        },
    );
    reader.handle_matched(
        NOW,
        MatchedWriter {
            locators: vec![addr.into()],
            ..matched(true)
        },
    );
}

/// Carries messages to and fro, but those that are `lost`, until nobody has more to say at `now`.
pub(super) fn carry(
    now: Instant,
    writer: &mut Writer,
    reader: &mut Reader,
    mut lost: impl FnMut() -> bool,
) {
    loop {
        let mut sent = Sent::default();
        writer.poll_transmit(now, &mut sent);
        reader.poll_transmit(now, &mut sent);
        if sent.0.is_empty() {
            break;
        }
        for message in sent.0 {
            if !lost() {
                deliver(now, writer, reader, message);
            }
        }
    }
}

/// Joins a writer and a reader by a wire that loses `lose_percent` of the messages.
fn exchange(sizes: &[usize], lose_percent: u64, config: impl Fn(&mut WriterConfig)) {
    let mut writer_config = WriterConfig::new(WRITER);
    writer_config.depth = None;
    config(&mut writer_config);
    let mut writer = Writer::new(writer_config);
    let mut reader = reader(|_| {});
    join(&mut writer, &mut reader);
    let payload = |index: usize| {
        let byte = |at: usize| (at * 7 + index) as u8;
        SharedBytes::from_vec((0..sizes[index]).map(byte).collect())
    };
    let (mut now, mut next, mut seed) = (NOW, 0, 1u64);
    let mut samples: Vec<CachedSample> = vec![];
    let mut steps = 0;
    while samples.len() < sizes.len() {
        steps += 1;
        assert!(
            now < NOW.after(Duration::from_secs(60)) && steps < 100_000,
            "{} of {}",
            samples.len(),
            sizes.len()
        );
        while next < sizes.len() {
            let change = NewChange {
                packed: crate::writer::Packed::Untried,
                kind: ChangeKind::Alive,
                instance: InstanceHandle::NIL,
                timestamp: Timestamp(1),
                payload: payload(next).into(),
            };
            match writer.write(now, change) {
                Ok(_) => next += 1,
                Err(WriteError::WouldBlock) => break,
                Err(other) => panic!("{other:?}"),
            }
        }
        writer.handle_timeout(now);
        reader.handle_timeout(now);
        carry(now, &mut writer, &mut reader, || {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) % 100 < lose_percent
        });
        reader.cache_mut().take(&Selector::ALL, &mut samples);
        reader.handle_room(now);
        let next_at = [writer.poll_timeout(), reader.poll_timeout()]
            .into_iter()
            .flatten()
            .min();
        now = next_at.map_or(now.after(Duration::from_millis(1)), |(at, _)| at.max(now));
    }
    for (index, sample) in samples.iter().enumerate() {
        assert!(sample.payload == payload(index), "sample {index}");
        assert_eq!(sample.sequence.0, index as i64 + 1);
    }
}

fn deliver(now: Instant, writer: &mut Writer, reader: &mut Reader, message: Vec<u8>) {
    let datagram = SharedBytes::from_vec(message);
    let own = if datagram.get(8..20) == Some(&WRITER.prefix.0[..]) {
        READER
    } else {
        WRITER
    };
    for inbound in MessageReceiver::new(&datagram, own.prefix).unwrap() {
        let inbound = inbound.unwrap();
        let _ = match (&inbound.submessage, inbound.target()) {
            (Submessage::Data(it), _) => {
                reader.handle_data(now, inbound.change(it, &datagram, Timestamp(2)).unwrap())
            }
            (Submessage::DataBatch(it), _) => {
                reader.handle_data_batch(now, &inbound.batch(it, Timestamp(2)))
            }
            (Submessage::HeartbeatBatch(it), _) => reader.handle_heartbeat_batch(now, WRITER, it),
            (Submessage::DataFrag(it), _) => {
                let fragments = inbound.fragments(it, Timestamp(2)).unwrap();
                reader.handle_data_frag(now, fragments).map(|_| ())
            }
            (Submessage::Heartbeat(it), _) => reader.handle_heartbeat(now, WRITER, it),
            (Submessage::HeartbeatFrag(it), _) => {
                reader.handle_heartbeat_frag(now, WRITER, it.number, it.last, it.count)
            }
            (Submessage::Gap(it), _) => reader.handle_gap(now, WRITER, it),
            (Submessage::AckNack(it), Target::Writer { reader, .. }) => {
                writer.handle_acknack(now, reader, it)
            }
            (Submessage::NackFrag(it), Target::Writer { reader, .. }) => {
                writer.handle_nack_frag(now, reader, it)
            }
            other => panic!("{other:?}"),
        };
    }
}

#[test]
fn everything_arrives_over_a_lossy_wire() {
    let sizes: Vec<usize> = (0..300).map(|index| 4 + index % 50 * 4).collect();
    for lose in [0, 10, 30, 50] {
        exchange(&sizes, lose, |_| {});
        exchange(&sizes, lose, |config| config.samples_max = 3);
    }
}

#[test]
fn large_samples_arrive_over_a_lossy_wire() {
    for lose in [0, 10, 30] {
        exchange(&[300_000, 8, 1_000_000, 1208, 5000], lose, |_| {});
        exchange(&[300_000, 8, 70_000], lose, |config| {
            config.burst_bytes = 5000
        });
    }
}
