//! One block of a ping-pong under way.

use whimbrel::{DataWriter, SharedBytes};

use super::{Answers, Msg};
use crate::clock::now_ns;
use crate::protocol::{LAST, Order};

/// A block under way: who notes an answer sends the next sample. The clock is read once for each
/// sample: having an answer is where the next round trip begins, and nothing is computed before the
/// block is done.
#[derive(Debug)]
pub struct Block {
    order: Order,
    sample: Msg,
    /// Payload of the last one.
    last: SharedBytes,
    begun_ns: u64,
    /// When answers came.
    at_ns: Vec<u64>,
}

impl Block {
    /// The block `order` of samples that hold what `sample` does, but for the first octet of the
    /// last one, which is [`LAST`].
    pub fn new(order: Order, mut sample: Msg) -> Self {
        sample.seq = 0;
        let mut last = sample.payload.to_vec();
        if let Some(first) = last.first_mut() {
            *first = LAST;
        }
        // Written once, so that the system has given the memory before it counts.
        let mut at_ns = vec![1; order.count];
        at_ns.clear();
        Self {
            order,
            sample,
            last: last.into(),
            begun_ns: now_ns(),
            at_ns,
        }
    }

    /// Writes the next sample.
    ///
    /// # Errors
    /// What the bus says.
    pub fn send(&mut self, writer: &DataWriter<Msg>) -> Result<(), String> {
        self.next();
        writer
            .write(&self.sample)
            .map_err(|error| format!("write: {error}"))
    }

    /// Makes the sample the next.
    #[inline]
    pub fn next(&mut self) {
        if self.sample.seq == 0 {
            self.begun_ns = now_ns();
        }
        self.sample.seq += 1;
        if self.sample.seq as usize == self.order.warm + self.order.count {
            self.sample.payload = std::mem::take(&mut self.last);
        }
    }

    /// Notes what was taken at `now_ns`, if it is the awaited answer; whether it is.
    #[inline]
    pub fn note(&mut self, data: &Msg, now_ns: u64) -> bool {
        if data.seq != self.sample.seq || data.payload.len() != self.order.size {
            return false;
        }
        if self.sample.seq as usize > self.order.warm {
            self.at_ns.push(now_ns);
        } else {
            self.begun_ns = now_ns;
        }
        true
    }

    /// All round trips that count are there.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.at_ns.len() >= self.order.count
    }

    /// The round trips so far, in nanoseconds.
    pub fn into_trips(self) -> Vec<u64> {
        let begins = std::iter::once(&self.begun_ns).chain(&self.at_ns);
        let trips = begins.zip(&self.at_ns);
        trips
            .map(|(begin, end)| end.saturating_sub(*begin))
            .collect()
    }

    /// How many of them there are.
    pub fn done(&self) -> usize {
        self.at_ns.len()
    }

    /// All of it by the calling thread, for answers that may come within the write: each round trip
    /// begins where it writes.
    ///
    /// # Errors
    /// What the bus says, or an answer that does not come.
    pub fn run(mut self, writer: &DataWriter<Msg>, answers: &Answers) -> Result<Vec<u64>, String> {
        let mut ns = vec![1; self.order.count];
        ns.clear();
        while ns.len() < self.order.count {
            self.next();
            let begun_ns = now_ns();
            writer
                .write(&self.sample)
                .map_err(|error| format!("write: {error}"))?;
            let at_ns = answers.wait_ns(&self.sample)?;
            if self.sample.seq as usize > self.order.warm {
                ns.push(at_ns.saturating_sub(begun_ns));
            }
        }
        Ok(ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_begins_with_the_answer_before_it() {
        let order = Order {
            size: 3,
            count: 2,
            warm: 1,
        };
        let sample = |seq| Msg {
            seq,
            payload: vec![0; 3].into(),
        };
        let mut block = Block::new(order, sample(9));
        let after = |us: u64| 1_000_000 + us * 1000;
        for (seq, us) in [(1, 10), (2, 25), (3, 45)] {
            assert!(!block.is_done());
            block.next();
            assert_eq!(block.sample.payload.first(), Some(&u8::from(seq == 3)));
            assert!(!block.note(&sample(seq + 1), after(us)));
            assert!(block.note(&sample(seq), after(us)));
        }
        assert!(block.is_done());
        assert_eq!(block.into_trips(), [15_000, 20_000]);
    }
}
