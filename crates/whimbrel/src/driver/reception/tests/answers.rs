//! Threads that write, and the answers to what they ask.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::vendor::VendorId;
use whimbrel_proto::peer::MatchedReader;

use super::*;
use crate::domain::InProcess;
use crate::driver::heard;
use crate::{DataReaderQos, DataWriterQos, DdsType, DomainParticipant, DomainParticipantBuilder};

#[derive(DdsType, Clone, Debug)]
struct Block {
    octets: SharedBytes,
}

/// A participant that only those of this process meet that are among `whom` too.
fn among(whom: &str) -> DomainParticipantBuilder {
    let builder = DomainParticipant::builder(76).interfaces("lo");
    builder.domain_tag(format!("{whom} {}", std::process::id()))
}

/// A reader that hears what is sent to `socket` and says nothing.
fn silent(socket: &UdpSocket) -> MatchedReader {
    MatchedReader {
        guid: Guid::new(GuidPrefix([9; 12]), EntityId([0, 0, 1, 7])),
        reliable: true,
        durable: false,
        expects_inline_qos: false,
        locators: vec![socket.local_addr().into()],
        group: None,
        message_bytes_max: 65_000,
        receive_buffer_bytes: 0,
        packed_messages: CompressionIds::NONE,
        vendor: VendorId::WHIMBREL,
        packed: false,
        batches: false,
    }
}

#[test]
fn whoever_writes_receives_the_answer_once_he_has_asked() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let watches = Arc::new(Watches::default());
    let (reception, to) = unwatched(&scene, &watches);
    let participant = among("answers").build().unwrap();
    let topic = participant.create_topic::<Block>("blocks").unwrap();
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = participant.create_datawriter(&topic, qos).unwrap();
    let core = &writer.inner.core;
    core.bell.receive_at(Arc::downgrade(&reception));
    let _news = core.matched(clock::now(), silent(&scene.sender));
    let write = |bytes| {
        let octets = vec![7; bytes].into();
        writer.write(&Block { octets }).unwrap();
    };
    let _ = scene.sender.send(to, &[b"answer"]).unwrap();
    let has_asked = || core.lock().machine.awaited(clock::now()).is_some();
    write(60_000);
    assert_eq!(scene.handler_of("answer"), None, "nobody was asked");
    while !has_asked() {
        write(60_000);
    }
    // Not at the first try where this thread was kept from it for as long as a question counts.
    let tries = 0..10;
    let received = tries.map(|_| {
        write(1000);
        scene.handler_of("answer")
    });
    let by = received.flatten().next();
    assert_eq!(by.as_deref(), thread::current().name());
    let blocked = core.lock().machine.statistics().blocked;
    assert_eq!(blocked, 0, "who is blocked receives in any case");
}

#[test]
fn what_is_written_after_something_arrived_waits_for_nothing() {
    let scene = scene(Waiting::Receive);
    let participant = among("prompted").build().unwrap();
    let topic = participant.create_topic::<Block>("blocks").unwrap();
    let writer = participant.create_datawriter(&topic, DataWriterQos::default());
    let writer = writer.unwrap();
    let core = &writer.inner.core;
    let _news = core.matched(clock::now(), silent(&scene.sender));
    for _ in 0..4000 {
        heard::note();
        let octets = vec![7; 16].into();
        writer.write(&Block { octets }).unwrap();
    }
    let bundling = core.lock().machine.statistics().bundling;
    assert_eq!(bundling.bundles, 0);
}

#[test]
fn what_arrives_counts_at_the_thread_that_receives_it() {
    let join = || {
        let builder = among("heard").in_process(InProcess::Off);
        builder.waiting(Waiting::Receive).build().unwrap()
    };
    let (here, there) = (join(), join());
    let topic = there.create_topic::<Block>("blocks").unwrap();
    let writer = there.create_datawriter(&topic, DataWriterQos::default());
    let writer = writer.unwrap();
    let topic = here.create_topic::<Block>("blocks").unwrap();
    let reader = here.create_datareader(&topic, DataReaderQos::default());
    let reader = reader.unwrap();
    writer
        .wait_for_matched(1, StdDuration::from_secs(10))
        .unwrap();
    let before = heard::count();
    let writes = thread::spawn(move || {
        let before = heard::count();
        // One is enough where this thread is about to write before the other waits.
        for _ in 0..20 {
            thread::sleep(StdDuration::from_millis(5));
            let octets = vec![7; 16].into();
            writer.write(&Block { octets }).unwrap();
        }
        heard::count() - before
    });
    while !writes.is_finished() {
        // Nothing at all comes in that time where the other is kept from writing.
        let _ = reader.take_timeout(1, StdDuration::from_millis(20));
    }
    assert!(heard::count() > before);
    assert_eq!(writes.join().unwrap(), 0);
}
