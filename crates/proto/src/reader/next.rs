//! What arrives in its turn, as nearly everything does.

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::reject::Reject;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Instant;
use whimbrel_wire::compressed::Compressed;
use whimbrel_wire::submessage::Heartbeat;

use super::Reader;
use super::config::{KeyExtractor, ReaderConfig};
use super::deliver::{Incoming, cache_change};
use super::line::{Arrived, Line};
use super::room::arrival_bytes;
use super::writer_proxy::WriterProxy;
use crate::cache::{Added, ReaderCache};
use crate::change::ChangeKind;

impl Reader {
    /// Moves a plain sample that is the next in order of a reliable writer of which nothing else is
    /// under way into the cache, with one look at all that this touches. Gives back anything else,
    /// having changed nothing.
    pub(super) fn deliver_at_once(&mut self, data: Incoming) -> Result<(), Incoming> {
        let (writer, sequence) = (data.writer, data.sequence);
        let Some(proxy) = self.writers.get_mut(&writer) else {
            return Err(data);
        };
        let bytes = data.payload.len();
        if !proxy.passes(&self.config, &data, 0) {
            return Err(data);
        }
        let Some(instance) = data.instance(self.config.keys.as_deref()) else {
            return Err(data);
        };
        if let Some(place) = self.cache.lone_place(instance, writer) {
            let change = cache_change(writer, sequence, data.arrived(instance));
            self.cache.keep_alone(place, change);
            self.news = true;
        } else {
            match self
                .cache
                .add_where_admitted((writer, sequence), instance, data)?
            {
                Some(added) => self.news |= added.is_visible(),
                // It was admitted. Not noted it would be asked for again.
                None => return Ok(()),
            }
        }
        proxy.pass(sequence);
        self.starved = false;
        self.statistics.count_delivered(bytes);
        Ok(())
    }

    /// Takes in a heartbeat where nothing follows from it; else false, and nothing was changed.
    pub(super) fn knows_already(
        &mut self,
        now: Instant,
        from: Guid,
        heartbeat: &Heartbeat,
    ) -> bool {
        let reliable = self.config.reliable;
        let proxy = self.writers.get_mut(&from);
        let proxy = proxy.filter(|it| reliable && it.knows_all_of(heartbeat));
        let is_news = proxy.is_some_and(|it| it.accept_heartbeat(now, heartbeat.count));
        if is_news {
            self.statistics.heartbeats = self.statistics.heartbeats.saturating_add(1);
        }
        is_news
    }

    /// Takes in samples of `writer` that follow one another in a message, as `next` gives them,
    /// with one look at what they have in common. What is refused goes to `refuse`.
    pub fn handle_alike(
        &mut self,
        now: Instant,
        writer: Guid,
        mut next: impl FnMut() -> Option<Incoming>,
        mut refuse: impl FnMut(Reject),
    ) {
        while let Some(data) = self.deliver_run(writer, &mut next) {
            self.handle_data(now, data).unwrap_or_else(&mut refuse);
        }
    }

    /// Moves what `next` gives into the cache, as long as each is the next in order and of an
    /// instance that is known and has room. Gives back the first that is not, having done nothing
    /// with it; none where there are no more.
    fn deliver_run(
        &mut self,
        writer: Guid,
        next: &mut impl FnMut() -> Option<Incoming>,
    ) -> Option<Incoming> {
        let Some(proxy) = self.writers.get_mut(&writer) else {
            return next();
        };
        let keys = self.config.keys.as_deref();
        let mut data = next()?;
        let mut instance = data.instance(keys);
        loop {
            let run = instance.and_then(|instance| self.cache.run(instance));
            let Some(mut run) = run else {
                return Some(data);
            };
            let of_run = run.instance();
            while instance == Some(of_run) {
                if !run.has_room() || !proxy.passes(&self.config, &data, run.added_bytes()) {
                    return Some(data);
                }
                let sequence = data.sequence;
                self.statistics.count_delivered(data.payload.len());
                run.add(cache_change(writer, sequence, data.arrived(of_run)));
                proxy.pass(sequence);
                self.news = true;
                self.starved = false;
                data = next()?;
                instance = data.instance(keys);
            }
        }
    }

