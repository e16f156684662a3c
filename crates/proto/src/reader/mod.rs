//! The reader machine. RTPS 2.5 §8.4.3, §8.4.10–§8.4.12.
//!
//! Data of reliable writers is put in order per writer and what is missing is asked for; data of
//! best-effort writers is taken as it comes, never backwards. What is delivered lands in the
//! DCPS cache ([`crate::cache`]). It must never wait and never trust a claimed size.
//!
//! Start reading at [`Reader::handle_data`], then `deliver.rs`; answers leave in `acknowledge.rs`.

mod acknowledge;
mod assembly;
mod batch;
#[cfg(test)]
mod batch_tests;
mod config;
mod deliver;
#[cfg(test)]
mod edges;
mod inbound;
mod inflate;
mod line;
mod next;
mod part;
mod pass;
mod reassembly;
mod room;
mod spares;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unpack_tests;
mod writer_proxy;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::hint::cold_path;

use whimbrel_base::agenda::Agenda;
use whimbrel_base::budget::Account;
use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::patience::Patience;
use whimbrel_base::sequence::{Count, SequenceNumber};
use whimbrel_base::sorted::BoxedMap;
use whimbrel_base::status::SampleRejectedKind;
use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::submessage::Heartbeat;

pub use self::batch::IncomingBatch;
pub use self::config::{KeyExtractor, ReaderConfig, Unpacker};
pub use self::deliver::{Incoming, IncomingFragments};
use self::line::Line;
pub use self::pass::Offer;
pub use self::reassembly::FragmentRun;
use self::spares::Spares;
use self::writer_proxy::WriterProxy;
use crate::cache::ReaderCache;
use crate::deadline::Reason;
use crate::message::MessageBuilder;
use crate::peer::MatchedWriter;

/// What a reader reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReaderEvent {
    /// The cache holds news. DDS 1.4 §2.2.4.1 DATA_AVAILABLE.
    DataAvailable,
    /// Changes that will never arrive. DDS 1.4 §2.2.4.1 SAMPLE_LOST.
    SampleLost {
        /// How many.
        count: u64,
    },
    /// A change for which the cache has no room. DDS 1.4 §2.2.4.1 SAMPLE_REJECTED.
    SampleRejected {
        /// Which limit was met.
        reason: SampleRejectedKind,
        /// Whose change it was.
        instance: InstanceHandle,
    },
    /// A writer's history has arrived completely, or there is none.
    HistoryComplete(Guid),
}

/// Counters of a reader.
#[derive(Clone, Copy, Default, Debug)]
pub struct ReaderStatistics {
    /// Changes put into the cache.
    pub delivered: u64,
    /// Octets of payload put into the cache.
    pub delivered_bytes: u64,
    /// Changes and fragments that had arrived before.
    pub duplicates: u64,
    /// Changes that will never arrive.
    pub lost: u64,
    /// Changes for which there was no room.
    pub rejected: u64,
    /// Acknowledgements sent.
    pub acknacks: u64,
    /// Requests for fragments sent.
    pub nack_frags: u64,
    /// Heartbeats received.
    pub heartbeats: u64,
    /// Of the changes delivered those that writers of this process handed over, past the network.
    pub in_process: u64,
    /// Batches that arrived, each with many changes.
    pub batches: u64,
    /// Changes that arrived compressed, by themselves or with their batch.
    pub inflated: u64,
    /// Octets of their payloads as they arrived. A batch is one payload.
    pub compressed_bytes: u64,
    /// Octets of their payloads as they were written.
    pub inflated_bytes: u64,
}

impl ReaderStatistics {
    fn count_inflated(&mut self, before: usize, after: usize, changes: u64) {
        let (before, after) = (u64::try_from(before), u64::try_from(after));
        self.inflated = self.inflated.saturating_add(changes);
        let bytes = &mut self.compressed_bytes;
        *bytes = bytes.saturating_add(before.unwrap_or(u64::MAX));
        let bytes = &mut self.inflated_bytes;
        *bytes = bytes.saturating_add(after.unwrap_or(u64::MAX));
    }

    fn count_delivered(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.delivered = self.delivered.saturating_add(1);
        self.delivered_bytes = self.delivered_bytes.saturating_add(bytes);
    }
}

/// The reader machine.
#[derive(Debug)]
pub struct Reader {
    config: ReaderConfig,
    writers: BoxedMap<Guid, WriterProxy>,
    agenda: Agenda<Guid, Reason>,
    /// For large samples.
    spares: Spares,
    /// How long writers take to say what they have.
    patience: Patience,
    cache: ReaderCache,
    /// Some change in order found no room in the cache.
    full: bool,
    /// Some change found no room in the budget since one last did.
    starved: bool,
    news: bool,
    /// Counts go on when a writer is matched anew, which may never have taken us for lost and
    /// still remembers what we last counted. RTPS 2.5 §8.3.8.1.
    acknack_count: Count,
    nack_frag_count: Count,
    reported: VecDeque<ReaderEvent>,
    /// Puts messages together; empty while that is done, and before the first.
    message: Option<Box<MessageBuilder>>,
    statistics: ReaderStatistics,
}

/// Reports kept at most; a driver that does not fetch them loses the oldest.
const REPORTS_MAX: usize = 1024;

