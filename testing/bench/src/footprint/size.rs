//! The size of a program with its product's libraries, all stripped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Libraries that belong to a product; all others come with the system.
const PRODUCT_LIBRARIES: [&str; 3] = ["libddsc", "libfastrtps", "libfastcdr"];

/// Stripped size in KiB.
///
/// # Errors
/// `ldd` or `strip` is missing, or cannot read it.
pub(super) fn kib(program: &Path) -> Result<f64, String> {
    let needed = run(Command::new("ldd").arg(program))?;
    let mut bytes = stripped(program)?;
    for library in libraries(&needed) {
        bytes += stripped(&library)?;
    }
    Ok(bytes as f64 / 1024.0)
}

/// The product's libraries in what `ldd` says: lines `NAME => PATH (ADDRESS)`.
fn libraries(needed: &str) -> Vec<PathBuf> {
    let path = |line: &str| {
        let (name, rest) = line.trim().split_once(" => ")?;
        let file = name.rsplit('/').next()?;
        let ours = PRODUCT_LIBRARIES.iter().any(|it| file.starts_with(it));
        ours.then(|| PathBuf::from(rest.split(" (").next().unwrap_or(rest)))
    };
    needed.lines().filter_map(path).collect()
}

/// Has `program` and its product's libraries read from the disk anew: how much is mapped around a
/// page that is used also depends on how a file came into memory, as one that was just written.
///
/// # Errors
/// `ldd`, `sync` or `dd` is missing, or cannot read it.
pub(super) fn forget(program: &Path) -> Result<(), String> {
    let needed = run(Command::new("ldd").arg(program))?;
    for file in libraries(&needed).into_iter().chain([program.into()]) {
        run(Command::new("sync").arg(&file))?;
        let file = format!("if={}", file.display());
        run(Command::new("dd").args([&file, "iflag=nocache", "count=0", "status=none"]))?;
    }
    Ok(())
}

fn stripped(program: &Path) -> Result<u64, String> {
    let copy = std::env::temp_dir().join(format!("whimbrel-bench-stripped-{}", std::process::id()));
    run(Command::new("strip").arg("-o").arg(&copy).arg(program))?;
    let length = fs::metadata(&copy).map(|it| it.len());
    // Whatever is left there is overwritten by the next.
    let _ = fs::remove_file(&copy);
    length.map_err(|error| format!("{}: {error}", copy.display()))
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}", why.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_products_own_libraries_count() {
        let needed = "\tlinux-vdso.so.1 (0x1)\n\
                      \tlibfastrtps.so.2.9 => /lib/libfastrtps.so.2.9 (0x2)\n\
                      \t/a/libddsc-12.so.11 => /a/libddsc-12.so.11 (0x3)\n\
                      \tlibc.so.6 => /lib/libc.so.6 (0x4)\n";
        let wanted = ["/lib/libfastrtps.so.2.9", "/a/libddsc-12.so.11"];
        assert_eq!(libraries(needed), wanted.map(PathBuf::from));
    }

    #[test]
    fn what_is_no_program_is_an_error() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(kib(&file).is_err());
    }
}
