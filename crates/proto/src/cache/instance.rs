//! One instance in a reader's cache: its states, its writers and its samples.
//!
//! ```text
//!            write                      dispose
//!  (unknown) -----> ALIVE -----------------------> NOT_ALIVE_DISPOSED
//!                   ^ |  ^------- write -----------'        ^
//!             write | | last writer gone                    | dispose
//!                   | v                                     |
//!                   NOT_ALIVE_NO_WRITERS -------------------'
//! ```
//! Every way back to ALIVE begins a generation. DDS 1.4 §2.2.2.5.1.3.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sample::{InstanceState, SampleInfo, SampleState, ViewState};

use super::sample::{CachedSample, Generation, KeySource, Stored};
use super::selector::Selector;
use crate::value::SharedValue;

/// What an instance takes beside its key and its samples, in octets.
const INSTANCE_BYTES: usize = 256;

/// What a sample takes beside its payload, in octets.
const SAMPLE_BYTES: usize = 128;

/// Room for samples that an empty instance keeps for its next ones.
const IDLE_ROOM_MAX: usize = 1024;

#[derive(Debug)]
pub(super) struct Instance {
    pub(super) handle: InstanceHandle,
    pub(super) state: InstanceState,
    pub(super) view: ViewState,
    pub(super) generation: Generation,
    pub(super) writers: Writers,
    pub(super) key: Option<KeySource>,
    /// Oldest first. At most the last one is without valid data.
    samples: VecDeque<Stored>,
    unread: usize,
    /// How many samples from the front on were read.
    read_prefix: usize,
    /// Octets that the samples keep.
    sample_bytes: usize,
}

impl Instance {
    pub(super) fn new(handle: InstanceHandle) -> Self {
        Self {
            handle,
            state: InstanceState::Alive,
            view: ViewState::New,
            generation: Generation::default(),
            writers: Writers::default(),
            key: None,
            samples: VecDeque::new(),
            unread: 0,
            read_prefix: 0,
            sample_bytes: 0,
        }
    }

    /// Octets that the instance, its key and its samples keep.
    pub(super) fn held_bytes(&self) -> usize {
        let key = self.key.as_ref().map_or(0, |key| key.payload.slab_len());
        INSTANCE_BYTES
            .saturating_add(key)
            .saturating_add(self.sample_bytes)
    }

