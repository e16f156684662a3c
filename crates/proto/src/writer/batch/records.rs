//! Which changes are in which batch, and the batches as they travel.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::cursor::Endian;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Timestamp;
use whimbrel_wire::compressed::plain_data;
use whimbrel_wire::parameter::ParameterList;
use whimbrel_wire::submessage::{BatchedSample, BatchedSamplesWriter, Content};

/// Byte order of what is said of samples.
const ENDIAN: Endian = Endian::Little;

/// Changes of which nothing was sent are put into batches of so many at most.
const UNSENT_SAMPLES_MAX: u64 = 32;

/// What a sample may take of a batch beside its data, in octets.
const BESIDE_SAMPLE_BYTES: usize = 80;

/// Records beyond twice those that were needed last are looked through.
const SWEEP_MIN: usize = 64;

/// Makes the samples of a batch smaller, all at once.
pub trait BlockPacker: Send + core::fmt::Debug {
    /// `payload`, an encapsulation header and the data of so many `samples` behind it, compressed;
    /// `None` where that is not wanted or makes it no smaller.
    fn pack(&mut self, payload: &[u8], samples: usize) -> Option<SharedBytes>;
}

/// How much a batch holds at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BatchLimits {
    /// Samples.
    pub samples_max: u32,
    /// Octets of their data; a larger sample is alone.
    pub bytes_max: usize,
}

/// A change on its way into a batch.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) number: SequenceNumber,
    pub(crate) content: Content,
    pub(crate) inline_qos: Option<Vec<u8>>,
    /// With its encapsulation header; nothing where there is no data.
    pub(crate) payload: SharedBytes,
    pub(crate) timestamp: Timestamp,
}

impl Item {
    fn data(&self) -> &[u8] {
        plain_data(&self.payload).unwrap_or_default()
    }

    fn representation(&self) -> Option<[u8; 2]> {
        self.payload.first_chunk().copied()
    }
}

/// A batch as it travels.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) samples: BatchedSamplesWriter,
    pub(crate) payload: SharedBytes,
    pub(crate) timestamp: Timestamp,
}

impl Block {
    fn new(items: &[Item], packer: Option<&mut Box<dyn BlockPacker>>) -> Self {
        let timestamp = items.first().map_or(Timestamp::INVALID, |it| it.timestamp);
        let representation = items.iter().find_map(Item::representation);
        let [first, second] = representation.unwrap_or_default();
        let mut payload = Vec::from([first, second, 0, 0]);
        let mut samples = BatchedSamplesWriter::new(ENDIAN);
        for item in items {
            let data = item.data();
            payload.extend_from_slice(data);
            let inline_qos = item.inline_qos.as_deref();
            samples.push(&BatchedSample {
                number: item.number,
                content: item.content,
                is_invalid: false,
                timestamp: (item.timestamp != timestamp).then_some(item.timestamp),
                inline_qos: inline_qos.and_then(|it| ParameterList::parse(it, ENDIAN).ok()),
                data_len: u32::try_from(data.len()).unwrap_or(u32::MAX),
            });
        }
        let packed = packer.and_then(|it| it.pack(&payload, items.len()));
        Self {
            samples,
            payload: packed.unwrap_or_else(|| SharedBytes::from_vec(payload)),
            timestamp,
        }
    }

    fn held_bytes(&self) -> usize {
        let list = self.samples.encoded_len();
        self.payload.slab_len().saturating_add(list)
    }
}

/// One batch, or several in a row of which nothing is left.
#[derive(Debug)]
pub(crate) struct Record {
    /// The first batch.
    pub(crate) number: SequenceNumber,
    /// The last one; the same but for those of which nothing is left.
    pub(crate) number_last: SequenceNumber,
    /// The changes in it.
    pub(crate) first: SequenceNumber,
    pub(crate) last: SequenceNumber,
    pub(crate) block: Option<Block>,
}

/// All batches so far: together they hold each change that was sent, or given up, once.
#[derive(Debug)]
pub(crate) struct Records {
    all: VecDeque<Record>,
    sweep_at: usize,
    /// So many changes fit a batch whatever they are.
    unsent_samples: u64,
}

impl Default for Records {
    fn default() -> Self {
        Self {
            all: VecDeque::new(),
            sweep_at: 0,
            unsent_samples: UNSENT_SAMPLES_MAX,
        }
    }
}

impl Records {
    /// A sample of `bytes` was written, of which batches hold `bytes_max`.
    pub(crate) fn note_written(&mut self, bytes: usize, bytes_max: usize) {
        let each = bytes.saturating_add(BESIDE_SAMPLE_BYTES);
        let fit = bytes_max.checked_div(each).unwrap_or(0);
        let fit = u64::try_from(fit).unwrap_or(u64::MAX).max(1);
        self.unsent_samples = self.unsent_samples.min(fit);
    }

    /// The number of the next batch.
    pub(crate) fn next_number(&self) -> SequenceNumber {
        let last = self.all.back();
        last.map_or(SequenceNumber::FIRST, |it| it.number_last.next())
    }

