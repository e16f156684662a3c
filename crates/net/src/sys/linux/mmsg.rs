//! Datagrams in and out, many per system call by recvmmsg and sendmmsg.
//!
//! The kernel's tables are built on the stack for each call, so that nothing here refers to itself
//! or must be kept in place; for the usual eight slots that is less than a kilobyte.

use std::io::{self, IoSlice};
use std::mem::{MaybeUninit, size_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ptr;

use libc::{c_uint, c_void, socklen_t};
use socket2::{SockAddr, Socket};
use whimbrel_base::buffer::BufferMut;

use super::calls;
use crate::sys::{BATCH_MAX, RecvMeta, Wait};

/// Room for one IP_PKTINFO (32 octets) or IPV6_PKTINFO (40) and one UDP_GRO (24), aligned as
/// control messages are.
type Control = [u64; 8];

/// Receives one datagram, after what `prepare` leaves in `slab`, and learns nothing of it but where
/// it came from: the quickest way.
pub(crate) fn recv_one(
    socket: &Socket,
    (slab, prepare): (&mut BufferMut, impl Fn(&mut Vec<u8>)),
    meta: &mut RecvMeta,
    wait: Wait,
) -> io::Result<()> {
    let mut name = MaybeUninit::<libc::sockaddr_in6>::uninit();
    let mut name_len = size_of::<libc::sockaddr_in6>() as socklen_t;
    let bytes = slab.bytes();
    prepare(bytes);
    let before = bytes.len();
    let room = bytes.spare_capacity_mut();
    // SAFETY: the name and the spare capacity may be written to, and their lengths are given.
    let len = unsafe {
        calls::receive_from(
            socket,
            (room.as_mut_ptr().cast::<c_void>(), room.len()),
            flags(wait) | libc::MSG_TRUNC,
            (
                name.as_mut_ptr().cast::<libc::sockaddr>(),
                &raw mut name_len,
            ),
        )?
    };
    let truncated = len > room.len();
    let len = len.min(room.len());
    // SAFETY: the kernel wrote so many octets into the spare capacity.
    unsafe { bytes.set_len(before + len) };
    // SAFETY: the kernel wrote `name_len` octets of address into `name`.
    let source = unsafe { address(name.as_ptr(), name_len) };
    *meta = RecvMeta {
        source: source.unwrap_or(RecvMeta::EMPTY.source),
        truncated,
        ..RecvMeta::EMPTY
    };
    Ok(())
}

/// How the call is told to wait for one datagram or for none.
const fn flags(wait: Wait) -> libc::c_int {
    match wait {
        Wait::No => libc::MSG_DONTWAIT,
        Wait::ForOne => 0,
    }
}

/// Receives up to `slabs.len()` datagrams, each after what `prepare` leaves in its slab, waiting
/// for none or for the first. The first goes into the **last** slab, so that callers can pop what
/// was filled; `metas[0]` describes the first.
pub(crate) fn recv_many(
    socket: &Socket,
    (slabs, prepare): (&mut [BufferMut], impl Fn(&mut Vec<u8>)),
    metas: &mut [RecvMeta],
    wait: Wait,
) -> io::Result<usize> {
    let count = slabs.len().min(metas.len()).min(BATCH_MAX);
    let mut names = [const { MaybeUninit::<libc::sockaddr_in6>::uninit() }; BATCH_MAX];
    let mut controls = [const { MaybeUninit::<Control>::uninit() }; BATCH_MAX];
    let mut rooms = [const { MaybeUninit::<libc::iovec>::uninit() }; BATCH_MAX];
    let mut headers = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; BATCH_MAX];
    let tables = names.iter_mut().zip(&mut controls).zip(&mut rooms);
    for ((slab, header), ((name, control), room)) in slabs
        .iter_mut()
        .rev()
        .zip(&mut headers)
        .zip(tables)
        .take(count)
    {
        let bytes = slab.bytes();
        prepare(bytes);
        let spare = bytes.spare_capacity_mut();
        let room = room.write(libc::iovec {
            iov_base: spare.as_mut_ptr().cast::<c_void>(),
            iov_len: spare.len(),
        });
        let header = header.write(empty_header());
        header.msg_hdr.msg_name = name.as_mut_ptr().cast::<c_void>();
        header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_in6>() as socklen_t;
        header.msg_hdr.msg_iov = room;
        header.msg_hdr.msg_iovlen = 1;
        header.msg_hdr.msg_control = control.as_mut_ptr().cast::<c_void>();
        header.msg_hdr.msg_controllen = size_of::<Control>() as _;
    }
    // SAFETY: the first `count` headers were written above; the names, control buffers, rooms and
    // slabs to which they point live in this frame or in `slabs`, and nobody else touches them.
    let received = unsafe {
        recv_into(
            socket,
            headers.as_mut_ptr().cast::<libc::mmsghdr>(),
            count,
            wait,
        )?
    };
    for ((slab, header), meta) in slabs
        .iter_mut()
        .rev()
        .zip(&headers)
        .zip(metas)
        .take(received.min(count))
    {
        // SAFETY: `received` is at most `count`, and the first `count` headers were written.
        let header = unsafe { header.assume_init_ref() };
        let bytes = slab.bytes();
        let len = (bytes.len() + header.msg_len as usize).min(bytes.capacity());
        // SAFETY: the kernel wrote `msg_len` octets into the spare capacity of this slab, and it
        // was told that capacity.
        unsafe { bytes.set_len(len) };
        *meta = describe(&header.msg_hdr);
    }
    Ok(received)
}

