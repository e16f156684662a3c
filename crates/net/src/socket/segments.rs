//! Datagrams of one size to one destination, by one call.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use super::{SendOutcome, UdpSocket, placing, try_send};
use crate::sys;

impl UdpSocket {
    /// Sends `bytes` as datagrams of `segment_bytes` each, the last of what is left, where the
    /// system can by one call. Says how many octets have left, which may be less than all.
    ///
    /// # Errors
    /// As of [`UdpSocket::send`], where nothing has left.
    pub fn send_segments(
        &self,
        to: SocketAddr,
        bytes: &[u8],
        segment_bytes: u16,
    ) -> io::Result<SendOutcome> {
        let apart = self.faults.is_some() || self.tap.is_some();
        let alone = bytes.len() <= usize::from(segment_bytes);
        if !apart && !alone && !self.segments_refused.load(Ordering::Relaxed) {
            match self.send_segments_once(to, bytes, segment_bytes) {
                // What is wrong with one of them shows when they leave one by one.
                Ok(SendOutcome::TooLarge) => {}
                Err(error) => {
                    let unknown = error.kind() != io::ErrorKind::InvalidInput;
                    self.segments_refused.store(unknown, Ordering::Relaxed);
                }
                done => return done,
            }
        }
        let mut sent = 0;
        for segment in bytes.chunks(usize::from(segment_bytes).max(1)) {
            match self.send(to, &[segment]) {
                Ok(SendOutcome::Sent(_)) => sent += segment.len(),
                other if sent == 0 => return other,
                _ => break,
            }
        }
        Ok(SendOutcome::Sent(sent))
    }

    fn send_segments_once(
        &self,
        to: SocketAddr,
        bytes: &[u8],
        segment_bytes: u16,
    ) -> io::Result<SendOutcome> {
        let name = self.name_of(to);
        let send = |bytes: &[u8]| {
            try_send(|| sys::send_segments(&self.socket, name.as_ref(), bytes, segment_bytes))
        };
        if placing::is_read_quickly(&[bytes]) {
            send(bytes)
        } else {
            placing::with_copy(&[bytes], send)
        }
    }

    /// Has datagrams of one size that arrive together received by one call, where the system can.
    ///
    /// # Errors
    /// The system cannot.
    pub fn receive_joined(&self) -> io::Result<()> {
        sys::receive_joined(&self.socket)?;
        self.joining.set_in_force();
        Ok(())
    }

    /// As [`UdpSocket::receive_joined`] once several large datagrams have come together or had
    /// waited ([`crate::socket::RecvBatch::note_waited`]), each no larger than the one before it:
    /// until then the system need not tell which came joined, which it does by a slower call (by
    /// 0.2 µs a datagram, on the machine where it was tried).
    pub fn receive_joined_once_useful(&self) {
        self.joining.want_once_useful();
    }

    /// Datagrams came that could have come joined.
    #[cold]
    pub(super) fn join_if_wanted(&self) {
        if self.joining.is_wanted() && self.receive_joined().is_err() {
            self.joining.give_up();
        }
    }
}
