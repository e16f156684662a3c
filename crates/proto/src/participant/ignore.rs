//! Not wanting to know of others. DDS 1.4 §2.2.2.2.1.14–§2.2.2.2.1.17.

use whimbrel_base::guid::{Guid, GuidPrefix};
use whimbrel_base::time::Instant;

use super::Participant;

impl Participant {
    /// From now on participant `prefix` is not there for us: it is forgotten with all its
    /// endpoints, and never met again. It is not told.
    pub fn ignore_participant(&mut self, now: Instant, prefix: GuidPrefix) {
        if prefix != self.config.guid_prefix && self.ignored.participants.insert(prefix) {
            self.forget_participant(now, prefix, true);
        }
    }

    /// From now on the writer or reader `guid` is not there for us: it is forgotten, and never
    /// matched again. It is not told. Those of our own cannot be ignored.
    pub fn ignore_endpoint(&mut self, guid: Guid) {
        if guid.prefix == self.config.guid_prefix || !self.ignored.endpoints.insert(guid) {
            return;
        }
        if self.remote_writers.remove(&guid).is_some() {
            self.dismiss_endpoint(guid.prefix);
        }
        if self.remote_readers.remove(&guid).is_some() {
            self.dismiss_endpoint(guid.prefix);
        }
        if guid.entity.is_writer() {
            self.unpair_writer(guid);
        } else {
            self.unpair_reader(guid, false);
        }
    }
}
