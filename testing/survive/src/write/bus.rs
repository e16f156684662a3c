//! What both processes of this proof use.

use whimbrel::{DataReaderQos, DdsType, DomainParticipant, Topic};

const DOMAIN: u32 = 85;

/// What is written.
#[derive(DdsType, Clone, Debug, PartialEq)]
pub(super) struct Block {
    pub(super) number: u32,
    pub(super) fill: Vec<u8>,
}

/// A participant that loses so much of what it sends.
pub(super) fn join(tag: &str, lost_per_mille: u16) -> Result<DomainParticipant, String> {
    let builder = DomainParticipant::builder(DOMAIN)
        .interfaces("lo")
        .log(false);
    // A stopped process must not be forgotten before its reader is given up.
    let builder = builder.lease(whimbrel::Duration::from_secs(60));
    let builder = builder.faults(lost_per_mille, 0, 11).domain_tag(tag);
    builder.build().map_err(|why| why.to_string())
}

/// Where they meet.
pub(super) fn topic(participant: &DomainParticipant) -> Result<Topic<Block>, String> {
    let topic = participant.create_topic("blocks");
    topic.map_err(|why| why.to_string())
}

/// Keeps everything.
pub(super) fn all() -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all()
}
