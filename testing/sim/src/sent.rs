//! What a node wants sent, and what several of its writers send together.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::CompressionIds;
use whimbrel_proto::together::{SharedMessage, Together};
use whimbrel_proto::{Outbox, PlainSamples};

use crate::forms;

/// What a node wants sent.
#[derive(Debug, Default)]
pub struct Sent {
    /// Messages and where they go.
    pub messages: Vec<(Vec<Locator>, SharedBytes)>,
    /// By which the bundles of whoever sends leave compressed.
    pub codec: CompressionIds,
    /// Which writer of the node sends.
    pub writer: usize,
    /// What several writers send together, while they do.
    shared: Option<Shared>,
    /// Messages to which more than one writer added.
    pub shared_messages: u64,
}

/// What several writers of a node send together: a plain message, and one to be compressed.
#[derive(Debug, Default)]
struct Shared {
    /// By which the latter is compressed.
    codec: CompressionIds,
    plain: Several,
    packed: Several,
}

/// A message, and whether several writers have added to it.
#[derive(Debug, Default)]
struct Several {
    message: SharedMessage,
    first: usize,
    is_of_several: bool,
}

impl Several {
    /// As [`SharedMessage::put`] of `writer`, with whether what leaves is of several.
    fn put(
        &mut self,
        writer: usize,
        (to, parts): (&[Locator], &[&[u8]]),
        limits: (PlainSamples, usize),
    ) -> Option<(Together, bool)> {
        let was_empty = self.message.is_empty();
        let left = self.message.put(to, parts, limits);
        let was_of_several = self.is_of_several;
        if was_empty || left.is_some() {
            (self.first, self.is_of_several) = (writer, false);
        } else {
            self.is_of_several |= self.first != writer;
        }
        left.map(|it| (it, was_of_several))
    }

    fn take(&mut self) -> Option<(Together, bool)> {
        let is_of_several = std::mem::take(&mut self.is_of_several);
        self.message.take().map(|it| (it, is_of_several))
    }
}

impl Sent {
    fn leave_plain(&mut self, left: Option<(Together, bool)>) {
        if let Some(((to, message, _), several)) = left {
            self.shared_messages += u64::from(several);
            self.send(&to, &[&message]);
        }
    }

    fn leave_packed(&mut self, left: Option<(Together, bool)>, codec: CompressionIds) {
        if let Some(((to, message, samples), several)) = left {
            self.shared_messages += u64::from(several);
            let own = std::mem::replace(&mut self.codec, codec);
            self.send_worth(&to, &[&message], samples);
            self.codec = own;
        }
    }

    fn send_worth(&mut self, to: &[Locator], parts: &[&[u8]], samples: PlainSamples) {
        if samples.count > 1 {
            self.send_bundle(to, parts);
        } else {
            self.send(to, parts);
        }
    }

    /// What is sent from now on leaves together, what is compressed by `codec` too.
    pub fn share(&mut self, codec: CompressionIds) {
        self.shared = Some(Shared {
            codec,
            ..Shared::default()
        });
    }

    /// What was put together leaves.
    pub fn leave_together(&mut self) {
        if let Some(mut shared) = self.shared.take() {
            self.leave_packed(shared.packed.take(), shared.codec);
            self.leave_plain(shared.plain.take());
        }
    }
}

impl Outbox for Sent {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        self.messages
            .push((to.to_vec(), SharedBytes::from_vec(parts.concat())));
    }

    fn send_bundle(&mut self, to: &[Locator], parts: &[&[u8]]) {
        let plain = parts.concat();
        let packed = forms::packed_message(self.codec, &plain);
        let bytes = SharedBytes::from_vec(packed.unwrap_or(plain));
        self.messages.push((to.to_vec(), bytes));
    }

    fn send_shared_bundle(
        &mut self,
        to: &[Locator],
        parts: &[&[u8]],
        limits: (PlainSamples, usize),
    ) {
        let (codec, writer) = (self.codec, self.writer);
        let alike = self.shared.as_mut().filter(|it| it.codec == codec);
        match alike.map(|it| it.packed.put(writer, (to, parts), limits)) {
            Some(left) => self.leave_packed(left, codec),
            None => self.send_worth(to, parts, limits.0),
        }
    }

    fn send_shared(&mut self, to: &[Locator], parts: &[&[u8]], bytes_max: usize) {
        let (writer, limits) = (self.writer, (PlainSamples::default(), bytes_max));
        match self
            .shared
            .as_mut()
            .map(|it| it.plain.put(writer, (to, parts), limits))
        {
            Some(left) => self.leave_plain(left),
            None => self.send(to, parts),
        }
    }
}
