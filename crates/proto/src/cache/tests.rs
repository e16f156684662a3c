//! The cache against the standard's words and against a naive model.

use std::sync::Arc;
use std::vec::Vec;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, EntityKind, Guid, GuidPrefix};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::qos::{History, Limit, ResourceLimits};
use whimbrel_base::sample::{
    InstanceState, InstanceStates, SampleState, SampleStates, ViewState, ViewStates,
};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::status::SampleRejectedKind;
use whimbrel_base::time::Timestamp;

use super::model::{Model, Returned};
use super::*;
use crate::tests::random::Random;
use ChangeKind::{Alive, Disposed, DisposedUnregistered, Unregistered};

fn writer(number: u8) -> Guid {
    let prefix = GuidPrefix([number; 12]);
    Guid::new(prefix, EntityId::user(1, EntityKind::WriterWithKey))
}

fn handle(number: u8) -> InstanceHandle {
    InstanceHandle([number; 16])
}

fn change(kind: ChangeKind, w: u8, instance: u8, number: i64) -> CacheChange {
    let payload = match kind {
        Alive => number.to_be_bytes().to_vec(),
        Disposed | Unregistered | DisposedUnregistered => std::vec![instance],
    };
    CacheChange {
        writer: writer(w),
        instance: handle(instance),
        kind,
        payload: SharedBytes::from_vec(payload),
        value: None,
        source_timestamp: Timestamp(number),
        reception_timestamp: Timestamp(number + 1_000_000),
        sequence: SequenceNumber(number),
    }
}

/// A cache and a count of what was added, to give each change a number.
struct Subject {
    cache: ReaderCache,
    next: i64,
}

impl Subject {
    fn new(config: CacheConfig) -> Self {
        Self {
            cache: ReaderCache::new(config),
            next: 0,
        }
    }

    fn keep_all() -> Self {
        Self::new(CacheConfig {
            history: History::KeepAll,
            ..CacheConfig::default()
        })
    }

    fn add(&mut self, kind: ChangeKind, w: u8, instance: u8) -> Result<Added, SampleRejectedKind> {
        self.next += 1;
        self.cache.add(change(kind, w, instance, self.next))
    }

    fn read(&mut self) -> Vec<CachedSample> {
        let mut out = Vec::new();
        self.cache.read(&Selector::ALL, &mut out);
        out
    }

    fn take(&mut self) -> Vec<CachedSample> {
        self.take_with(&Selector::ALL)
    }

    fn take_with(&mut self, selector: &Selector) -> Vec<CachedSample> {
        let mut out = Vec::new();
        self.cache.take(selector, &mut out);
        out
    }
}

fn sequences(samples: &[CachedSample]) -> Vec<i64> {
    samples.iter().map(|sample| sample.sequence.0).collect()
}

#[test]
fn keep_last_replaces_the_oldest() {
    let mut subject = Subject::new(CacheConfig {
        history: History::KeepLast(2),
        ..CacheConfig::default()
    });
    for _ in 0..3 {
        assert!(subject.add(Alive, 1, 1).is_ok());
    }
    assert_eq!(subject.add(Alive, 1, 1), Ok(Added::Replaced));
    assert_eq!(subject.add(Alive, 1, 2), Ok(Added::Stored));
    assert_eq!(subject.cache.valid_sample_count(), 3);
    assert_eq!(sequences(&subject.take()), [3, 4, 5]);
    assert_eq!(subject.cache.sample_count(), 0);
    assert_eq!(subject.cache.valid_sample_count(), 0);
}

