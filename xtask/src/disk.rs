//! Whether there is room for what the tests build.

use std::path::Path;
use std::process::Command;

use crate::process;

/// What a build from an empty target folder and the runs take, in KiB.
const NEEDED_KIB: u64 = 6 << 20;

/// A warning where the disk of `folder` may be full before the tests are built; compilers and
/// linkers that find no room say everything but that.
pub(crate) fn warning(folder: &Path) -> Option<String> {
    let listed = process::output(Command::new("df").arg("-Pk").arg(folder)).ok()?;
    let free = free_kib(&listed).filter(|free| *free < NEEDED_KIB)?;
    let mib = |kib: u64| kib >> 10;
    Some(format!(
        "warning: {} MiB are free here; tests built anew take about {} MiB",
        mib(free),
        mib(NEEDED_KIB)
    ))
}

/// The fourth column of the one file system that `df -Pk` lists.
fn free_kib(listed: &str) -> Option<u64> {
    let line = listed.lines().nth(1)?;
    line.split_whitespace().nth(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_room_is_read() {
        let listed = "Filesystem     1024-blocks     Used Available Capacity Mounted on\n\
                      /dev/vda         264089844 92274688   2621440      98% /\n";
        assert_eq!(free_kib(listed), Some(2_621_440));
        assert_eq!(free_kib("Filesystem\n"), None);
        assert_eq!(free_kib("a\nb c\n"), None);
    }
}
