//! What a reader answers: acknowledgements and requests.

use alloc::vec::Vec;

use whimbrel_base::guid::Guid;
use whimbrel_base::reject::Reject;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::number_set::{FragmentNumberSet, SequenceNumberSet};
use whimbrel_wire::submessage::Heartbeat;

use super::Reader;
use super::writer_proxy::WriterProxy;
use crate::deadline::{Deadline, Reason, earlier};
use crate::message::MessageBuilder;
use crate::outbox::Outbox;

/// First wait before a writer that was never heard is asked again; doubles each time.
const ASK_PERIOD: Duration = Duration::from_millis(50);

/// The doubling stops after so many times.
const ASK_DOUBLINGS_MAX: u32 = 6;

/// Longest wait for a writer of this implementation to say by itself what it has.
const ASK_DELAY_MAX: Duration = Duration::from_secs(2);

/// Longest wait between two questions to one writer.
const ASK_PERIOD_MAX: Duration = Duration::from_millis(3200);

/// Wait before a request is repeated to a writer that says nothing more. It may believe that all
/// has arrived, as it had before this reader started over, and then sends no heartbeat either.
const REPEAT_PERIOD: Duration = Duration::from_secs(2);

/// The wait before a request is repeated to a writer that insists doubles so many times.
const REPEAT_DOUBLINGS_MAX: u32 = 3;

/// Nothing is asked for while the budget has less room than this, in octets.
const ROOM_BYTES: usize = 1024;

/// Requests for fragments sent in one answer, so that it fits the smallest of datagrams.
const NACK_FRAGS_MAX: usize = 6;

