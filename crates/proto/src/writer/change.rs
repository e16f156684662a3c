//! A change as a writer keeps it, and the forms in which it travels.

use alloc::boxed::Box;
use core::ops::Range;

use whimbrel_base::buffer::GatheredBytes;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sequence::{FragmentNumber, SequenceNumber};
use whimbrel_base::time::Timestamp;

use crate::change::ChangeKind;

/// One change in a writer's history. RTPS 2.5 §8.2.1.2.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its number.
    pub sequence: SequenceNumber,
    /// What happened.
    pub kind: ChangeKind,
    /// To which instance.
    pub instance: InstanceHandle,
    /// When, by the wall clock.
    pub timestamp: Timestamp,
    /// Encapsulated data, or the encapsulated key for changes that carry none.
    pub payload: GatheredBytes,
    /// The same, compressed.
    pub packed: Packed,
    /// Octets of payload in each fragment; payloads that are not longer travel whole.
    pub fragment_bytes: u16,
    /// What was charged against the writer's window when this change was written, its own share
    /// included, in octets.
    pub charged_bytes: u64,
}

/// What came of compressing a change by itself.
#[derive(Clone, Default, Debug)]
pub enum Packed {
    /// It was not tried.
    #[default]
    Untried,
    /// It came out no smaller.
    NoSmaller,
    /// It is smaller. It lies elsewhere, as few changes have it and all of them are moved.
    Smaller(Box<GatheredBytes>),
}

impl Packed {
    /// What is smaller.
    pub fn smaller(&self) -> Option<&GatheredBytes> {
        match self {
            Self::Smaller(bytes) => Some(bytes),
            Self::Untried | Self::NoSmaller => None,
        }
    }
}

/// How a change travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As it was written.
    Plain,
    /// Compressed, where that made it smaller.
    Packed,
}

impl Change {
    /// What travels in this form.
    pub fn payload_in(&self, form: Form) -> &GatheredBytes {
        match (form, &self.packed) {
            (Form::Packed, Packed::Smaller(packed)) => packed,
            (Form::Packed, Packed::Untried | Packed::NoSmaller) | (Form::Plain, _) => &self.payload,
        }
    }

    /// True where it travels whole, not in fragments.
    #[inline]
    pub fn is_whole(&self, form: Form) -> bool {
        self.payload_in(form).len() <= usize::from(self.fragment_bytes.max(1))
    }

    /// How many fragments it travels in; 1 when it travels whole.
    pub fn fragments(&self, form: Form) -> u32 {
        let size = usize::from(self.fragment_bytes.max(1));
        u32::try_from(self.payload_in(form).len().div_ceil(size))
            .unwrap_or(u32::MAX)
            .max(1)
    }

    /// Where in the payload the octets of fragment `number`, from 1, lie; empty past the end.
    pub fn fragment(&self, form: Form, number: FragmentNumber) -> Range<usize> {
        let len = self.payload_in(form).len();
        let size = usize::from(self.fragment_bytes.max(1));
        let index = usize::try_from(number.0.saturating_sub(1)).unwrap_or(usize::MAX);
        let start = index.saturating_mul(size).min(len);
        start..start.saturating_add(size).min(len)
    }
}

/// A change to be written.
#[derive(Clone, Debug)]
pub struct NewChange {
    /// What happens.
    pub kind: ChangeKind,
    /// To which instance; nil for topics without key.
    pub instance: InstanceHandle,
    /// When, by the wall clock.
    pub timestamp: Timestamp,
    /// Encapsulated data, or the encapsulated key for kinds other than alive.
    pub payload: GatheredBytes,
    /// The same, compressed, for readers that take it.
    pub packed: Packed,
}

/// Octets that a payload and its compressed form keep.
pub(super) fn slab_bytes(payload: &GatheredBytes, packed: &Packed) -> usize {
    let packed = packed.smaller().map_or(0, GatheredBytes::slab_len);
    payload.slab_len().saturating_add(packed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whimbrel_base::buffer::SharedBytes;

    #[test]
    fn fragments_are_counted() {
        let mut change = Change {
            packed: Packed::Untried,
            sequence: SequenceNumber::FIRST,
            kind: ChangeKind::Alive,
            instance: InstanceHandle::NIL,
            timestamp: Timestamp(0),
            payload: SharedBytes::copy_from(&[1; 4]).into(),
            fragment_bytes: 1024,
            charged_bytes: 0,
        };
        assert_eq!(change.fragments(Form::Plain), 1);
        change.fragment_bytes = 3;
        assert_eq!(change.fragments(Form::Plain), 2);
        change.payload = GatheredBytes::default();
        assert_eq!(change.fragments(Form::Plain), 1);
    }
}
