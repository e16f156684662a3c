//! A naive cache to compare with: one list of samples, everything recomputed at every call.

use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::qos::History;
use whimbrel_base::sample::{
    InstanceState, InstanceStates, SampleInfo, SampleState, SampleStates, ViewState, ViewStates,
};
use whimbrel_base::status::SampleRejectedKind;
use whimbrel_base::time::Timestamp;

use super::{Added, CacheChange, CacheConfig, Selector, Which};
use crate::change::ChangeKind;

#[derive(Clone, Debug)]
struct Sample {
    instance: InstanceHandle,
    /// Data, or nothing where there is no valid data.
    data: Option<Vec<u8>>,
    read: bool,
    writer: Guid,
    source_timestamp: Timestamp,
    reception_timestamp: Timestamp,
    disposed: u32,
    no_writers: u32,
}

#[derive(Clone, Debug)]
struct Instance {
    state: InstanceState,
    view: ViewState,
    disposed: u32,
    no_writers: u32,
    writers: BTreeSet<Guid>,
    /// Whether any sample is unread, and when that last became so or ceased to be.
    fresh: bool,
    since: u64,
}

pub(super) struct Model {
    config: CacheConfig,
    samples: Vec<Sample>,
    instances: BTreeMap<InstanceHandle, Instance>,
    ticks: u64,
}

/// What a read returns: the info and the data.
pub(super) type Returned = (SampleInfo, Option<Vec<u8>>);

impl Model {
    pub(super) fn new(config: CacheConfig) -> Self {
        Self {
            config,
            samples: Vec::new(),
            instances: BTreeMap::new(),
            ticks: 0,
        }
    }

    fn of(&self, handle: InstanceHandle) -> impl DoubleEndedIterator<Item = &Sample> {
        self.samples.iter().filter(move |s| s.instance == handle)
    }

    pub(super) fn valid_count(&self) -> usize {
        self.samples.iter().filter(|s| s.data.is_some()).count()
    }

    pub(super) fn sample_count(&self) -> usize {
        self.samples.len()
    }

    pub(super) fn instance_count(&self) -> usize {
        self.instances.len()
    }

    pub(super) fn add(&mut self, change: &CacheChange) -> Result<Added, SampleRejectedKind> {
        let mut change = change.clone();
        if !self.config.keyed {
            change.instance = InstanceHandle::NIL;
        }
        let handle = change.instance;
        let known = self.instances.contains_key(&handle);
        if change.kind == ChangeKind::Unregistered && !known {
            return Ok(Added::Unchanged);
        }
        let held = self.of(handle).filter(|s| s.data.is_some()).count();
        let mut replaces = false;
        if change.kind == ChangeKind::Alive {
            replaces = matches!(self.config.history, History::KeepLast(n) if held >= n as usize);
            if !replaces && held >= self.config.limits.max_samples_per_instance.max() {
                return Err(SampleRejectedKind::BySamplesPerInstanceLimit);
            }
            if !replaces && self.valid_count() >= self.config.limits.max_samples.max() {
                return Err(SampleRejectedKind::BySamplesLimit);
            }
        }
        if !known && self.instances.len() >= self.config.limits.max_instances.max() {
            let spent: Vec<_> = self
                .instances
                .iter()
                .filter(|(h, i)| i.state != InstanceState::Alive && self.of(**h).next().is_none())
                .map(|(h, _)| *h)
                .collect();
            assert!(spent.is_empty(), "tests with few instances retire none");
            return Err(SampleRejectedKind::ByInstancesLimit);
        }
        self.ticks += 1;
        let instance = self.instances.entry(handle).or_insert(Instance {
            state: InstanceState::Alive,
            view: ViewState::New,
            disposed: 0,
            no_writers: 0,
            writers: BTreeSet::new(),
            fresh: false,
            since: 0,
        });
        let result = match change.kind {
            ChangeKind::Alive => {
                match instance.state {
                    InstanceState::Alive => {}
                    InstanceState::NotAliveDisposed => instance.disposed += 1,
                    InstanceState::NotAliveNoWriters => instance.no_writers += 1,
                }
                if instance.state != InstanceState::Alive {
                    instance.view = ViewState::New;
                }
                instance.state = InstanceState::Alive;
                instance.writers.insert(change.writer);
                self.samples
                    .retain(|s| s.instance != handle || s.data.is_some());
                if replaces {
                    let oldest = self.samples.iter().position(|s| s.instance == handle);
                    self.samples.remove(oldest.unwrap());
                }
                self.push(&change);
                if replaces {
                    Added::Replaced
                } else {
                    Added::Stored
                }
            }
            ChangeKind::Disposed | ChangeKind::DisposedUnregistered => {
                if change.kind == ChangeKind::Disposed {
                    instance.writers.insert(change.writer);
                } else {
                    instance.writers.remove(&change.writer);
                }
                if known && instance.state == InstanceState::NotAliveDisposed {
                    Added::Unchanged
                } else {
                    instance.state = InstanceState::NotAliveDisposed;
                    self.show(&change);
                    Added::StateChanged
                }
            }
            ChangeKind::Unregistered => {
                let last = instance.writers.remove(&change.writer) && instance.writers.is_empty();
                if last && instance.state == InstanceState::Alive {
                    instance.state = InstanceState::NotAliveNoWriters;
                    self.show(&change);
                    Added::StateChanged
                } else {
                    Added::Unchanged
                }
            }
        };
        self.settle();
        Ok(result)
    }

