//! Samples made smaller on their way out, and what they were on their way in.

use std::fmt;
use std::time::Duration;

use whimbrel_base::buffer::{BufferPool, SharedBytes};
use whimbrel_base::qos::{Compression, CompressionIds, PolicyId, UnsupportedPolicy};
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::time::Duration as Span;
use whimbrel_compress::{Codec, CodecKind, Level};
use whimbrel_proto::reader::{ReaderStatistics, Unpacker};
use whimbrel_proto::writer::{BlockPacker, Writer};
use whimbrel_wire::compressed::{Compressed, ENCAPSULATION_BYTES, plain_data};

use super::clock;
use super::sync::atomic::{AtomicU64, Ordering};
use super::sync::{Arc, Mutex, lock};
use crate::error::Error;

/// Slabs that hold one sample of usual size each; larger ones are allocated one by one.
const SLAB_BYTES: usize = 16 * 1024;

/// Slabs remembered while history or readers hold them.
const SLABS: usize = 256;

/// What compression did for the samples of a writer or a reader, one by one or with their batch, of
/// which each sample counts. Whole bundles are told of apart, by
/// [`BundleCompressionStatistics`](super::packing::BundleCompressionStatistics), but for samples in
/// them that left as they are.
///
/// A written sample that leaves for other participants as it is counts once, with its reason: in
/// `below_threshold`, `incompressible` or `not_taken`. Those in a message that several writers
/// share count at the one that sent it; what is sent again does not count again.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct CompressionStatistics {
    /// Samples that are compressed on the wire.
    pub samples: u64,
    /// Octets of their payloads as the application has them. A batch is one payload.
    pub plain_bytes: u64,
    /// Octets of their payloads on the wire.
    pub compressed_bytes: u64,
    /// How long the codec took, the samples that it could not make smaller included.
    pub time_spent: Duration,
    /// Written samples that left as they are because the threshold said so, or because their bundle
    /// was too small to be compressed: fewer than 128 octets of message. Keys of what is disposed
    /// of or unregistered count here too, unless they left in a compressed bundle.
    pub below_threshold: u64,
    /// Written samples that left as they are because they, or the batch or bundle they left in,
    /// came out no smaller.
    pub incompressible: u64,
    /// Written samples that left as they are because no reader they were sent to takes the codec.
    pub not_taken: u64,
    /// Samples that arrived damaged, or compressed by a codec that is not there. A batch whose
    /// samples cannot be had counts once.
    pub refused: u64,
}

impl CompressionStatistics {
    /// How many octets each octet on the wire stood for, of the samples that were compressed; 1
    /// where there are none.
    pub fn ratio(&self) -> f64 {
        ratio(self.plain_bytes, self.compressed_bytes)
    }
}

/// How many of `plain_bytes` each of `compressed_bytes` stands for; 1 where there are none.
pub(crate) fn ratio(plain_bytes: u64, compressed_bytes: u64) -> f64 {
    if compressed_bytes == 0 {
        return 1.0;
    }
    plain_bytes as f64 / compressed_bytes as f64
}

pub(super) const fn kind_of(codec: CompressionIds) -> Option<CodecKind> {
    match codec {
        CompressionIds::ZLIB => Some(CodecKind::Zlib),
        CompressionIds::BZIP2 => Some(CodecKind::Bzip2),
        CompressionIds::LZ4 => Some(CodecKind::Lz4),
        CompressionIds::ZSTD => Some(CodecKind::Zstd),
        CompressionIds::LZO => Some(CodecKind::Lzo),
        CompressionIds::HUFFMAN => Some(CodecKind::Huffman),
        CompressionIds::LZ => Some(CodecKind::Lz),
        _ => None,
    }
}

/// The codecs that were built in: what a reader takes that says nothing.
pub fn built_in() -> CompressionIds {
    let exists = |id: &CompressionIds| kind_of(*id).is_some_and(CodecKind::exists);
    let all = CompressionIds::ALL.iter().filter(exists);
    all.fold(CompressionIds::NONE, |all, id| all | id)
}

