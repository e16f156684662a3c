//! What must have arrived, told from what was written and who was matched when.
//!
//! The model never looks into the machines. It keeps each writer's log and what each reader's
//! application took, and finds
//!
//! - always: octets, kinds and instances other than written; repeats; going backwards within an
//!   instance; acknowledgements of what has not arrived;
//! - at the end, per pair of reliable endpoints: with KEEP_ALL every sample written after both
//!   sides were matched, with KEEP_LAST the last ones of each instance, with TRANSIENT_LOCAL on
//!   both sides history too; and the state of each instance;
//! - at the end, per pair without losses on the way: every sample, best effort or not.

mod authors;

use std::collections::{BTreeMap, BTreeSet};

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sample::InstanceState;
use whimbrel_base::time::Timestamp;
use whimbrel_proto::cache::CachedSample;
use whimbrel_proto::change::ChangeKind;

use crate::payload;

/// Findings kept; the first ones tell the most.
const FINDINGS_MAX: usize = 20;

/// One life of a writer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WriterId(pub usize);

/// One life of a reader.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ReaderId(pub usize);

/// What the model knows of a writer.
#[derive(Clone, Copy, Debug)]
pub struct WriterFacts {
    /// Who it is.
    pub guid: Guid,
    /// RELIABILITY.
    pub reliable: bool,
    /// DURABILITY TRANSIENT_LOCAL.
    pub durable: bool,
    /// HISTORY depth; `None` for KEEP_ALL.
    pub depth: Option<usize>,
    /// RESOURCE_LIMITS may take history from late joiners.
    pub limited: bool,
}

/// What the model knows of a reader.
#[derive(Clone, Copy, Debug)]
pub struct ReaderFacts {
    /// Who it is.
    pub guid: Guid,
    /// RELIABILITY.
    pub reliable: bool,
    /// DURABILITY TRANSIENT_LOCAL.
    pub durable: bool,
    /// HISTORY depth; `None` for KEEP_ALL.
    pub depth: Option<usize>,
    /// RESOURCE_LIMITS may have it drop best-effort samples.
    pub limited: bool,
    /// Its application takes samples as soon as they are there.
    pub prompt: bool,
}

/// One entry of a writer's log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    /// What happened.
    pub kind: ChangeKind,
    /// To which instance; `None` in topics without key.
    pub key: Option<u32>,
    /// Octets of the sample.
    pub bytes: usize,
    /// When.
    pub timestamp: Timestamp,
}

#[derive(Debug)]
struct WriterLog {
    facts: WriterFacts,
    log: Vec<Written>,
}

#[derive(Debug)]
struct ReaderLog {
    facts: ReaderFacts,
    gone: bool,
    states: BTreeMap<InstanceHandle, InstanceState>,
}

#[derive(Debug, Default)]
struct Pair {
    writer_knows: bool,
    reader_knows: bool,
    /// The writer's last number when both sides had been matched.
    since: Option<usize>,
    /// The writer's last number when it last took the reader for lost.
    forgotten: Option<usize>,
    given_up: bool,
    verified: usize,
    received: BTreeSet<usize>,
    newest: BTreeMap<Option<u32>, usize>,
}

/// The reference model.
#[derive(Debug, Default)]
pub struct Model {
    writers: Vec<WriterLog>,
    readers: Vec<ReaderLog>,
    pairs: BTreeMap<(WriterId, ReaderId), Pair>,
    findings: Vec<String>,
    /// Data may arrive other than it was written: only faults count.
    lenient: bool,
}

impl Model {
    /// A model that knows nobody; a `lenient` one counts faults only, where datagrams may arrive
    /// damaged in ways that nobody can tell.
    pub fn new(lenient: bool) -> Self {
        Self {
            lenient,
            ..Self::default()
        }
    }

    /// A writer begins.
    pub fn add_writer(&mut self, facts: WriterFacts) -> WriterId {
        self.writers.push(WriterLog {
            facts,
            log: Vec::new(),
        });
        WriterId(self.writers.len() - 1)
    }

