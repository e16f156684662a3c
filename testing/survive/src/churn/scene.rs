//! What all churn shares: the domain, the type, and participants that stay.

use std::thread;
use std::time::{Duration, Instant};

use whimbrel::{
    DataReaderQos, DataWriterQos, DdsType, DomainParticipant, Duration as DdsDuration, Topic,
};

const DOMAIN: u32 = 83;

/// Where all endpoints meet.
pub(super) const TOPIC: &str = "ticks";

/// How long farewells may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is exchanged.
#[derive(DdsType, Clone, Debug, PartialEq)]
pub(super) struct Tick {
    #[dds(key)]
    pub(super) source: u32,
    pub(super) number: u32,
    pub(super) fill: Vec<u8>,
}

impl Tick {
    pub(super) fn new(source: u32, number: u32, fill: usize) -> Self {
        Self {
            source,
            number,
            fill: vec![7; fill],
        }
    }
}

/// Participants that stay, and how to join them.
pub(super) struct Scene {
    pub(super) tag: String,
    pub(super) here: DomainParticipant,
    pub(super) there: DomainParticipant,
}

impl Scene {
    pub(super) fn new() -> Self {
        Self::tagged(&format!("churn-{}", std::process::id()))
    }

    /// Meets the scenes of other processes with the same tag.
    pub(super) fn tagged(tag: &str) -> Self {
        Self {
            tag: tag.to_owned(),
            here: join(tag),
            there: join(tag),
        }
    }

    /// Entities that are known here though they are gone, where farewells had time to be heard.
    pub(super) fn ghosts(&self) -> Option<String> {
        let started = Instant::now();
        loop {
            let participants = self.here.discovered_participants().len();
            let writers = self.here.discovered_writers().len();
            let readers = self.here.discovered_readers().len();
            // The other participant of this scene stays, without endpoints.
            if (participants, writers, readers) == (1, 0, 0) {
                return None;
            }
            if started.elapsed() > PATIENCE {
                return Some(format!(
                    "ghosts: {participants} participants, {writers} writers and {readers} \
                     readers known, where 1, 0 and 0 are left"
                ));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn join(&self) -> DomainParticipant {
        join(&self.tag)
    }
}

fn join(tag: &str) -> DomainParticipant {
    let builder = DomainParticipant::builder(DOMAIN)
        .interfaces("lo")
        .announce_period(DdsDuration::from_millis(500))
        .log(false);
    let joined = builder.domain_tag(tag).build();
    joined.expect("a participant can be made")
}

pub(super) fn topic(participant: &DomainParticipant) -> Topic<Tick> {
    participant.create_topic(TOPIC).expect("the topic exists")
}

/// Keeps everything, and waits for room at most `wait_ms`.
pub(super) fn all(wait_ms: u32) -> DataWriterQos {
    let mut qos = DataWriterQos::default().reliable().keep_all();
    qos.reliability.max_blocking_time = DdsDuration::from_millis(wait_ms.into());
    qos
}

pub(super) fn all_of_it() -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all()
}
