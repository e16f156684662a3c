//! Whole bundles made smaller between Whimbrel's participants: a message's submessages as one
//! block.

use std::cell::{Cell, RefCell};
use std::fmt;

use whimbrel_base::buffer::{BufferPool, SharedBytes};
use whimbrel_base::copying;
use whimbrel_base::guid::EntityId;
use whimbrel_base::qos::{Compression, CompressionIds};
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::time::Duration;
use whimbrel_compress::{Codec, Level};
use whimbrel_proto::PlainSamples;
use whimbrel_wire::header::Header;
use whimbrel_wire::packed_message::{HEAD_BYTES, PackedMessage};

use super::clock;
use super::compression::{PlainCounts, kind_of, ratio};

/// Slabs that hold one message each.
const SLAB_BYTES: usize = 16 * 1024;

/// Slabs remembered while readers hold what came in them.
const SLABS: usize = 64;

/// What stands around the payload in the message of a lone sample, in octets, as a rule.
const AROUND_BYTES: usize = 100;

/// Bundles of fewer octets leave as they are.
const PLAIN_BYTES_MIN: usize = 128;

/// What compression did for whole bundles. One that several writers share counts at the one that
/// sent it; one that brings something to several readers counts at each of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct BundleCompressionStatistics {
    /// Bundles that left, or arrived, as one block.
    pub bundles: u64,
    /// Octets of their messages plain.
    pub plain_bytes: u64,
    /// Octets of their messages on the wire.
    pub compressed_bytes: u64,
    /// How long the codec took, the bundles that it could not make smaller included.
    pub time_spent: std::time::Duration,
    /// Written bundles that came out no smaller, and left plain. Their samples are counted by
    /// [`CompressionStatistics::incompressible`](super::compression::CompressionStatistics).
    pub incompressible: u64,
}

impl BundleCompressionStatistics {
    /// How many octets each octet sent stood for; 1 where there are none.
    pub fn ratio(&self) -> f64 {
        ratio(self.plain_bytes, self.compressed_bytes)
    }

    fn count(&mut self, spent: Duration, plain_bytes: usize, packed_bytes: Option<usize>) {
        self.time_spent += clock::span(spent);
        match packed_bytes {
            Some(bytes) => {
                self.bundles += 1;
                self.plain_bytes += plain_bytes as u64;
                self.compressed_bytes += bytes as u64;
            }
            None => self.incompressible += 1,
        }
    }
}

/// How bundles are compressed: those of writers that do it alike may be one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Packing {
    id: CompressionIds,
    level: u8,
}

/// Compresses the bundles of one writer, and those that it shares with others.
pub(crate) struct BundlePacker {
    id: CompressionIds,
    level: u8,
    /// A sample that leaves alone is compressed where it is larger.
    threshold: usize,
    codec: Box<dyn Codec>,
    plain: Vec<u8>,
    packed: Vec<u8>,
    pub(crate) statistics: BundleCompressionStatistics,
    /// Samples that left as they are, in bundles or alone.
    pub(crate) left_plain: PlainCounts,
}

impl BundlePacker {
    /// For a writer with these settings; `None` where it does not compress.
    pub(crate) fn new(compression: &Compression) -> Option<Self> {
        let id = compression.offered();
        let level = Level::new(compression.writer_compression_level);
        Some(Self {
            id,
            level: compression.writer_compression_level,
            threshold: compression
                .writer_compression_threshold
                .unwrap_or(usize::MAX),
            codec: kind_of(id)?.codec(level)?,
            plain: Vec::new(),
            packed: Vec::new(),
            statistics: BundleCompressionStatistics::default(),
            left_plain: PlainCounts::default(),
        })
    }

    /// How it compresses.
    pub(crate) fn packing(&self) -> Packing {
        Packing {
            id: self.id,
            level: self.level,
        }
    }

    /// True where a message of so many octets with `samples` that are not compressed yet is worth
    /// it.
    fn is_worth(&self, samples: usize, bytes: usize) -> bool {
        let is_large = bytes.saturating_sub(AROUND_BYTES) > self.threshold;
        bytes >= PLAIN_BYTES_MIN && (samples > 1 || samples == 1 && is_large)
    }

    /// The message of `parts` with `samples` that are not compressed yet, in its compressed form;
    /// `None` where that is not worth it or no smaller.
    pub(crate) fn pack(&mut self, parts: &[&[u8]], plain: PlainSamples) -> Option<&[u8]> {
        if plain.is_one_tried() {
            self.left_plain.incompressible += 1;
            return None;
        }
        let bytes = parts.iter().map(|part| part.len()).sum();
        let samples = plain.count;
        if !self.is_worth(samples, bytes) {
            self.left_plain.below_threshold += samples as u64;
            return None;
        }
        self.plain.clear();
        parts
            .iter()
            .for_each(|part| copying::append(&mut self.plain, part));
        let started = clock::now();
        let packed = self.compress();
        let spent = clock::now().since(started);
        self.statistics.count(spent, bytes, packed);
        if packed.is_none() {
            self.left_plain.incompressible += samples as u64;
        }
        packed.map(|_| &*self.packed)
    }

