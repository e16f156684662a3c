//! Comma separated values with padded columns, the usual form.

use super::form::{
    Form, Latencies, LatencySummary, Layout, ThroughputInterval, ThroughputSummary, mean_micros,
    micros,
};

pub(super) struct Csv {
    form: Form,
    /// The header of summaries is still to come: with intervals each has one, else the first.
    summary_header: bool,
}

impl Csv {
    pub(super) fn new(form: Form) -> Self {
        Self {
            form,
            summary_header: true,
        }
    }

    fn row(&self, mut text: String, cpu: f64) -> String {
        if self.form.cpu {
            text.push_str(&format!(",{cpu:8.2}"));
        }
        text.push('\n');
        text
    }

    fn header(&self, title: &str, columns: &str) -> String {
        let cpu = if self.form.cpu { ", CPU (%)" } else { "" };
        format!("{title}{columns}{cpu}\n")
    }

    fn interval_header(&self, title: &str, columns: &str) -> String {
        if self.form.headers && self.form.intervals {
            self.header(title, columns)
        } else {
            String::new()
        }
    }

    fn summary_header(&mut self, title: &str, columns: &str) -> String {
        if !self.form.headers || !self.summary_header {
            return String::new();
        }
        self.summary_header = self.form.intervals;
        self.header(if self.form.intervals { title } else { "" }, columns)
    }
}

impl Layout for Csv {
    fn begin(&mut self) -> String {
        String::new()
    }

    fn latency_header(&mut self, length: usize) -> String {
        self.interval_header(
            &format!("\nIntervals One-Way Latency for {length} Bytes:\n"),
            "Length (Bytes), Latency (μs), Ave (μs), Std (μs), Min (μs), Max (μs)",
        )
    }

    fn latency_interval(&mut self, length: usize, latest: u64, all: Latencies, cpu: f64) -> String {
        let ns = self.form.nanoseconds;
        let text = format!(
            "{length:14},{:>13},{:>9},{:>9},{:>9},{:>9}",
            micros(ns, latest),
            mean_micros(ns, all.ave, 0),
            mean_micros(ns, all.std, 1),
            micros(ns, all.min),
            micros(ns, all.max),
        );
        self.row(text, cpu)
    }

    fn latency_summary(&mut self, summary: &LatencySummary) -> String {
        let mut columns = "Sample Size (Bytes), Ave (μs), Std (μs), Min (μs), Max (μs), 50% (μs), \
                           90% (μs), 99% (μs), 99.99% (μs), 99.9999% (μs)"
            .to_owned();
        if self.form.serialization {
            columns.push_str(", Serialization (μs), Deserialization (μs), Total (μs)");
        }
        let header = self.summary_header("\nOne-way Latency Summary:\n", &columns);
        let ns = self.form.nanoseconds;
        let [p50, p90, p99, p9999, p999999] = summary.percentiles.map(|it| micros(ns, it));
        let mut text = format!(
            "{:19},{:>9},{:>9},{:>9},{:>9},{p50:>9},{p90:>9},{p99:>9},{p9999:>12},{p999999:>14}",
            summary.length,
            mean_micros(ns, summary.all.ave, 0),
            mean_micros(ns, summary.all.std, 1),
            micros(ns, summary.all.min),
            micros(ns, summary.all.max),
        );
        if self.form.serialization {
            let (out, back) = summary.serialization_us.unwrap_or_default();
            text.push_str(&format!(",{out:19.3},{back:21.3},{:11.3}", out + back));
        }
        header + &self.row(text, summary.cpu)
    }

    fn throughput_header(&mut self, length: usize) -> String {
        self.interval_header(
            &format!("\nInterval Throughput for {length} Bytes:\n"),
            "Length (Bytes), Total Samples,  Samples/s, Avg Samples/s,     Mbps,  Avg Mbps, \
             Lost Samples, Lost Samples (%)",
        )
    }

    fn throughput_interval(&mut self, it: &ThroughputInterval) -> String {
        let text = format!(
            "{:14},{:14},{:11},{:14.0},{:9.1},{:10.1}, {:12}, {:16.2}",
            it.length,
            it.packets,
            it.per_s,
            it.per_s_ave,
            it.mbps,
            it.mbps_ave,
            it.lost,
            it.lost_percent
        );
        self.row(text, it.cpu)
    }

    fn throughput_summary(&mut self, it: &ThroughputSummary) -> String {
        let header = self.summary_header(
            "\nThroughput Summary:\n",
            "Sample Size (Bytes), Total Samples, Avg Samples/s,    Avg Mbps, Lost Samples, \
             Lost Samples (%)",
        );
        let text = format!(
            "{:19},{:14},{:14},{:12.1}, {:12}, {:16.2}",
            it.length, it.packets, it.per_s, it.mbps, it.lost, it.lost_percent
        );
        header + &self.row(text, it.cpu)
    }

    fn end(&mut self) -> String {
        String::new()
    }
}
