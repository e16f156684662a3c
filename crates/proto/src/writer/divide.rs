//! Which readers get changes compressed.
//!
//! Where all take that, or none does, everything leaves to all of them in one form. Else the
//! addresses are divided: those at which somebody takes plain changes only get these, since what is
//! sent there reaches everybody there and a second form would be octets in addition. The readers
//! at the others, which must be reliable, stand apart: compressed changes that fit a message are
//! pushed to them as ever, larger ones reach them as repairs do, each reader at its own pace, so
//! that numbers of fragments mean one thing to one reader.

use alloc::vec::Vec;

use whimbrel_base::guid::EntityId;
use whimbrel_base::locator::Locator;
use whimbrel_base::sequence::{FragmentNumber, SequenceNumber};
use whimbrel_base::sorted::SortedSet;
use whimbrel_base::time::Instant;

use super::Writer;
use super::change::Form;
use super::forms::Forms;
use super::reader_proxy::ReaderProxy;
use crate::message::MessageBuilder;
use crate::outbox::Outbox;

impl Writer {
    /// Chooses the form in which each reader gets changes, after one came, moved or went.
    pub(super) fn choose_forms(&mut self) {
        let served = self.readers.values().filter(|it| !it.aside);
        let count = served.clone().count();
        let taking = served.filter(|it| it.info.packed).count();
        let all = taking > 0 && taking == count;
        let plain = if all {
            SortedSet::new()
        } else {
            self.plain_addresses()
        };
        let mut changed = false;
        for reader in self.readers.values_mut().filter(|it| !it.aside) {
            let reliable = self.config.reliable && reader.info.reliable;
            let apart = !all && reliable && takes_apart(reader, &plain);
            let form = if all || apart {
                Form::Packed
            } else {
                Form::Plain
            };
            if (reader.form, reader.apart) != (form, apart) {
                (reader.form, reader.apart) = (form, apart);
                reader.restart_requests();
                changed = true;
            }
        }
        if changed {
            // Numbers of fragments mean something else now.
            self.push_next = FragmentNumber::FIRST;
        }
        let everywhere = self.audience.destinations().iter().copied();
        let (plain, apart): (Vec<_>, Vec<_>) = everywhere.partition(|it| plain.contains(it));
        let divided = !all && !apart.is_empty() && taking > 0;
        self.forms = Forms {
            packed: self.readers.values().any(|it| it.info.packed),
            wanted: taking > 0,
            all,
            divided: divided.then_some((plain, apart)),
        };
    }

    /// Where somebody must get plain changes, and with it everybody who listens there.
    fn plain_addresses(&self) -> SortedSet<Locator> {
        let mut plain = SortedSet::new();
        loop {
            let before = plain.len();
            for reader in self.readers.values().filter(|it| !it.aside) {
                let reliable = self.config.reliable && reader.info.reliable;
                if !(reliable && takes_apart(reader, &plain)) {
                    plain.extend(reader.info.push_to().iter().copied());
                }
            }
            if plain.len() == before {
                return plain;
            }
        }
    }

    /// Sends a change of one message in both forms, each to those who want it.
    #[inline(never)]
    pub(super) fn push_both(
        &mut self,
        message: &mut MessageBuilder,
        sequence: SequenceNumber,
        outbox: &mut impl Outbox,
    ) {
        let Some(change) = self.history.get(sequence) else {
            return;
        };
        let Some((plain, apart)) = self.forms.divided(change) else {
            return;
        };
        let inline_qos = self.audience.wants_inline_qos();
        let ids = (EntityId::UNKNOWN, self.config.guid.entity);
        message.flush(self.audience.destinations(), outbox);
        for (form, to) in [(Form::Packed, apart), (Form::Plain, plain)] {
            message.timestamp(change.timestamp);
            message.data(ids, change, form, inline_qos);
            message.flush(to, outbox);
        }
    }

    /// Has the readers that stand apart get a large change for themselves.
    pub(super) fn serve_apart(&mut self, now: Instant, sequence: SequenceNumber) {
        let mut served = Vec::new();
        for (guid, reader) in self.readers.iter_mut().filter(|(_, it)| it.apart) {
            if reader.may_ask_for(sequence) {
                reader.request_whole(sequence);
                reader.repair_at.get_or_insert(now);
                served.push(*guid);
            }
        }
        served.into_iter().for_each(|guid| self.repairs.touch(guid));
    }
}

/// True when nobody who listens where the reader does needs plain changes.
fn takes_apart(reader: &ReaderProxy, plain: &SortedSet<Locator>) -> bool {
    let shared = |locator: &Locator| plain.contains(locator);
    reader.info.packed && !reader.info.push_to().iter().any(shared)
}
