//! Which endpoint gets which traffic: a read-only snapshot, replaced as a whole.

use std::collections::BTreeMap;

use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_proto::Heard;

use super::reader::ReaderCore;
use super::status::{EntityStatus, News};
use super::sync::Arc;
use super::writer::WriterCore;

/// What an entity is to be told once no lock is held.
pub(crate) type Told = (Arc<EntityStatus>, News);

/// A snapshot of who is here and who is matched with whom.
#[derive(Default, Clone)]
pub(crate) struct Routing {
    pub(crate) writers: BTreeMap<EntityId, Arc<WriterCore>>,
    pub(crate) readers: BTreeMap<EntityId, Arc<ReaderCore>>,
    /// Our readers by the remote writer they are matched with.
    pub(crate) by_writer: BTreeMap<Guid, Vec<Arc<ReaderCore>>>,
    /// When each known participant was last heard.
    pub(crate) heard: BTreeMap<GuidPrefix, Arc<Heard>>,
}

impl Routing {
    /// Our readers matched with `writer`.
    pub(crate) fn readers_of(&self, writer: Guid) -> &[Arc<ReaderCore>] {
        self.by_writer.get(&writer).map_or(&[], Vec::as_slice)
    }

    /// Changes one of our writers, if it is still here.
    pub(crate) fn with_writer(
        &self,
        writer: EntityId,
        change: impl FnOnce(&WriterCore) -> News,
    ) -> Option<Told> {
        let core = self.writers.get(&writer)?;
        Some((Arc::clone(&core.status), change(core)))
    }

    /// Changes one of our readers, if it is still here.
    pub(crate) fn with_reader(
        &self,
        reader: EntityId,
        change: impl FnOnce(&ReaderCore) -> News,
    ) -> Option<Told> {
        let core = self.readers.get(&reader)?;
        Some((Arc::clone(&core.status), change(core)))
    }

    /// Notes that `reader` is matched with `writer`.
    pub(crate) fn join(&mut self, writer: Guid, reader: EntityId) {
        let Some(core) = self.readers.get(&reader) else {
            return;
        };
        let readers = self.by_writer.entry(writer).or_default();
        if !readers.iter().any(|known| known.guid.entity == reader) {
            readers.push(Arc::clone(core));
        }
    }

    /// Notes that `reader` is no longer matched with `writer`.
    pub(crate) fn part(&mut self, writer: Guid, reader: EntityId) {
        if let Some(readers) = self.by_writer.get_mut(&writer) {
            readers.retain(|known| known.guid.entity != reader);
            if readers.is_empty() {
                self.by_writer.remove(&writer);
            }
        }
    }
}
