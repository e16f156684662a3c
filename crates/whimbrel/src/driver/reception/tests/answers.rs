//! Threads that write, and the answers to what they ask.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::vendor::VendorId;
use whimbrel_proto::peer::MatchedReader;

use super::*;
use crate::{DataWriterQos, DdsType, DomainParticipant};

#[derive(DdsType, Clone, Debug)]
struct Block {
    octets: SharedBytes,
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
    let builder = DomainParticipant::builder(76).interfaces("lo");
    let tag = format!("answers {}", std::process::id());
    let participant = builder.domain_tag(&tag).build().unwrap();
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
