//! What every platform has: one datagram per call, readiness by looking every millisecond.
//!
//! Correct, not fast. Everything that can be waited for is a UDP socket here, also [`EventFd`],
//! which is a socket that talks to itself.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use socket2::{Domain, MaybeUninitSlice, SockAddr, Socket, Type};
use whimbrel_base::buffer::BufferMut;

use super::{InterfaceFlags, MtuMode, Ready, RecvMeta, Wait, Watch};

/// What a source of readiness is known by.
pub(crate) type Handle<'a> = &'a Socket;

/// ENOBUFS as this system numbers it.
pub(crate) const NO_BUFFERS: i32 = if cfg!(windows) {
    10_055
} else if cfg!(target_os = "linux") {
    105
} else {
    55
};

/// Linux reports buffers with its own records included, other systems do not.
pub(crate) const BUFFER_REPORT_FACTOR: usize = if cfg!(target_os = "linux") { 2 } else { 1 };

/// How often waiting looks around.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The handle of a socket.
pub(crate) fn socket_handle(socket: &Socket) -> Handle<'_> {
    socket
}

/// Destination and interface of received datagrams stay unknown here.
pub(crate) fn set_packet_info(_socket: &Socket, _v6: bool, _on: bool) -> io::Result<()> {
    Ok(())
}

