//! Which endpoints match, and what both sides hear of those that do not.

use whimbrel_base::qos::{Batch, CompressionIds};
use whimbrel_base::vendor::VendorId;

use super::*;

#[test]
fn incompatible_policies_are_all_reported_once_on_both_sides() {
    let mut net = Net::of([config(1), config(2)]);
    let now = net.now;
    let mut writer = local_writer("Square");
    writer.qos.reliability = Reliability::BEST_EFFORT;
    writer.qos.ownership = Ownership::Exclusive;
    let mut reader = local_reader("Square");
    reader.qos.reliability = Reliability::RELIABLE;
    reader.qos.durability = Durability::TransientLocal;
    net.member(1).add_writer(now, writer.clone());
    net.member(2).add_reader(now, reader);
    net.run(seconds(30));
    let policies = vec![
        PolicyId::Durability,
        PolicyId::Ownership,
        PolicyId::Reliability,
    ];
    let (writer_guid, reader_guid) = (Guid::new(prefix(1), WRITER), Guid::new(prefix(2), READER));
    let count = |events: &[ParticipantEvent], wanted: &ParticipantEvent| {
        events.iter().filter(|event| *event == wanted).count()
    };
    let offered = ParticipantEvent::ReaderIncompatible {
        writer: WRITER,
        reader: reader_guid,
        policies: policies.clone(),
    };
    let requested = ParticipantEvent::WriterIncompatible {
        reader: READER,
        writer: writer_guid,
        policies,
    };
    let one = net.take(1);
    assert_eq!(count(&one, &offered), 1);
    assert!(matched_readers(&one).is_empty());
    assert_eq!(count(&net.take(2), &requested), 1);
    // Fewer, after a change: another cause.
    writer.qos.ownership = Ownership::Shared;
    let now = net.now;
    net.member(1).update_writer(now, writer);
    net.run(seconds(1));
    let policies = vec![PolicyId::Durability, PolicyId::Reliability];
    let requested = ParticipantEvent::WriterIncompatible {
        reader: READER,
        writer: writer_guid,
        policies,
    };
    assert_eq!(count(&net.take(2), &requested), 1);
    // The verdicts say the same, whichever side is asked.
    for number in [1, 2] {
        let verdicts = net
            .member(number)
            .explain(writer_guid, reader_guid)
            .unwrap();
        let failed: Vec<_> = verdicts
            .iter()
            .filter(|it| !it.passed)
            .map(|it| it.rule)
            .collect();
        assert_eq!(failed, ["DURABILITY", "RELIABILITY"]);
    }
    assert!(net.member(1).explain(reader_guid, writer_guid).is_none());
}

#[test]
fn the_same_topic_with_another_type_is_reported() {
    let mut net = Net::of([config(1), config(2)]);
    let now = net.now;
    net.member(1).add_writer(now, local_writer("Square"));
    let other = LocalReader {
        type_name: "Other".into(),
        ..local_reader("Square")
    };
    net.member(2).add_reader(now, other);
    net.run(seconds(2));
    let event = ParticipantEvent::InconsistentTopic {
        topic_name: "Square".into(),
    };
    assert!(has(&net.take(1), &event));
    assert!(has(&net.take(2), &event));
}

#[test]
fn partitions_and_patterns_decide_in_silence() {
    for (theirs, expected) in [("p1", 1), ("p*", 1), ("x*", 0), ("", 0)] {
        let mut net = Net::of([config(1), config(2)]);
        let now = net.now;
        let mut writer = local_writer("Square");
        writer.publisher = PublisherQos::default().partition("p1");
        let mut reader = local_reader("Square");
        reader.subscriber = SubscriberQos::default().partition(theirs);
        net.member(1).add_writer(now, writer);
        net.member(2).add_reader(now, reader);
        net.run(seconds(2));
        let events = net.take(1);
        assert_eq!(matched_readers(&events).len(), expected, "{theirs}");
        assert!(
            !events
                .iter()
                .any(|it| matches!(it, ParticipantEvent::ReaderIncompatible { .. }))
        );
    }
}

