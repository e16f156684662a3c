//! What several writers of a participant send to the same destinations, as one message.

use alloc::vec::Vec;

use whimbrel_base::copying;
use whimbrel_base::locator::Locator;
use whimbrel_wire::header::Header;

use crate::outbox::PlainSamples;

/// A message that leaves: where it goes, its octets, and the samples in it that are not compressed.
pub type Together = (Vec<Locator>, Vec<u8>, PlainSamples);

/// A message to which several writers of a participant add; it names no participant.
#[derive(Default, Debug)]
pub struct SharedMessage {
    to: Vec<Locator>,
    message: Vec<u8>,
    samples: PlainSamples,
    bytes_max: usize,
}

impl SharedMessage {
    /// Adds the submessages of a message of `parts` to `to`, with `samples`. Where they do not go
    /// with those that are there, or all would be larger than `bytes_max`, what was there leaves
    /// first: it is returned. Alone a message is taken however large it is.
    pub fn put(
        &mut self,
        to: &[Locator],
        parts: &[&[u8]],
        (samples, bytes_max): (PlainSamples, usize),
    ) -> Option<Together> {
        let bytes = parts
            .iter()
            .fold(0usize, |sum, part| sum.saturating_add(part.len()));
        let more = bytes.saturating_sub(Header::LEN);
        let limit = self.bytes_max.min(bytes_max);
        let fits = self.to == to && self.message.len().saturating_add(more) <= limit;
        let left = if fits { None } else { self.take() };
        let mut skip = Header::LEN;
        if self.message.is_empty() {
            self.to.clear();
            self.to.extend_from_slice(to);
            self.bytes_max = bytes_max;
            skip = 0;
        } else {
            self.bytes_max = limit;
        }
        self.samples = self.samples.plus(samples);
        for part in parts {
            let rest = part.get(skip..).unwrap_or_default();
            skip = skip.saturating_sub(part.len());
            copying::append(&mut self.message, rest);
        }
        left
    }

    /// The message; nothing is there then.
    pub fn take(&mut self) -> Option<Together> {
        let message = core::mem::take(&mut self.message);
        let to = core::mem::take(&mut self.to);
        let samples = core::mem::take(&mut self.samples);
        (!message.is_empty()).then_some((to, message, samples))
    }

    /// True where nothing is there.
    pub fn is_empty(&self) -> bool {
        self.message.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use core::net::SocketAddr;

    #[test]
    fn messages_to_the_same_places_become_one_within_the_smaller_limit() {
        let at = |port| Locator::from(SocketAddr::from(([127, 0, 0, 1], port)));
        let (here, there) = (vec![at(1), at(2)], vec![at(1)]);
        let header = [9; Header::LEN];
        let mut shared = SharedMessage::default();
        let mut put = |to: &[Locator], parts: &[&[u8]], limits: (usize, usize)| {
            shared.put(to, parts, (PlainSamples::untried(limits.0), limits.1))
        };
        assert_eq!(put(&there, &[&header, &[2; 4]], (1, 100)), None);
        let (to, message, samples) = put(&here, &[&header, &[1; 30]], (2, 100)).unwrap();
        assert_eq!(
            (to, message, samples.count),
            (there.clone(), [&header[..], &[2; 4]].concat(), 1)
        );
        // The header may be divided, or stand in one part with what follows.
        let divided: [&[u8]; 3] = [&header[..7], &header[7..], &[2; 20]];
        assert_eq!(put(&here, &divided, (1, 90)), None);
        let whole = [&header[..], &[3; 20]].concat();
        assert_eq!(put(&here, &[&whole], (1, 200)), None);
        let wanted = [&header[..], &[1; 30], &[2; 20], &[3; 20]].concat();
        assert_eq!(wanted.len(), 90);
        let (to, message, samples) = put(&here, &[&header, &[4; 400]], (1, 200)).unwrap();
        assert_eq!((to, message, samples.count), (here.clone(), wanted, 4));
        assert_eq!(
            put(&here, &[&header, &[4; 4]], (1, 500)).unwrap().1.len(),
            420
        );
        assert_eq!(shared.take().unwrap().1.len(), Header::LEN + 4);
        assert!(shared.take().is_none() && shared.is_empty());
    }
}