#[test]
fn limits_reject_by_name_and_leave_no_trace() {
    let mut subject = Subject::new(CacheConfig {
        history: History::KeepAll,
        limits: ResourceLimits {
            max_samples: Limit::at_most(3),
            max_instances: Limit::at_most(2),
            max_samples_per_instance: Limit::at_most(2),
        },
        ..CacheConfig::default()
    });
    assert_eq!(subject.add(Alive, 1, 1), Ok(Added::Stored));
    assert_eq!(subject.add(Alive, 1, 1), Ok(Added::Stored));
    let full = Err(SampleRejectedKind::BySamplesPerInstanceLimit);
    assert_eq!(subject.add(Alive, 1, 1), full);
    assert_eq!(subject.add(Alive, 1, 2), Ok(Added::Stored));
    assert_eq!(
        subject.add(Alive, 1, 2),
        Err(SampleRejectedKind::BySamplesLimit)
    );
    let crowded = Err(SampleRejectedKind::ByInstancesLimit);
    assert_eq!(subject.add(Disposed, 1, 3), crowded);
    subject.take();
    // The two instances still have their writer.
    assert_eq!(subject.add(Alive, 1, 3), crowded);
    assert_eq!(subject.cache.instance_count(), 2);
    assert_eq!(
        subject.add(DisposedUnregistered, 1, 2),
        Ok(Added::StateChanged)
    );
    assert_eq!(subject.take().len(), 1);
    assert_eq!(subject.add(Alive, 1, 3), Ok(Added::Stored));
}

#[test]
fn generations_and_ranks() {
    let mut subject = Subject::keep_all();
    for kind in [Alive, Alive, Disposed, Alive, Unregistered, Alive] {
        assert!(subject.add(kind, 1, 1).is_ok());
    }
    let selector = Selector {
        max_samples: 3,
        ..Selector::ALL
    };
    let mut out = Vec::new();
    subject.cache.read(&selector, &mut out);
    let facts = |sample: &CachedSample| {
        let info = sample.info;
        let counts = (
            info.disposed_generation_count,
            info.no_writers_generation_count,
        );
        let ranks = (
            info.sample_rank,
            info.generation_rank,
            info.absolute_generation_rank,
        );
        (counts, ranks)
    };
    let expected = [
        ((0, 0), (2, 1, 2)),
        ((0, 0), (1, 1, 2)),
        ((1, 0), (0, 0, 1)),
    ];
    assert_eq!(out.iter().map(facts).collect::<Vec<_>>(), expected);
    // Only older generations were seen.
    let all = subject.take();
    assert!(
        all.iter()
            .all(|sample| sample.info.view_state == ViewState::New)
    );
    assert_eq!(all.len(), 4);
    assert_eq!(subject.add(Alive, 1, 1), Ok(Added::Stored));
    let [sample] = &subject.take()[..] else {
        panic!("one sample");
    };
    assert_eq!(sample.info.view_state, ViewState::NotNew);
    assert_eq!(facts(sample), ((1, 1), (0, 0, 0)));
}

#[test]
fn an_unread_sample_carries_the_state_and_a_read_one_does_not() {
    let mut subject = Subject::keep_all();
    assert!(subject.add(Alive, 1, 1).is_ok());
    assert_eq!(subject.add(Disposed, 1, 1), Ok(Added::StateChanged));
    let [sample] = &subject.read()[..] else {
        panic!("the unread sample alone");
    };
    assert!(sample.info.valid_data);
    assert_eq!(sample.info.instance_state, InstanceState::NotAliveDisposed);
    // A second dispose changes nothing.
    assert_eq!(subject.add(Disposed, 1, 1), Ok(Added::Unchanged));
    assert!(subject.add(Alive, 1, 1).is_ok());
    subject.read();
    assert_eq!(subject.add(Disposed, 1, 1), Ok(Added::StateChanged));
    let all = subject.take();
    let last = all.last().unwrap();
    assert!(!last.info.valid_data && last.payload_is_key);
    assert_eq!(&*last.payload, &[1]);
    assert_eq!(last.info.sample_state, SampleState::NotRead);
    assert_eq!(last.info.source_timestamp, Timestamp(5));
    assert_eq!(all.len(), 3);
}

#[test]
fn a_dispose_of_the_unknown_shows_and_an_unregister_does_not() {
    let mut subject = Subject::keep_all();
    assert_eq!(subject.add(Unregistered, 1, 1), Ok(Added::Unchanged));
    assert_eq!(subject.cache.instance_count(), 0);
    assert_eq!(
        subject.add(DisposedUnregistered, 1, 1),
        Ok(Added::StateChanged)
    );
    let [sample] = &subject.take()[..] else {
        panic!("one sample");
    };
    assert!(!sample.info.valid_data);
    assert_eq!(sample.info.view_state, ViewState::New);
    assert_eq!(subject.cache.instance_count(), 0);
}