    /// A reader begins.
    pub fn add_reader(&mut self, facts: ReaderFacts) -> ReaderId {
        self.readers.push(ReaderLog {
            facts,
            gone: false,
            states: BTreeMap::new(),
        });
        ReaderId(self.readers.len() - 1)
    }

    /// A reader ends: nothing is expected of it any more.
    pub fn remove_reader(&mut self, reader: ReaderId) {
        self.readers[reader.0].gone = true;
    }

    /// A writer has written; returns the number that the change must have got.
    pub fn wrote(&mut self, writer: WriterId, written: Written) -> usize {
        let log = &mut self.writers[writer.0].log;
        log.push(written);
        log.len()
    }

    /// How many changes `writer` has written.
    pub fn written(&self, writer: WriterId) -> usize {
        self.writers[writer.0].log.len()
    }

    /// How many octets `writer` has written, with `overhead` more for each change.
    pub fn written_bytes(&self, writer: WriterId, overhead: u64) -> u64 {
        let log = &self.writers[writer.0].log;
        log.iter()
            .map(|written| written.bytes as u64 + overhead)
            .sum()
    }

    /// The writer's side of a match begins or ends.
    pub fn writer_knows(&mut self, writer: WriterId, reader: ReaderId, knows: bool) {
        let last = self.written(writer);
        let pair = self.pairs.entry((writer, reader)).or_default();
        if pair.writer_knows && !knows {
            pair.forgotten = Some(last);
        }
        pair.writer_knows = knows;
        pair.given_up &= knows;
        pair.update(last);
    }

    /// The reader's side of a match begins or ends. With each beginning the reader may be given
    /// history again.
    pub fn reader_knows(&mut self, writer: WriterId, reader: ReaderId, knows: bool) {
        let last = self.written(writer);
        let pair = self.pairs.entry((writer, reader)).or_default();
        if knows && !pair.reader_knows {
            pair.received.clear();
            pair.newest.clear();
        }
        pair.reader_knows = knows;
        pair.update(last);
    }

    /// Which pairs have ever been matched, and whether their writers and their readers know of it.
    pub fn known(&self) -> BTreeMap<(WriterId, ReaderId), (bool, bool)> {
        let sides = |pair: &Pair| (pair.writer_knows, pair.reader_knows);
        self.pairs
            .iter()
            .map(|(ids, pair)| (*ids, sides(pair)))
            .collect()
    }

    /// Who the two of a pair are.
    pub fn guids(&self, (writer, reader): (WriterId, ReaderId)) -> (Guid, Guid) {
        let (writer, reader) = (&self.writers[writer.0], &self.readers[reader.0]);
        (writer.facts.guid, reader.facts.guid)
    }

    /// Every pair that has ever been matched under the names of this one: a process that starts
    /// again with its name is another one to the model, not to those who knew the first.
    pub fn namesakes(&self, ids: (WriterId, ReaderId)) -> Vec<(WriterId, ReaderId)> {
        let names = self.guids(ids);
        let same = |pair: &&(WriterId, ReaderId)| self.guids(**pair) == names;
        self.pairs.keys().filter(same).copied().collect()
    }

    /// The writer no longer waits for a reader that makes no progress: it may miss anything.
    pub fn gave_up(&mut self, writer: WriterId, reader: ReaderId) {
        self.pairs.entry((writer, reader)).or_default().given_up = true;
    }

    /// Something was found by others than the model.
    pub fn finding(&mut self, text: String) {
        if !self.lenient {
            self.fault(text);
        }
    }

