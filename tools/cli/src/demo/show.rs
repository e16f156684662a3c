//! What the demo shows while it runs, and what it says at the end.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::log::Log;
use super::message::{Latency, Read, Smaller, Written};
use super::plan::{FAST_LINES_MAX, steady_lines};
use crate::failure::Failure;
use crate::output::{Output, Style, clean, count_of};

/// Time between rows of the table.
const ROW_PERIOD: Duration = Duration::from_millis(500);

/// The demo on the screen.
pub(super) struct Show<'a> {
    output: &'a mut Output,
    log: &'a Log,
    bad_network: bool,
    started: Instant,
    bar: ProgressBar,
    row_at: Instant,
    row_lines: u64,
    written: Written,
}

impl<'a> Show<'a> {
    pub(super) fn new(
        output: &'a mut Output,
        log: &'a Log,
        bad_network: bool,
        time: Duration,
    ) -> Self {
        let length = steady_lines(time) + FAST_LINES_MAX.max(log.len() as u64);
        let target = if output.json {
            ProgressDrawTarget::hidden()
        } else {
            // Hidden by itself where there is no terminal.
            ProgressDrawTarget::stdout()
        };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        if let Ok(style) = ProgressStyle::with_template("  {bar:50} {pos}/{len} lines") {
            bar.set_style(style);
        }
        Self {
            output,
            log,
            bad_network,
            started: Instant::now(),
            bar,
            row_at: Instant::now(),
            row_lines: 0,
            written: Written::default(),
        }
    }

    pub(super) fn begin(&mut self) -> Result<(), Failure> {
        if self.output.json {
            return Ok(());
        }
        let loss = if self.bad_network {
            ", and 5 % of all datagrams are lost on purpose"
        } else {
            ""
        };
        self.output.line(&format!(
            "{} ({}), again and again, goes from one process to another, reliable and keyed{loss}",
            clean(&self.log.name),
            count_of(self.log.len(), "line"),
        ))?;
        let heading = format!(
            "  {:>6} {:>9} {:>9} {:>10} {:>10} {:>11} {:>8}",
            "TIME", "LINES", "LINES/S", "P50", "P99", "BYTES/LINE", "REPAIRS"
        );
        let heading = self.output.paint(Style::Bold, &heading);
        self.output.line(&heading)
    }

    /// Says by which command to see both ends from outside.
    pub(super) fn how_to_watch(&mut self, tag: &str, domain: &str) -> Result<(), Failure> {
        if self.output.json {
            return Ok(());
        }
        let text = format!("  beside it: whimbrel ls -v --interfaces lo --tag {tag}{domain}");
        let text = self.output.paint(Style::Dim, &text);
        self.output.line(&text)
    }

    pub(super) fn writing(&mut self, written: Written) -> Result<(), Failure> {
        self.written = written;
        Ok(())
    }

    pub(super) fn reading(&mut self, read: Read) -> Result<(), Failure> {
        self.bar.set_position(read.lines);
        let since = self.row_at.elapsed();
        if since < ROW_PERIOD || read.recent.samples == 0 {
            return Ok(());
        }
        let rate = (read.lines - self.row_lines) as f64 / since.as_secs_f64();
        (self.row_at, self.row_lines) = (Instant::now(), read.lines);
        let bytes_per_line = per_line(self.written.wire_bytes, self.written.lines);
        if self.output.json {
            return self.output.object(&json!({
                "seconds": rounded(self.started.elapsed().as_secs_f64()),
                "lines": read.lines, "lines_per_second": rounded(rate),
                "p50_us": read.recent.p50_us, "p99_us": read.recent.p99_us,
                "bytes_per_line": rounded(bytes_per_line), "repairs": self.written.repairs,
            }));
        }
        let row = format!(
            "  {:>5.1}s {:>9} {:>9.0} {:>10} {:>10} {:>11.1} {:>8}",
            self.started.elapsed().as_secs_f64(),
            read.lines,
            rate,
            micros(read.recent.p50_us),
            micros(read.recent.p99_us),
            bytes_per_line,
            self.written.repairs
        );
        let output = &mut self.output;
        self.bar.suspend(|| output.line(&row))
    }

    /// Takes the progress bar away.
    pub(super) fn clear(&mut self) {
        self.bar.finish_and_clear();
    }