    fn compress(&mut self) -> Option<usize> {
        let (header, plain) = self.plain.split_at_checked(Header::LEN)?;
        self.packed.resize(self.plain.len().saturating_sub(1), 0);
        let room = self.packed.get_mut(HEAD_BYTES..)?;
        let length = self.codec.compress(plain, room).ok()?;
        self.packed.truncate(HEAD_BYTES + length);
        let plain_bytes = u32::try_from(plain.len()).ok()?;
        PackedMessage::finish(header, self.id, plain_bytes, &mut self.packed)
            .then_some(self.packed.len())
    }
}

/// A bundle that arrived as one block.
pub(crate) struct InflatedBundle {
    /// The plain message.
    pub(crate) message: SharedBytes,
    packed_bytes: usize,
    spent: Duration,
    /// The first reader that has counted it; mostly there is no other, and nothing is allocated.
    counted_first: Cell<Option<EntityId>>,
    /// The others.
    counted: RefCell<Vec<EntityId>>,
}

impl InflatedBundle {
    /// Counts it among those of `reader`, once however much of it is for that.
    pub(crate) fn count_at(&self, reader: EntityId, counts: &mut BundleCompressionStatistics) {
        let first = self.counted_first.get();
        if first == Some(reader) || self.counted.borrow().contains(&reader) {
            return;
        }
        match first {
            None => self.counted_first.set(Some(reader)),
            Some(_) => self.counted.borrow_mut().push(reader),
        }
        counts.count(self.spent, self.message.len(), Some(self.packed_bytes));
    }
}

/// Inflates the bundles that one participant gets.
pub(crate) struct BundleInflater {
    /// Those that were needed so far.
    codecs: Vec<(CompressionIds, Box<dyn Codec>)>,
    pool: BufferPool,
    /// Messages inflated.
    pub(crate) inflated: u64,
    /// Octets of them on the wire.
    pub(crate) packed_bytes: u64,
    /// Octets of them plain.
    pub(crate) plain_bytes: u64,
}

impl Default for BundleInflater {
    fn default() -> Self {
        Self {
            codecs: Vec::new(),
            pool: BufferPool::new(SLAB_BYTES, SLABS),
            inflated: 0,
            packed_bytes: 0,
            plain_bytes: 0,
        }
    }
}

impl BundleInflater {
    /// The plain message, which is no larger than a datagram.
    ///
    /// # Errors
    /// `Codec` for one that is not there, `Compression` for what is damaged or compressed twice.
    pub(crate) fn inflate(
        &mut self,
        message: &PackedMessage<'_>,
    ) -> Result<InflatedBundle, Reject> {
        let started = clock::now();
        let PackedMessage {
            header,
            codec,
            plain_bytes,
            packed,
        } = *message;
        let mut buffer = self.pool.take();
        let unknown = Reject::new(RejectKind::Codec, 24);
        let codec = self.codec(codec).ok_or(unknown)?;
        let out = buffer.bytes();
        out.extend_from_slice(header);
        out.resize(header.len() + plain_bytes, 0);
        let (_, plain) = out.split_at_mut(header.len());
        let damaged = Reject::new(RejectKind::Compression, HEAD_BYTES);
        codec.decompress(packed, plain).map_err(|_| damaged)?;
        PackedMessage::check_plain(plain)?;
        let packed_bytes = HEAD_BYTES + packed.len();
        self.inflated += 1;
        self.packed_bytes += packed_bytes as u64;
        self.plain_bytes += out.len() as u64;
        Ok(InflatedBundle {
            message: self.pool.share(buffer),
            packed_bytes,
            spent: clock::now().since(started),
            counted_first: Cell::default(),
            counted: RefCell::default(),
        })
    }

    fn codec(&mut self, id: CompressionIds) -> Option<&mut dyn Codec> {
        if let Some(at) = self.codecs.iter().position(|(known, _)| *known == id) {
            return Some(self.codecs[at].1.as_mut());
        }
        let codec = kind_of(id)?.codec(Level::BEST)?;
        self.codecs.push((id, codec));
        self.codecs.last_mut().map(|(_, codec)| codec.as_mut() as _)
    }
}

