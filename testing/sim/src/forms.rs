//! How samples travel: compressed or not, alone, in bundles or in batches. What a scenario draws
//! anyhow decides, so that scripts need not say it.

use std::fmt;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::time::Duration;
use whimbrel_compress::{CodecKind, Level};
use whimbrel_proto::Writer;
use whimbrel_proto::reader::Unpacker;
use whimbrel_proto::writer::{BatchLimits, BlockPacker, Bundling, Packed};
use whimbrel_wire::compressed::{Compressed, ENCAPSULATION_BYTES, plain_data};
use whimbrel_wire::header::Header;
use whimbrel_wire::message::{Submessage, Submessages};
use whimbrel_wire::packed_message::{HEAD_BYTES, PackedMessage};

use crate::random::mix;
pub use crate::scenario::Form;
use crate::scenario::Scenario;

/// The codecs, with what they are called.
const CODECS: [(CompressionIds, CodecKind); CodecKind::ALL.len()] = [
    (CompressionIds::LZ4, CodecKind::Lz4),
    (CompressionIds::ZLIB, CodecKind::Zlib),
    (CompressionIds::BZIP2, CodecKind::Bzip2),
    (CompressionIds::ZSTD, CodecKind::Zstd),
    (CompressionIds::LZO, CodecKind::Lzo),
    (CompressionIds::HUFFMAN, CodecKind::Huffman),
    (CompressionIds::LZ, CodecKind::Lz),
];

/// Octets of a sample of a writer of batches, at most.
pub const BATCHED_BYTES_MAX: usize = 40_000;

/// So many samples later a writer bundles in another way, and compresses by another codec, less or
/// not at all.
const CHANGED_EVERY: usize = 13;

/// What sets apart the numbers that say how a writer begins, and whether its messages join.
const BEGINS_WIDE: u64 = 80;
const JOINED: u64 = 81;

/// Numbers that are the same whenever a plan is looked at.
fn draw(scenario: &Scenario, what: u64, plan: usize) -> u64 {
    mix(mix(scenario.seed ^ (what << 56)).wrapping_add(plan as u64))
}

/// Octets of messages that wait to leave by one call at the writer of a plan: of one in two some.
pub fn joined_bytes_max(scenario: &Scenario, plan: usize) -> usize {
    let joins = draw(scenario, JOINED, plan).is_multiple_of(2);
    if joins { 10_000 } else { 0 }
}

/// True where the writer of a plan begins with as much at once as it ever sends so, as writers of
/// others do.
pub fn begins_wide(scenario: &Scenario, plan: usize) -> bool {
    draw(scenario, BEGINS_WIDE, plan).is_multiple_of(2)
}

/// Of the writer of a plan.
pub fn of_writer(scenario: &Scenario, plan: usize) -> Form {
    if let Some(form) = scenario.writers.get(plan).and_then(|it| it.form) {
        return form;
    }
    if !scenario.forms {
        let drawn = scenario.writers.get(plan);
        let ms = drawn.map_or(0, |it| it.nack_suppression.as_nanos() / 1_000_000);
        return Form {
            codec: CompressionIds::NONE,
            threshold: 0,
            bundling: bundling(plan + usize::try_from(ms).unwrap_or(0)),
            batch: None,
        };
    }
    let drawn = draw(scenario, 1, plan);
    let codec = match drawn % 2 {
        0 => CompressionIds::NONE,
        _ => CODECS[(drawn >> 8) as usize % CODECS.len()].0,
    };
    // A batch leaves as one datagram, which must get through whole.
    let whole = scenario.discovery || scenario.datagram_bytes_max >= 65_507;
    let batch = (whole && (drawn >> 16).is_multiple_of(4)).then(|| BatchLimits {
        samples_max: [u32::MAX, 2, 30][(drawn >> 24) as usize % 3],
        bytes_max: [60_000, 3000][(drawn >> 32) as usize % 2],
    });
    let bundling = match batch {
        Some(_) => up_to(65_507, 5),
        None => bundling((drawn >> 40) as usize),
    };
    Form {
        codec,
        threshold: [0, 100, 2000][(drawn >> 48) as usize % 3],
        bundling,
        batch,
    }
}