/// Fills `count` messages. One alone is cheaper by recvmsg.
///
/// # Safety
/// `headers` points to `count` whole headers whose pointers may all be written to.
unsafe fn recv_into(
    socket: &Socket,
    headers: *mut libc::mmsghdr,
    count: usize,
    wait: Wait,
) -> io::Result<usize> {
    if count == 1 {
        // SAFETY: by this function's contract there is one whole header.
        let len =
            unsafe { calls::receive_message(socket, &raw mut (*headers).msg_hdr, flags(wait))? };
        // SAFETY: as above.
        unsafe { (*headers).msg_len = len as c_uint };
        return Ok(1);
    }
    let flags = match wait {
        Wait::No => libc::MSG_DONTWAIT,
        Wait::ForOne => libc::MSG_WAITFORONE,
    };
    // SAFETY: by this function's contract there are `count` whole headers.
    unsafe { calls::receive_messages(socket, (headers, count), flags) }
}

/// Sends `bytes` without waiting for room, where `to` is `None` to where the socket is connected.
pub(crate) fn send(socket: &Socket, bytes: &[u8], to: Option<&SockAddr>) -> io::Result<usize> {
    calls::send_to(socket, bytes, libc::MSG_DONTWAIT, to)
}

/// As [`send`], of `parts` as one datagram.
pub(crate) fn send_gathered(
    socket: &Socket,
    parts: &[IoSlice<'_>],
    to: Option<&SockAddr>,
) -> io::Result<usize> {
    let header = calls::header_of(to, parts);
    // SAFETY: the name and the parts to which the header points live through the call, and sending
    // only reads them.
    unsafe { calls::send_message(socket, &raw const header, libc::MSG_DONTWAIT) }
}

/// Sends `parts` as one datagram to each of up to [`BATCH_MAX`] of `to`, without waiting for room;
/// says how many were served. An error is that of the first.
pub(crate) fn send_to_many(
    socket: &Socket,
    to: &[SocketAddr],
    parts: &[IoSlice<'_>],
) -> io::Result<usize> {
    let count = to.len().min(BATCH_MAX);
    let mut names = [const { MaybeUninit::<SockAddr>::uninit() }; BATCH_MAX];
    let mut headers = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; BATCH_MAX];
    for ((to, name), header) in to.iter().zip(&mut names).zip(&mut headers).take(count) {
        let name = name.write(SockAddr::from(*to));
        header.write(empty_header()).msg_hdr = calls::header_of(Some(name), parts);
    }
    let headers = headers.as_mut_ptr().cast::<libc::mmsghdr>();
    // SAFETY: the first `count` headers were written above, the names and parts to which they
    // point live through the call, and sending only reads them.
    unsafe { calls::send_messages(socket, (headers, count), libc::MSG_DONTWAIT) }
}

fn empty_header() -> libc::mmsghdr {
    // SAFETY: all zeros is a valid `mmsghdr`: null pointers and zero lengths.
    unsafe { std::mem::zeroed() }
}

fn describe(header: &libc::msghdr) -> RecvMeta {
    let mut meta = RecvMeta {
        source: source(header).unwrap_or(RecvMeta::EMPTY.source),
        truncated: header.msg_flags & libc::MSG_TRUNC != 0,
        ..RecvMeta::EMPTY
    };
    // SAFETY: the kernel filled the control buffer that `header` points to and set its length, so
    // CMSG_FIRSTHDR and CMSG_NXTHDR walk messages that lie inside it.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header).as_ref() };
    while let Some(message) = next {
        match (message.cmsg_level, message.cmsg_type) {
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                // SAFETY: a control message of this type carries an `in_pktinfo`.
                let info: libc::in_pktinfo = unsafe { read_data(message) };
                let octets = info.ipi_addr.s_addr.to_ne_bytes();
                meta.destination = Some(IpAddr::V4(Ipv4Addr::from(octets)));
                meta.interface_index = u32::try_from(info.ipi_ifindex).ok();
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                // SAFETY: a control message of this type carries an `in6_pktinfo`.
                let info: libc::in6_pktinfo = unsafe { read_data(message) };
                let octets = info.ipi6_addr.s6_addr;
                meta.destination = Some(IpAddr::V6(Ipv6Addr::from(octets)));
                meta.interface_index = Some(info.ipi6_ifindex);
            }
            (libc::SOL_UDP, libc::UDP_GRO) => {
                // SAFETY: a control message of this type carries an `int`.
                let bytes: libc::c_int = unsafe { read_data(message) };
                meta.joined_bytes = usize::try_from(bytes).unwrap_or(0);
            }
            _ => {}
        }
        // SAFETY: as for CMSG_FIRSTHDR.
        next = unsafe { libc::CMSG_NXTHDR(header, message).as_ref() };
    }
    meta
}