impl Reader {
    /// A reader with an empty cache and no writers.
    pub fn new(config: ReaderConfig) -> Self {
        Self {
            writers: BoxedMap::new(),
            agenda: Agenda::default(),
            patience: Patience::default(),
            spares: Spares::new(Account::new(config.budget.clone())),
            cache: ReaderCache::new(config.cache.clone())
                .charged_to(Account::new(config.budget.clone())),
            full: false,
            starved: false,
            news: false,
            acknack_count: Count(0),
            nack_frag_count: Count(0),
            reported: VecDeque::new(),
            message: None,
            statistics: ReaderStatistics::default(),
            config,
        }
    }

    /// Who this is.
    pub fn guid(&self) -> Guid {
        self.config.guid
    }

    /// Its settings.
    pub fn config(&self) -> &ReaderConfig {
        &self.config
    }

    /// Its counters.
    pub fn statistics(&self) -> ReaderStatistics {
        self.statistics
    }

    /// The samples delivered so far.
    pub fn cache(&self) -> &ReaderCache {
        &self.cache
    }

    /// The samples delivered so far, to be read or taken; call [`Reader::handle_room`] afterwards.
    pub fn cache_mut(&mut self) -> &mut ReaderCache {
        &mut self.cache
    }

    /// Octets that samples in the cache, those that are not there yet, and slabs for the next
    /// large ones hold.
    pub fn held_bytes(&self) -> usize {
        let proxies = self.writers.values().map(|proxy| proxy.account.held());
        let others = self.cache.held_bytes();
        let others = others.saturating_add(self.spares.held_bytes());
        proxies.fold(others, usize::saturating_add)
    }

    /// Number of matched writers.
    pub fn writer_count(&self) -> usize {
        self.writers.len()
    }

    /// True when `writer` is matched.
    pub fn is_matched(&self, writer: Guid) -> bool {
        self.writers.contains_key(&writer)
    }

    /// True when `heartbeat` of `writer` runs back, by its count or by what was written, though
    /// nothing came of it for `quiet`: late datagrams are not that late, so the writer is another.
    pub(crate) fn runs_back(
        &self,
        now: Instant,
        writer: Guid,
        heartbeat: &Heartbeat,
        quiet: Duration,
    ) -> bool {
        let proxy = self.writers.get(&writer);
        proxy.is_some_and(|proxy| proxy.runs_back(now, heartbeat, quiet))
    }

    /// True when every matched durable writer's history has arrived.
    /// DDS 1.4 §2.2.2.5.3.9 (wait_for_historical_data).
    pub fn has_history(&self) -> bool {
        !(self.config.durable && self.config.reliable)
            || self
                .writers
                .values()
                .all(|writer| !writer.info.durable || writer.has_history())
    }

    /// Listens to `writer` from now on. A writer known already is updated; one that is reliable no
    /// more, or only now, is met anew.
    pub fn handle_matched(&mut self, now: Instant, writer: MatchedWriter) {
        let guid = writer.guid;
        let reliable = self.config.reliable && writer.reliable;
        if let Some(known) = self.writers.get_mut(&guid)
            && known.info.reliable == writer.reliable
        {
            known.info = writer;
            return;
        }
        let account = Account::new(self.config.budget.clone());
        let mut proxy = WriterProxy::new(writer, account);
        if proxy.info.batches {
            proxy.line = Line::Batches;
        }
        if reliable {
            // Our writers say what they have as soon as they are matched.
            let ours = proxy.info.vendor == VendorId::WHIMBREL;
            let delay = self.first_ask_delay();
            proxy.ask_at = match ours {
                true if delay.is_infinite() => None,
                true => Some(now.after(delay)),
                false => Some(now),
            };
            proxy.matched_at = Some(now);
        } else {
            proxy.expected = Some(SequenceNumber::FIRST);
        }
        self.writers.insert(guid, proxy);
        self.agenda.touch(guid);
    }

    /// Forgets `writer`; its instances lose it.
    pub fn handle_unmatched(&mut self, now: Instant, wall: Timestamp, writer: Guid) {
        if self.writers.remove(&writer).is_some() {
            self.agenda.touch(writer);
            self.news |= self.cache.writer_gone(writer, wall);
            self.handle_room(now);
        }
    }

    /// Takes nothing any more, neither by the protocol nor handed over, as nobody reads it. Gives
    /// what the cache held: values in it are the program's, so drop it without a lock.
    #[must_use]
    pub fn close(&mut self) -> ReaderCache {
        for writer in core::mem::take(&mut self.writers).keys() {
            self.agenda.touch(*writer);
        }
        let empty = ReaderCache::new(self.config.cache.clone());
        core::mem::replace(&mut self.cache, empty)
    }

    fn report(&mut self, event: ReaderEvent) {
        if self.reported.len() >= REPORTS_MAX {
            self.reported.pop_front();
        }
        self.reported.push_back(event);
    }

    /// Where nothing is due, ever, and nothing to be reported but that there is data: whether there
    /// is, which is reported with this.
    #[inline(always)]
    pub fn poll_only_data(&mut self) -> Option<bool> {
        let is_idle = self.agenda.is_empty()
            && self.reported.is_empty()
            && self.spares.until().is_none()
            && !self.waits_for_room();
        is_idle.then(|| core::mem::take(&mut self.news))
    }

    /// Takes the next report.
    pub fn poll_event(&mut self) -> Option<ReaderEvent> {
        if core::mem::take(&mut self.news) {
            return Some(ReaderEvent::DataAvailable);
        }
        if self.reported.is_empty() {
            return None;
        }
        cold_path();
        self.reported.pop_front()
    }
}
