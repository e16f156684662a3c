//! Conditions on the samples in a reader.

use std::sync::{Arc, Weak};

use whimbrel_base::sample::{InstanceStates, SampleStates, ViewStates};
use whimbrel_proto::cache::Selector;
use whimbrel_types::DdsType;

use crate::driver::reader::ReaderCore;
use crate::driver::wake::Bell;
use crate::error::Error;
use crate::subscription::{DataReader, Sample, SampleSeq};

/// True while a reader has samples with certain states. DDS 1.4 §2.2.2.5.8.
///
/// Clones are the same condition; conditions made apart differ, even with the same states.
#[derive(Clone, Debug)]
pub struct ReadCondition {
    inner: Arc<ReadInner>,
}

#[derive(Debug)]
struct ReadInner {
    reader: Weak<ReaderCore>,
    bell: Arc<Bell>,
    sample_states: SampleStates,
    view_states: ViewStates,
    instance_states: InstanceStates,
}

impl ReadCondition {
    /// Whether samples must have been read before, or must not. DDS 1.4 §2.2.2.5.8.2.
    pub fn sample_states(&self) -> SampleStates {
        self.inner.sample_states
    }

    /// Whether instances must have been seen before, or must not. DDS 1.4 §2.2.2.5.8.3.
    pub fn view_states(&self) -> ViewStates {
        self.inner.view_states
    }

    /// Whether instances must be alive, or must not. DDS 1.4 §2.2.2.5.8.4.
    pub fn instance_states(&self) -> InstanceStates {
        self.inner.instance_states
    }

    /// Whether the reader has such samples. DDS 1.4 §2.2.2.1.7.1.
    pub fn trigger_value(&self) -> bool {
        self.inner.reader.upgrade().is_some_and(|reader| {
            reader.status.is_alive()
                && reader.has_matching(
                    self.inner.sample_states,
                    self.inner.view_states,
                    self.inner.instance_states,
                )
        })
    }

    pub(super) fn bell(&self) -> &Arc<Bell> {
        &self.inner.bell
    }

    fn selector(&self, max_samples: usize) -> Selector {
        Selector {
            max_samples,
            sample_states: self.inner.sample_states,
            view_states: self.inner.view_states,
            instance_states: self.inner.instance_states,
            ..Selector::ALL
        }
    }
}

impl PartialEq for ReadCondition {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for ReadCondition {}

impl<T: DdsType> DataReader<T> {
    /// A condition on samples with these states. DDS 1.4 §2.2.2.5.3.5.
    ///
    /// It ends with its last clone; there is nothing to delete.
    pub fn create_readcondition(
        &self,
        sample_states: impl Into<SampleStates>,
        view_states: impl Into<ViewStates>,
        instance_states: impl Into<InstanceStates>,
    ) -> ReadCondition {
        let core = &self.inner.core;
        ReadCondition {
            inner: Arc::new(ReadInner {
                reader: Arc::downgrade(core),
                bell: Arc::clone(&core.bell),
                sample_states: sample_states.into(),
                view_states: view_states.into(),
                instance_states: instance_states.into(),
            }),
        }
    }

    /// Takes the samples that `condition` is on. DDS 1.4 §2.2.2.5.3.11.
    ///
    /// # Errors
    /// [`Error::PreconditionNotMet`] for a condition of another reader.
    pub fn take_w_condition(
        &self,
        condition: &ReadCondition,
        max_samples: usize,
    ) -> Result<SampleSeq<Sample<T>>, Error> {
        self.check_condition(condition)?;
        self.take_selected(&condition.selector(max_samples))
    }

    /// Reads the samples that `condition` is on. DDS 1.4 §2.2.2.5.3.10.
    ///
    /// # Errors
    /// [`Error::PreconditionNotMet`] for a condition of another reader.
    pub fn read_w_condition(
        &self,
        condition: &ReadCondition,
        max_samples: usize,
    ) -> Result<SampleSeq<Sample<T>>, Error> {
        self.check_condition(condition)?;
        self.read_selected(&condition.selector(max_samples))
    }

    fn check_condition(&self, condition: &ReadCondition) -> Result<(), Error> {
        if condition.inner.reader.as_ptr() == Arc::as_ptr(&self.inner.core) {
            return Ok(());
        }
        Err(Error::PreconditionNotMet(
            "the condition is on another reader; create one from this reader".into(),
        ))
    }
}