/// The `T` that `message` carries.
///
/// # Safety
/// The kernel wrote `message`, and its type says that it carries a `T`.
unsafe fn read_data<T: Copy>(message: &libc::cmsghdr) -> T {
    // SAFETY: by this function's contract a whole `T` follows the header, maybe unaligned.
    unsafe { ptr::read_unaligned(libc::CMSG_DATA(message).cast::<T>()) }
}

fn source(header: &libc::msghdr) -> Option<SocketAddr> {
    // SAFETY: the kernel wrote `msg_namelen` octets of address into a `sockaddr_in6` of ours.
    unsafe {
        address(
            header.msg_name.cast::<libc::sockaddr_in6>(),
            header.msg_namelen,
        )
    }
}

/// The address at `name`.
///
/// # Safety
/// So many octets of `name` were written to.
unsafe fn address(name: *const libc::sockaddr_in6, len: socklen_t) -> Option<SocketAddr> {
    let len = len as usize;
    if len < size_of::<libc::sockaddr_in>() {
        return None;
    }
    // SAFETY: there is at least a whole `sockaddr_in` in a `sockaddr_in6`, which is aligned for
    // both.
    let v4 = unsafe { ptr::read(name.cast::<libc::sockaddr_in>()) };
    match libc::c_int::from(v4.sin_family) {
        libc::AF_INET => Some(SocketAddr::V4(SocketAddrV4::new(
            Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes()),
            u16::from_be(v4.sin_port),
        ))),
        libc::AF_INET6 if len >= size_of::<libc::sockaddr_in6>() => {
            // SAFETY: as above, with a whole `sockaddr_in6`.
            let v6 = unsafe { ptr::read(name) };
            Some(SocketAddr::V6(SocketAddrV6::new(
                Ipv6Addr::from(v6.sin6_addr.s6_addr),
                u16::from_be(v6.sin6_port),
                v6.sin6_flowinfo,
                v6.sin6_scope_id,
            )))
        }
        _ => None,
    }
}
