//! Samples that come in fragments.

use whimbrel_base::buffer::BufferMut;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::time::Instant;

use super::Reader;
use super::assembly::Assembly;
use super::deliver::{Incoming, IncomingFragments};
use super::line::Line;
use super::reassembly::FragmentRun;
use super::room::arrival_bytes;
use super::writer_proxy::WriterProxy;

impl Reader {
    /// Fragments of a matched writer. RTPS 2.5 §8.3.8.3. False where nothing follows from them yet:
    /// no message, no event, no other deadline.
    ///
    /// # Errors
    /// Refuses strangers, numbers seen before, impossible fragments and what goes over the limits.
    pub fn handle_data_frag(
        &mut self,
        now: Instant,
        fragments: IncomingFragments<'_>,
    ) -> Result<bool, Reject> {
        let IncomingFragments { mut change, run } = fragments;
        let quick = self.put_together(now, &change, &run);
        let is_quick = quick.is_some();
        let whole = quick.unwrap_or_else(|| self.put_aside(now, &change, &run))?;
        let Some(whole) = whole else {
            return Ok(!is_quick);
        };
        change.payload = self.spares.share(now, whole);
        self.handle_data(now, change)?;
        Ok(true)
    }

    /// Adds fragments of the sample that is the next in order of a reliable writer of which nothing
    /// else waits, where there is room, with one look at all that is touched; the sample once it is
    /// whole. `None` where it is another or there is no room, and nothing was changed then.
    fn put_together(
        &mut self,
        now: Instant,
        change: &Incoming,
        run: &FragmentRun<'_>,
    ) -> Option<Result<Option<BufferMut>, Reject>> {
        let sequence = change.sequence;
        let held = self.reassembly_bytes().saturating_add(run.bytes.len());
        let config = &self.config;
        let proxy = self.writers.get_mut(&change.writer)?;
        let begun = proxy.assemblies.contains_key(&sequence);
        let fits = config.reliable
            && proxy.is_awaiting(sequence)
            && (begun || proxy.assemblies.len() < config.reassembly_samples_max)
            && held <= config.reassembly_bytes_max
            && proxy
                .account
                .has_room(arrival_bytes(config, run.bytes.len()));
        if !fits {
            return None;
        }
        self.starved = false;
        let inserted = match proxy.assemblies.get_mut(&sequence) {
            Some(assembly) => assembly.insert(now, run),
            None => {
                let bytes = usize::try_from(run.sample_bytes).unwrap_or(usize::MAX);
                let mut assembly = Assembly::new(config.sample_bytes_max, self.spares.take(bytes));
                let inserted = assembly.insert(now, run);
                if inserted == Ok(None) {
                    proxy.assemblies.insert(sequence, assembly);
                }
                inserted
            }
        };
        if let Ok(whole) = &inserted {
            proxy.last = proxy.last.max(sequence);
            if whole.is_some() {
                proxy.assemblies.remove(&sequence);
            }
            proxy.settle();
        }
        Some(inserted)
    }

    /// Adds fragments of any sample; the sample once it is whole.
    pub(super) fn put_aside(
        &mut self,
        now: Instant,
        change: &Incoming,
        run: &FragmentRun<'_>,
    ) -> Result<Option<BufferMut>, Reject> {
        let sequence = change.sequence;
        let (bytes_max, samples_max) = (
            self.config.sample_bytes_max,
            self.config.reassembly_samples_max,
        );
        let reliable = self.is_reliable_with(change.writer)?;
        self.check_number(change.writer, sequence, Line::Changes)?;
        // Complete it would find no place, and all of it would be sent again.
        let sample_bytes = usize::try_from(run.sample_bytes).unwrap_or(usize::MAX);
        let has_place = |it: &WriterProxy| it.has_place(sequence, sample_bytes, &self.config);
        if reliable && !self.writers.get(&change.writer).is_some_and(has_place) {
            return Err(Reject::new(RejectKind::Limit, 0));
        }
        let wanted = (change.writer, sequence);
        self.check_memory(wanted, InstanceHandle::NIL, run.bytes.len())?;
        self.make_reassembly_room(now, wanted, run.bytes.len())?;
        let begun = |it: &WriterProxy| it.assemblies.contains_key(&sequence);
        let buffer = match self.writers.get(&change.writer).is_some_and(begun) {
            true => BufferMut::default(),
            false => self.spares.take(sample_bytes),
        };
        let proxy = self.proxy(change.writer)?;
        let whole = match proxy.assemblies.get_mut(&sequence) {
            Some(assembly) => assembly.insert(now, run)?,
            None => {
                let mut assembly = Assembly::new(bytes_max, buffer);
                let whole = assembly.insert(now, run)?;
                proxy.make_assembly_room(sequence, reliable, samples_max)?;
                proxy.assemblies.insert(sequence, assembly);
                whole
            }
        };
        proxy.last = proxy.last.max(sequence);
        if whole.is_some() {
            proxy.assemblies.remove(&sequence);
        }
        proxy.settle();
        Ok(whole)
    }
}
