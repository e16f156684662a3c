//! Telling others what the endpoints of a participant have counted.

use std::time::Duration as StdDuration;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::{EntityId, EntityKind, Guid};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::qos::{DataWriterQos, PublisherQos, TopicQos};
use whimbrel_base::reject::RejectCounters;
use whimbrel_base::sorted::SortedMap;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_proto::LocalWriter;
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::writer::{NewChange, Packed, WriterConfig, WriterStatistics};
use whimbrel_types::{DdsType, Representation, key_hash, to_payload};

use super::clock;
use super::compression::CompressionStatistics;
use super::engine::{Driver, Engine};
use super::manners::Manners;
use super::packing::BundleCompressionStatistics;
use super::reader::ReaderCore;
use super::routing::Routing;
use super::sockets::Sockets;
use super::status::EntityStatus;
use super::sync::{Arc, Mutex, Weak, lock, try_lock};
use super::timers::{Timed, TimerSlot};
use super::warning::Warnings;
use super::writer::key::encode_key;
use super::writer::{Draft, WriterCore};
use crate::domain::InProcess;
use crate::statistics::{EndpointStatistics, TOPIC_NAME};

/// Time between two looks at what has been counted.
const PERIOD: Duration = Duration::from_secs(1);

/// The writer of statistics; programs' entities count from 1.
pub(super) const ENTITY: EntityId = EntityId::user(0, EntityKind::WriterWithKey);

/// Whose endpoints are told of.
pub(super) trait Owner: Send + Sync {
    /// Its endpoints as they are at the moment.
    fn routes(&self) -> Arc<Routing>;
}

/// The statistics of a participant as a topic.
pub(crate) struct StatisticsOffer {
    me: Weak<Self>,
    owner: Weak<dyn Owner>,
    pub(super) writer: Arc<WriterCore>,
    representation: Representation,
    engine: Arc<Engine>,
    timer: TimerSlot,
    told: Mutex<Told>,
}

/// What was said so far.
#[derive(Default)]
struct Told {
    of: SortedMap<EntityId, EndpointStatistics>,
    /// No sooner is anything more said.
    next_at: Instant,
}

impl StatisticsOffer {
    /// Of what the endpoints of `owner` count, by a writer with what `config` says of it.
    pub(super) fn new(
        owner: Weak<dyn Owner>,
        mut config: WriterConfig,
        sockets: &Arc<Sockets>,
        driver: &Driver,
        (warnings, rejects): (&Arc<Warnings>, &Arc<Mutex<RejectCounters>>),
    ) -> Arc<Self> {
        config.durable = true;
        let writer = WriterCore::new(
            config,
            Arc::clone(sockets),
            driver.engine(),
            EntityStatus::new(&driver.callbacks, None),
            Arc::clone(warnings),
            Arc::clone(rejects),
            Manners {
                in_process: InProcess::Off,
                data_type: None,
            },
        );
        let representation = Representation::of_writer(&qos().data_representation);
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            owner,
            writer,
            representation: representation.unwrap_or(Representation::Xcdr1),
            engine: driver.engine(),
            timer: TimerSlot::default(),
            told: Mutex::default(),
        })
    }

    /// A reader of `writer` was matched: it may be ours, and somebody listens from now on.
    pub(super) fn note_matched(&self, writer: EntityId, now: Instant) {
        if writer == ENTITY {
            self.arm(now);
        }
    }

    fn arm(&self, at: Instant) {
        let me: Weak<dyn Timed> = self.me.clone();
        self.engine.arm(&self.timer, &me, at);
    }

    /// Says what has changed since it was last said.
    fn tell(&self, routes: &Routing, told: &mut Told) {
        let writers = routes.writers().iter().filter(|(it, _)| **it != ENTITY);
        let writers = writers.map(|(entity, core)| (*entity, of_writer(core)));
        let readers = routes.readers().iter();
        let readers = readers.map(|(entity, core)| (*entity, Some(of_reader(core))));
        let mut before = std::mem::take(&mut told.of);
        for (entity, counted) in writers.chain(readers) {
            let known = before.remove(&entity);
            // One whose codec is at work is looked at again the next time.
            let Some(counted) = counted.or(known) else {
                continue;
            };
            let is_told = known == Some(counted) || self.write(ChangeKind::Alive, &counted);
            if let Some(said) = if is_told { Some(counted) } else { known } {
                told.of.insert(entity, said);
            }
        }
        // Those that are gone.
        for (entity, counted) in before {
            if !self.write(ChangeKind::DisposedUnregistered, &counted) {
                told.of.insert(entity, counted);
            }
        }
    }

    /// False where there is no room for it now.
    fn write(&self, kind: ChangeKind, counted: &EndpointStatistics) -> bool {
        let mut bytes = Vec::new();
        let encoded = if kind == ChangeKind::Alive {
            to_payload(counted, self.representation, Endian::NATIVE, &mut bytes)
        } else {
            encode_key(counted, self.representation, &mut bytes)
        };
        let (Ok(()), Ok(hash)) = (encoded, key_hash(counted)) else {
            return false;
        };
        let at = clock::wall();
        let change = NewChange {
            kind,
            instance: InstanceHandle::from_key_hash(hash),
            timestamp: at,
            payload: SharedBytes::from(bytes).into(),
            packed: Packed::Untried,
        };
        let mut draft = Draft {
            change,
            value: None,
            at,
            is_dated: false,
            began: None,
        };
        matches!(self.writer.try_write(&mut draft), Some(Ok(_)))
    }
}

