//! The system's monotonic clock.

/// Nanoseconds since some moment before this process began.
pub(crate) fn monotonic_ns() -> u64 {
    let mut time = super::timespec(std::time::Duration::ZERO);
    // SAFETY: a `timespec` that lives through the call. This clock there always is, so the call
    // cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}
