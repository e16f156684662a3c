//! What sockets are set to, and what they tell of themselves.

use std::io;
use std::net::{IpAddr, SocketAddr};

use socket2::{Domain, InterfaceIndexOrAddress, Protocol, SockAddr, Socket, Type};

use super::{OversizePolicy, UdpSocket};
use crate::interfaces::Interface;
use crate::sys;

impl UdpSocket {
    /// Joins the multicast group `group` on `interface`; joining again is no error.
    ///
    /// # Errors
    /// Not a multicast address of this socket's family, or the interface is gone or has none.
    pub fn join(&self, group: IpAddr, interface: &Interface) -> io::Result<()> {
        let result = match group {
            IpAddr::V4(group) => {
                let at = v4_interface(interface)?;
                self.socket.join_multicast_v4_n(&group, &at)
            }
            IpAddr::V6(group) => self.socket.join_multicast_v6(&group, interface.index),
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(()),
            other => other,
        }
    }

    /// Leaves the multicast group `group` on `interface`.
    ///
    /// # Errors
    /// It was not joined.
    pub fn leave(&self, group: IpAddr, interface: &Interface) -> io::Result<()> {
        match group {
            IpAddr::V4(group) => {
                let at = v4_interface(interface)?;
                self.socket.leave_multicast_v4_n(&group, &at)
            }
            IpAddr::V6(group) => self.socket.leave_multicast_v6(&group, interface.index),
        }
    }

    /// Sends multicast out of `interface` from now on.
    ///
    /// # Errors
    /// The interface is gone.
    pub fn set_multicast_interface(&self, interface: &Interface) -> io::Result<()> {
        if self.local.is_ipv6() {
            self.socket.set_multicast_if_v6(interface.index)
        } else {
            let address = interface.first_v4();
            sys::set_multicast_interface_v4(&self.socket, interface.index, address)
        }
    }

    /// Lets multicast pass at most `hops` routers and hosts: 1 stays on the local network.
    ///
    /// # Errors
    /// More than 255.
    pub fn set_multicast_hops(&self, hops: u32) -> io::Result<()> {
        if self.local.is_ipv6() {
            self.socket.set_multicast_hops_v6(hops)
        } else {
            self.socket.set_multicast_ttl_v4(hops)
        }
    }

    /// Whether sockets on this host hear the multicast that this one sends.
    ///
    /// # Errors
    /// The system refuses.
    pub fn set_multicast_loop(&self, on: bool) -> io::Result<()> {
        if self.local.is_ipv6() {
            self.socket.set_multicast_loop_v6(on)
        } else {
            self.socket.set_multicast_loop_v4(on)
        }
    }

    /// Room for received datagrams, in octets.
    ///
    /// # Errors
    /// The system refuses to tell.
    pub fn recv_buffer_bytes(&self) -> io::Result<usize> {
        Ok(self.socket.recv_buffer_size()? / sys::BUFFER_REPORT_FACTOR)
    }

    /// Room for datagrams being sent, in octets.
    ///
    /// # Errors
    /// The system refuses to tell.
    pub fn send_buffer_bytes(&self) -> io::Result<usize> {
        Ok(self.socket.send_buffer_size()? / sys::BUFFER_REPORT_FACTOR)
    }

    /// Raises the receive buffer to `wanted` octets as far as the system lets us, and returns its
    /// size now. Never shrinks it.
    ///
    /// # Errors
    /// The system refuses to tell the size.
    pub fn raise_recv_buffer(&self, wanted: usize) -> io::Result<usize> {
        if self.recv_buffer_bytes()? < wanted {
            // Refusals show in the size reported below.
            let _ = self.socket.set_recv_buffer_size(wanted);
            if self.recv_buffer_bytes()? < wanted {
                let _ = sys::force_recv_buffer(&self.socket, wanted);
            }
        }
        self.recv_buffer_bytes()
    }

    /// Raises the send buffer to `wanted` octets as far as the system lets us, and returns its
    /// size now. Never shrinks it.
    ///
    /// # Errors
    /// The system refuses to tell the size.
    pub fn raise_send_buffer(&self, wanted: usize) -> io::Result<usize> {
        if self.send_buffer_bytes()? < wanted {
            // Refusals show in the size reported below.
            let _ = self.socket.set_send_buffer_size(wanted);
            if self.send_buffer_bytes()? < wanted {
                let _ = sys::force_send_buffer(&self.socket, wanted);
            }
        }
        self.send_buffer_bytes()
    }

    /// Lets what this socket sends wait behind what others send, in the queues of this host's
    /// interfaces where they know priorities.
    ///
    /// # Errors
    /// The system refuses.
    pub fn set_bulk_priority(&self) -> io::Result<()> {
        sys::set_bulk_priority(&self.socket)
    }

    /// Chooses what happens to datagrams larger than the path allows.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] where the platform leaves no choice.
    pub fn set_oversize_policy(&self, policy: OversizePolicy) -> io::Result<()> {
        let mode = match policy {
            OversizePolicy::Fragment => sys::MtuMode::Fragment,
            OversizePolicy::System => sys::MtuMode::System,
            OversizePolicy::Refuse => sys::MtuMode::Refuse,
            OversizePolicy::Probe => sys::MtuMode::Probe,
        };
        sys::set_mtu_mode(&self.socket, self.local.is_ipv6(), mode)
    }

    /// The largest UDP payload that the system believes to reach `to` whole, in octets.
    ///
    /// # Errors
    /// There is no way to `to`, or the platform does not tell.
    pub fn path_payload_bytes(to: SocketAddr) -> io::Result<u32> {
        let socket = Socket::new(Domain::for_address(to), Type::DGRAM, Some(Protocol::UDP))?;
        socket.connect(&SockAddr::from(to))?;
        let headers = if to.is_ipv6() { 48 } else { 28 };
        let mtu = sys::path_mtu_bytes(&socket, to.is_ipv6())?;
        Ok(mtu.saturating_sub(headers))
    }

    /// How many datagrams the system dropped because nobody received them in time; `None` where
    /// it does not count.
    ///
    /// # Errors
    /// The system refuses to tell.
    pub fn datagrams_dropped(&self) -> io::Result<Option<u64>> {
        sys::datagrams_dropped(&self.socket)
    }
}

fn v4_interface(interface: &Interface) -> io::Result<InterfaceIndexOrAddress> {
    if cfg!(target_os = "linux") {
        return Ok(InterfaceIndexOrAddress::Index(interface.index));
    }
    let address = interface
        .first_v4()
        .ok_or(io::ErrorKind::AddrNotAvailable)?;
    Ok(InterfaceIndexOrAddress::Address(address))
}