    pub(super) fn conclude(&mut self, written: &Written, read: &Read) -> Result<(), Failure> {
        let fast_lines = written.lines - read.steady.samples.min(written.lines);
        let steady_rate = read.steady.samples as f64 / written.steady_seconds.max(1e-9);
        let fast_rate = fast_lines as f64 / written.fast_seconds.max(1e-9);
        let bytes_per_line = per_line(written.wire_bytes, written.lines);
        let payload_per_line = per_line(written.payload_bytes, written.lines);
        if self.output.json {
            let phase = |lines: u64, rate: f64, it: &Latency| {
                json!({
                    "lines": lines, "lines_per_second": rounded(rate), "p50_us": it.p50_us,
                    "p99_us": it.p99_us, "max_us": it.max_us,
                })
            };
            return self.output.object(&json!({
                "report": "ok", "file": self.log.name, "file_lines": self.log.len(),
                "published": written.lines, "received": read.lines, "sources": read.sources,
                "checksum": format!("{:016x}", read.checksum),
                "steady": phase(read.steady.samples, steady_rate, &read.steady),
                "full_speed": phase(fast_lines, fast_rate, &read.fast),
                "bytes_per_line": rounded(bytes_per_line),
                "payload_bytes_per_line": rounded(payload_per_line),
                "acknowledgement_bytes": read.wire_bytes, "repairs": written.repairs,
                "bad_network": self.bad_network, "smaller": written.smaller,
                "seconds": rounded(self.started.elapsed().as_secs_f64()),
            }));
        }
        let lines = written.lines;
        let sources = count_of(read.sources, "source");
        let whole = if lines < self.log.len() as u64 {
            format!(" (of {}; for more, --seconds)", self.log.len())
        } else {
            String::new()
        };
        self.output.line("")?;
        self.output.line(&format!(
            "  arrived     {lines} of {lines} lines{whole} from {sources}, in order"
        ))?;
        self.output.line(&format!(
            "  checksum    {:016x}, that of what was published",
            read.checksum
        ))?;
        self.phase("steady", read.steady.samples, steady_rate, &read.steady)?;
        self.phase("full speed", fast_lines, fast_rate, &read.fast)?;
        self.output.line(&format!(
            "  wire        {bytes_per_line:.1} bytes per line, \
             for {payload_per_line:.1} bytes of data"
        ))?;
        for line in smaller(&written.smaller) {
            self.output.line(&line)?;
        }
        self.output
            .line(&format!("  repairs     {}", written.repairs))?;
        let seconds = self.started.elapsed().as_secs_f64();
        let well = self.output.paint(Style::Good, "all of it arrived");
        self.output.line(&format!("{well} ({seconds:.1} s)"))
    }

    fn phase(
        &mut self,
        name: &str,
        lines: u64,
        rate: f64,
        latency: &Latency,
    ) -> Result<(), Failure> {
        self.output.line(&format!(
            "  {name:<10}  {lines} lines, {rate:.0}/s: one-way latency p50 {}, p99 {}, worst {}",
            micros(latency.p50_us),
            micros(latency.p99_us),
            micros(latency.max_us)
        ))
    }
}

/// What made lines fewer octets, where anything did.
fn smaller(it: &Smaller) -> Vec<String> {
    let mut lines = Vec::new();
    if it.compressed > 0 {
        let ratio = per_line(it.plain_bytes, it.compressed_bytes);
        lines.push(format!(
            "  compressed  {} samples or bundles, {} to {} octets (1 of {ratio:.2}), \
             {:.0} ms in the codec",
            it.compressed,
            it.plain_bytes,
            it.compressed_bytes,
            it.seconds * 1000.0
        ));
    }
    if it.below_threshold + it.incompressible + it.not_taken > 0 {
        lines.push(format!(
            "  left plain  {} below the threshold, {} no smaller compressed, {} not taken",
            it.below_threshold, it.incompressible, it.not_taken
        ));
    }
    if it.batches > 0 {
        lines.push(format!("  batches     {}", it.batches));
    } else if it.bundles > 0 {
        lines.push(format!(
            "  bundles     {}, {:.1} lines each",
            it.bundles,
            per_line(it.bundled, it.bundles)
        ));
    }
    lines
}

fn per_line(bytes: u64, lines: u64) -> f64 {
    bytes as f64 / lines.max(1) as f64
}

fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

fn micros(micros: f64) -> String {
    if micros >= 10_000.0 {
        format!("{:.1} ms", micros / 1000.0)
    } else {
        format!("{micros:.0} us")
    }
}