impl Timed for StatisticsOffer {
    fn on_timer(&self, now: Instant) {
        let Some(owner) = self.owner.upgrade() else {
            return;
        };
        if self.writer.lock().matched.is_empty() {
            return;
        }
        let mut told = lock(&self.told);
        if now >= told.next_at {
            self.tell(&owner.routes(), &mut told);
            told.next_at = now.after(PERIOD);
        }
        self.arm(told.next_at);
    }

    fn timer(&self) -> &TimerSlot {
        &self.timer
    }
}

impl Drop for StatisticsOffer {
    fn drop(&mut self) {
        self.engine.disarm(&self.timer);
    }
}

/// What discovery tells of the writer of statistics.
pub(super) fn announcement() -> LocalWriter {
    LocalWriter {
        entity: ENTITY,
        topic_name: TOPIC_NAME.to_owned(),
        type_name: EndpointStatistics::TYPE_NAME.to_owned(),
        qos: qos(),
        publisher: PublisherQos::default(),
        topic: TopicQos::default(),
    }
}

fn qos() -> DataWriterQos {
    let qos = DataWriterQos::default().reliable();
    qos.transient_local().keep_last(1)
}

/// What `writer` has counted; `None` while its codec is at work, which may take long.
fn of_writer(writer: &WriterCore) -> Option<EndpointStatistics> {
    let (machine, bundles, packer, plain) = {
        let state = writer.lock();
        let bundles = state.packer.as_ref().map(|it| it.statistics);
        let machine = state.machine.statistics();
        let plain = state.left_plain();
        (machine, bundles, state.sample_packer.clone(), plain)
    };
    let mut samples = match packer {
        Some(packer) => try_lock(&packer)?.statistics(),
        None => CompressionStatistics::default(),
    };
    plain.add_to(&mut samples);
    let WriterStatistics { bundling, .. } = machine;
    let mut counted = of_compression(writer.guid, &samples, &bundles.unwrap_or_default());
    counted.samples = machine.written;
    counted.payload_bytes = machine.written_bytes;
    counted.bundles = bundling.bundles;
    counted.bundled_samples = bundling.samples;
    counted.batches = machine.batches;
    counted.repairs = machine.repairs;
    counted.heartbeats = machine.heartbeats;
    counted.acknacks = machine.acknacks;
    Some(counted)
}

fn of_reader(reader: &ReaderCore) -> EndpointStatistics {
    let (machine, bundles) = {
        let state = reader.lock();
        (state.machine.statistics(), state.bundles)
    };
    let samples = reader.inflated.statistics(&machine);
    let mut counted = of_compression(reader.guid, &samples, &bundles);
    counted.samples = machine.delivered;
    counted.payload_bytes = machine.delivered_bytes;
    counted.batches = machine.batches;
    counted.lost = machine.lost;
    counted.heartbeats = machine.heartbeats;
    counted.acknacks = machine.acknacks;
    counted
}

fn of_compression(
    guid: Guid,
    samples: &CompressionStatistics,
    bundles: &BundleCompressionStatistics,
) -> EndpointStatistics {
    EndpointStatistics {
        guid: guid.to_bytes(),
        compressed_samples: samples.samples,
        plain_bytes: samples.plain_bytes,
        compressed_bytes: samples.compressed_bytes,
        codec_ns: nanos(samples.time_spent),
        below_threshold: samples.below_threshold,
        incompressible: samples.incompressible,
        not_taken: samples.not_taken,
        refused: samples.refused,
        compressed_bundles: bundles.bundles,
        bundle_plain_bytes: bundles.plain_bytes,
        bundle_compressed_bytes: bundles.compressed_bytes,
        bundle_codec_ns: nanos(bundles.time_spent),
        incompressible_bundles: bundles.incompressible,
        ..EndpointStatistics::default()
    }
}

fn nanos(span: StdDuration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
