//! Reports of the kernel about interfaces and addresses.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, c_void, socklen_t};

use super::{Handle, check};

/// Reports are not read, only noticed: a truncated one counts as well.
const REPORT_BYTES: usize = 256;

/// Reports taken at a time; what is left makes the socket readable again.
const REPORTS_MAX: usize = 4096;

/// A routing socket that hears of links and addresses. rtnetlink(7)
#[derive(Debug)]
pub(crate) struct InterfaceWatch {
    fd: OwnedFd,
}

impl InterfaceWatch {
    pub(crate) fn open() -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no pointers.
        let fd = check(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) })?;
        // SAFETY: the call succeeded, so this is an open descriptor that nobody else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(fd as c_int) };
        let groups = libc::RTMGRP_LINK | libc::RTMGRP_IPV4_IFADDR | libc::RTMGRP_IPV6_IFADDR;
        // SAFETY: all zeros is a valid `sockaddr_nl`: a plain C struct of integers.
        let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
        address.nl_family = libc::AF_NETLINK as libc::sa_family_t;
        address.nl_groups = groups as u32;
        // SAFETY: `address` is a netlink address that lives through the call; its size is given.
        check(unsafe {
            libc::bind(
                fd.as_raw_fd(),
                (&raw const address).cast::<libc::sockaddr>(),
                size_of::<libc::sockaddr_nl>() as socklen_t,
            )
        })?;
        Ok(Self { fd })
    }

    pub(crate) fn handle(&self) -> Handle<'_> {
        self.fd.as_fd()
    }

    /// Takes what is there; true when there was anything. Reports that found no room (ENOBUFS)
    /// are a report too.
    pub(crate) fn drain(&self) -> bool {
        let mut any = false;
        let mut room = [0_u8; REPORT_BYTES];
        for _ in 0..REPORTS_MAX {
            // SAFETY: `room` has the octets stated and lives through the call.
            let result = check(unsafe {
                libc::recv(
                    self.fd.as_raw_fd(),
                    room.as_mut_ptr().cast::<c_void>(),
                    room.len(),
                    0,
                )
            });
            match result {
                Ok(_) => any = true,
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => any = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        any
    }
}