    /// Something was found that must not happen whatever arrives.
    pub fn fault(&mut self, text: String) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(text);
        }
    }

    /// Everything found so far, at most the first 20.
    pub fn findings(&self) -> &[String] {
        &self.findings
    }

    /// A reader's application took a sample of `writer`.
    pub fn took(&mut self, reader: ReaderId, writer: WriterId, sample: &CachedSample) {
        let info = &sample.info;
        self.readers[reader.0]
            .states
            .insert(info.instance_handle, info.instance_state);
        if !info.valid_data {
            return;
        }
        let number = usize::try_from(sample.sequence.0).unwrap_or(0);
        let writer = self.author(writer, number, sample);
        if let Err(what) = self.compare(writer, number, sample) {
            self.finding(format!(
                "{reader:?} got number {number} of {writer:?} {what}"
            ));
            return;
        }
        let key = self.writers[writer.0].log[number - 1].key;
        let pair = self.pairs.entry((writer, reader)).or_default();
        let newest = pair.newest.insert(key, number).unwrap_or(0);
        let backwards = newest > number;
        if !pair.received.insert(number) {
            self.finding(format!(
                "{reader:?} got number {number} of {writer:?} twice"
            ));
        } else if backwards {
            self.finding(format!(
                "{reader:?} got number {number} of {writer:?} after {newest}"
            ));
        }
    }

    /// A writer says that everything up to `last` is acknowledged.
    pub fn acknowledged(&mut self, writer: WriterId, last: usize) {
        let Self {
            writers,
            readers,
            pairs,
            ..
        } = self;
        let log = &writers[writer.0];
        let mut early = Vec::new();
        for ((_, reader), pair) in
            pairs.range_mut((writer, ReaderId(0))..=(writer, ReaderId(usize::MAX)))
        {
            let facts = readers[reader.0].facts;
            let (true, Some(since)) = (facts.reliable && facts.depth.is_none(), pair.since) else {
                continue;
            };
            let exempt = readers[reader.0].gone || !facts.prompt || pair.given_up;
            if exempt || log.facts.depth.is_some() {
                continue;
            }
            let from = pair.verified.max(since);
            for number in from + 1..=last {
                let alive = log.log[number - 1].kind == ChangeKind::Alive;
                if alive && !pair.received.contains(&number) {
                    early.push(format!(
                        "{writer:?} takes number {number} for acknowledged by {reader:?}, \
                         which has not got it"
                    ));
                    break;
                }
            }
            pair.verified = from.max(last);
        }
        early.into_iter().for_each(|text| self.finding(text));
    }

    /// Everything is healed and quiet: compares what arrived with what must have. `lossless` says
    /// that the network delivered everything in order.
    pub fn finish(&mut self, lossless: bool) {
        let mut found = Vec::new();
        for ((writer, reader), pair) in &self.pairs {
            if self.readers[reader.0].gone {
                continue;
            }
            let missing = self.missing(*writer, *reader, pair, lossless);
            if !missing.is_empty() {
                let shown = &missing[..missing.len().min(8)];
                found.push(format!(
                    "{reader:?} misses {} samples of {writer:?}: {shown:?}; matched since {:?}",
                    missing.len(),
                    pair.since
                ));
            }
            found.extend(self.wrong_states(*writer, *reader, pair));
        }
        found.into_iter().for_each(|text| self.finding(text));
    }

    fn missing(
        &self,
        writer: WriterId,
        reader: ReaderId,
        pair: &Pair,
        lossless: bool,
    ) -> Vec<usize> {
        let (wrote, reads) = (self.writers[writer.0].facts, self.readers[reader.0].facts);
        let reliable = wrote.reliable && reads.reliable;
        let (Some(since), false) = (pair.since, pair.given_up) else {
            return Vec::new();
        };
        if !reliable && (!lossless || reads.limited) {
            return Vec::new();
        }
        let history = reliable && wrote.durable && reads.durable && !wrote.limited;
        let log = &self.writers[writer.0].log;
        let depth = if reliable { wrote.depth } else { None };
        let mut required = Vec::new();
        for (key, numbers) in by_instance(log) {
            let kept = last_of(&numbers, depth);
            let promised: Vec<usize> = kept
                .iter()
                .copied()
                .filter(|number| {
                    *number > since || (history && !is_deleted(log, &numbers, *number))
                })
                .filter(|number| log[number - 1].kind == ChangeKind::Alive)
                .collect();
            if reads.depth.is_none() || self.is_sole_writer(writer, key) {
                required.extend(last_of(&promised, reads.depth));
            }
        }
        required.retain(|number| !pair.received.contains(number));
        required.sort_unstable();
        required
    }

    /// True when no other writer has ever written to the instance.
    fn is_sole_writer(&self, writer: WriterId, key: Option<u32>) -> bool {
        self.writers.iter().enumerate().all(|(index, other)| {
            index == writer.0 || other.log.iter().all(|written| written.key != key)
        })
    }

    fn wrong_states(&self, writer: WriterId, reader: ReaderId, pair: &Pair) -> Vec<String> {
        let (wrote, reads) = (self.writers[writer.0].facts, self.readers[reader.0].facts);
        let log = &self.writers[writer.0].log;
        let mut wrong = Vec::new();
        if !wrote.reliable || !reads.reliable || pair.given_up {
            return wrong;
        }
        let history = wrote.durable && reads.durable && !wrote.limited;
        for (key, numbers) in by_instance(log) {
            let (Some(key), Some(last)) = (key, numbers.last()) else {
                continue;
            };
            if !self.is_sole_writer(writer, Some(key)) {
                continue;
            }
            let seen = self.readers[reader.0]
                .states
                .get(&payload::instance(key))
                .copied();
            let mut told = |expected: &str| {
                let text = format!("{reader:?} holds instance {key} of {writer:?} for");
                wrong.push(format!("{text} {seen:?}, expected {expected}"));
            };
            match pair.since {
                None if !pair.reader_knows && seen == Some(InstanceState::Alive) => {
                    told("not alive, because its writer is gone");
                }
                Some(since) if *last > since || (history && !is_deleted(log, &numbers, *last)) => {
                    let expected = final_state(log, &numbers);
                    let unregistered = log[last - 1].kind == ChangeKind::Unregistered;
                    // Nobody promises unregistrations to who was lost when they were made.
                    let away = *last <= since && pair.forgotten.is_some_and(|it| *last > it);
                    let unheard = unregistered
                        && (seen.is_none() || (away && seen == Some(InstanceState::Alive)));
                    // HISTORY may have given up the sample that brought it back to life.
                    let still_disposed = unregistered
                        && wrote.depth.is_some()
                        && seen == Some(InstanceState::NotAliveDisposed);
                    if seen != Some(expected) && !unheard && !still_disposed {
                        told(&format!("{expected:?}"));
                    }
                }
                _ => {}
            }
        }
        wrong
    }
}

