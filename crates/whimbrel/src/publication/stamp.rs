//! When something is written.

use whimbrel_base::time::{Instant, Timestamp};

use crate::driver::clock;

/// When something is written.
#[derive(Clone, Copy)]
pub(super) struct Stamp {
    /// When the program says that it was, or the clock.
    pub(super) source: Timestamp,
    /// When it is, by the wall clock.
    pub(super) now: Timestamp,
    /// The program says so.
    pub(super) is_dated: bool,
}

impl Stamp {
    #[inline(never)]
    pub(super) fn now() -> Self {
        Self::by_clock(clock::wall())
    }

    /// Now, and what the monotonic clock says.
    #[inline(always)]
    pub(super) fn with_start() -> (Self, Option<Instant>) {
        let (began, now) = clock::both();
        (Self::by_clock(now), Some(began))
    }

    /// As the program says.
    pub(super) fn of(source: Timestamp) -> Self {
        Self {
            source,
            now: clock::wall(),
            is_dated: true,
        }
    }

    /// At `now`, as the wall clock shows.
    fn by_clock(now: Timestamp) -> Self {
        Self {
            source: now,
            now,
            is_dated: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use whimbrel_proto::change::ChangeKind;

    use super::*;
    use crate::domain::InProcess;
    use crate::{DataReaderQos, DataWriterQos, DdsType, DomainParticipant};

    const PATIENCE: Duration = Duration::from_secs(20);

    #[derive(DdsType, Clone, Debug, PartialEq)]
    struct Tick {
        #[dds(key)]
        number: u32,
    }

    /// Of two threads one reads the clock first and writes last, a change of each kind, to readers
    /// reached in this way.
    fn check(how: InProcess) {
        let builder = DomainParticipant::builder(78)
            .interfaces("lo")
            .in_process(how);
        let tag = format!("stamps {how:?} {}", std::process::id());
        let participant = builder.domain_tag(&tag).build().unwrap();
        let topic = participant.create_topic::<Tick>("ticks").unwrap();
        let qos = DataWriterQos::default().reliable().keep_all();
        let writer = participant.create_datawriter(&topic, qos).unwrap();
        let qos = DataReaderQos::default().reliable().keep_all();
        let reader = participant.create_datareader(&topic, qos).unwrap();
        writer.wait_for_matched(1, PATIENCE).unwrap();
        reader.wait_for_matched(1, PATIENCE).unwrap();
        // The stamp of what is written so, in nanoseconds.
        let put = |kind, number, ns: i64, is_dated| {
            let at = Timestamp(ns);
            let stamp = Stamp {
                source: at,
                now: at,
                is_dated,
            };
            let written = writer.put((kind, &Tick { number }), Some(stamp), || Some(PATIENCE));
            written.unwrap();
            writer.wait_for_acknowledgments(PATIENCE).unwrap();
            let samples = reader.take(usize::MAX).unwrap();
            assert_eq!(samples.len(), 1, "{how:?}, {kind:?}");
            samples[0].info().source_timestamp.0
        };
        // Stamps travel in units of 2^-32 s.
        let check = |found: i64, expected: i64| assert!(found.abs_diff(expected) < 2, "{how:?}");
        let now = clock::wall().0;
        check(put(ChangeKind::Alive, 0, now, false), now);
        let late = [
            (ChangeKind::Alive, 1, 500),
            (ChangeKind::Disposed, 0, 1000),
            (ChangeKind::Unregistered, 1, 700),
        ];
        for (kind, number, ns) in late {
            let write = || put(kind, number, now - ns, false);
            let found = thread::scope(|scope| scope.spawn(write).join().unwrap());
            check(found, now);
        }
        let dated = now - 1_000_000;
        check(put(ChangeKind::Alive, 2, dated, true), dated);
        let later = now + 10_000;
        check(put(ChangeKind::Alive, 2, later, false), later);
    }

    #[test]
    fn stamps_of_a_writer_do_not_go_back_whichever_thread_writes() {
        check(InProcess::Direct);
        check(InProcess::Off);
    }
}