#[test]
fn the_last_writer_to_go_ends_its_instances() {
    let mut subject = Subject::keep_all();
    for (w, instance) in [(1, 1), (2, 1), (1, 2)] {
        assert!(subject.add(Alive, w, instance).is_ok());
    }
    subject.take();
    assert!(subject.cache.writer_gone(writer(1), Timestamp(77)));
    let [sample] = &subject.take()[..] else {
        panic!("one instance ended");
    };
    assert_eq!(sample.info.instance_handle, handle(2));
    assert_eq!(sample.info.instance_state, InstanceState::NotAliveNoWriters);
    assert_eq!(sample.info.reception_timestamp, Timestamp(77));
    assert!(sample.info.source_timestamp.is_invalid());
    // The key can be had from the sample that was kept.
    assert_eq!(
        (&*sample.payload, sample.payload_is_key),
        (&3_i64.to_be_bytes()[..], false)
    );
    assert_eq!(subject.cache.instance_count(), 1);
    assert!(!subject.cache.writer_gone(writer(1), Timestamp(78)));
    assert!(subject.cache.writer_gone(writer(2), Timestamp(79)));
}

#[test]
fn a_sample_alone_leaves_nothing_in_its_place() {
    for read_first in [false, true] {
        let mut subject = Subject::keep_all();
        assert!(subject.add(Alive, 1, 1).is_ok());
        subject.take();
        let value = Arc::new(7_u32);
        for by_value in [true, false, true] {
            let mut alone = change(Alive, 1, 1, 9);
            if by_value {
                alone.payload = SharedBytes::default();
                alone.value = Some(SharedValue::new(Arc::clone(&value), 4));
            }
            let payload = alone.payload.clone();
            assert_eq!(subject.cache.add(alone), Ok(Added::Stored));
            assert!(subject.cache.selects_lone(&Selector::ALL));
            let mut samples = Vec::new();
            if read_first {
                subject.cache.read(&Selector::ALL, &mut samples);
                samples.clear();
            }
            assert_eq!(subject.cache.selects_lone(&Selector::ALL), !read_first);
            subject.cache.take(&Selector::ALL, &mut samples);
            let [sample] = &samples[..] else {
                panic!("{samples:?}");
            };
            assert_eq!(
                (&sample.payload, sample.value.is_some()),
                (&payload, by_value)
            );
            assert!(subject.cache.is_empty() && subject.cache.take_lone().is_none());
            samples.clear();
            assert_eq!(Arc::strong_count(&value), 1);
        }
    }
}

#[test]
fn keys_stay_known_as_long_as_their_instance() {
    let mut subject = Subject::keep_all();
    assert!(subject.add(Alive, 1, 1).is_ok());
    subject.take();
    let key = subject.cache.key_of(handle(1)).unwrap();
    assert_eq!(
        (&*key.payload, key.is_key),
        (&1_i64.to_be_bytes()[..], false)
    );
    assert!(subject.add(DisposedUnregistered, 1, 1).is_ok());
    let key = subject.cache.key_of(handle(1)).unwrap();
    assert_eq!((&*key.payload, key.is_key), (&[1][..], true));
    subject.take();
    assert_eq!(subject.cache.key_of(handle(1)), None);
}

#[test]
fn many_short_lived_instances_leave_nothing_behind() {
    let mut subject = Subject::new(CacheConfig {
        retired_instances_max: 10,
        ..CacheConfig::default()
    });
    for number in 0..20_000_i64 {
        for kind in [
            Alive,
            if number % 2 == 0 {
                Disposed
            } else {
                DisposedUnregistered
            },
        ] {
            let mut change = change(kind, 1, 1, number);
            change.instance = InstanceHandle((number as u128 + 1).to_be_bytes());
            assert!(subject.cache.add(change).is_ok());
        }
        assert_eq!(subject.take().len(), 1);
    }
    assert_eq!(subject.cache.instance_count(), 10);
    assert!(subject.cache.slots.room() <= 16);
    assert!(subject.cache.retired.len() <= 10);
}