    /// The first change that is in no batch yet.
    pub(crate) fn next_change(&self) -> SequenceNumber {
        let last = self.all.back();
        last.map_or(SequenceNumber::FIRST, |it| it.last.next())
    }

    /// The batch that holds a change; the next one where none does yet.
    pub(crate) fn batch_of(&self, change: SequenceNumber) -> SequenceNumber {
        let Some(record) = self.at_change(change) else {
            return self.next_number();
        };
        let behind = record.number.plus(change.since(record.first));
        behind.min(record.number_last)
    }

    /// The first change of a batch; the next one where there is no such batch yet.
    pub(crate) fn first_of(&self, number: SequenceNumber) -> SequenceNumber {
        let Some(record) = self.at_number(number) else {
            return self.next_change();
        };
        record.first.plus(number.since(record.number))
    }

    pub(crate) fn at_change(&self, change: SequenceNumber) -> Option<&Record> {
        let at = self.all.partition_point(|it| it.last < change);
        self.all.get(at)
    }

    pub(crate) fn at_number(&self, number: SequenceNumber) -> Option<&Record> {
        let at = self.all.partition_point(|it| it.number_last < number);
        self.all.get(at)
    }

    /// Puts all changes up to `last` that are in no batch yet into some: nothing of them was sent.
    pub(crate) fn cover(&mut self, last: SequenceNumber) {
        while self.next_change() <= last {
            let first = self.next_change();
            let end = first.plus(self.unsent_samples).previous().min(last);
            self.push(first, end, None);
        }
    }

    fn push(&mut self, first: SequenceNumber, last: SequenceNumber, block: Option<Block>) {
        let number = self.next_number();
        self.all.push_back(Record {
            number,
            number_last: number,
            first,
            last,
            block,
        });
    }

    /// Makes the next batch, of `items`, whose numbers rise and are in no batch yet.
    pub(crate) fn form(
        &mut self,
        items: &[Item],
        packer: Option<&mut Box<dyn BlockPacker>>,
    ) -> Option<&Record> {
        let (first, last) = (items.first()?.number, items.last()?.number);
        self.cover(first.previous());
        self.push(first, last, Some(Block::new(items, packer)));
        self.all.back()
    }

    /// Puts a batch together again from what is left of it.
    pub(crate) fn compose(
        &mut self,
        number: SequenceNumber,
        items: &[Item],
        packer: Option<&mut Box<dyn BlockPacker>>,
    ) {
        let at = self.all.partition_point(|it| it.number_last < number);
        if let Some(record) = self.all.get_mut(at)
            && !items.is_empty()
        {
            record.block = Some(Block::new(items, packer));
        }
    }

    /// Forgets how batches travel: from now on they do otherwise.
    pub(crate) fn drop_blocks(&mut self) {
        self.all.iter_mut().for_each(|it| it.block = None);
    }

    /// Lets go of batches of which `is_kept` says that no change is, now and then.
    pub(crate) fn sweep(&mut self, is_kept: impl Fn(&Record) -> bool) {
        if self.all.len() < self.sweep_at {
            return;
        }
        let mut kept: VecDeque<Record> = VecDeque::with_capacity(self.all.len());
        for mut record in self.all.drain(..) {
            if is_kept(&record) {
                kept.push_back(record);
                continue;
            }
            record.block = None;
            match kept.back_mut() {
                Some(before) if before.block.is_none() && !is_kept(before) => {
                    before.number_last = record.number_last;
                    before.last = record.last;
                }
                _ => kept.push_back(record),
            }
        }
        self.all = kept;
        self.sweep_at = self.all.len().saturating_mul(2).saturating_add(SWEEP_MIN);
    }

    /// Octets that they hold.
    pub(crate) fn held_bytes(&self) -> usize {
        let blocks = self.all.iter().filter_map(|it| it.block.as_ref());
        let sum = blocks.map(Block::held_bytes);
        sum.fold(0, usize::saturating_add)
    }
}

/// Cuts `items` into batches within `limits` whose samples are encoded alike.
pub(crate) fn cut(items: &[Item], limits: BatchLimits) -> impl Iterator<Item = &[Item]> {
    let mut rest = items;
    core::iter::from_fn(move || {
        let first = rest.first()?;
        let mut representation = first.representation();
        let (mut bytes, mut count) = (0usize, 0usize);
        for item in rest {
            let known = item.representation().or(representation);
            bytes = bytes.saturating_add(item.data().len());
            let differs = representation.is_some() && known != representation;
            let full = bytes > limits.bytes_max
                || count >= usize::try_from(limits.samples_max).unwrap_or(usize::MAX);
            if count > 0 && (differs || full) {
                break;
            }
            representation = known;
            count = count.saturating_add(1);
        }
        let (batch, behind) = rest.split_at_checked(count)?;
        rest = behind;
        Some(batch)
    })
}
