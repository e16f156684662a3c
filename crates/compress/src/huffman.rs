//! Huffman codes alone: each octet by how often it comes, one table for each sample.
//!
//! The lowest and the highest octet that come, then for each from one to the other the bits of its
//! code, 0 to 12, in half an octet, the lower half first; then the codes, canonical, from the
//! lowest bit of each octet on. A bit that is 1 ends them, and bits that are 0 fill the last octet.
//! Nothing at all for no octets.

use crate::codec::{Codec, Damaged, NoRoom};

/// Bits of the longest code.
const BITS_MAX: usize = 12;

const SYMBOLS: usize = 256;

/// See the module.
#[derive(Debug)]
pub(crate) struct Huffman {
    /// Bits of each octet's code, 0 for octets that do not come.
    lengths: [u8; SYMBOLS],
    codes: [u16; SYMBOLS],
    /// For what the next bits are: an octet and the bits of its code.
    table: Vec<(u8, u8)>,
    nodes: Vec<Node>,
    heap: Vec<(u64, u16)>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u16,
}

impl Default for Huffman {
    fn default() -> Self {
        Self {
            lengths: [0; SYMBOLS],
            codes: [0; SYMBOLS],
            table: Vec::new(),
            nodes: Vec::with_capacity(2 * SYMBOLS),
            heap: Vec::with_capacity(2 * SYMBOLS),
        }
    }
}

impl Huffman {
    /// Codes for octets that come so often: none of the codes is longer than it may be.
    fn build(&mut self, counts: &mut [u64; SYMBOLS]) {
        loop {
            self.measure(counts);
            if self.lengths.iter().all(|it| usize::from(*it) <= BITS_MAX) {
                return;
            }
            // Counts that differ less give codes that differ less.
            for count in counts.iter_mut().filter(|it| **it > 0) {
                *count = count.div_ceil(4);
            }
        }
    }

    /// Lengths of the best codes.
    fn measure(&mut self, counts: &[u64; SYMBOLS]) {
        self.lengths = [0; SYMBOLS];
        self.nodes.clear();
        self.heap.clear();
        let mut leaves = [0u8; SYMBOLS];
        for (octet, count) in (0..=u8::MAX).zip(counts).filter(|it| *it.1 > 0) {
            leaves[self.nodes.len()] = octet;
            self.heap.push((*count, self.nodes.len() as u16));
            self.nodes.push(Node { parent: 0 });
        }
        let leaf_count = self.nodes.len();
        if leaf_count == 1 {
            self.lengths[usize::from(leaves[0])] = 1;
            return;
        }
        // The rarest last; a joined pair goes where it belongs.
        self.heap.sort_unstable_by(|one, other| other.cmp(one));
        while let (Some(one), Some(other)) = (self.heap.pop(), self.heap.pop()) {
            let parent = self.nodes.len() as u16;
            self.nodes.push(Node { parent: 0 });
            self.nodes[usize::from(one.1)].parent = parent;
            self.nodes[usize::from(other.1)].parent = parent;
            if self.heap.is_empty() {
                break;
            }
            let joined = (one.0 + other.0, parent);
            let at = self.heap.partition_point(|it| *it > joined);
            self.heap.insert(at, joined);
        }
        let root = self.nodes.len() - 1;
        for (leaf, octet) in leaves.iter().enumerate().take(leaf_count) {
            let (mut node, mut bits) = (leaf, 0u8);
            while node != root {
                node = usize::from(self.nodes[node].parent);
                bits = bits.saturating_add(1);
            }
            self.lengths[usize::from(*octet)] = bits;
        }
    }

    /// Canonical codes of the lengths, lowest bit first; false where they do not belong together.
    fn assign(&mut self) -> bool {
        let mut counts = [0u16; BITS_MAX + 1];
        for bits in self.lengths.iter().filter(|it| **it > 0) {
            match counts.get_mut(usize::from(*bits)) {
                Some(count) => *count += 1,
                None => return false,
            }
        }
        let mut next = [0u16; BITS_MAX + 1];
        let mut code = 0u16;
        for bits in 1..=BITS_MAX {
            code = (code + counts[bits - 1]) << 1;
            next[bits] = code;
            if usize::from(code) + usize::from(counts[bits]) > 1 << bits {
                return false;
            }
        }
        for (bits, code) in self
            .lengths
            .iter()
            .zip(&mut self.codes)
            .filter(|it| *it.0 > 0)
        {
            let next = &mut next[usize::from(*bits)];
            *code = next.reverse_bits() >> (16 - bits);
            *next += 1;
        }
        true
    }