#[test]
fn room_for_many_instances_at_once_is_given_back() {
    const COUNT: i64 = 50_000;
    let of = |kind, number: i64| {
        let mut change = change(kind, 1, 1, number);
        change.instance = InstanceHandle((number as u128 + 1).to_be_bytes());
        change
    };
    let mut subject = Subject::new(CacheConfig {
        retired_instances_max: 10,
        ..CacheConfig::default()
    });
    let room = |cache: &ReaderCache| cache.slots.room().max(cache.order.room());
    for number in 0..COUNT {
        assert!(subject.cache.add(of(Alive, number)).is_ok());
    }
    assert!(room(&subject.cache) >= COUNT as usize);
    assert_eq!(subject.take().len(), COUNT as usize);
    for number in 0..COUNT - 2 {
        assert!(subject.cache.add(of(Disposed, number)).is_ok());
    }
    assert_eq!(subject.take().len(), COUNT as usize - 2);
    assert_eq!(subject.cache.instance_count(), 12);
    assert!(room(&subject.cache) <= 512, "{}", room(&subject.cache));
    // Those left are still met, in the order in which they came.
    for number in [COUNT - 1, COUNT - 3, COUNT - 2] {
        assert!(subject.cache.add(of(Alive, number)).is_ok());
    }
    let taken = subject.take();
    let expected = [COUNT - 1, COUNT - 3, COUNT - 2];
    assert_eq!(sequences(&taken), expected);
    assert_eq!(taken[1].info.disposed_generation_count, 1);
}

#[test]
fn without_key_there_is_one_instance() {
    let mut subject = Subject::new(CacheConfig {
        keyed: false,
        ..CacheConfig::default()
    });
    assert_eq!(subject.add(Alive, 1, 1), Ok(Added::Stored));
    assert_eq!(subject.add(Alive, 1, 2), Ok(Added::Replaced));
    let [sample] = &subject.take()[..] else {
        panic!("one sample");
    };
    assert!(sample.info.instance_handle.is_nil());
    assert_eq!(subject.cache.key_of(InstanceHandle::NIL), None);
}

#[test]
fn instances_in_turn() {
    let mut subject = Subject::keep_all();
    for instance in [5, 3, 9, 3] {
        assert!(subject.add(Alive, 1, instance).is_ok());
    }
    let mut after = InstanceHandle::NIL;
    let mut seen = Vec::new();
    loop {
        let mut out = Vec::new();
        let selector = Selector {
            instance: Which::Next(after),
            ..Selector::ALL
        };
        subject.cache.read(&selector, &mut out);
        let Some(first) = out.first() else {
            break;
        };
        after = first.info.instance_handle;
        seen.push(sequences(&out));
    }
    assert_eq!(seen, [&[2, 4][..], &[1], &[3]]);
    let exactly = |number| Selector {
        instance: Which::Exactly(handle(number)),
        ..Selector::ALL
    };
    assert_eq!(sequences(&subject.take_with(&exactly(9))), [3]);
    assert!(subject.take_with(&exactly(7)).is_empty());
    // A new sample makes its instance fresh: it comes after those that were seen.
    assert!(subject.add(Alive, 1, 3).is_ok());
    assert_eq!(sequences(&subject.take()), [1, 2, 4, 5]);
}

#[test]
fn taking_one_by_one_from_many_is_quick() {
    let mut subject = Subject::keep_all();
    const COUNT: usize = 50_000;
    for _ in 0..COUNT {
        assert!(subject.add(Alive, 1, 1).is_ok());
    }
    let unread = Selector {
        max_samples: 1,
        sample_states: SampleStates::of(SampleState::NotRead),
        ..Selector::ALL
    };
    let mut out = Vec::new();
    for _ in 0..COUNT {
        subject.cache.read(&unread, &mut out);
    }
    assert_eq!(out.len(), COUNT);
    assert!(!subject.cache.has_matching(
        unread.sample_states,
        ViewStates::ANY,
        InstanceStates::ANY
    ));
    let one = Selector {
        max_samples: 1,
        ..Selector::ALL
    };
    for number in 1..=COUNT {
        assert_eq!(sequences(&subject.take_with(&one)), [number as i64]);
    }
    assert!(subject.cache.slots.get(0).unwrap().room() <= 2048);
}

