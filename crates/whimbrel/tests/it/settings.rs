//! Settings that make no sense are refused with a word.

use whimbrel::{DataReaderQos, DataWriterQos, DomainParticipant, Duration, ReturnCode};

use super::{Blob, PATIENCE, pair};

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
    ];
    for (builder, word) in refused {
        let error = builder.build().unwrap_err();
        assert_eq!(error.return_code(), ReturnCode::BadParameter);
        assert!(error.to_string().contains(word), "{error}");
    }
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
        .pop()
        .and_then(|it| it.into_data())
        .unwrap();
    assert_eq!(last.number, 4);
    assert!(last.bytes.len() == 30 << 20 && last.bytes.iter().all(|byte| *byte == 7));
}
