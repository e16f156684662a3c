//! The processor's time stamp counter.

/// True where it can be read and the kernel itself keeps time by it: then it has found that it
/// counts evenly and alike on all cores.
pub(crate) fn has_counter() -> bool {
    const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let kept_by = std::fs::read_to_string(SOURCE);
    cfg!(target_arch = "x86_64") && kept_by.is_ok_and(|it| it.trim() == "tsc")
}

/// Its value; zero on processors that are not known here.
pub(crate) fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this kind has the instruction, which reads a register and
    // touches no memory.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}