impl fmt::Debug for BundlePacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BundlePacker({})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::compression::built_in;
    use whimbrel_base::guid::{EntityKind, GuidPrefix};
    use whimbrel_base::vendor::{ProtocolVersion, VendorId};

    fn packer(id: CompressionIds) -> BundlePacker {
        let settings = Compression {
            compression_ids: Some(id),
            ..Compression::default()
        };
        BundlePacker::new(&settings).unwrap()
    }

    fn message(body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let header = Header {
            version: ProtocolVersion::V2_5,
            vendor: VendorId::WHIMBREL,
            prefix: GuidPrefix([3; 12]),
        };
        header.compose(&mut out);
        out.extend_from_slice(body);
        out
    }

    fn text(length: usize) -> Vec<u8> {
        let text = b"the same again and again, ".iter().copied().cycle();
        text.take(length).collect()
    }

    #[test]
    fn every_codec_brings_back_the_whole_message() {
        for id in built_in().iter() {
            let (mut packer, mut inflater) = (packer(id), BundleInflater::default());
            for length in [200, 1400, 60_000] {
                let plain = message(&text(length));
                let packed = packer
                    .pack(&[&plain[..20], &plain[20..]], PlainSamples::untried(2))
                    .unwrap();
                assert!(packed.len() < plain.len(), "{id} {length}");
                let parsed = PackedMessage::parse(packed).unwrap().unwrap();
                let bundle = inflater.inflate(&parsed).unwrap();
                assert_eq!(*bundle.message, *plain, "{id}");
            }
            assert_eq!((inflater.inflated, packer.statistics.bundles), (3, 3));
            assert!(packer.statistics.ratio() > 2.0, "{id}");
        }
    }

    #[test]
    fn what_comes_out_no_smaller_leaves_plain() {
        let mut packer = packer(CompressionIds::LZ4);
        let mut random = 1u32;
        let noise = std::iter::repeat_with(|| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 24) as u8
        });
        let noise: Vec<u8> = noise.take(1000).collect();
        assert!(
            packer
                .pack(&[&message(&noise)], PlainSamples::untried(7))
                .is_none()
        );
        assert!(
            packer
                .pack(&[&message(&text(50))], PlainSamples::untried(2))
                .is_none()
        );
        assert_eq!(packer.statistics.incompressible, 1);
        let left = packer.left_plain;
        assert_eq!((left.incompressible, left.below_threshold), (7, 2));
        assert_eq!(packer.statistics.ratio(), 1.0);
    }

    #[test]
    fn a_lone_sample_that_was_tried_by_itself_is_not_tried_again() {
        let mut packer = packer(CompressionIds::LZ4);
        let tried = PlainSamples {
            count: 1,
            no_smaller: 1,
        };
        let before = packer.statistics;
        let large = message(&text(20_000));
        assert!(packer.pack(&[&large], tried).is_none());
        assert_eq!(packer.statistics, before, "no time was spent");
        assert_eq!(packer.left_plain.incompressible, 1);
        // With others it may be like them.
        let with_another = tried.plus(PlainSamples::untried(1));
        assert!(packer.pack(&[&large], with_another).is_some());
        assert!(packer.pack(&[&large], tried.plus(tried)).is_some());
        assert_eq!(packer.left_plain.incompressible, 1);
    }

    #[test]
    fn a_bundle_counts_once_at_each_reader_that_it_reaches() {
        let (mut packer, mut inflater) = (packer(CompressionIds::ZLIB), BundleInflater::default());
        let plain = message(&text(60_000));
        let packed = packer
            .pack(&[&plain], PlainSamples::untried(2))
            .unwrap()
            .to_vec();
        let parsed = PackedMessage::parse(&packed).unwrap().unwrap();
        let bundle = inflater.inflate(&parsed).unwrap();
        let mut counts = [BundleCompressionStatistics::default(); 3];
        for reader in [0, 1, 0, 2, 0, 1, 2] {
            let entity = EntityId::user(reader, EntityKind::ReaderNoKey);
            bundle.count_at(entity, &mut counts[reader as usize]);
        }
        for counted in counts {
            let octets = (counted.plain_bytes, counted.compressed_bytes);
            assert_eq!(octets, (plain.len() as u64, packed.len() as u64));
            assert_eq!((counted.bundles, counted.incompressible), (1, 0));
            assert!(counted.time_spent > std::time::Duration::ZERO);
            assert_eq!(counted.ratio(), packer.statistics.ratio());
        }
    }

    #[test]
    fn bombs_false_lengths_and_nests_are_refused() {
        let mut inflater = BundleInflater::default();
        let mut check = |packed: &[u8], kind| {
            let parsed = PackedMessage::parse(packed).unwrap().unwrap();
            let outcome = inflater.inflate(&parsed).map_err(|it| it.kind);
            assert_eq!(outcome.err(), Some(kind));
        };
        let mut packer = packer(CompressionIds::ZLIB);
        let good = packer
            .pack(&[&message(&text(1400))], PlainSamples::untried(2))
            .unwrap()
            .to_vec();
        for claimed in [1399u32, 1401, 10_000] {
            let mut bad = good.clone();
            bad[28..32].copy_from_slice(&claimed.to_le_bytes());
            check(&bad, RejectKind::Compression);
        }
        let mut bomb = good[..40].to_vec();
        bomb[22..24].copy_from_slice(&16u16.to_le_bytes());
        bomb[28..32].copy_from_slice(&60_000u32.to_le_bytes());
        check(&bomb, RejectKind::Compression);
        let mut unknown = good.clone();
        unknown[24..28].copy_from_slice(&(1u32 << 30).to_le_bytes());
        check(&unknown, RejectKind::Codec);
        let mut damaged = good;
        damaged[40] ^= 0x55;
        check(&damaged, RejectKind::Compression);
        let mut nested = vec![0xc1];
        nested.extend_from_slice(&text(500));
        let nested = packer
            .pack(&[&message(&nested)], PlainSamples::untried(2))
            .unwrap()
            .to_vec();
        check(&nested, RejectKind::Compression);
    }
}
