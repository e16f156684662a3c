//! Which endpoint gets which traffic: a read-only snapshot, replaced as a whole.

use std::net::SocketAddr;

use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::sorted::SortedMap;
use whimbrel_proto::Heard;

use super::reader::ReaderCore;
use super::status::{EntityStatus, News};
use super::sync::Arc;
use super::writer::WriterCore;

/// Parts into which peers are divided, so that a new snapshot copies one part and not all.
const PARTS: usize = 64;

/// What an entity is to be told once no lock is held.
pub(crate) type Told = (Arc<EntityStatus>, News);

/// A snapshot of who is here and who is matched with whom. Clones share what has not changed.
#[derive(Clone)]
pub(crate) struct Routing {
    writers: Arc<SortedMap<EntityId, Arc<WriterCore>>>,
    readers: Arc<SortedMap<EntityId, Arc<ReaderCore>>>,
    peers: [Arc<SortedMap<GuidPrefix, Peer>>; PARTS],
}

/// Another participant, or our own as the source of its own data.
#[derive(Default, Clone)]
pub(crate) struct Peer {
    /// When it was last heard; `None` while it is not known.
    pub(crate) heard: Option<Arc<Heard>>,
    /// Where its endpoints are reached, as far as that was known when it was met.
    addresses: Vec<SocketAddr>,
    /// Our readers by its writer that they are matched with.
    by_writer: SortedMap<EntityId, Vec<Arc<ReaderCore>>>,
}

impl Default for Routing {
    fn default() -> Self {
        Self {
            writers: Arc::default(),
            readers: Arc::default(),
            peers: std::array::from_fn(|_| Arc::default()),
        }
    }
}

impl Routing {
    /// Our writers.
    pub(crate) fn writers(&self) -> &SortedMap<EntityId, Arc<WriterCore>> {
        &self.writers
    }

    /// Our readers.
    pub(crate) fn readers(&self) -> &SortedMap<EntityId, Arc<ReaderCore>> {
        &self.readers
    }

    /// What is known of participant `prefix`.
    pub(crate) fn peer(&self, prefix: GuidPrefix) -> Option<&Peer> {
        self.peers[part_of(prefix)].get(&prefix)
    }

    /// Our readers matched with `writer`.
    pub(crate) fn readers_of(&self, writer: Guid) -> &[Arc<ReaderCore>] {
        let peer = self.peer(writer.prefix);
        peer.map_or(&[], |peer| peer.readers_of(writer.entity))
    }

    /// Lets traffic reach `writer`.
    pub(crate) fn add_writer(&mut self, writer: &Arc<WriterCore>) {
        Arc::make_mut(&mut self.writers).insert(writer.guid.entity, Arc::clone(writer));
    }

    /// Lets traffic reach `reader`.
    pub(crate) fn add_reader(&mut self, reader: &Arc<ReaderCore>) {
        Arc::make_mut(&mut self.readers).insert(reader.guid.entity, Arc::clone(reader));
    }

    /// Lets nothing more reach our writer `entity`.
    pub(crate) fn remove_writer(&mut self, entity: EntityId) {
        Arc::make_mut(&mut self.writers).remove(&entity);
    }

    /// Lets nothing more reach our reader `entity`.
    pub(crate) fn remove_reader(&mut self, entity: EntityId) {
        Arc::make_mut(&mut self.readers).remove(&entity);
        for part in &mut self.peers {
            for peer in Arc::make_mut(part).values_mut() {
                peer.part(None, entity);
            }
            Arc::make_mut(part).retain(|_, peer| !peer.is_nobody());
        }
    }

    /// Notes by what to tell that `prefix` was heard; `None` when it is known no more.
    pub(crate) fn note_heard(&mut self, prefix: GuidPrefix, heard: Option<Arc<Heard>>) {
        self.change(prefix, |peer| peer.heard = heard);
    }

    /// Notes where the endpoints of `prefix` are reached.
    pub(crate) fn note_addresses(&mut self, prefix: GuidPrefix, addresses: Vec<SocketAddr>) {
        self.change(prefix, |peer| peer.addresses = addresses);
    }

    /// Where the endpoints of `prefix` are reached, as far as it is known.
    pub(crate) fn addresses(&self, prefix: GuidPrefix) -> &[SocketAddr] {
        self.peer(prefix).map_or(&[], |peer| &peer.addresses)
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
        let Some(core) = self.readers.get(&reader).cloned() else {
            return;
        };
        self.change(writer.prefix, |peer| {
            peer.by_writer.change(writer.entity, Vec::new, |readers| {
                if !readers.iter().any(|known| known.guid.entity == reader) {
                    readers.push(core);
                }
            });
        });
    }

    /// Notes that `reader` is no longer matched with `writer`.
    pub(crate) fn part(&mut self, writer: Guid, reader: EntityId) {
        self.change(writer.prefix, |peer| peer.part(Some(writer.entity), reader));
    }

    fn change(&mut self, prefix: GuidPrefix, f: impl FnOnce(&mut Peer)) {
        let part = Arc::make_mut(&mut self.peers[part_of(prefix)]);
        part.change(prefix, Peer::default, f);
        if part.get(&prefix).is_some_and(Peer::is_nobody) {
            part.remove(&prefix);
        }
    }
}

impl Peer {
    /// Our readers matched with its writer `writer`.
    pub(crate) fn readers_of(&self, writer: EntityId) -> &[Arc<ReaderCore>] {
        let readers = self.by_writer.get(&writer);
        readers.map_or(&[], Vec::as_slice)
    }

    fn part(&mut self, writer: Option<EntityId>, reader: EntityId) {
        self.by_writer.retain(|entity, readers| {
            if writer.is_none_or(|writer| writer == *entity) {
                readers.retain(|known| known.guid.entity != reader);
            }
            !readers.is_empty()
        });
    }

    fn is_nobody(&self) -> bool {
        self.heard.is_none() && self.by_writer.is_empty()
    }
}

/// Prefixes of other vendors differ in some octets only, so all count.
fn part_of(prefix: GuidPrefix) -> usize {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = prefix.0;
    let mixed = u64::from_ne_bytes([a, b, c, d, e, f, g, h]).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ u64::from(u32::from_ne_bytes([i, j, k, l])).wrapping_mul(0xff51_afd7_ed55_8ccd);
    // What differs anywhere shows in the upper half.
    (mixed >> 32) as usize % PARTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use whimbrel_base::time::Instant;

    #[test]
    fn snapshots_share_what_does_not_change_and_stay_as_they_were() {
        let prefix = |number: u8| GuidPrefix([1, 15, number, number, 0, 0, 0, 0, 0, 0, 0, number]);
        let mut routing = Routing::default();
        for number in 0..200 {
            let heard = Arc::new(Heard::new(Instant(u64::from(number))));
            routing.note_heard(prefix(number), Some(heard));
        }
        let before = routing.clone();
        routing.note_heard(prefix(7), None);
        let copied = routing.peers.iter().zip(&before.peers);
        let copied = copied.filter(|(new, old)| !Arc::ptr_eq(new, old)).count();
        assert_eq!(copied, 1);
        assert!(routing.peer(prefix(7)).is_none());
        let heard = |routing: &Routing, number| {
            let peer = routing.peer(prefix(number)).unwrap();
            peer.heard.as_ref().unwrap().last()
        };
        assert_eq!(heard(&before, 7), Instant(7));
        assert_eq!(heard(&routing, 8), Instant(8));
        let used = before.peers.iter().filter(|part| !part.is_empty()).count();
        assert!(used > PARTS / 2, "{used}");
    }
}
