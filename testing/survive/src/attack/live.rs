//! The field on this machine: three participants on loopback, and a socket that fires at one.

use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use whimbrel::qos::{Batch, CompressionIds};
use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DdsType, DomainParticipant, Error, Topic,
};
use whimbrel_base::cursor::Endian;
use whimbrel_base::reject::RejectCounters;

use super::case::{Field, Origin, Sample, Scene};

/// Long enough for a loaded machine; nothing waits so long unless it fails.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest pause of a case.
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// Datagrams after which the victim gets time to take them in.
const BURST: u32 = 32;

/// What is exchanged.
#[derive(DdsType, Clone, Debug, PartialEq)]
struct Shape {
    #[dds(key)]
    key: u8,
    bytes: Vec<u8>,
}

/// A participant that reads what another one writes.
struct Party {
    participant: DomainParticipant,
    writer: DataWriter<Shape>,
    reader: DataReader<Shape>,
}

impl Party {
    fn new(tag: &str, writes: &str, reads: &str, batch: Option<Batch>) -> Result<Self, Error> {
        let builder = DomainParticipant::builder(78);
        let builder = builder.domain_tag(tag).interfaces("lo").log(false);
        let participant = builder.build()?;
        let writes: Topic<Shape> = participant.create_topic(writes)?;
        let reads: Topic<Shape> = participant.create_topic(reads)?;
        let mut qos = DataWriterQos::default().reliable().transient_local();
        // So that what it sends may be compressed; its own samples are too small for that.
        let ids = &mut qos.data_representation.compression.compression_ids;
        *ids = Some(CompressionIds::ZLIB);
        qos.batch = batch;
        let writer = participant.create_datawriter(&writes, qos.keep_last(2))?;
        let qos = DataReaderQos::default().reliable().transient_local();
        let reader = participant.create_datareader(&reads, qos.keep_last(16))?;
        Ok(Self {
            participant,
            writer,
            reader,
        })
    }
}

/// Three participants that know each other; the attacker's own one says nothing of its own accord.
pub(super) struct Live {
    tag: String,
    victim: Party,
    honest: Party,
    attacker: Party,
    socket: UdpSocket,
    to: SocketAddr,
    fired: u32,
    number: u8,
}

impl Live {
    /// Lets the three meet.
    pub(super) fn new() -> Result<Self, String> {
        let tag = format!("attack-{}", std::process::id());
        let meet = || -> Result<(Party, Party, Party), Error> {
            Ok((
                Party::new(&tag, "Square", "Triangle", None)?,
                Party::new(&tag, "Triangle", "Square", None)?,
                Party::new(&tag, "Triangle", "Square", None)?,
            ))
        };
        let (victim, honest, attacker) = meet().map_err(|why| why.to_string())?;
        let socket = UdpSocket::bind("127.0.0.1:0").map_err(|why| why.to_string())?;
        let to = wait_for(|| address_of(&victim, &honest)).ok_or("the victim has no address")?;
        let mut live = Self {
            tag,
            victim,
            honest,
            attacker,
            socket,
            to,
            fired: 0,
            number: 0,
        };
        live.meet()?;
        live.still_moves()?;
        Ok(live)
    }

    /// A fresh attacker, whose endpoints the victim knows and has heard nothing of, with a writer
    /// of batches where their limits are given.
    pub(super) fn renew(&mut self, batch: Option<Batch>) -> Result<(), String> {
        let fresh = Party::new(&self.tag, "Triangle", "Square", batch);
        self.attacker = fresh.map_err(|why| why.to_string())?;
        self.meet()
    }

    fn meet(&self) -> Result<(), String> {
        self.attacker
            .writer
            .wait_for_matched(1, PATIENCE)
            .map_err(|why| why.to_string())?;
        self.attacker
            .reader
            .wait_for_matched(1, PATIENCE)
            .map_err(|why| why.to_string())?;
        let known = |party: &Party| {
            let mine = self.victim.reader.matched_publications();
            let theirs = self.victim.writer.matched_subscriptions();
            mine.contains(&party.writer.instance_handle())
                && theirs.contains(&party.reader.instance_handle())
        };
        wait_for(|| (known(&self.attacker) && known(&self.honest)).then_some(()))
            .ok_or_else(|| "the participants do not meet".to_owned())
    }