/// No choice here.
pub(crate) fn use_precise_timers() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No way past the system's limit here.
pub(crate) fn force_recv_buffer(_socket: &Socket, _bytes: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No way past the system's limit here.
pub(crate) fn force_send_buffer(_socket: &Socket, _bytes: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Only the system's own way is known here.
pub(crate) fn set_mtu_mode(_socket: &Socket, _v6: bool, mode: MtuMode) -> io::Result<()> {
    if mode == MtuMode::System {
        Ok(())
    } else {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Sends multicast out of the interface with this address; the index is for other systems.
pub(crate) fn set_multicast_interface_v4(
    socket: &Socket,
    _index: u32,
    address: Option<Ipv4Addr>,
) -> io::Result<()> {
    let address = address.ok_or(io::ErrorKind::AddrNotAvailable)?;
    socket.set_multicast_if_v4(&address)
}

/// Not known here.
pub(crate) fn datagrams_dropped(_socket: &Socket) -> io::Result<Option<u64>> {
    Ok(None)
}

/// EMSGSIZE as this system numbers it.
pub(crate) const MESSAGE_SIZE: i32 = if cfg!(windows) {
    10_040
} else if cfg!(target_os = "linux") {
    90
} else {
    40
};

/// Not known here.
pub(crate) fn interface_mtu_bytes(_name: &str) -> Option<u32> {
    None
}

/// Not known here.
pub(crate) fn path_mtu_bytes(_connected: &Socket, _v6: bool) -> io::Result<u32> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Datagrams leave one by one here.
pub(crate) fn send_segments(
    _socket: &Socket,
    _to: Option<&SockAddr>,
    _bytes: &[u8],
    _segment_bytes: u16,
) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// They arrive one by one, too.
pub(crate) fn receive_joined(_socket: &Socket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No priorities here.
pub(crate) fn set_bulk_priority(_socket: &Socket) -> io::Result<()> {
    Ok(())
}

/// Nobody tells here.
#[derive(Debug)]
pub(crate) struct InterfaceWatch {
    nothing: Socket,
}

impl InterfaceWatch {
    pub(crate) fn open() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn handle(&self) -> Handle<'_> {
        &self.nothing
    }

    pub(crate) fn drain(&self) -> bool {
        false
    }
}

/// Not known here.
pub(crate) fn interface_flags(_name: &str) -> Option<InterfaceFlags> {
    None
}

/// Receives up to `slabs.len()` datagrams without waiting. The first goes into the **last** slab,
/// so that callers can pop what was filled; `metas[0]` describes the first.
pub(crate) fn recv_many(
    socket: &Socket,
    (slabs, prepare): (&mut [BufferMut], impl Fn(&mut Vec<u8>)),
    metas: &mut [RecvMeta],
    wait: Wait,
) -> io::Result<usize> {
    let mut received = 0;
    for (slab, meta) in slabs.iter_mut().rev().zip(metas) {
        match recv_one(socket, (slab, &prepare), meta, wait) {
            Ok(()) => {}
            Err(error) if received == 0 => return Err(error),
            Err(_) => break,
        }
        received += 1;
    }
    Ok(received)
}

/// Receives one datagram, after what `prepare` leaves in `slab`, without waiting.
pub(crate) fn recv_one(
    socket: &Socket,
    (slab, prepare): (&mut BufferMut, impl Fn(&mut Vec<u8>)),
    meta: &mut RecvMeta,
    wait: Wait,
) -> io::Result<()> {
    if wait == Wait::ForOne {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let bytes = slab.bytes();
    prepare(bytes);
    let before = bytes.len();
    let mut rooms = [MaybeUninitSlice::new(bytes.spare_capacity_mut())];
    let (len, flags, source) = socket.recv_from_vectored(&mut rooms)?;
    // SAFETY: the system wrote `len` octets into the spare capacity of this slab, and it was told
    // that capacity.
    unsafe { bytes.set_len((before + len).min(bytes.capacity())) };
    *meta = RecvMeta {
        source: source.as_socket().unwrap_or(RecvMeta::EMPTY.source),
        truncated: flags.is_truncated(),
        ..RecvMeta::EMPTY
    };
    Ok(())
}

/// Sockets never block here, as calls cannot be told not to.
pub(crate) const CAN_WAIT: bool = false;

/// Makes a new socket one that never blocks.
pub(crate) fn set_waiting(socket: &Socket) -> io::Result<()> {
    socket.set_nonblocking(true)
}

/// No way to do that here.
pub(crate) fn wait_readable(_socket: &Socket, _timeout: Duration) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Room may have come after a millisecond.
pub(crate) fn wait_writable(_socket: &Socket, timeout: Duration) -> io::Result<bool> {
    std::thread::sleep(timeout.min(Duration::from_millis(1)));
    Ok(true)
}

/// Sends `bytes` without waiting for room, where `to` is `None` to where the socket is connected.
pub(crate) fn send(socket: &Socket, bytes: &[u8], to: Option<&SockAddr>) -> io::Result<usize> {
    match to {
        Some(to) => socket.send_to(bytes, to),
        None => socket.send(bytes),
    }
}

/// As [`send`], of `parts` as one datagram.
pub(crate) fn send_gathered(
    socket: &Socket,
    parts: &[IoSlice<'_>],
    to: Option<&SockAddr>,
) -> io::Result<usize> {
    match to {
        Some(to) => socket.send_to_vectored(parts, to),
        None => socket.send_vectored(parts),
    }
}

/// There is no such call.
pub(crate) fn send_to_many(
    _socket: &Socket,
    _to: &[SocketAddr],
    _parts: &[IoSlice<'_>],
) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Readable from [`EventFd::notify`] to [`EventFd::drain`].
#[derive(Debug)]
pub(crate) struct EventFd {
    socket: Socket,
}

impl EventFd {
    pub(crate) fn new() -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
        // Connected to itself, it hears nobody else.
        socket.connect(&socket.local_addr()?)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket })
    }

    pub(crate) fn handle(&self) -> Handle<'_> {
        &self.socket
    }

    /// Makes it readable, again where it already is. A full socket is readable anyway.
    pub(crate) fn notify(&self) {
        let _ = self.socket.send(&[1]);
    }

    /// Makes it unreadable.
    pub(crate) fn drain(&self) {
        let mut room = [MaybeUninit::uninit(); 8];
        while self.socket.recv(&mut room).is_ok() {}
    }

    /// Waits until it is readable; false after `timeout`.
    pub(crate) fn wait(&self, timeout: Option<Duration>) -> io::Result<bool> {
        Ok(look_until(timeout, || is_readable(&self.socket)))
    }
}

/// Room for the answers of one wait.
pub(crate) struct EventBuffer {
    ready: Vec<Ready>,
    capacity: usize,
}

impl EventBuffer {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let capacity = capacity.clamp(1, 1024);
        Self {
            ready: Vec::with_capacity(capacity),
            capacity,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ready.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Ready> + '_ {
        self.ready.iter().copied()
    }
}

#[derive(Debug)]
enum Source {
    Socket(Socket),
    Waker(Arc<EventFd>),
}

/// A list of sockets to look at.
#[derive(Debug)]
pub(crate) struct Poller {
    sources: Mutex<Vec<(Watch, Source)>>,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            sources: Mutex::new(Vec::new()),
        })
    }

    pub(crate) fn add(&self, source: Handle<'_>, watch: Watch) -> io::Result<()> {
        let source = Source::Socket(source.try_clone()?);
        self.lock().push((watch, source));
        Ok(())
    }

    pub(crate) fn change(&self, _source: Handle<'_>, watch: Watch) -> io::Result<()> {
        let mut sources = self.lock();
        let known = sources
            .iter_mut()
            .find(|(known, _)| known.token == watch.token);
        known.ok_or(io::ErrorKind::NotFound)?.0 = watch;
        Ok(())
    }

    pub(crate) fn add_waker(&self, waker: &Arc<EventFd>, token: u64) -> io::Result<()> {
        let watch = Watch {
            token,
            readable: true,
            writable: false,
            edge: true,
        };
        self.lock().push((watch, Source::Waker(Arc::clone(waker))));
        Ok(())
    }

    pub(crate) fn remove(&self, _source: Handle<'_>, token: u64) -> io::Result<()> {
        let mut sources = self.lock();
        let known = sources.iter().position(|(watch, _)| watch.token == token);
        sources.swap_remove(known.ok_or(io::ErrorKind::NotFound)?);
        Ok(())
    }

    pub(crate) fn wait(
        &self,
        timeout: Option<Duration>,
        events: &mut EventBuffer,
    ) -> io::Result<usize> {
        look_until(timeout, || {
            events.ready.clear();
            let sources = self.lock();
            let ready = sources
                .iter()
                .filter_map(|(watch, source)| look(*watch, source));
            events.ready.extend(ready.take(events.capacity));
            !events.ready.is_empty()
        });
        Ok(events.len())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Watch, Source)>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn look(watch: Watch, source: &Source) -> Option<Ready> {
    let readable = match source {
        Source::Socket(socket) => watch.readable && is_readable(socket),
        Source::Waker(waker) => {
            let rung = is_readable(&waker.socket);
            waker.drain();
            rung
        }
    };
    (readable || watch.writable).then_some(Ready {
        token: watch.token,
        readable,
        writable: watch.writable,
    })
}

/// Errors count as readable: reading finds them.
fn is_readable(socket: &Socket) -> bool {
    let mut room = [MaybeUninit::uninit(); 1];
    match socket.peek(&mut room) {
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        Ok(_) => true,
    }
}

fn look_until(timeout: Option<Duration>, mut found: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    loop {
        if found() {
            return true;
        }
        let left = match timeout {
            Some(limit) => limit.saturating_sub(started.elapsed()),
            None => LOOK_EVERY,
        };
        if left.is_zero() {
            return false;
        }
        std::thread::sleep(left.min(LOOK_EVERY));
    }
}

/// Nanoseconds since some moment of this process.
pub(crate) fn monotonic_ns() -> u64 {
    static ORIGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let origin = *ORIGIN.get_or_init(Instant::now);
    u64::try_from(origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// No counter of the processor is known here.
pub(crate) fn has_counter() -> bool {
    false
}

/// Nothing that counts.
pub(crate) fn counter() -> u64 {
    0
}
