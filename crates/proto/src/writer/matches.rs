//! Readers that come, move and go.

use whimbrel_base::guid::{EntityId, Guid};
use whimbrel_base::sequence::{FragmentNumber, SequenceNumber};
use whimbrel_base::time::Instant;

use super::Writer;
use super::pace::Pace;
use super::reader_proxy::ReaderProxy;
use crate::change::ChangeKind;
use crate::peer::MatchedReader;

/// Paths that carry messages of so many octets are within a host.
pub(super) const LOCAL_MESSAGE_BYTES_MIN: usize = 32 * 1024;

impl Writer {
    /// Serves `reader` from now on. A reader known already is updated.
    pub fn handle_matched(&mut self, now: Instant, mut reader: MatchedReader) {
        if self.batches.is_some() {
            // A group would hear both what is for those who take batches and what is for others.
            reader.group = None;
        }
        self.unseal();
        let guid = reader.guid;
        let packed = reader.packed || self.forms.packed;
        self.give_credit(&reader);
        if let Some(known) = self.readers.get_mut(&guid) {
            let old = core::mem::replace(&mut known.info, reader);
            if !known.aside {
                self.audience.add(&known.info);
                self.audience.remove(&old);
            }
            self.survey();
        } else {
            self.audience.add(&reader);
            let history = self.config.durable && reader.durable;
            let first = if history {
                self.history.first()
            } else {
                self.history.last().next()
            };
            let pace = Pace::new(
                self.config.bytes_per_second_max,
                self.window_bytes(&reader),
                reader.is_prompt(),
            );
            let pace = pace.beginning_with(self.first_window_bytes(&reader));
            let new_since = self.nothing_reached_before(&reader);
            let mut reader = ReaderProxy::new(now, reader, first, pace);
            reader.new_since = new_since;
            reader.heartbeat_due = self.owes(&reader);
            if reader.heartbeat_due {
                self.heartbeats_due.push(guid);
            }
            self.audience.join(self.config.reliable, &reader);
            self.heartbeat.reconsider = true;
            self.readers.insert(guid, reader);
        }
        if packed {
            self.choose_forms();
        }
        self.repairs.touch(guid);
        self.shrink_fragments();
        self.note_batch_readers();
        self.update_acknowledged();
        self.arm_heartbeat(now);
    }

    /// Before which change nothing can have reached `reader`: what is sent to others of its
    /// participant reaches it too, and what is sent to a group whoever is in it.
    fn nothing_reached_before(&self, reader: &MatchedReader) -> SequenceNumber {
        if reader.group.is_some() {
            return SequenceNumber::ZERO;
        }
        let of = |octet| Guid::new(reader.guid.prefix, EntityId([octet; 4]));
        let beside = self.readers.range(of(0)..=of(0xff));
        let beside = beside.map(|it| it.new_since).min();
        beside.unwrap_or(self.history.last())
    }

    /// Octets of fragments that may be on their way to `reader`: what its sockets hold, unless a
    /// network lies between that may hold less.
    fn window_bytes(&self, reader: &MatchedReader) -> u64 {
        let usual = self.config.burst_bytes;
        let held = u64::from(reader.receive_buffer_bytes);
        if reader.message_bytes_max < LOCAL_MESSAGE_BYTES_MIN || held == 0 {
            return usual;
        }
        // Half is for others that send to the same sockets, where that leaves enough.
        let shared = (held / 2).min(self.config.local_burst_bytes_max);
        shared.max(usual.min(held))
    }

    /// As [`Writer::window_bytes`], before anything is known of what becomes of them: not more than
    /// any socket holds, where this one is not said to hold a window even as systems count it.
    fn first_window_bytes(&self, reader: &MatchedReader) -> u64 {
        let window = self.window_bytes(reader);
        if u64::from(reader.receive_buffer_bytes) / 2 >= window {
            return window;
        }
        window.min(self.config.first_burst_bytes)
    }

    /// Asks `reader`, where it is reliable, for an acknowledgement at the next transmission.
    pub fn ask(&mut self, reader: Guid) {
        if self.has_news() {
            self.answer(reader);
        }
    }

    /// Tells `reader`, where it is reliable, at the next transmission what there is, be it nothing.
    pub fn answer(&mut self, reader: Guid) {
        let Some(known) = self.readers.get_mut(&reader) else {
            return;
        };
        if !core::mem::replace(&mut known.heartbeat_due, true) {
            self.heartbeats_due.push(reader);
        }
    }

    /// Sends what `reader` has not acknowledged without waiting to be asked for it.
    pub fn serve(&mut self, now: Instant, reader: Guid) {
        let Some(proxy) = self.readers.get_mut(&reader) else {
            return;
        };
        let mut from = proxy.first_relevant.max(proxy.acked.next());
        while let Some(change) = self.history.next_from(from) {
            if change.sequence > self.pushed || !proxy.info.reliable {
                break;
            }
            proxy.request_whole(change.sequence);
            proxy.repair_at = Some(now);
            from = change.sequence.next();
        }
        self.repairs.touch(reader);
    }

    /// Divides what is kept anew where fragments are larger than the way to some reader carries.
    fn shrink_fragments(&mut self) {
        let (data, keys) = (
            self.fragment_bytes(ChangeKind::Alive),
            self.fragment_bytes(ChangeKind::Disposed),
        );
        let bytes = |kind| {
            if kind == ChangeKind::Alive {
                data
            } else {
                keys
            }
        };
        if !self.history.shrink_fragments(bytes) {
            return;
        }
        // Numbers of fragments mean something else now.
        self.push_next = FragmentNumber::FIRST;
        for reader in self.readers.values_mut() {
            reader.restart_requests();
        }
    }

    /// Forgets `reader`, which is gone for good or is `lost` and may come back with what it knew:
    /// then it hears of instances that ended meanwhile, as long as they are remembered
    /// ([`super::WriterConfig::disposed_instances_max`]).
    pub fn handle_unmatched(&mut self, now: Instant, reader: Guid, lost: bool) {
        if let Some(gone) = self.readers.remove(&reader) {
            if lost && gone.info.reliable {
                self.endings.remember_after(self.ends_known_by(&gone));
            }
            self.unseal();
            self.credit.leave(reader);
            if gone.aside {
                self.aside = self.aside.saturating_sub(1);
            } else {
                self.audience.remove(&gone.info);
            }
            self.heartbeats_due.retain(|due| *due != reader);
            self.repairs.touch(reader);
            self.survey();
            if self.forms.packed {
                self.choose_forms();
            }
            self.note_batch_readers();
            self.update_acknowledged();
            self.arm_heartbeat(now);
            self.progress = true;
        }
    }

    /// Notes what the readers have in common after one came, went or changed.
    pub(super) fn survey(&mut self) {
        let reliable = self.config.reliable;
        self.audience.survey(reliable, self.readers.values());
        self.heartbeat.reconsider = true;
    }
}