/// Refuses codecs that were not built in.
pub(crate) fn check_built_in(compression: &Compression) -> Result<(), Error> {
    let wanted = compression.compression_ids.unwrap_or_default();
    let built_in = built_in();
    let Some(missing) = wanted.iter().find(|id| !built_in.intersects(*id)) else {
        return Ok(());
    };
    Err(Error::UnsupportedPolicy(UnsupportedPolicy {
        policy: PolicyId::DataRepresentation,
        why: match missing {
            CompressionIds::ZLIB => "ZLIB was not built in: enable the crate's feature `zlib`",
            CompressionIds::BZIP2 => "BZIP2 was not built in: enable the crate's feature `bzip2`",
            CompressionIds::LZ4 => "LZ4 was not built in: enable the crate's feature `lz4`",
            CompressionIds::ZSTD => "ZSTD was not built in: enable the crate's feature `zstd`",
            CompressionIds::LZO => "LZO was not built in: enable the crate's feature `lzo`",
            _ => "there is no codec of some of these ids",
        },
    }))
}

/// Compresses what one writer writes.
pub(crate) struct Packer {
    id: CompressionIds,
    codec: Box<dyn Codec>,
    threshold: usize,
    pool: BufferPool,
    statistics: CompressionStatistics,
}

impl Packer {
    /// For a writer with these settings; `None` where it does not compress.
    pub(crate) fn new(compression: &Compression) -> Option<Self> {
        let id = compression.offered();
        let level = Level::new(compression.writer_compression_level);
        Some(Self {
            id,
            codec: kind_of(id)?.codec(level)?,
            threshold: compression.writer_compression_threshold?,
            pool: BufferPool::new(SLAB_BYTES, SLABS),
            statistics: CompressionStatistics::default(),
        })
    }

    pub(crate) fn statistics(&self) -> CompressionStatistics {
        self.statistics
    }

    /// Payloads of so many octets and fewer stay as they are.
    pub(crate) fn threshold(&self) -> usize {
        self.threshold
    }

    /// The plain `payload` of so many `samples` compressed, `None` where that is not wanted or does
    /// not make it smaller; and how long that took.
    pub(crate) fn pack(&mut self, payload: &[u8], samples: usize) -> (Option<SharedBytes>, Span) {
        let samples = samples as u64;
        if payload.len() <= self.threshold {
            self.statistics.below_threshold += samples;
            return (None, Span::ZERO);
        }
        let (packed, spent) = self.try_pack(payload, samples);
        if packed.is_none() {
            self.count_incompressible(samples);
        }
        (packed, spent)
    }

    /// So many samples came out no smaller, and leave as they are.
    pub(crate) fn count_incompressible(&mut self, samples: u64) {
        self.statistics.incompressible += samples;
    }

    /// As [`Packer::pack`], of what is above the threshold; what comes out no smaller is not
    /// counted.
    pub(crate) fn try_pack(&mut self, payload: &[u8], samples: u64) -> (Option<SharedBytes>, Span) {
        let started = clock::now();
        let packed = self.compress(payload);
        let spent = clock::now().since(started);
        self.statistics.time_spent += clock::span(spent);
        if let Some(packed) = &packed {
            self.statistics.samples += samples;
            self.statistics.plain_bytes += payload.len() as u64;
            self.statistics.compressed_bytes += packed.len() as u64;
        }
        (packed, spent)
    }

    fn compress(&mut self, payload: &[u8]) -> Option<SharedBytes> {
        let data = plain_data(payload)?;
        let plain_bytes = u32::try_from(data.len()).ok()?;
        let representation = *payload.first_chunk()?;
        let head = Compressed::head_bytes(self.id)?;
        let kind = kind_of(self.id)?;
        // With its padding it is shorter than the plain payload, or it is of no use.
        let room = (payload.len() - 1) & !3;
        let mut buffer = self.pool.take();
        let out = buffer.bytes();
        out.resize(room.max(head), 0);
        let length = self.codec.compress(data, &mut out[head..]).ok();
        let length = length.filter(|length| data.len() <= kind.claim_bytes_max(*length));
        let Some(length) = length else {
            // The slab is good for the next one.
            drop(self.pool.share(buffer));
            return None;
        };
        out.truncate(head + length);
        Compressed::finish(representation, self.id, plain_bytes, out);
        Some(self.pool.share(buffer))
    }
}

/// What a writer that compresses has sent as it was, beside what its codec has counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct PlainCounts {
    /// Samples that nobody they were sent to takes compressed.
    pub(crate) not_taken: u64,
    /// Samples that were too small, or their bundle was.
    pub(crate) below_threshold: u64,
    /// Samples of bundles that came out no smaller.
    pub(crate) incompressible: u64,
}

