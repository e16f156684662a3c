//! How much may be held of what is not in the cache yet, and what gives way.
//!
//! When the limit is met the first sample that is still arriving goes on, however large, so that
//! one after the other is completed. All others share the limit: each writer may always hold its
//! part of it, so that one that never completes anything keeps no other out.

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::status::SampleRejectedKind;
use whimbrel_base::time::Instant;

use super::assembly::Assembly;
use super::config::ReaderConfig;
use super::writer_proxy::{ARRIVAL_BYTES, WriterProxy};
use super::{Reader, ReaderEvent};

impl Reader {
    /// Makes room in the budget for `bytes` octets of what is `wanted`, or refuses them; once in a
    /// row that is told. To the next in order of a writer what came early of it gives way: it is
    /// asked for again, and everything waits for the former.
    pub(super) fn check_memory(
        &mut self,
        (writer, sequence): (Guid, SequenceNumber),
        instance: InstanceHandle,
        bytes: usize,
    ) -> Result<(), Reject> {
        let needed = arrival_bytes(&self.config, bytes);
        let proxy = self.proxy(writer)?;
        let is_awaited = proxy.awaited() == Some(sequence);
        if is_awaited {
            proxy.give_way(sequence, needed);
        }
        if proxy.account.has_room(needed) {
            self.starved &= !is_awaited;
            return Ok(());
        }
        proxy.refused = true;
        self.statistics.rejected = self.statistics.rejected.saturating_add(1);
        if !core::mem::replace(&mut self.starved, true) {
            let reason = SampleRejectedKind::ByMemoryLimit;
            self.report(ReaderEvent::SampleRejected { reason, instance });
        }
        Err(Reject::new(RejectKind::Limit, 0))
    }

    /// Makes room for `more` octets of the half-received sample `wanted`.
    ///
    /// # Errors
    /// `Limit` where the writer holds its part already and nothing after `wanted`.
    pub(super) fn make_reassembly_room(
        &mut self,
        now: Instant,
        wanted: (Guid, SequenceNumber),
        more: usize,
    ) -> Result<(), Reject> {
        let max = self.config.reassembly_bytes_max;
        if self.reassembly_bytes().saturating_add(more) <= max {
            return Ok(());
        }
        let favoured = self.first_arriving(now).filter(|first| *first < wanted);
        let favoured = favoured.unwrap_or(wanted);
        if let Some(assembly) = self.assembly_mut(favoured) {
            assembly.keep_largest();
        }
        if favoured == wanted {
            return Ok(());
        }
        let sharing = self
            .writers
            .values()
            .filter(|proxy| held_beside(proxy, favoured) > 0 || proxy.info.guid == wanted.0)
            .count();
        let share = max.checked_div(sharing).unwrap_or(max);
        let own = self
            .writers
            .get(&wanted.0)
            .map_or(0, |proxy| held_beside(proxy, favoured));
        let modest = own.saturating_add(more) <= share;
        while self.shared_bytes(favoured).saturating_add(more) > max {
            let victim = if modest {
                self.last_of_greatest(favoured, wanted)
            } else {
                self.last_of(wanted.0, favoured)
                    .filter(|sequence| *sequence > wanted.1)
                    .map(|sequence| (wanted.0, sequence))
            };
            let (guid, sequence) = victim.ok_or(Reject::new(RejectKind::Limit, 0))?;
            if let Some(proxy) = self.writers.get_mut(&guid) {
                proxy.assemblies.remove(&sequence);
                proxy.settle();
            }
        }
        Ok(())
    }

    /// The first sample of which fragments arrived lately.
    fn first_arriving(&self, now: Instant) -> Option<(Guid, SequenceNumber)> {
        let patience = self.config.reassembly_patience;
        self.writers.iter().find_map(|(guid, proxy)| {
            let fresh = |it: &(&SequenceNumber, &Assembly)| it.1.arrived_at.after(patience) > now;
            let (sequence, _) = proxy.assemblies.iter().find(fresh)?;
            Some((*guid, *sequence))
        })
    }

    fn assembly_mut(&mut self, of: (Guid, SequenceNumber)) -> Option<&mut Assembly> {
        self.writers.get_mut(&of.0)?.assemblies.get_mut(&of.1)
    }

    /// The last half-received sample of `writer` besides the favoured one.
    fn last_of(&self, writer: Guid, favoured: (Guid, SequenceNumber)) -> Option<SequenceNumber> {
        let sequences = self.writers.get(&writer)?.assemblies.keys().rev().copied();
        sequences
            .into_iter()
            .find(|sequence| (writer, *sequence) != favoured)
    }

    /// The last half-received sample of the writer that holds most of what is shared.
    fn last_of_greatest(
        &self,
        favoured: (Guid, SequenceNumber),
        wanted: (Guid, SequenceNumber),
    ) -> Option<(Guid, SequenceNumber)> {
        let others = self.writers.iter().filter(|(guid, _)| **guid != wanted.0);
        let (guid, _) = others.max_by_key(|(_, proxy)| held_beside(proxy, favoured))?;
        Some((*guid, self.last_of(*guid, favoured)?))
    }

    /// Octets held by half-received samples besides the favoured one.
    fn shared_bytes(&self, favoured: (Guid, SequenceNumber)) -> usize {
        let held = self
            .writers
            .values()
            .map(|proxy| held_beside(proxy, favoured));
        held.fold(0, usize::saturating_add)
    }

    /// Octets held by half-received samples.
    pub fn reassembly_bytes(&self) -> usize {
        self.writers
            .values()
            .flat_map(|proxy| proxy.assemblies.values())
            .fold(0, |sum, assembly| {
                sum.saturating_add(assembly.memory_bytes())
            })
    }
}

/// What a change with `bytes` octets of payload may take, wherever it goes.
pub(super) fn arrival_bytes(config: &ReaderConfig, bytes: usize) -> usize {
    // The cache may keep a copy to tell the key.
    let copied = config.keys.is_some() && bytes <= config.cache.key_source_bytes_max;
    let twice = bytes.saturating_mul(if copied { 2 } else { 1 });
    twice.saturating_add(ARRIVAL_BYTES)
}

/// Octets held by half-received samples of a writer besides the favoured one.
fn held_beside(proxy: &WriterProxy, favoured: (Guid, SequenceNumber)) -> usize {
    let guid = proxy.info.guid;
    proxy
        .assemblies
        .iter()
        .filter(|(sequence, _)| (guid, **sequence) != favoured)
        .fold(0, |sum, (_, it)| sum.saturating_add(it.memory_bytes()))
}