/// The form in which the writer of a plan writes its `number`th sample.
pub fn of_sample(scenario: &Scenario, plan: usize, number: usize) -> Form {
    let form = of_writer(scenario, plan);
    if !scenario.forms || is_told(scenario) || form.codec.is_empty() {
        return form;
    }
    let drawn = draw(scenario, 6, (plan << 32) | (number / CHANGED_EVERY));
    match drawn % 4 {
        0 => form,
        1 => Form {
            codec: CompressionIds::NONE,
            ..form
        },
        _ => Form {
            codec: CODECS[(drawn >> 8) as usize % CODECS.len()].0,
            threshold: [0, 100, 2000][(drawn >> 16) as usize % 3],
            ..form
        },
    }
}

/// Before the writer of a plan writes `payload` as its `number`th: what it is compressed, where it
/// leaves so, and now and then another way to bundle.
pub fn prepare(
    scenario: &Scenario,
    plan: usize,
    machine: &mut Writer,
    (number, payload): (usize, &[u8]),
) -> Packed {
    let form = of_sample(scenario, plan, number);
    let turns = scenario.forms && !is_told(scenario) && number.is_multiple_of(CHANGED_EVERY);
    if turns && form.batch.is_some() {
        machine.set_block_packer(Some(Box::new(Blocks(form))));
    }
    let alone = payload.len() > machine.packed_together_bytes_max();
    let packed = (alone && machine.wants_packed()).then(|| packed_sample(&form, payload));
    if turns && form.batch.is_none() {
        machine.set_bundling(bundling(draw(scenario, 5, plan + number) as usize));
    }
    packed
        .flatten()
        .map_or(Packed::Untried, |it| Packed::Smaller(Box::new(it.into())))
}

fn bundling(number: usize) -> Bundling {
    match number % 4 {
        0 => Bundling::Off,
        1 => Bundling::Automatic,
        2 => up_to(1400, 2),
        _ if (number / 4).is_multiple_of(2) => up_to(400, 20),
        // More than a packet carries, where there are small ones.
        _ => up_to(5000, 20),
    }
}

/// Bundles of so many octets that wait for so long.
pub fn up_to(message_bytes_max: usize, ms: i64) -> Bundling {
    Bundling::UpTo {
        message_bytes_max,
        wait: Duration::from_millis(ms),
    }
}

/// True where somebody says how samples travel; readers take everything then.
fn is_told(scenario: &Scenario) -> bool {
    scenario.writers.iter().any(|it| it.form.is_some())
}

/// The codecs that the reader of a plan takes; none where it does not know of any, so that it is
/// served plain samples.
pub fn of_reader(scenario: &Scenario, plan: usize) -> Option<CompressionIds> {
    if is_told(scenario) {
        return Some(CompressionIds::ALL);
    }
    (scenario.forms && !draw(scenario, 2, plan).is_multiple_of(4)).then_some(CompressionIds::ALL)
}

/// Whether the readers of a node take batches where they are told of writers; those in one group
/// all do, as they hear what is for the others too, and so do all of one node.
pub fn takes_batches(scenario: &Scenario, node: usize) -> bool {
    let drawn = || scenario.multicast_data || !draw(scenario, 4, node).is_multiple_of(4);
    is_told(scenario) || scenario.forms && drawn()
}

/// Whether the program shares what the writer of a plan writes with readers of its process,
/// instead of having it encoded for them.
pub fn shares_values(scenario: &Scenario, plan: usize) -> bool {
    scenario.forms && draw(scenario, 10, plan).is_multiple_of(2)
}

/// Whether the reader of a plan takes what is shared.
pub fn takes_values(scenario: &Scenario, plan: usize) -> bool {
    scenario.forms && !draw(scenario, 11, plan).is_multiple_of(4)
}

/// The codecs by which a node takes whole messages.
pub fn of_node(scenario: &Scenario, node: usize) -> CompressionIds {
    match draw(scenario, 3, node) % 4 {
        _ if is_told(scenario) => CompressionIds::ALL,
        _ if !scenario.forms => CompressionIds::NONE,
        0 => CompressionIds::NONE,
        _ => CompressionIds::ALL,
    }
}

/// The codecs by which whole messages may come to a node: also those that it does not take where
/// it hears what is for others in its group.
pub fn heard_by_node(scenario: &Scenario, node: usize) -> CompressionIds {
    if scenario.multicast_data {
        return CompressionIds::ALL;
    }
    of_node(scenario, node)
}

fn kind_of(codec: CompressionIds) -> Option<CodecKind> {
    let known = CODECS.iter().find(|it| it.0 == codec);
    known.map(|it| it.1)
}

