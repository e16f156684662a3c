//! What a run leaves behind: one HTML file, CSV, JSON with a versioned schema, and histograms.

mod csv;
mod html;
pub(crate) mod model;
pub(crate) mod plot;
mod tables;

use std::fs;
use std::io;
use std::path::Path;

use crate::failure::Failure;
use crate::measure::Spread;
use model::Report;

/// Histograms by file name.
pub(crate) type Histograms = Vec<(String, Spread)>;

/// Writes everything into `folder`. What was measured is worth more than how it looks: JSON first.
///
/// # Errors
/// The folder cannot be made or is full.
pub(crate) fn write(
    report: &Report,
    histograms: &Histograms,
    folder: &Path,
) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let folder = folder.display();
        Failure::Broke(format!("writing results to {folder}: {error}"))
    };
    let hdr = folder.join("histograms");
    fs::create_dir_all(&hdr).map_err(failed)?;
    let json = serde_json::to_string_pretty(report).map_err(|it| failed(it.into()))?;
    save(&folder.join("report.json"), format!("{json}\n").as_bytes()).map_err(failed)?;
    save(&folder.join("report.csv"), csv::text(report).as_bytes()).map_err(failed)?;
    for (name, spread) in histograms {
        let bytes = spread.to_hdr().map_err(Failure::Broke)?;
        save(&hdr.join(name), &bytes).map_err(failed)?;
    }
    for section in &report.sections {
        for (number, svg) in html::plots(section).iter().enumerate() {
            let path = folder.join(format!("{}-{}.svg", section.name, number + 1));
            save(&path, plot::file(svg).as_bytes()).map_err(failed)?;
        }
    }
    save(&folder.join("report.html"), html::text(report).as_bytes()).map_err(failed)
}

/// Whether results can be written to `folder`: better known before than after measuring.
///
/// # Errors
/// They cannot.
pub(crate) fn check(folder: &Path) -> Result<(), Failure> {
    let probe = folder.join(".probe");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&probe, b"x"))
        .and_then(|()| fs::remove_file(&probe))
        .map_err(|error| Failure::Setup(format!("results go to {}: {error}", folder.display())))
}

/// Replaces `path` as a whole: what was there stays until all is written.
fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, bytes)?;
    fs::rename(new, path)
}

#[cfg(test)]
mod tests;