impl Pair {
    fn update(&mut self, last: usize) {
        match (self.writer_knows && self.reader_knows, self.since) {
            (true, None) => self.since = Some(last),
            (false, Some(_)) => self.since = None,
            _ => {}
        }
    }
}

fn by_instance(log: &[Written]) -> BTreeMap<Option<u32>, Vec<usize>> {
    let mut instances: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (index, written) in log.iter().enumerate() {
        instances.entry(written.key).or_default().push(index + 1);
    }
    instances
}

fn last_of(numbers: &[usize], depth: Option<usize>) -> &[usize] {
    let first = depth.map_or(0, |depth| numbers.len().saturating_sub(depth));
    &numbers[first..]
}

/// True when the instance was disposed and unregistered with or after `number`, so that the
/// writer need not keep it for late joiners.
fn is_deleted(log: &[Written], numbers: &[usize], number: usize) -> bool {
    let mut disposed = false;
    numbers.iter().any(|at| {
        let kind = log[at - 1].kind;
        disposed = kind.disposes() || (disposed && kind != ChangeKind::Alive);
        *at >= number && disposed && kind.unregisters()
    })
}

fn final_state(log: &[Written], numbers: &[usize]) -> InstanceState {
    numbers
        .iter()
        .fold(InstanceState::Alive, |state, at| match log[at - 1].kind {
            ChangeKind::Alive => InstanceState::Alive,
            ChangeKind::Disposed | ChangeKind::DisposedUnregistered => {
                InstanceState::NotAliveDisposed
            }
            ChangeKind::Unregistered if state == InstanceState::NotAliveDisposed => state,
            ChangeKind::Unregistered => InstanceState::NotAliveNoWriters,
        })
}

#[cfg(test)]
mod tests;