    /// Moves a change that is the next in order, before which nothing waits, into the cache; false
    /// where that has no room.
    pub(super) fn deliver_next(
        &mut self,
        writer: Guid,
        sequence: SequenceNumber,
        arrived: Arrived,
    ) -> bool {
        let bytes = arrived.payload.len();
        let Ok(added) = self.cache.add(cache_change(writer, sequence, arrived)) else {
            return false;
        };
        self.news |= added.is_visible();
        self.statistics.count_delivered(bytes);
        if let Some(proxy) = self.writers.get_mut(&writer) {
            proxy.delivered(sequence);
            proxy.settle();
        }
        true
    }
}

impl ReaderCache {
    /// Adds `data` of `instance` where that is admitted, else gives it back; what became of it,
    /// `None` where it found no room after all.
    #[inline(never)]
    fn add_where_admitted(
        &mut self,
        (writer, sequence): (Guid, SequenceNumber),
        instance: InstanceHandle,
        data: Incoming,
    ) -> Result<Option<Added>, Incoming> {
        if !self.admits(instance) {
            return Err(data);
        }
        let change = cache_change(writer, sequence, data.arrived(instance));
        Ok(self.add(change).ok())
    }
}

impl WriterProxy {
    /// True when `sequence` is the next in order of a writer that is reliable and numbers changes,
    /// and nothing behind it has arrived whole.
    pub(super) fn is_awaiting(&self, sequence: SequenceNumber) -> bool {
        self.info.reliable
            && self.line == Line::Changes
            && sequence != SequenceNumber::MAX
            && self.is_next(sequence)
    }

    /// True when a heartbeat says no more than is known, all that it tells of has been delivered,
    /// and nothing is to be said to the writer.
    fn knows_all_of(&self, heartbeat: &Heartbeat) -> bool {
        heartbeat.is_final
            && self.last <= heartbeat.last
            && self.is_awaiting(heartbeat.last.next())
            && !self.must_answer
            && self.answer_at.is_none()
            && self.ask_at.is_none()
            && self.matched_at.is_none()
    }

    /// True for a plain sample that is the next in order of a reliable writer of which nothing else
    /// is under way, with room in the budget beside `more` octets.
    #[inline(always)]
    fn passes(&self, config: &ReaderConfig, data: &Incoming, more: usize) -> bool {
        let needed = arrival_bytes(config, data.payload.slab_len()).saturating_add(more);
        config.reliable
            && data.kind == ChangeKind::Alive
            && data.payload.len() <= config.sample_bytes_max
            && self.assemblies.is_empty()
            && self.is_awaiting(data.sequence)
            && self.account.has_room(needed)
            && (!self.info.packs || matches!(Compressed::parse(&data.payload), Ok(None)))
    }

    /// Notes that the next in order was delivered, where nothing waits.
    fn pass(&mut self, sequence: SequenceNumber) {
        self.last = self.last.max(sequence);
        self.expected = Some(sequence.next());
        self.gone.forget_below(sequence.next().0);
    }
}

impl Incoming {
    /// Its instance by `keys`, where there are any; `None` where that cannot be had.
    pub(super) fn instance(&self, keys: Option<&dyn KeyExtractor>) -> Option<InstanceHandle> {
        match keys {
            None => Some(InstanceHandle::NIL),
            // A payload speaks for itself; the key hash only helps where there is none.
            Some(keys) if !self.payload.is_empty() => keys
                .instance_of(&self.payload, self.is_key)
                .or_else(|| keys.instance_of_unreadable(self.key_hash)),
            Some(keys) => self.key_hash.or_else(|| keys.instance_of_unreadable(None)),
        }
    }

    /// The whole change, of `instance`.
    pub(super) fn arrived(self, instance: InstanceHandle) -> Arrived {
        Arrived {
            kind: self.kind,
            instance,
            payload: self.payload,
            source_timestamp: self.source_timestamp,
            reception_timestamp: self.reception_timestamp,
        }
    }
}