impl PlainCounts {
    /// A sample of so many octets, too small for the codec, is written by `machine`; it counts when
    /// it leaves where only then it is known whether it is compressed.
    pub(crate) fn count_small(&mut self, machine: &Writer, bytes: usize) {
        if machine.leaves_in_packed_message(bytes) {
            return;
        }
        if machine.is_taken_plain() {
            self.not_taken += 1;
        } else if machine.wants_packed() {
            self.below_threshold += 1;
        }
    }

    /// Both.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            not_taken: self.not_taken + other.not_taken,
            below_threshold: self.below_threshold + other.below_threshold,
            incompressible: self.incompressible + other.incompressible,
        }
    }

    /// Adds them to what the codec has counted.
    pub(crate) fn add_to(self, statistics: &mut CompressionStatistics) {
        statistics.not_taken += self.not_taken;
        statistics.below_threshold += self.below_threshold;
        statistics.incompressible += self.incompressible;
    }
}

/// Compresses whole batches with the packer of their writer.
#[derive(Debug)]
pub(crate) struct BlockPack(pub(crate) Arc<Mutex<Packer>>);

impl BlockPacker for BlockPack {
    fn pack(&mut self, payload: &[u8], samples: usize) -> Option<SharedBytes> {
        lock(&self.0).pack(payload, samples).0
    }
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packer({})", self.id)
    }
}

/// What an [`Inflater`] counts, for others to read.
#[derive(Debug, Default)]
pub(crate) struct Inflated {
    nanos: AtomicU64,
    refused: AtomicU64,
}

impl Inflated {
    /// With what the machine has counted.
    pub(crate) fn statistics(&self, machine: &ReaderStatistics) -> CompressionStatistics {
        CompressionStatistics {
            samples: machine.inflated,
            plain_bytes: machine.inflated_bytes,
            compressed_bytes: machine.compressed_bytes,
            time_spent: Duration::from_nanos(self.nanos.load(Ordering::Relaxed)),
            refused: self.refused.load(Ordering::Relaxed),
            ..CompressionStatistics::default()
        }
    }
}

/// Inflates what one reader gets.
pub(crate) struct Inflater {
    /// Those that were needed so far.
    codecs: Vec<(CompressionIds, Box<dyn Codec>)>,
    taken: CompressionIds,
    pool: BufferPool,
    counts: Arc<Inflated>,
}

impl Inflater {
    /// For a reader that takes these codecs.
    pub(crate) fn new(taken: CompressionIds, counts: Arc<Inflated>) -> Self {
        Self {
            codecs: Vec::new(),
            taken,
            pool: BufferPool::new(SLAB_BYTES, SLABS),
            counts,
        }
    }

    fn codec(&mut self, id: CompressionIds) -> Option<&mut dyn Codec> {
        if !self.taken.intersects(id) {
            return None;
        }
        if let Some(at) = self.codecs.iter().position(|(known, _)| *known == id) {
            return Some(self.codecs[at].1.as_mut());
        }
        let codec = kind_of(id)?.codec(Level::BEST)?;
        self.codecs.push((id, codec));
        self.codecs.last_mut().map(|(_, codec)| codec.as_mut() as _)
    }

    fn inflate(&mut self, compressed: &Compressed<'_>) -> Result<SharedBytes, Reject> {
        let plain_bytes = usize::try_from(compressed.plain_bytes).unwrap_or(usize::MAX);
        let claim_bytes_max = |it: CodecKind| it.claim_bytes_max(compressed.packed.len());
        if kind_of(compressed.codec).is_some_and(|it| plain_bytes > claim_bytes_max(it)) {
            return Err(Reject::new(RejectKind::Limit, 4));
        }
        let mut buffer = self.pool.take();
        let unknown = Reject::new(RejectKind::Codec, 2);
        let codec = self.codec(compressed.codec).ok_or(unknown)?;
        let out = buffer.bytes();
        out.extend_from_slice(&compressed.representation);
        out.resize(ENCAPSULATION_BYTES + plain_bytes, 0);
        let inflated = codec.decompress(compressed.packed, &mut out[ENCAPSULATION_BYTES..]);
        let damaged = Reject::new(RejectKind::Compression, ENCAPSULATION_BYTES);
        inflated.map_err(|_| damaged)?;
        Ok(self.pool.share(buffer))
    }
}