    /// As [`Instance::held_bytes`], counted from the start.
    #[cfg(test)]
    pub(super) fn recounted_bytes(&self) -> usize {
        let samples: usize = self.samples.iter().map(held_by).sum();
        assert_eq!(samples, self.sample_bytes);
        self.held_bytes()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    pub(super) const fn has_unread(&self) -> bool {
        self.unread > 0
    }

    /// Samples in this sample state.
    pub(super) fn count_of(&self, state: SampleState) -> usize {
        match state {
            SampleState::NotRead => self.unread,
            SampleState::Read => self.samples.len().saturating_sub(self.unread),
        }
    }

    /// Samples with valid data.
    pub(super) fn valid_count(&self) -> usize {
        let invalid = usize::from(self.samples.back().is_some_and(|last| !last.valid));
        self.samples.len().saturating_sub(invalid)
    }

    /// Any payload from which the key can be had.
    pub(super) fn key_source(&self) -> Option<KeySource> {
        let key = self.key.clone();
        key.or_else(|| self.samples.front().map(KeySource::of))
    }

    /// A sample arrived: the instance is alive, in a new generation where it was not.
    pub(super) fn revive(&mut self) {
        let count = match self.state {
            InstanceState::Alive => return,
            InstanceState::NotAliveDisposed => &mut self.generation.disposed,
            InstanceState::NotAliveNoWriters => &mut self.generation.no_writers,
        };
        *count = count.wrapping_add(1);
        self.state = InstanceState::Alive;
        self.view = ViewState::New;
        self.drop_invalid();
    }

    /// Adds a sample at the end.
    pub(super) fn push(&mut self, sample: Stored) {
        self.sample_bytes = self.sample_bytes.saturating_add(held_by(&sample));
        self.samples.push_back(sample);
        self.unread = self.unread.saturating_add(1);
    }

    /// Removes the oldest sample; gives the value that it may have.
    pub(super) fn drop_oldest(&mut self) -> Option<SharedValue> {
        self.pop_front()?.value
    }

    /// Shows a change of state: by the newest sample where that was not read yet, else by
    /// `invalid`, a sample without data. What an older sample without data told is superseded.
    pub(super) fn show_state(&mut self, invalid: impl FnOnce() -> Stored) {
        self.drop_invalid();
        if self.samples.back().is_none_or(|last| last.read) {
            self.push(invalid());
        }
    }

    fn drop_invalid(&mut self) {
        let Some(last) = self.samples.pop_back_if(|last| !last.valid) else {
            return;
        };
        self.sample_bytes = self.sample_bytes.saturating_sub(held_by(&last));
        if !last.read {
            self.unread = self.unread.saturating_sub(1);
        }
        self.read_prefix = self.read_prefix.min(self.samples.len());
    }

    fn pop_front(&mut self) -> Option<Stored> {
        let sample = self.samples.pop_front()?;
        self.sample_bytes = self.sample_bytes.saturating_sub(held_by(&sample));
        self.read_prefix = self.read_prefix.saturating_sub(1);
        if !sample.read {
            self.unread = self.unread.saturating_sub(1);
        }
        Some(sample)
    }

    /// How many samples `selector` selects here.
    pub(super) fn matching(&self, selector: &Selector) -> usize {
        if !selector.view_states.contains(self.view)
            || !selector.instance_states.contains(self.state)
        {
            return 0;
        }
        let of = |state| {
            if selector.sample_states.contains(state) {
                self.count_of(state)
            } else {
                0
            }
        };
        of(SampleState::NotRead).saturating_add(of(SampleState::Read))
    }

    /// Appends copies of at most `max` selected samples to `out` and marks them as read.
    pub(super) fn read(&mut self, selector: &Selector, max: usize, out: &mut Vec<CachedSample>) {
        let start = out.len();
        let mut left = self.matching(selector).min(max);
        // What was read lies mostly in front: pass over it at once where it is not wanted.
        let passed = if selector.sample_states.contains(SampleState::Read) {
            0
        } else {
            self.read_prefix
        };
        let (state, view, handle) = (self.state, self.view, self.handle);
        for sample in self.samples.iter_mut().skip(passed) {
            if left == 0 {
                break;
            }
            if selector.sample_states.contains(sample_state(sample)) {
                left = left.saturating_sub(1);
                out.push(CachedSample {
                    payload: sample.payload.clone(),
                    payload_is_key: sample.payload_is_key,
                    value: sample.value.clone(),
                    sequence: sample.sequence,
                    info: info(sample, state, view, handle),
                });
                if !sample.read {
                    sample.read = true;
                    self.unread = self.unread.saturating_sub(1);
                }
            }
        }
        self.count_read_prefix(self.read_prefix);
        self.finish(out.get_mut(start..).unwrap_or_default());
    }

    /// Moves at most `max` selected samples to `out`. Returns how many of them had valid data.
    pub(super) fn take(
        &mut self,
        selector: &Selector,
        max: usize,
        out: &mut Vec<CachedSample>,
    ) -> usize {
        let start = out.len();
        let valid_before = self.valid_count();
        let mut left = self.matching(selector).min(max);
        let (state, view, handle) = (self.state, self.view, self.handle);
        let wanted = |sample: &Stored| selector.sample_states.contains(sample_state(sample));
        while left > 0 && self.samples.front().is_some_and(wanted) {
            let Some(sample) = self.pop_front() else {
                break;
            };
            left = left.saturating_sub(1);
            out.push(CachedSample {
                info: info(&sample, state, view, handle),
                payload: sample.payload,
                payload_is_key: sample.payload_is_key,
                value: sample.value,
                sequence: sample.sequence,
            });
        }
        if left > 0 {
            self.samples.retain(|sample| {
                if left == 0 || !wanted(sample) {
                    return true;
                }
                left = left.saturating_sub(1);
                out.push(CachedSample {
                    payload: sample.payload.clone(),
                    payload_is_key: sample.payload_is_key,
                    value: sample.value.clone(),
                    sequence: sample.sequence,
                    info: info(sample, state, view, handle),
                });
                false
            });
            self.unread = self.samples.iter().filter(|sample| !sample.read).count();
            self.sample_bytes = self.samples.iter().map(held_by).sum();
            self.count_read_prefix(self.read_prefix);
        }
        if self.samples.is_empty() && self.samples.capacity() > IDLE_ROOM_MAX {
            self.samples.shrink_to(IDLE_ROOM_MAX);
        }
        self.finish(out.get_mut(start..).unwrap_or_default());
        valid_before.saturating_sub(self.valid_count())
    }

    /// Samples for which there is room without allocating.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.samples.capacity()
    }

