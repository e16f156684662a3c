//! One datagram to many addresses by one system call.

use std::net::SocketAddr;

use super::{UdpSocket, arranged, with_slices};
use crate::{marks, sys};

impl UdpSocket {
    /// Sends `parts`, one after the other, as one datagram to each of the first of `to`, by one
    /// system call where the platform has such, and says how many were served. What is the matter
    /// with the next shows when [`UdpSocket::send`] serves that one.
    pub fn send_to_many(&self, to: &[SocketAddr], parts: &[&[u8]]) -> usize {
        // Faults and taps are one datagram's, and whoever is connected has one address.
        if self.faults.is_some() || self.tap.is_some() || self.peer.is_some() {
            return 0;
        }
        let sent = arranged(parts, |parts| {
            with_slices(parts, |slices| {
                marks::sending(|| sys::send_to_many(&self.socket, to, slices))
            })
        });
        sent.unwrap_or(0)
    }
}
