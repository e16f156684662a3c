//! Socket options and interface flags that socket2 does not know.

use std::io;
use std::mem::size_of;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

use libc::{c_int, c_void, socklen_t};
use socket2::Socket;

use super::check;
use crate::sys::{InterfaceFlags, MtuMode};

/// Whether the destination address and the interface of every received datagram are told.
pub(crate) fn set_packet_info(socket: &Socket, v6: bool, on: bool) -> io::Result<()> {
    let (level, name) = if v6 {
        (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO)
    } else {
        (libc::IPPROTO_IP, libc::IP_PKTINFO)
    };
    set_int(socket, level, name, c_int::from(on))
}

/// Sets the receive buffer beyond the system's limit; only privileged processes may.
pub(crate) fn force_recv_buffer(socket: &Socket, bytes: usize) -> io::Result<()> {
    let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX / 2);
    set_int(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, bytes)
}

/// Sets the send buffer beyond the system's limit; only privileged processes may.
pub(crate) fn force_send_buffer(socket: &Socket, bytes: usize) -> io::Result<()> {
    let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX / 2);
    set_int(socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, bytes)
}

/// Lets what this socket sends wait behind everything else in this host's queues.
pub(crate) fn set_bulk_priority(socket: &Socket) -> io::Result<()> {
    // linux/pkt_sched.h: TC_PRIO_BULK.
    const BULK: c_int = 2;
    set_int(socket, libc::SOL_SOCKET, libc::SO_PRIORITY, BULK)
}

/// Chooses what happens to datagrams larger than the path allows.
pub(crate) fn set_mtu_mode(socket: &Socket, v6: bool, mode: MtuMode) -> io::Result<()> {
    let value = match mode {
        MtuMode::Fragment => libc::IP_PMTUDISC_DONT,
        MtuMode::System => libc::IP_PMTUDISC_WANT,
        MtuMode::Refuse => libc::IP_PMTUDISC_DO,
        MtuMode::Probe => libc::IP_PMTUDISC_PROBE,
    };
    let (level, name) = if v6 {
        (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER)
    } else {
        (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER)
    };
    set_int(socket, level, name, value)
}

/// Sends multicast out of the interface with this index; the address is for other systems.
pub(crate) fn set_multicast_interface_v4(
    socket: &Socket,
    index: u32,
    _address: Option<Ipv4Addr>,
) -> io::Result<()> {
    let index = c_int::try_from(index).map_err(|_| io::ErrorKind::InvalidInput)?;
    let request = libc::ip_mreqn {
        imr_multiaddr: libc::in_addr { s_addr: 0 },
        imr_address: libc::in_addr { s_addr: 0 },
        imr_ifindex: index,
    };
    // SAFETY: `request` is a plain C struct that lives through the call, and its size is given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_MULTICAST_IF,
            (&raw const request).cast::<c_void>(),
            size_of::<libc::ip_mreqn>() as socklen_t,
        )
    };
    check(result).map(|_| ())
}

/// How many datagrams the system has dropped because this socket's receive buffer was full.
pub(crate) fn datagrams_dropped(socket: &Socket) -> io::Result<Option<u64>> {
    // linux/sock_diag.h: SK_MEMINFO_DROPS is the last of SK_MEMINFO_VARS words.
    const SO_MEMINFO: c_int = 55;
    const WORDS: usize = 9;
    const DROPS: usize = 8;
    if cfg!(any(
        target_arch = "sparc",
        target_arch = "sparc64",
        target_arch = "hexagon"
    )) {
        return Ok(None);
    }
    let mut words = [0_u32; WORDS];
    let mut len = size_of::<[u32; WORDS]>() as socklen_t;
    // SAFETY: `words` has room for the `len` octets stated, and both live through the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_MEMINFO,
            words.as_mut_ptr().cast::<c_void>(),
            &raw mut len,
        )
    };
    check(result)?;
    let known = len as usize == size_of::<[u32; WORDS]>();
    Ok(known.then_some(u64::from(words[DROPS])))
}

/// The flags of the interface called `name`; `None` where the system does not tell.
pub(crate) fn interface_flags(name: &str) -> Option<InterfaceFlags> {
    let answer = ask_about(name, libc::SIOCGIFFLAGS as _)?;
    // SAFETY: SIOCGIFFLAGS succeeded, so this is the member of the union that was written.
    let flags = c_int::from(unsafe { answer.ifr_ifru.ifru_flags });
    let is_up = flags & libc::IFF_UP != 0 && flags & libc::IFF_RUNNING != 0;
    Some(InterfaceFlags {
        is_up,
        is_loopback: flags & libc::IFF_LOOPBACK != 0,
        is_multicast: flags & libc::IFF_MULTICAST != 0,
    })
}

/// The largest IP packet on the link of the interface called `name`, in octets; `None` where the
/// system does not tell.
pub(crate) fn interface_mtu_bytes(name: &str) -> Option<u32> {
    let answer = ask_about(name, libc::SIOCGIFMTU as _)?;
    // SAFETY: SIOCGIFMTU succeeded, so this is the member of the union that was written.
    u32::try_from(unsafe { answer.ifr_ifru.ifru_mtu }).ok()
}

/// One of the requests of netdevice(7) that only ask about an interface.
fn ask_about(name: &str, what: libc::Ioctl) -> Option<libc::ifreq> {
    let any = Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)
        .or_else(|_| Socket::new(socket2::Domain::IPV6, socket2::Type::DGRAM, None))
        .ok()?;
    // SAFETY: all zeros is a valid `ifreq`: a union of plain integers and addresses.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return None;
    }
    for (place, octet) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = octet as libc::c_char;
    }
    // SAFETY: `request` is an `ifreq` with a terminated name, as these requests want it.
    check(unsafe { libc::ioctl(any.as_raw_fd(), what, &raw mut request) }).ok()?;
    Some(request)
}

/// What the system knows of the largest IP packet that reaches the address to which `connected`
/// is connected, in octets.
pub(crate) fn path_mtu_bytes(connected: &Socket, v6: bool) -> io::Result<u32> {
    let (level, name) = if v6 {
        (libc::IPPROTO_IPV6, libc::IPV6_MTU)
    } else {
        (libc::IPPROTO_IP, libc::IP_MTU)
    };
    let mut value: c_int = 0;
    let mut len = size_of::<c_int>() as socklen_t;
    // SAFETY: `value` has room for the `len` octets stated, and both live through the call.
    let result = unsafe {
        libc::getsockopt(
            connected.as_raw_fd(),
            level,
            name,
            (&raw mut value).cast::<c_void>(),
            &raw mut len,
        )
    };
    check(result)?;
    u32::try_from(value).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Lets this thread's waits end as exactly as the timers allow.
pub(crate) fn use_precise_timers() -> io::Result<()> {
    // SAFETY: no pointers; one nanosecond is the least slack there is.
    check(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) }).map(|_| ())
}

pub(super) fn set_int(socket: &Socket, level: c_int, name: c_int, value: c_int) -> io::Result<()> {
    // SAFETY: `value` lives through the call and its size is given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast::<c_void>(),
            size_of::<c_int>() as socklen_t,
        )
    };
    check(result).map(|_| ())
}
