//! The public API on loopback.

mod asynchronous;
mod batches;
mod bundling;
mod compression;
mod conditions;
mod everything;
mod exchange;
mod features;
mod in_process;
mod listeners;
mod lookup;
mod many_readers;
mod meeting;
mod memory;
mod publishing;
mod qos;
mod raw;
mod reentry;
mod settings;
mod shared_octets;
mod statistics;
mod statuses;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use whimbrel::domain::{DomainParticipantBuilder, InProcess};
use whimbrel::{DataReader, DataReaderQos, DataWriter, DataWriterQos, DdsType, DomainParticipant};

/// Long enough for a loaded machine; nothing here waits that long unless it fails.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(DdsType, Clone, Debug, PartialEq)]
struct Position {
    #[dds(key)]
    vehicle: String,
    x: i32,
    y: i32,
}

#[derive(DdsType, Clone, Debug, PartialEq)]
struct Blob {
    number: u32,
    bytes: Vec<u8>,
}

/// A part of the domain that no other test shares.
fn tag() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(
        "it-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

/// Two participants alone in a part of the domain that no other test shares.
fn pair() -> (DomainParticipant, DomainParticipant) {
    pair_set_up(|builder| builder)
}

/// As [`pair`], set up as `set_up` says.
fn pair_set_up(
    set_up: impl Fn(DomainParticipantBuilder) -> DomainParticipantBuilder,
) -> (DomainParticipant, DomainParticipant) {
    pair_of([(), ()], |builder, ()| set_up(builder))
}

/// The same, of which each has a setting of its own.
fn pair_of<S>(
    [here, there]: [S; 2],
    set_up: impl Fn(DomainParticipantBuilder, S) -> DomainParticipantBuilder,
) -> (DomainParticipant, DomainParticipant) {
    let tag = tag();
    let join = |setting| {
        let builder = DomainParticipant::builder(77)
            .domain_tag(&tag)
            .interfaces("lo");
        set_up(builder, setting).build().unwrap()
    };
    (join(here), join(there))
}

/// A reliable writer and reader of positions, which keep everything and know of each other.
fn matched_pair() -> (DataWriter<Position>, DataReader<Position>) {
    matched(&pair())
}

/// A [`matched_pair`] whose samples go in this way.
fn matched_pair_by(how: InProcess) -> (DataWriter<Position>, DataReader<Position>) {
    matched(&pair_set_up(|builder| builder.in_process(how)))
}

fn matched(
    (here, there): &(DomainParticipant, DomainParticipant),
) -> (DataWriter<Position>, DataReader<Position>) {
    let topic = here.create_topic("positions").unwrap();
    let writer = here
        .create_datawriter(&topic, DataWriterQos::default().reliable().keep_all())
        .unwrap();
    let topic = there.create_topic("positions").unwrap();
    let reader = there
        .create_datareader(&topic, DataReaderQos::default().reliable().keep_all())
        .unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    reader.wait_for_matched(1, PATIENCE).unwrap();
    (writer, reader)
}

fn position(vehicle: &str, x: i32) -> Position {
    Position {
        vehicle: vehicle.into(),
        x,
        y: -x,
    }
}
