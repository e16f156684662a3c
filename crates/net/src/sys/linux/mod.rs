//! Linux: batched receive and send, epoll, eventfd, reports about interfaces.

mod calls;
mod counter;
mod epoll;
mod eventfd;
mod mmsg;
mod monotonic;
mod netlink;
mod options;
mod segments;
mod waiting;

pub(crate) use counter::{counter, has_counter};
pub(crate) use epoll::{EventBuffer, Poller};
pub(crate) use eventfd::EventFd;
pub(crate) use mmsg::{recv_many, recv_one, send, send_gathered, send_to_many};
pub(crate) use monotonic::monotonic_ns;
pub(crate) use netlink::InterfaceWatch;
pub(crate) use options::{
    datagrams_dropped, force_recv_buffer, force_send_buffer, interface_flags, interface_mtu_bytes,
    path_mtu_bytes, set_bulk_priority, set_mtu_mode, set_multicast_interface_v4, set_packet_info,
    use_precise_timers,
};
pub(crate) use segments::{receive_joined, send_segments};
pub(crate) use waiting::{CAN_WAIT, set_waiting, wait_readable, wait_writable};

/// EMSGSIZE.
pub(crate) const MESSAGE_SIZE: i32 = libc::EMSGSIZE;

/// What a source of readiness is known by.
pub(crate) type Handle<'a> = std::os::fd::BorrowedFd<'a>;

pub(crate) const NO_BUFFERS: i32 = libc::ENOBUFS;

/// Linux keeps room for its own records beside the datagrams and reports both together.
pub(crate) const BUFFER_REPORT_FACTOR: usize = 2;

/// The handle of a socket.
pub(crate) fn socket_handle(socket: &socket2::Socket) -> Handle<'_> {
    std::os::fd::AsFd::as_fd(socket)
}

/// The result of a system call that answers -1 for "see errno".
fn check(result: impl TryInto<usize>) -> std::io::Result<usize> {
    let result = result.try_into();
    result.map_err(|_| std::io::Error::last_os_error())
}

/// `span` as the kernel wants it, at most the longest it knows.
fn timespec(span: std::time::Duration) -> libc::timespec {
    // SAFETY: all zeros is a valid `timespec`; it has padding on some systems.
    let mut result: libc::timespec = unsafe { std::mem::zeroed() };
    result.tv_sec = span.as_secs().try_into().unwrap_or(libc::time_t::MAX);
    result.tv_nsec = span.subsec_nanos() as _;
    result
}