    pub(super) fn writer_gone(&mut self, writer: Guid, at: Timestamp) {
        let handles: Vec<_> = self.instances.keys().copied().collect();
        for instance in handles {
            if self.instances[&instance].writers.contains(&writer) {
                let result = self.add(&CacheChange {
                    writer,
                    instance,
                    kind: ChangeKind::Unregistered,
                    payload: Default::default(),
                    value: None,
                    source_timestamp: Timestamp::INVALID,
                    reception_timestamp: at,
                    sequence: Default::default(),
                });
                assert!(result.is_ok());
            }
        }
    }

    fn push(&mut self, change: &CacheChange) {
        let instance = &self.instances[&change.instance];
        self.samples.push(Sample {
            instance: change.instance,
            data: (change.kind == ChangeKind::Alive).then(|| change.payload.to_vec()),
            read: false,
            writer: change.writer,
            source_timestamp: change.source_timestamp,
            reception_timestamp: change.reception_timestamp,
            disposed: instance.disposed,
            no_writers: instance.no_writers,
        });
    }

    fn show(&mut self, change: &CacheChange) {
        let handle = change.instance;
        self.samples
            .retain(|s| s.instance != handle || s.data.is_some());
        if self.of(handle).next_back().is_none_or(|last| last.read) {
            self.push(change);
        }
    }

    fn settle(&mut self) {
        let samples = &self.samples;
        let ticks = self.ticks;
        self.instances.retain(|handle, instance| {
            let mut own = samples.iter().filter(|s| s.instance == *handle).peekable();
            let empty = own.peek().is_none();
            let fresh = own.any(|s| !s.read);
            if fresh != instance.fresh || empty {
                instance.fresh = fresh;
                instance.since = ticks;
            }
            let over = instance.state != InstanceState::Alive && instance.writers.is_empty();
            !(empty && over)
        });
    }

    pub(super) fn has_matching(
        &self,
        samples: SampleStates,
        views: ViewStates,
        instances: InstanceStates,
    ) -> bool {
        let selector = Selector {
            sample_states: samples,
            view_states: views,
            instance_states: instances,
            ..Selector::ALL
        };
        self.samples.iter().any(|s| self.selected(s, &selector))
    }

    fn selected(&self, sample: &Sample, selector: &Selector) -> bool {
        let instance = &self.instances[&sample.instance];
        let state = if sample.read {
            SampleState::Read
        } else {
            SampleState::NotRead
        };
        selector.sample_states.contains(state)
            && selector.view_states.contains(instance.view)
            && selector.instance_states.contains(instance.state)
    }

    pub(super) fn access(&mut self, selector: &Selector, take: bool) -> Vec<Returned> {
        let mut handles: Vec<_> = self.instances.keys().copied().collect();
        handles.retain(|h| self.of(*h).any(|s| self.selected(s, selector)));
        match selector.instance {
            Which::Any => {
                handles.sort_by_key(|h| (self.instances[h].fresh, self.instances[h].since))
            }
            Which::Exactly(handle) => handles.retain(|h| *h == handle),
            Which::Next(after) => {
                handles.retain(|h| after.is_nil() || *h > after);
                handles.truncate(1);
            }
        }
        let mut out = Vec::new();
        for handle in handles {
            self.ticks += 1;
            let mut chosen: Vec<usize> = (0..self.samples.len())
                .filter(|at| self.samples[*at].instance == handle)
                .filter(|at| self.selected(&self.samples[*at], selector))
                .collect();
            chosen.truncate(selector.max_samples - out.len());
            self.return_chosen(handle, &chosen, &mut out);
            for at in chosen.iter().rev() {
                if take {
                    self.samples.remove(*at);
                } else {
                    self.samples[*at].read = true;
                }
            }
            self.settle();
        }
        out
    }

    fn return_chosen(&mut self, handle: InstanceHandle, chosen: &[usize], out: &mut Vec<Returned>) {
        let Some(last) = chosen.last().map(|at| self.samples[*at].clone()) else {
            return;
        };
        let instance = self.instances.get_mut(&handle).unwrap();
        for (rank, at) in chosen.iter().enumerate() {
            let sample = &self.samples[*at];
            let own = sample.disposed + sample.no_writers;
            let info = SampleInfo {
                sample_state: if sample.read {
                    SampleState::Read
                } else {
                    SampleState::NotRead
                },
                view_state: instance.view,
                instance_state: instance.state,
                disposed_generation_count: sample.disposed,
                no_writers_generation_count: sample.no_writers,
                sample_rank: (chosen.len() - 1 - rank) as u32,
                generation_rank: last.disposed + last.no_writers - own,
                absolute_generation_rank: instance.disposed + instance.no_writers - own,
                source_timestamp: sample.source_timestamp,
                reception_timestamp: sample.reception_timestamp,
                instance_handle: handle,
                publication_handle: InstanceHandle(sample.writer.to_bytes()),
                valid_data: sample.data.is_some(),
            };
            out.push((info, sample.data.clone()));
        }
        if (last.disposed, last.no_writers) == (instance.disposed, instance.no_writers) {
            instance.view = ViewState::NotNew;
        }
    }
}
