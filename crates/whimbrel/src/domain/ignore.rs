//! Others that the program does not want to know of, and finding what is there.

use std::time::Duration as StdDuration;

use whimbrel_base::guid::{EntityId, Guid};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_types::DdsType;

use super::participant::DomainParticipant;
use crate::error::Error;
use crate::topic::Topic;

impl DomainParticipant {
    /// From now on the participant `handle` is not there for this one: its endpoints match none
    /// here, whatever it announces. There is no way back, and the other is not told: a reliable
    /// writer of it may wait for readers here until it gives them up. DDS 1.4 §2.2.2.2.1.14.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for a handle of no other participant.
    pub fn ignore_participant(&self, handle: InstanceHandle) -> Result<(), Error> {
        let guid = self.other(handle, |it| it.entity == EntityId::PARTICIPANT)?;
        let core = &self.inner.core;
        core.change(|control, now| control.ignore_participant(now, guid.prefix));
        Ok(())
    }

    /// From now on the writer `handle` matches no reader of this participant. There is no way
    /// back, and the other is not told. DDS 1.4 §2.2.2.2.1.16.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for a handle of no other participant's writer.
    pub fn ignore_publication(&self, handle: InstanceHandle) -> Result<(), Error> {
        let guid = self.other(handle, |it| it.entity.is_writer())?;
        let core = &self.inner.core;
        core.change(|control, _| control.ignore_endpoint(guid));
        Ok(())
    }

    /// From now on the reader `handle` matches no writer of this participant. There is no way
    /// back, and the other is not told. DDS 1.4 §2.2.2.2.1.17.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for a handle of no other participant's reader.
    pub fn ignore_subscription(&self, handle: InstanceHandle) -> Result<(), Error> {
        let guid = self.other(handle, |it| it.entity.is_reader())?;
        let core = &self.inner.core;
        core.change(|control, _| control.ignore_endpoint(guid));
        Ok(())
    }

    fn other(
        &self,
        handle: InstanceHandle,
        is_meant: impl Fn(&Guid) -> bool,
    ) -> Result<Guid, Error> {
        let guid = Guid::from_bytes(handle.0);
        let is_builtin = guid.entity.is_builtin() && guid.entity != EntityId::PARTICIPANT;
        if guid.prefix == self.guid().prefix || is_builtin || !is_meant(&guid) {
            return Err(Error::BadParameter(format!(
                "{guid} is none of another participant that could be ignored so"
            )));
        }
        Ok(guid)
    }

    /// True for the handles of this participant's writers and readers. DDS 1.4 §2.2.2.2.1.30.
    pub fn contains_entity(&self, handle: InstanceHandle) -> bool {
        let guid = Guid::from_bytes(handle.0);
        let is_ours = guid.prefix == self.guid().prefix;
        is_ours
            && self.inner.core.look(|control| {
                let mut writers = control.local_writers().map(|it| it.entity);
                let mut readers = control.local_readers().map(|it| it.entity);
                writers.any(|it| it == guid.entity) || readers.any(|it| it == guid.entity)
            })
    }

    /// The topic `name` for data of type `T`, once somebody in the domain, this participant
    /// included, writes or reads it. Its QoS is [`DomainParticipant::default_topic_qos`].
    /// DDS 1.4 §2.2.2.2.1.11.
    ///
    /// # Errors
    /// [`Error::Timeout`] when that takes longer than `timeout`,
    /// [`Error::PreconditionNotMet`] when all who use the name have another type for it; else as
    /// [`DomainParticipant::create_topic`].
    pub fn find_topic<T: DdsType>(
        &self,
        name: &str,
        timeout: StdDuration,
    ) -> Result<Topic<T>, Error> {
        let mut types = Vec::new();
        let found = self.wait_for_discovery(timeout, |it| {
            let writers = it.discovered_writers().into_iter();
            let writers = writers.map(|it| (it.topic_name, it.type_name));
            let readers = it.discovered_readers().into_iter();
            let readers = readers.map(|it| (it.topic_name, it.type_name));
            let of_topic = writers.chain(readers).filter(|(topic, _)| topic == name);
            types = of_topic.map(|(_, type_name)| type_name).collect();
            !types.is_empty()
        });
        if !found {
            return Err(Error::Timeout);
        }
        if !types.iter().any(|it| it == T::TYPE_NAME) {
            return Err(Error::PreconditionNotMet(format!(
                "topic {name:?} has type {:?}, not {:?}",
                types[0],
                T::TYPE_NAME
            )));
        }
        self.create_topic(name)
    }
}