    /// Who is who, in this byte order.
    pub(super) fn scene(&self, endian: Endian) -> Scene {
        Scene {
            endian,
            victim: self.victim.writer.guid().prefix,
            attacker: self.attacker.writer.guid().prefix,
            honest: self.honest.writer.guid().prefix,
            victim_reader: self.victim.reader.guid().entity,
            victim_writer: self.victim.writer.guid().entity,
            writer: self.attacker.writer.guid().entity,
            reader: self.attacker.reader.guid().entity,
            next_announcement: 2,
            next_sample: 1,
        }
    }

    /// What the victim has refused so far, as its program sees it.
    pub(super) fn rejects(&self) -> RejectCounters {
        self.victim.participant.diagnostics().rejects
    }

    /// The error unless a sample still reaches the honest peer, and one of it the victim.
    pub(super) fn still_moves(&mut self) -> Result<(), String> {
        self.number = self.number.wrapping_add(1);
        let shape = Shape {
            key: 100,
            bytes: vec![self.number; 1500],
        };
        for (from, to, who) in [
            (&self.honest, &self.victim, "of the honest peer"),
            (&self.victim, &self.honest, "to the honest peer"),
        ] {
            from.writer
                .write(&shape)
                .map_err(|why| format!("cannot write {who}: {why}"))?;
            let handle = from.writer.instance_handle();
            let arrived = || {
                let taken = to.reader.take(usize::MAX).unwrap_or_default();
                taken
                    .iter()
                    .any(|it| it.info().publication_handle == handle && it.data() == Some(&shape))
                    .then_some(())
            };
            wait_for(arrived).ok_or_else(|| format!("no sample {who} arrived any more"))?;
        }
        Ok(())
    }
}

impl Field for Live {
    fn receive(&mut self, _origin: Origin, datagram: &[u8]) {
        // What the system does not send cannot harm; what must be counted shows that it arrived.
        let _ = self.socket.send_to(datagram, self.to);
        self.fired += 1;
        if self.fired.is_multiple_of(BURST) {
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn wait(&mut self, span: Duration) {
        thread::sleep(span.min(PAUSE_MAX));
    }

    fn set_wall_clock(&mut self, _step_ns: i64) {}

    fn announce_batches(&mut self, scene: Scene) -> Result<Scene, String> {
        self.renew(Some(Batch::default()))?;
        Ok(self.scene(scene.endian))
    }

    fn write(&mut self, sample: &Sample) {
        let shape = Shape {
            key: sample.key,
            bytes: sample.bytes.clone(),
        };
        let _ = self.victim.writer.write(&shape);
    }

    fn measure(&mut self, _what: &str, act: &mut dyn FnMut()) {
        act();
    }

    fn take(&mut self, wanted: usize) -> Vec<Sample> {
        thread::sleep(PAUSE_MAX);
        let handle = self.attacker.writer.instance_handle();
        let mut found = Vec::new();
        let end = Instant::now() + PATIENCE;
        loop {
            let taken = self.victim.reader.take(usize::MAX).unwrap_or_default();
            let theirs = taken
                .into_iter()
                .filter(|it| it.info().publication_handle == handle);
            found.extend(
                theirs
                    .filter_map(whimbrel::Sample::into_data)
                    .map(|it| Sample {
                        key: it.key,
                        bytes: it.bytes,
                    }),
            );
            if found.len() >= wanted || Instant::now() > end {
                return found;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Where the victim listens on loopback.
fn address_of(victim: &Party, honest: &Party) -> Option<SocketAddr> {
    let known = honest.participant.discovered_participants();
    let of = known
        .iter()
        .find(|it| it.guid.prefix == victim.participant.guid().prefix)?;
    let port = of
        .locators
        .first()
        .and_then(|it| u16::try_from(it.port).ok())?;
    Some(SocketAddr::from(([127, 0, 0, 1], port)))
}

/// What `look` finds within [`PATIENCE`].
pub(super) fn wait_for<R>(mut look: impl FnMut() -> Option<R>) -> Option<R> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() > end {
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
}