fn compress(codec: CompressionIds, plain: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut codec = kind_of(codec)?.codec(Level::new(5))?;
    codec.compress(plain, out).ok()
}

fn decompress(codec: CompressionIds, packed: &[u8], out: &mut [u8]) -> Result<(), Reject> {
    let codec = kind_of(codec).and_then(|kind| kind.codec(Level::BEST));
    let mut codec = codec.ok_or(Reject::new(RejectKind::Codec, 0))?;
    let damaged = Reject::new(RejectKind::Compression, 0);
    codec.decompress(packed, out).map_err(|_| damaged)
}

/// `payload` compressed, where that is wanted and makes it smaller.
pub fn packed_sample(form: &Form, payload: &[u8]) -> Option<SharedBytes> {
    let head = Compressed::head_bytes(form.codec)?;
    let data = plain_data(payload).filter(|_| payload.len() > form.threshold)?;
    let mut out = vec![0; ((payload.len() - 1) & !3).max(head)];
    let len = compress(form.codec, data, &mut out[head..])?;
    out.truncate(head + len);
    let bytes = u32::try_from(data.len()).ok()?;
    Compressed::finish(*payload.first_chunk()?, form.codec, bytes, &mut out);
    Some(SharedBytes::from_vec(out))
}

/// A message compressed as a whole, where that makes it smaller.
pub fn packed_message(codec: CompressionIds, message: &[u8]) -> Option<Vec<u8>> {
    let (header, plain) = message.split_at_checked(Header::LEN)?;
    let mut out = vec![0; message.len().saturating_sub(1).max(HEAD_BYTES)];
    let len = compress(codec, plain, &mut out[HEAD_BYTES..])?;
    out.truncate(HEAD_BYTES + len);
    let bytes = u32::try_from(plain.len()).ok()?;
    PackedMessage::finish(header, codec, bytes, &mut out).then_some(out)
}

/// The plain message, where `datagram` is compressed as a whole for who `takes` that.
///
/// # Errors
/// What is not as it says, and a codec that is not taken.
pub fn plain_message(
    datagram: &[u8],
    takes: CompressionIds,
) -> Result<Option<SharedBytes>, Reject> {
    let Some(packed) = PackedMessage::parse(datagram)? else {
        return Ok(None);
    };
    if !takes.intersects(packed.codec) {
        return Err(Reject::new(RejectKind::Codec, HEAD_BYTES));
    }
    let mut out = packed.header.to_vec();
    out.resize(packed.header.len() + packed.plain_bytes, 0);
    let plain = &mut out[packed.header.len()..];
    decompress(packed.codec, packed.packed, plain)?;
    PackedMessage::check_plain(plain)?;
    Ok(Some(SharedBytes::from_vec(out)))
}

/// True for a message whose DATA submessages are one batch of one sample: however large, it leaves
/// in one datagram.
pub fn is_batch_of_one(message: &[u8]) -> bool {
    let Ok((_, submessages)) = Submessages::new(message) else {
        return false;
    };
    let mut samples = 0;
    for submessage in submessages {
        match submessage.and_then(|it| it.parse()) {
            Ok(Submessage::DataBatch(batch)) => samples += batch.samples.len(),
            Ok(Submessage::Data(_) | Submessage::DataFrag(_)) | Err(_) => return false,
            Ok(_) => {}
        }
    }
    samples == 1
}

/// Compresses batches.
pub struct Blocks(pub Form);

impl BlockPacker for Blocks {
    fn pack(&mut self, payload: &[u8], _samples: usize) -> Option<SharedBytes> {
        packed_sample(&self.0, payload)
    }
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blocks")
    }
}

/// Inflates samples and batches.
#[derive(Debug)]
pub struct Inflater;

impl Unpacker for Inflater {
    fn unpack(&mut self, compressed: &Compressed<'_>) -> Result<SharedBytes, Reject> {
        let bytes = usize::try_from(compressed.plain_bytes).unwrap_or(usize::MAX);
        let mut out = vec![0; ENCAPSULATION_BYTES + bytes];
        let (head, plain) = out.split_at_mut(ENCAPSULATION_BYTES);
        head[..2].copy_from_slice(&compressed.representation);
        decompress(compressed.codec, compressed.packed, plain)?;
        Ok(SharedBytes::from_vec(out))
    }
}