    /// The table that finds an octet by its code.
    fn index(&mut self) {
        self.table.clear();
        self.table.resize(1 << BITS_MAX, (0, 0));
        for (octet, (bits, code)) in (0..=u8::MAX).zip(self.lengths.iter().zip(&self.codes)) {
            if *bits > 0 {
                let entries = self.table[usize::from(*code)..].iter_mut();
                entries
                    .step_by(1 << bits)
                    .for_each(|it| *it = (octet, *bits));
            }
        }
    }

    /// Reads the table that stands before the codes; how many octets it has.
    fn read_table(&mut self, packed: &[u8]) -> Option<usize> {
        let [low, high] = *packed.first_chunk()?;
        let count = usize::from(high.checked_sub(low)?) + 1;
        let halves = packed.get(2..2 + count.div_ceil(2))?;
        self.lengths = [0; SYMBOLS];
        let lengths = halves.iter().flat_map(|it| [it & 15, it >> 4]);
        let known = self.lengths.get_mut(usize::from(low)..)?;
        for (known, bits) in known.iter_mut().zip(lengths).take(count) {
            *known = bits;
        }
        self.assign().then_some(2 + halves.len())
    }
}

impl Codec for Huffman {
    fn compress(&mut self, plain: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        if plain.is_empty() {
            return Ok(0);
        }
        let mut counts = [0u64; SYMBOLS];
        for octet in plain {
            counts[usize::from(*octet)] += 1;
        }
        let low = counts.iter().position(|it| *it > 0).unwrap_or(0);
        let high = counts.iter().rposition(|it| *it > 0).unwrap_or(0);
        self.build(&mut counts);
        self.assign();
        let halves = self.lengths[low..=high].chunks(2);
        let table = 2 + halves.len();
        let (head, room) = out.split_at_mut_checked(table).ok_or(NoRoom)?;
        head[0] = low as u8;
        head[1] = high as u8;
        for (place, pair) in head[2..].iter_mut().zip(halves) {
            *place = pair[0] | (pair.get(1).copied().unwrap_or(0) << 4);
        }
        let mut places = room.iter_mut();
        let (mut bits, mut count) = (0u64, 0u32);
        for octet in plain {
            let index = usize::from(*octet);
            bits |= u64::from(self.codes[index]) << count;
            count += u32::from(self.lengths[index]);
            while count >= 8 {
                *places.next().ok_or(NoRoom)? = bits as u8;
                bits >>= 8;
                count -= 8;
            }
        }
        *places.next().ok_or(NoRoom)? = bits as u8 | 1 << count;
        let left = places.len();
        Ok(out.len() - left)
    }

    fn decompress(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), Damaged> {
        if out.is_empty() {
            return if packed.is_empty() {
                Ok(())
            } else {
                Err(Damaged)
            };
        }
        let table = self.read_table(packed).ok_or(Damaged)?;
        self.index();
        let mut input = packed.get(table..).ok_or(Damaged)?.iter();
        let (mut bits, mut count) = (0u64, 0u32);
        for place in out {
            while count <= 56
                && let Some(octet) = input.next()
            {
                bits |= u64::from(*octet) << count;
                count += 8;
            }
            let (octet, length) = self.table[(bits & ((1 << BITS_MAX) - 1)) as usize];
            let length = u32::from(length);
            if length == 0 || length > count {
                return Err(Damaged);
            }
            *place = octet;
            bits >>= length;
            count -= length;
        }
        let clean = (1..=8).contains(&count) && bits == 1 && input.next().is_none();
        if clean { Ok(()) } else { Err(Damaged) }
    }
}