    fn count_read_prefix(&mut self, known: usize) {
        let more = self
            .samples
            .iter()
            .skip(known)
            .take_while(|sample| sample.read);
        self.read_prefix = known.saturating_add(more.count());
    }

    /// Fills in the ranks of `returned`, all of this instance, and notes what was seen.
    /// DDS 1.4 §2.2.2.5.1.7 and §2.2.2.5.1.8.
    fn finish(&mut self, returned: &mut [CachedSample]) {
        let Some(last) = returned.last() else {
            return;
        };
        let newest = generation_of(last);
        let mut following = returned.len();
        for sample in returned.iter_mut() {
            following = following.saturating_sub(1);
            let own = generation_of(sample);
            sample.info.sample_rank = u32::try_from(following).unwrap_or(u32::MAX);
            sample.info.generation_rank = newest.since(own);
            sample.info.absolute_generation_rank = self.generation.since(own);
        }
        if newest == self.generation {
            self.view = ViewState::NotNew;
        }
    }
}

/// Octets that `sample` keeps.
pub(super) fn held_by(sample: &Stored) -> usize {
    let value = sample.value.as_ref().map_or(0, SharedValue::bytes);
    let payload = sample.payload.slab_len().saturating_add(value);
    payload.saturating_add(SAMPLE_BYTES)
}

const fn sample_state(sample: &Stored) -> SampleState {
    if sample.read {
        SampleState::Read
    } else {
        SampleState::NotRead
    }
}

const fn generation_of(sample: &CachedSample) -> Generation {
    Generation {
        disposed: sample.info.disposed_generation_count,
        no_writers: sample.info.no_writers_generation_count,
    }
}

/// Everything but the ranks.
pub(super) fn info(
    sample: &Stored,
    instance_state: InstanceState,
    view_state: ViewState,
    instance_handle: InstanceHandle,
) -> SampleInfo {
    SampleInfo {
        sample_state: sample_state(sample),
        view_state,
        instance_state,
        disposed_generation_count: sample.generation.disposed,
        no_writers_generation_count: sample.generation.no_writers,
        sample_rank: 0,
        generation_rank: 0,
        absolute_generation_rank: 0,
        source_timestamp: sample.source_timestamp,
        reception_timestamp: sample.reception_timestamp,
        instance_handle,
        publication_handle: InstanceHandle(sample.writer.to_bytes()),
        valid_data: sample.valid,
    }
}

/// The writers that have an instance; allocates only from the second on.
#[derive(Debug, Default)]
pub(super) struct Writers {
    first: Option<Guid>,
    /// Sorted, empty while there is no first one.
    others: Vec<Guid>,
}

impl Writers {
    pub(super) const fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    #[inline(always)]
    pub(super) fn contains(&self, writer: Guid) -> bool {
        self.first == Some(writer) || self.is_other(writer)
    }

    #[inline(never)]
    fn is_other(&self, writer: Guid) -> bool {
        self.others.binary_search(&writer).is_ok()
    }

    pub(super) fn insert(&mut self, writer: Guid) {
        match self.first {
            None => self.first = Some(writer),
            Some(first) if first == writer => {}
            Some(_) => {
                if let Err(at) = self.others.binary_search(&writer) {
                    self.others.insert(at, writer);
                }
            }
        }
    }

    pub(super) fn remove(&mut self, writer: Guid) {
        if self.first == Some(writer) {
            self.first = self.others.pop();
        } else if let Ok(at) = self.others.binary_search(&writer) {
            self.others.remove(at);
        }
    }
}
