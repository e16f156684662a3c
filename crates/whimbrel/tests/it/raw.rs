//! Reading without knowing the type.

use whimbrel::{DataReaderQos, DataWriterQos, Error, InstanceState, SubscriberQos};

use super::{PATIENCE, Position, pair, position};

#[test]
fn payloads_arrive_as_written_and_instances_follow_key_hashes() {
    let (here, there) = pair();
    let topic = here.create_topic::<Position>("positions").unwrap();
    let writer = here
        .create_datawriter(&topic, DataWriterQos::default().reliable().keep_all())
        .unwrap();
    let topic = there
        .create_raw_topic("positions", topic.type_name(), true)
        .unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there
        .create_raw_datareader(&topic, SubscriberQos::default(), qos)
        .unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    writer.write(&position("tram", 1)).unwrap();
    writer.write(&position("bus", 2)).unwrap();
    writer.write(&position("tram", 3)).unwrap();
    let mut samples = vec![];
    let mut take_until = |count: usize| {
        while samples.len() < count {
            reader.wait_for_data(PATIENCE).unwrap();
            samples.extend(reader.take(usize::MAX));
        }
    };
    take_until(3);
    // Before they were taken the last of them would have told of it.
    writer.dispose(&position("tram", 0)).unwrap();
    take_until(4);
    let decoded: Vec<Position> = samples
        .iter()
        .filter(|it| it.info().valid_data)
        .map(|it| whimbrel::types::from_payload(it.payload()).unwrap())
        .collect();
    let of = |vehicle: &str| -> Vec<i32> {
        let mine = decoded.iter().filter(|it| it.vehicle == vehicle);
        mine.map(|it| it.x).collect()
    };
    assert_eq!(of("tram"), [1, 3]);
    assert_eq!(of("bus"), [2]);
    let disposed = samples.iter().find(|it| !it.info().valid_data).unwrap();
    assert_eq!(
        disposed.info().instance_state,
        InstanceState::NotAliveDisposed
    );
    assert_eq!(
        disposed.info().instance_handle,
        writer.register_instance(&position("tram", 0)).unwrap()
    );
}

#[test]
fn one_topic_has_one_type() {
    let (here, _) = pair();
    let _topic = here.create_topic::<Position>("positions").unwrap();
    let refused = here.create_raw_topic("positions", "Other", false);
    assert!(matches!(refused, Err(Error::PreconditionNotMet(_))));
}