impl Unpacker for Inflater {
    fn unpack(&mut self, compressed: &Compressed<'_>) -> Result<SharedBytes, Reject> {
        let started = clock::now();
        let outcome = self.inflate(compressed);
        let spent = clock::now().since(started).as_nanos().unsigned_abs();
        self.counts.nanos.fetch_add(spent, Ordering::Relaxed);
        if outcome.is_err() {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
        }
        outcome
    }
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inflater({})", self.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(length: usize) -> Vec<u8> {
        let text = b"the same again and again, ".iter().copied().cycle();
        [0, 1, 0, 0].into_iter().chain(text.take(length)).collect()
    }

    fn settings(id: CompressionIds) -> Compression {
        Compression {
            compression_ids: Some(id),
            writer_compression_threshold: Some(100),
            ..Compression::default()
        }
    }

    fn inflater() -> Inflater {
        Inflater::new(built_in(), Arc::default())
    }

    #[test]
    fn every_codec_brings_back_what_was_written() {
        for id in built_in().iter() {
            let mut packer = Packer::new(&settings(id)).unwrap();
            let mut inflater = inflater();
            for length in [97, 1000, 1001, 1002, 1003, 100_000] {
                let plain = payload(length);
                let packed = packer
                    .pack(&plain, 1)
                    .0
                    .unwrap_or_else(|| panic!("{id} {length}"));
                assert!(
                    packed.len() < plain.len() && packed.len().is_multiple_of(4),
                    "{id}"
                );
                let compressed = Compressed::parse(&packed).unwrap().unwrap();
                let back = inflater.unpack(&compressed).unwrap();
                assert_eq!(*back, *plain, "{id}");
            }
            assert_eq!(packer.statistics().samples, 6);
            assert!(packer.statistics().ratio() > 1.5, "{id}");
        }
    }

    #[test]
    fn what_is_small_or_comes_out_no_smaller_stays_plain() {
        let mut packer = Packer::new(&settings(CompressionIds::LZ4)).unwrap();
        assert_eq!(packer.pack(&payload(96), 2).0, None);
        let mut state = 1u64;
        let noise: Vec<u8> = (0..1000)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        assert_eq!(packer.pack(&noise, 3).0, None);
        let statistics = packer.statistics();
        assert_eq!(
            (statistics.below_threshold, statistics.incompressible),
            (2, 3)
        );
        assert_eq!((statistics.samples, statistics.ratio()), (0, 1.0));
    }

    #[test]
    fn damage_false_claims_and_codecs_not_taken_are_refused() {
        let mut packer = Packer::new(&settings(CompressionIds::ZLIB)).unwrap();
        let packed = packer.pack(&payload(5000), 1).0.unwrap();
        let good = Compressed::parse(&packed).unwrap().unwrap();
        let mut inflater = inflater();
        let mut check = |compressed: Compressed<'_>, kind| {
            let refused = inflater.unpack(&compressed).map_err(|it| it.kind);
            assert_eq!(refused, Err(kind));
        };
        let plain_bytes = 4999;
        check(
            Compressed {
                plain_bytes,
                ..good
            },
            RejectKind::Compression,
        );
        // A little more than so few octets can say.
        let plain_bytes = good.packed.len() as u32 * 1032 + 1;
        check(
            Compressed {
                plain_bytes,
                ..good
            },
            RejectKind::Limit,
        );
        let packed = &good.packed[1..];
        check(Compressed { packed, ..good }, RejectKind::Compression);
        let mut none = Inflater::new(CompressionIds::LZ4, Arc::default());
        let refused = none.unpack(&good).map_err(|it| it.kind);
        assert_eq!(refused, Err(RejectKind::Codec));
        let counts = none.counts.statistics(&ReaderStatistics::default());
        assert_eq!(counts.refused, 1);
    }

    #[test]
    fn padding_of_the_plain_payload_is_not_compressed() {
        let mut plain = payload(1001);
        plain.extend([0; 3]);
        plain[3] = 3;
        let mut packer = Packer::new(&settings(CompressionIds::LZ4)).unwrap();
        let packed = packer.pack(&plain, 1).0.unwrap();
        let compressed = Compressed::parse(&packed).unwrap().unwrap();
        assert_eq!(compressed.plain_bytes, 1001);
        assert_eq!(*inflater().unpack(&compressed).unwrap(), *payload(1001));
    }
}