#[test]
fn endpoints_of_one_participant_match_at_once() {
    let mut net = Net::of([config(1)]);
    let now = net.now;
    net.member(1).add_reader(now, local_reader("Square"));
    net.member(1).add_writer(now, local_writer("Square"));
    net.settle();
    let events = net.take(1);
    let reader = Guid::new(prefix(1), READER);
    let writer = Guid::new(prefix(1), WRITER);
    assert_eq!(matched_readers(&events)[0].1.guid, reader);
    assert_eq!(
        matched_readers(&events)[0].1.locators,
        [at("127.0.0.1:7411")]
    );
    assert_eq!(matched_writers(&events)[0].1.guid, writer);
    assert!(has(
        &events,
        &ParticipantEvent::PeerConfirmed {
            local: WRITER,
            remote: reader
        }
    ));
    assert!(has(
        &events,
        &ParticipantEvent::PeerConfirmed {
            local: READER,
            remote: writer
        }
    ));
    assert!(
        net.member(1)
            .explain(writer, reader)
            .unwrap()
            .iter()
            .all(|it| it.passed)
    );
    let now = net.now;
    net.member(1).remove_writer(now, WRITER);
    net.settle();
    assert!(has(
        &net.take(1),
        &ParticipantEvent::WriterUnmatched {
            reader: READER,
            writer
        }
    ));
    assert_eq!(net.member(1).match_count(), 0);
}

#[test]
fn data_goes_to_a_group_that_both_have_joined() {
    let group = at("239.255.0.1:7401");
    let joined = |number| ParticipantConfig {
        user_multicast: vec![group],
        ..config(number)
    };
    let abroad = |number| ParticipantConfig {
        multicast_on_host: false,
        ..joined(number)
    };
    // Who listens by loopback only does not hear what leaves elsewhere.
    for (one, two, wanted) in [
        (joined(1), joined(2), Some(group)),
        (joined(1), config(2), None),
        (config(1), joined(2), None),
        (abroad(1), joined(2), None),
    ] {
        let mut net = Net::of([one, two]);
        let now = net.now;
        net.member(1).add_writer(now, local_writer("Square"));
        net.member(2).add_reader(now, local_reader("Square"));
        net.run(seconds(10));
        let matched = matched_readers(&net.take(1));
        assert_eq!(matched.len(), 1);
        let reader = &matched[0].1;
        assert_eq!(reader.group, wanted);
        assert!(reader.locators.iter().all(|it| !it.is_multicast()));
    }
}

#[test]
fn what_goes_to_a_group_passes_every_link_by_which_it_leaves() {
    let group = at("239.255.0.1:7401");
    let link = |mtu| InterfaceAddress {
        ip: [10, 9, 0, 1].into(),
        prefix_len: 24,
        mtu,
        loopback: false,
    };
    // To each other these two would send the largest messages: they are on one host.
    for (links, wanted) in [
        (vec![loopback()], 65_507),
        (vec![loopback(), link(1500)], 1452),
        (vec![loopback(), link(1500), link(1280)], 1232),
    ] {
        let joined = |number| ParticipantConfig {
            user_multicast: vec![group],
            interfaces: links.clone(),
            ..config(number)
        };
        let mut net = Net::of([joined(1), joined(2)]);
        let now = net.now;
        net.member(1).add_writer(now, local_writer("Square"));
        net.member(2).add_reader(now, local_reader("Square"));
        net.run(seconds(10));
        let reader = &matched_readers(&net.take(1))[0].1;
        assert_eq!(reader.group, Some(group), "{links:?}");
        assert_eq!(reader.message_bytes_max, wanted, "{links:?}");
    }
}