impl Random {
    fn selector(&mut self, keys: u64) -> Selector {
        let instance = match self.below(6) {
            0 => Which::Exactly(handle(self.below(keys) as u8 + 1)),
            1 => Which::Next(handle(self.below(keys + 1) as u8)),
            _ => Which::Any,
        };
        Selector {
            max_samples: if self.below(3) == 0 {
                self.below(4) as usize
            } else {
                usize::MAX
            },
            sample_states: SampleStates::from_bits(1 + self.below(3) as u32),
            view_states: ViewStates::from_bits(if self.below(2) == 0 {
                3
            } else {
                self.below(4) as u32
            }),
            instance_states: InstanceStates::from_bits(if self.below(2) == 0 {
                7
            } else {
                self.below(8) as u32
            }),
            instance,
        }
    }

    fn config(&mut self) -> CacheConfig {
        let history = match self.below(3) {
            0 => History::KeepAll,
            depth => History::KeepLast(depth as u32),
        };
        let mut limits = ResourceLimits::UNLIMITED;
        if self.below(2) == 0 {
            limits = limits.max_samples(6).max_samples_per_instance(4);
        }
        CacheConfig {
            keyed: self.below(5) > 0,
            history,
            limits,
            ..CacheConfig::default()
        }
    }
}

fn returned(samples: &[CachedSample]) -> Vec<Returned> {
    let one = |sample: &CachedSample| {
        let data = sample.info.valid_data.then(|| sample.payload.to_vec());
        (sample.info, data)
    };
    samples.iter().map(one).collect()
}

/// Does the same random things to the cache and to the model.
fn check(seed: u64) {
    let mut random = Random::new(seed);
    let config = random.config();
    let keys = 1 + random.below(4);
    let (mut cache, mut model) = (ReaderCache::new(config.clone()), Model::new(config));
    for step in 0..300 {
        match random.below(10) {
            0..=4 => {
                let kind = match random.below(8) {
                    0 => Disposed,
                    1 => Unregistered,
                    2 => DisposedUnregistered,
                    _ => Alive,
                };
                let (w, key) = (random.below(3) as u8, random.below(keys) as u8 + 1);
                let change = change(kind, w, key, step);
                assert_eq!(
                    model.add(&change),
                    cache.add(change),
                    "seed {seed} step {step}"
                );
            }
            5 => {
                let gone = writer(random.below(3) as u8);
                model.writer_gone(gone, Timestamp(step));
                cache.writer_gone(gone, Timestamp(step));
                cache.compact();
            }
            act => {
                let selector = random.selector(keys);
                let mut out = Vec::new();
                if act < 8 {
                    cache.read(&selector, &mut out);
                } else {
                    cache.take(&selector, &mut out);
                }
                let expected = model.access(&selector, act >= 8);
                assert_eq!(
                    returned(&out),
                    expected,
                    "seed {seed} step {step} {selector:?}"
                );
            }
        }
        let s = random.selector(keys);
        assert_eq!(
            cache.has_matching(s.sample_states, s.view_states, s.instance_states),
            model.has_matching(s.sample_states, s.view_states, s.instance_states),
            "seed {seed} step {step}"
        );
        assert_eq!(
            cache.held_bytes(),
            cache.recounted_bytes(),
            "seed {seed} step {step}"
        );
        assert_eq!(
            cache.sample_count(),
            model.sample_count(),
            "seed {seed} step {step}"
        );
        assert_eq!(
            cache.valid_sample_count(),
            model.valid_count(),
            "seed {seed} step {step}"
        );
        assert_eq!(
            cache.instance_count(),
            model.instance_count(),
            "seed {seed} step {step}"
        );
    }
}

#[test]
fn a_naive_model_agrees() {
    for seed in 0..400 {
        check(seed);
    }
}