impl Reader {
    /// When this reader wants to be called again, and why.
    #[inline(always)]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let next = self.agenda.next(&self.writers, |it| it.due(&self.config));
        earlier(next, self.spares.until().map(|at| (at, Reason::Reassembly)))
    }

    /// Acts on deadlines that have passed; [`Reader::poll_transmit`] then sends what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        let patience = self.config.reassembly_patience;
        self.spares.handle_timeout(now);
        let due = self.due(now);
        for writer in due.iter().copied() {
            if let Some(proxy) = self.writers.get_mut(&writer)
                && !(proxy.info.reliable && self.config.reliable)
            {
                proxy
                    .assemblies
                    .retain(|_, assembly| assembly.arrived_at.after(patience) > now);
                proxy.settle();
                self.agenda.touch(writer);
            }
        }
        self.agenda.reuse(due);
    }

    /// The writers with deadlines up to `now`.
    fn due(&mut self, now: Instant) -> Vec<Guid> {
        let config = &self.config;
        self.agenda
            .due(now, &self.writers, |proxy| proxy.due(config))
    }

    /// Sends whatever is due at `now`.
    pub fn poll_transmit(&mut self, now: Instant, outbox: &mut impl Outbox) {
        let due = self.due(now);
        for writer in due.iter().copied() {
            let prefix = self.config.guid.prefix;
            let mut message = MessageBuilder::lent_by(&mut self.message, prefix);
            if let Some(mut proxy) = self.writers.remove(&writer) {
                message.begin(1024);
                self.answer(now, &mut proxy, &mut message);
                message.flush(&proxy.info.locators, outbox);
                self.writers.insert(writer, proxy);
                self.agenda.touch(writer);
            }
            self.message = Some(message);
        }
        self.agenda.reuse(due);
    }

    fn answer(&mut self, now: Instant, proxy: &mut WriterProxy, message: &mut MessageBuilder) {
        let writer = proxy.info.guid;
        let entity = self.config.guid.entity;
        if let Some((_, base, count)) = proxy.echo.take() {
            // How far it has come is all that a writer wants to know who repairs nothing.
            message.destination(writer.prefix);
            let nothing = SequenceNumberSet::new(base);
            message.acknack(entity, writer.entity, nothing, count, true);
            self.statistics.acknacks = self.statistics.acknacks.saturating_add(1);
        }
        if proxy.ask_at.is_some_and(|at| at <= now) && proxy.expected.is_none() {
            self.ask_for_heartbeat(now, proxy, message);
            return;
        }
        if proxy.answer_at.is_none_or(|at| at > now) {
            return;
        }
        proxy.answer_at = None;
        let mut missing = self.wanted(proxy);
        let mut fragments = self.wanted_fragments(now, proxy);
        let asks = !missing.is_empty() || !fragments.is_empty();
        if !asks && !proxy.must_answer {
            return;
        }
        let first = fragments
            .first()
            .map(|(sequence, set)| (*sequence, set.base()));
        let request = (missing.base(), first);
        let repeats_at = proxy
            .requested
            .filter(|(_, last)| *last == request)
            .map(|(at, _)| at.after(self.repeat_wait(proxy)))
            .filter(|at| asks && *at > now);
        if let Some(at) = repeats_at {
            // Nothing has come of the last request yet: a writer that insists hears where we
            // are, but not the request again, or a lost repair is repeated as fast as it travels.
            proxy.answer_at = Some(at);
            if !proxy.must_answer {
                return;
            }
            missing = SequenceNumberSet::new(missing.base());
            fragments.clear();
        } else if asks {
            let again = proxy.requested.is_some_and(|(_, last)| last == request);
            proxy.repeated = if again {
                proxy.repeated.saturating_add(1)
            } else {
                0
            };
            proxy.requested = Some((now, request));
            proxy.asked_for(&fragments);
        }
        message.destination(writer.prefix);
        // First what is missing, then that it may be sent.
        self.request_fragments(writer, fragments, message);
        if !missing.is_empty() || proxy.must_answer {
            proxy.must_answer = false;
            self.acknack_count = self.acknack_count.next();
            message.acknack(entity, writer.entity, missing, self.acknack_count, true);
            self.statistics.acknacks = self.statistics.acknacks.saturating_add(1);
        }
        if self.has_fresh_fragments(now, proxy) && proxy.answer_at.is_none() {
            proxy.answer_at = Some(now.after(self.config.fragment_patience));
        }
        if asks && proxy.answer_at.is_none() {
            proxy.answer_at = Some(now.after(REPEAT_PERIOD));
        }
    }

    /// A heartbeat of a writer to which this reader acknowledges nothing: one of this
    /// implementation that names the reader asks how far it has come.
    pub(super) fn note_question(
        &mut self,
        now: Instant,
        from: Guid,
        heartbeat: &Heartbeat,
    ) -> Result<(), Reject> {
        let asks = heartbeat.reader == self.config.guid.entity && !heartbeat.is_final;
        let proxy = self.proxy(from)?;
        if asks && proxy.info.vendor == VendorId::WHIMBREL {
            proxy.echo = Some((now, heartbeat.last.next(), heartbeat.count));
            self.agenda.touch(from);
        }
        Ok(())
    }

    /// How long writers of this implementation may take to say what they have.
    pub(super) fn first_ask_delay(&self) -> Duration {
        let (delay, each) = (
            self.config.first_ask_delay,
            self.config.ask_delay_per_writer,
        );
        if each.is_zero() || delay.is_infinite() {
            return delay;
        }
        let crowd = u32::try_from(self.writers.len()).unwrap_or(u32::MAX);
        self.patience
            .wait(delay.plus(each.times(crowd)), ASK_DELAY_MAX)
    }

    /// How soon the last request may be repeated: ever later while nothing comes of it.
    fn repeat_wait(&self, proxy: &WriterProxy) -> Duration {
        let doubled = 1 << (proxy.repeated / 2).min(REPEAT_DOUBLINGS_MAX);
        self.config.nack_period.times(doubled)
    }

    /// Pre-emptive: makes the writer send a heartbeat. RTPS 2.5 §8.4.12.1.
    fn ask_for_heartbeat(
        &mut self,
        now: Instant,
        proxy: &mut WriterProxy,
        message: &mut MessageBuilder,
    ) {
        let writer = proxy.info.guid;
        proxy.asked = proxy.asked.saturating_add(1);
        let first = if self.config.ask_delay_per_writer.is_zero() {
            ASK_PERIOD
        } else {
            self.first_ask_delay().min(ASK_DELAY_MAX)
        };
        let wait = first.times(1 << proxy.asked.min(ASK_DOUBLINGS_MAX));
        let wait = wait.min(ASK_PERIOD_MAX);
        proxy.ask_at = Some(now.after(wait));
        self.acknack_count = self.acknack_count.next();
        message.destination(writer.prefix);
        // Fast DDS answers a first empty set at once with base 0 alone, which is not valid
        // for anybody else (RTPS 2.5 §8.3.5.5); with base 1 it waits for its next heartbeat.
        let base = if proxy.info.vendor == VendorId::FAST_DDS {
            SequenceNumber::ZERO
        } else {
            SequenceNumber::FIRST
        };
        let nothing = SequenceNumberSet::new(base);
        message.acknack(
            self.config.guid.entity,
            writer.entity,
            nothing,
            self.acknack_count,
            false,
        );
        self.statistics.acknacks = self.statistics.acknacks.saturating_add(1);
    }

    fn request_fragments(
        &mut self,
        writer: Guid,
        fragments: Vec<(SequenceNumber, FragmentNumberSet)>,
        message: &mut MessageBuilder,
    ) {
        let entity = self.config.guid.entity;
        for (sequence, set) in fragments {
            self.nack_frag_count = self.nack_frag_count.next();
            let count = self.nack_frag_count;
            message.nack_frag(entity, writer.entity, sequence, set, count);
            self.statistics.nack_frags = self.statistics.nack_frags.saturating_add(1);
        }
    }

    /// What to ask for; nothing while the cache or the budget has no room for it.
    fn wanted(&self, proxy: &WriterProxy) -> SequenceNumberSet {
        let missing = proxy.missing();
        let starved = !proxy.account.has_room(ROOM_BYTES);
        if starved && proxy.account.held() == 0 {
            return SequenceNumberSet::new(missing.base());
        }
        let room = if starved || proxy.waiting_bytes >= self.config.reorder_bytes_max {
            0
        } else {
            let room = self.config.reorder_samples_max;
            room.saturating_sub(proxy.waiting.len())
        };
        if !self.full && room >= missing.len() {
            return missing;
        }
        let next = missing.base();
        let mut wanted = SequenceNumberSet::new(next);
        // The next in order always finds a place, and everything waits for it.
        let awaited = usize::from(missing.contains(next));
        let room = if self.full {
            0
        } else {
            room.saturating_add(awaited)
        };
        for number in missing.iter().take(room) {
            wanted.insert(number);
        }
        wanted
    }

    fn wanted_fragments(
        &self,
        now: Instant,
        proxy: &WriterProxy,
    ) -> Vec<(SequenceNumber, FragmentNumberSet)> {
        let patience = self.config.fragment_patience;
        let starved = !proxy.account.has_room(ROOM_BYTES);
        proxy
            .assemblies
            .iter()
            .filter(|(sequence, _)| !starved || proxy.awaited() == Some(**sequence))
            .filter(|(sequence, it)| proxy.has_place(**sequence, it.sample_bytes(), &self.config))
            .flat_map(|(sequence, assembly)| {
                let still_sending = now.since(assembly.arrived_at) < patience;
                let sets = assembly.missing(still_sending);
                sets.map(|set| (*sequence, set))
            })
            .take(NACK_FRAGS_MAX)
            .collect()
    }

    /// True while fragments are still arriving, so that it is too early to ask for all.
    fn has_fresh_fragments(&self, now: Instant, proxy: &WriterProxy) -> bool {
        let patience = self.config.fragment_patience;
        proxy
            .assemblies
            .values()
            .any(|assembly| now.since(assembly.arrived_at) < patience)
    }
}