#[test]
fn batches_are_compressed_for_connext_by_zlib_alone() {
    let batch = Some(Batch::of_samples(10));
    let (connext, micro, ours) = (
        VendorId::CONNEXT,
        VendorId::CONNEXT_MICRO,
        VendorId::WHIMBREL,
    );
    let (zlib, bzip2, lz4) = (
        CompressionIds::ZLIB,
        CompressionIds::BZIP2,
        CompressionIds::LZ4,
    );
    for (vendor, batch, codec, packed) in [
        (connext, batch, zlib, true),
        (connext, batch, bzip2, false),
        (connext, batch, lz4, false),
        (micro, batch, lz4, false),
        (ours, batch, lz4, true),
        (connext, None, lz4, true),
    ] {
        let mut net = Net::of([config(1), config(2)]);
        net.run(seconds(2));
        let remote = net.member(1).remotes.get_mut(&prefix(2)).unwrap();
        remote.data.vendor = vendor;
        let now = net.now;
        let mut writer = local_writer("Square");
        writer.qos.batch = batch;
        writer.qos.data_representation.compression.compression_ids = Some(codec);
        let mut reader = local_reader("Square");
        let taken = &mut reader.qos.data_representation.compression.compression_ids;
        *taken = Some(CompressionIds::ALL);
        net.member(1).add_writer(now, writer);
        net.member(2).add_reader(now, reader);
        net.run(seconds(2));
        let matched = matched_readers(&net.take(1));
        assert_eq!(matched[0].1.packed, packed, "{} {codec}", vendor.name());
        assert_eq!(matched[0].1.vendor, vendor);
    }
}

#[test]
fn receive_buffers_of_our_own_and_of_others_are_heeded_or_none_is() {
    for (heeds, wanted) in [(true, [100_000, 200_000]), (false, [0, 0])] {
        let holding = |number, receive_buffer_bytes| ParticipantConfig {
            receive_buffer_bytes,
            heeds_receive_buffers: heeds,
            ..config(number)
        };
        let mut net = Net::of([holding(1, 100_000), holding(2, 200_000)]);
        let now = net.now;
        net.member(1).add_writer(now, local_writer("Square"));
        net.member(1).add_reader(now, local_reader("Square"));
        net.member(2).add_reader(now, local_reader("Square"));
        net.run(seconds(2));
        let mut matched = matched_readers(&net.take(1));
        matched.sort_by_key(|(_, it)| it.guid);
        let held: Vec<_> = matched
            .iter()
            .map(|(_, it)| it.receive_buffer_bytes)
            .collect();
        assert_eq!(held, wanted);
        // By which the writers of discovery go.
        let remote = &net.member(1).remotes[&prefix(2)];
        assert_eq!(remote.data.receive_buffer_bytes, wanted[1]);
    }
}

#[test]
fn messages_are_compressed_for_readers_of_our_own_as_for_others() {
    let (all, lz4, zlib) = (
        CompressionIds::ALL,
        CompressionIds::LZ4,
        CompressionIds::ZLIB,
    );
    for (inflates, takes, wanted) in [
        ([all, all], Some(lz4), [lz4, lz4]),
        ([lz4, zlib], None, [lz4, zlib]),
        ([lz4, all], Some(zlib), [CompressionIds::NONE, zlib]),
        (
            [CompressionIds::NONE, all],
            None,
            [CompressionIds::NONE, all],
        ),
    ] {
        let inflating = |number, packed_messages| ParticipantConfig {
            packed_messages,
            ..config(number)
        };
        let mut net = Net::of([inflating(1, inflates[0]), inflating(2, inflates[1])]);
        let mut reader = local_reader("Square");
        reader.qos.data_representation.compression.compression_ids = takes;
        let now = net.now;
        net.member(1).add_writer(now, local_writer("Square"));
        net.member(1).add_reader(now, reader.clone());
        net.member(2).add_reader(now, reader);
        net.run(seconds(2));
        let mut matched = matched_readers(&net.take(1));
        matched.sort_by_key(|(_, it)| it.guid);
        let taken: Vec<_> = matched.iter().map(|(_, it)| it.packed_messages).collect();
        assert_eq!(taken, wanted);
    }
}
