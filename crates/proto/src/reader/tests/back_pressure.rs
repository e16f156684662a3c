//! Room for one sample at each end: what is in the reader's cache is acknowledged, what finds no
//! room there is not.

use super::lossy::{carry, join};
use super::*;

struct Wire {
    now: Instant,
    writer: Writer,
    reader: Reader,
}

impl Wire {
    fn new() -> Self {
        let mut config = WriterConfig::new(WRITER);
        config.depth = None;
        config.samples_max = 1;
        let mut wire = Self {
            now: NOW,
            writer: Writer::new(config),
            reader: reader(|config| config.cache = keep_all(1)),
        };
        join(&mut wire.writer, &mut wire.reader);
        wire.run(Duration::from_millis(50));
        wire
    }

    /// Writes `bytes` octets and carries what comes of it.
    fn write(&mut self, bytes: usize) -> Result<SequenceNumber, WriteError> {
        let change = NewChange {
            packed: crate::writer::Packed::Untried,
            kind: ChangeKind::Alive,
            instance: InstanceHandle::NIL,
            timestamp: Timestamp(1),
            payload: SharedBytes::from_vec(vec![7; bytes]).into(),
        };
        let outcome = self.writer.write(self.now, change);
        carry(self.now, &mut self.writer, &mut self.reader, || false);
        outcome
    }

    fn take(&mut self) -> Vec<i64> {
        let taken = taken(&mut self.reader);
        self.reader.handle_room(self.now);
        carry(self.now, &mut self.writer, &mut self.reader, || false);
        taken
    }

    fn run(&mut self, time: Duration) {
        let end = self.now.after(time);
        loop {
            let next = [self.writer.poll_timeout(), self.reader.poll_timeout()];
            let next = next.into_iter().flatten().map(|(at, _)| at).min();
            let at = next.map_or(end, |at| at.clamp(self.now, end));
            self.now = at;
            self.writer.handle_timeout(at);
            self.reader.handle_timeout(at);
            carry(at, &mut self.writer, &mut self.reader, || false);
            if at == end {
                return;
            }
        }
    }
}

#[test]
fn a_full_reader_acknowledges_what_it_holds_and_nothing_else() {
    for bytes in [4, 100_000] {
        let mut wire = Wire::new();
        assert_eq!(wire.write(bytes), Ok(SequenceNumber(1)));
        wire.run(Duration::from_millis(100));
        assert_eq!(wire.writer.acknowledged_through(), SequenceNumber(1));
        assert_eq!(wire.write(bytes), Ok(SequenceNumber(2)), "{bytes}");
        for _ in 0..50 {
            wire.run(Duration::from_secs(1));
            assert_eq!(wire.writer.acknowledged_through(), SequenceNumber(1));
            assert_eq!(wire.write(bytes), Err(WriteError::WouldBlock));
        }
        for number in 1..=20 {
            assert_eq!(wire.take(), [number]);
            assert_eq!(
                wire.writer.acknowledged_through(),
                SequenceNumber(number + 1)
            );
            assert_eq!(wire.write(bytes), Ok(SequenceNumber(number + 2)));
            assert_eq!(wire.write(bytes), Err(WriteError::WouldBlock));
        }
        assert_eq!(wire.writer.statistics().given_up, 0);
    }
}
