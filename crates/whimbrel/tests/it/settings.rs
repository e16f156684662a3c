//! Settings that make no sense are refused with a word.

use whimbrel::domain::{DomainParticipantBuilder, InProcess, SegmentationOffload};
use whimbrel::{DataReaderQos, DataWriterQos, DomainParticipant, Duration, ReturnCode};

use super::{Blob, PATIENCE, pair, pair_of};

#[test]
fn senseless_settings_are_refused() {
    let lo = || DomainParticipant::builder(77).interfaces("lo");
    let refused = [
        (DomainParticipant::builder(233).interfaces("lo"), "domain"),
        (lo().announce_period(Duration::ZERO), "period"),
        (lo().lease(Duration::from_millis(1)), "lease"),
        (lo().lease(Duration::from_secs(2)), "lease"),
        (lo().interfaces("no-such-interface"), "no-such-interface"),
        (lo().peers(["not an address"]), "not an address"),
        (lo().discovery_bytes_per_s_max(999), "discovery"),
        (lo().message_bytes_max(507), "508"),
        (lo().message_bytes_max(65_508), "65507"),
        (lo().packet_bytes_max(575), "576"),
        (lo().packet_bytes_max(65_536), "65535"),
    ];
    for (builder, word) in refused {
        let error = builder.build().unwrap_err();
        assert_eq!(error.return_code(), ReturnCode::BadParameter);
        assert!(error.to_string().contains(word), "{error}");
    }
}

/// HEARTBEATs that a best-effort writer sends of 300 samples of 3000 octets, where it, and who
/// reads them in another participant or in its own, heed receive buffers or not.
fn questions(writer_heeds: bool, reader_heeds: bool, is_own: bool) -> u64 {
    let (here, there) = pair_of([writer_heeds, reader_heeds], |builder, heeds| {
        let builder = builder.in_process(InProcess::Off);
        builder.receive_buffer_bytes(None).receive_credit(heeds)
    });
    let topic = here.create_topic::<Blob>("blobs").unwrap();
    let writer = here.create_datawriter(&topic, DataWriterQos::default());
    let writer = writer.unwrap();
    let reads = if is_own { &here } else { &there };
    let topic = reads.create_topic::<Blob>("blobs").unwrap();
    let qos = DataReaderQos::default();
    let _reader = reads.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    for number in 0..300 {
        let bytes = vec![1; 3000];
        writer.write(&Blob { number, bytes }).unwrap();
    }
    writer.statistics().heartbeats
}

#[test]
fn best_effort_writers_ask_what_has_left_receive_buffers_unless_that_is_off() {
    assert!(questions(true, true, false) > 0);
    assert_eq!(questions(true, false, false), 0);
    assert_eq!(questions(false, true, false), 0);
    assert!(questions(true, true, true) > 0, "of its own participant");
    assert_eq!(questions(false, false, true), 0);
}

#[test]
fn what_the_builder_says_of_offload_goes_before_the_environment() {
    let lo = || DomainParticipant::builder(77).interfaces("lo");
    let shown = |builder: DomainParticipantBuilder| {
        let settings = builder.settings().unwrap();
        let found = settings
            .into_iter()
            .find(|it| it.name == "segmentation_offload");
        found.unwrap().value
    };
    for how in [
        SegmentationOffload::Off,
        SegmentationOffload::Automatic,
        SegmentationOffload::On,
    ] {
        assert_eq!(shown(lo().segmentation_offload(how)), how.to_string());
        assert_eq!(how.to_string().parse::<SegmentationOffload>().unwrap(), how);
    }
    assert_eq!(shown(lo().segmentation_offload(true)), "on");
    assert!("yes".parse::<SegmentationOffload>().is_err());
}

#[test]
fn acknowledgement_covers_history_that_a_late_joiner_fetches() {
    let (here, there) = pair();
    let qos = DataWriterQos::default()
        .reliable()
        .transient_local()
        .keep_last(50);
    let writer = here
        .create_datawriter(&here.create_topic::<Blob>("b").unwrap(), qos)
        .unwrap();
    for number in 0..50 {
        writer
            .write(&Blob {
                number,
                bytes: vec![0; 5000],
            })
            .unwrap();
    }
    let qos = DataReaderQos::default()
        .reliable()
        .transient_local()
        .keep_all();
    let reader = there
        .create_datareader(&there.create_topic::<Blob>("b").unwrap(), qos)
        .unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    assert_eq!(reader.take(usize::MAX).unwrap().len(), 50);
}

#[test]
fn a_keep_last_writer_never_times_out_behind_its_own_large_sample() {
    let (here, there) = pair();
    let qos = DataWriterQos::default().reliable().keep_last(1);
    let writer = here
        .create_datawriter(&here.create_topic::<Blob>("b").unwrap(), qos)
        .unwrap();
    let qos = DataReaderQos::default().reliable().keep_last(1);
    let reader = there
        .create_datareader(&there.create_topic::<Blob>("b").unwrap(), qos)
        .unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    for number in 0..5 {
        writer
            .write(&Blob {
                number,
                bytes: vec![7; 30 << 20],
            })
            .unwrap();
    }
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    let last = reader
        .take(usize::MAX)
        .unwrap()
        .into_iter()
        .next_back()
        .and_then(|it| it.into_data())
        .unwrap();
    assert_eq!(last.number, 4);
    assert!(last.bytes.len() == 30 << 20 && last.bytes.iter().all(|byte| *byte == 7));
}
