//! Compressed payloads of writers that said that they compress.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_wire::compressed::Compressed;

use super::Reader;
use super::deliver::Incoming;

impl Reader {
    /// The change as it was written, where its writer compresses.
    pub(super) fn inflated(&mut self, mut data: Incoming) -> Result<Incoming, Reject> {
        if data.may_be_compressed()
            && let Some(plain) = self.plain_of(data.writer, &data.payload)?
        {
            self.statistics
                .count_inflated(data.payload.len(), plain.len(), 1);
            data.payload = plain;
        }
        Ok(data)
    }

    /// Makes room for what `payload` inflates to, where it says that and it may be so large.
    pub(super) fn check_inflated_room(
        &mut self,
        writer: Guid,
        sequence: SequenceNumber,
        payload: &[u8],
    ) -> Result<(), Reject> {
        let bytes = self.plain_len(writer, payload);
        if bytes == payload.len() || bytes > self.config.sample_bytes_max {
            return Ok(());
        }
        self.check_memory((writer, sequence), InstanceHandle::NIL, bytes)
    }

    /// Octets of the plain `payload`, as it says itself.
    pub(super) fn plain_len(&self, writer: Guid, payload: &[u8]) -> usize {
        match Compressed::parse(payload) {
            Ok(Some(compressed)) if self.packs(writer) => {
                usize::try_from(compressed.plain_bytes).unwrap_or(usize::MAX)
            }
            _ => payload.len(),
        }
    }

    /// What `payload` inflates to; `None` where it is plain.
    pub(super) fn plain_of(
        &mut self,
        writer: Guid,
        payload: &[u8],
    ) -> Result<Option<SharedBytes>, Reject> {
        if !self.packs(writer) {
            return Ok(None);
        }
        let Some(compressed) = Compressed::parse(payload)? else {
            return Ok(None);
        };
        let plain_bytes = usize::try_from(compressed.plain_bytes).unwrap_or(usize::MAX);
        if plain_bytes > self.config.sample_bytes_max {
            return Err(Reject::new(RejectKind::Limit, 4));
        }
        let unpacker = self.config.unpacker.as_mut();
        let unpacker = unpacker.ok_or(Reject::new(RejectKind::Codec, 2))?;
        unpacker.unpack(&compressed).map(Some)
    }

    fn packs(&self, writer: Guid) -> bool {
        let proxy = self.writers.get(&writer);
        proxy.is_some_and(|it| it.info.packs)
    }
}
