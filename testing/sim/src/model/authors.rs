//! Who wrote what was taken, and whether it is what was written.

use super::*;

impl Model {
    /// Which life of `writer` wrote `sample`: what a former one wrote may have lain in the reader
    /// until now.
    pub(super) fn author(
        &self,
        writer: WriterId,
        number: usize,
        sample: &CachedSample,
    ) -> WriterId {
        let guid = self.writers[writer.0].facts.guid;
        let lives = (0..self.writers.len()).map(WriterId).rev();
        lives
            .filter(|it| self.writers[it.0].facts.guid == guid)
            .find(|it| self.compare(*it, number, sample).is_ok())
            .unwrap_or(writer)
    }

    /// Whether `sample` is what `writer` wrote as its `number`th.
    pub(super) fn compare(
        &self,
        writer: WriterId,
        number: usize,
        sample: &CachedSample,
    ) -> Result<(), &'static str> {
        let log = &self.writers[writer.0].log;
        let written = number.checked_sub(1).and_then(|index| log.get(index));
        let written = written.ok_or("that was never written")?;
        let instance = written.key.map_or(InstanceHandle::NIL, payload::instance);
        let (seconds, fraction) = written.timestamp.to_wire();
        let expected = payload::sample(writer.0 as u64, number as u64, written.key, written.bytes);
        if written.kind != ChangeKind::Alive {
            Err("as a sample but it was none")
        } else if sample.info.instance_handle != instance {
            Err("in the wrong instance")
        } else if sample.info.source_timestamp != Timestamp::from_wire(seconds, fraction) {
            Err("with another timestamp")
        } else if !is_padded(&sample.payload, &expected) {
            Err("with other octets")
        } else {
            Ok(())
        }
    }
}

/// True when `arrived` is `written` with at most what aligns a submessage after it.
fn is_padded(arrived: &[u8], written: &[u8]) -> bool {
    arrived.len() <= written.len().next_multiple_of(4)
        && arrived
            .strip_prefix(written)
            .is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
}
