//! Lines of words and numbers, as the first versions of the original printed.

use super::form::{
    Form, Latencies, LatencySummary, Layout, ThroughputInterval, ThroughputSummary, mean_micros,
    micros,
};

pub(super) struct Legacy {
    form: Form,
}

impl Legacy {
    pub(super) fn new(form: Form) -> Self {
        Self { form }
    }

    fn line(&self, mut text: String, cpu: f64) -> String {
        if self.form.cpu {
            text.push_str(&format!(" CPU {cpu:.2} (%)"));
        }
        text.push('\n');
        text
    }

    fn header(&self, length: usize) -> String {
        if self.form.headers && self.form.intervals {
            format!("\n\n********** New data length is {length}\n")
        } else {
            String::new()
        }
    }
}

impl Layout for Legacy {
    fn begin(&mut self) -> String {
        String::new()
    }

    fn latency_header(&mut self, length: usize) -> String {
        self.header(length)
    }

    fn latency_interval(&mut self, _: usize, latest: u64, all: Latencies, cpu: f64) -> String {
        let ns = self.form.nanoseconds;
        let text = format!(
            "One-Way Latency: {:>6} μs Ave {:>6} μs Std {:>6} μs Min {:>6} μs Max {:>6} μs",
            micros(ns, latest),
            mean_micros(ns, all.ave, 0),
            mean_micros(ns, all.std, 1),
            micros(ns, all.min),
            micros(ns, all.max),
        );
        self.line(text, cpu)
    }

    fn latency_summary(&mut self, summary: &LatencySummary) -> String {
        let ns = self.form.nanoseconds;
        let [p50, p90, p99, p9999, p999999] = summary.percentiles.map(|it| micros(ns, it));
        let mut text = format!(
            "Length: {:5} Latency: Ave {:>6} μs Std {:>6} μs Min {:>6} μs Max {:>6} μs \
             50% {p50:>6} μs 90% {p90:>6} μs 99% {p99:>6} μs 99.99% {p9999:>6} μs \
             99.9999% {p999999:>6} μs",
            summary.length,
            mean_micros(ns, summary.all.ave, 0),
            mean_micros(ns, summary.all.std, 1),
            micros(ns, summary.all.min),
            micros(ns, summary.all.max),
        );
        if self.form.serialization {
            let (out, back) = summary.serialization_us.unwrap_or_default();
            let total = out + back;
            text.push_str(&format!(
                " Serialization {out:.3} μs Deserialization {back:.3} μs Total {total:.3} μs"
            ));
        }
        self.line(text, summary.cpu)
    }

    fn throughput_header(&mut self, length: usize) -> String {
        self.header(length)
    }

    fn throughput_interval(&mut self, it: &ThroughputInterval) -> String {
        let text = format!(
            "Packets: {:8}  Packets/s: {:7}  Packets/s(ave): {:7.0}  Mbps: {:7.1}  \
             Mbps(ave): {:7.1}  Lost: {:5} ({:.2}%)",
            it.packets, it.per_s, it.per_s_ave, it.mbps, it.mbps_ave, it.lost, it.lost_percent
        );
        self.line(text, it.cpu)
    }

    fn throughput_summary(&mut self, it: &ThroughputSummary) -> String {
        let text = format!(
            "Length: {:5}  Packets: {:8}  Packets/s(ave): {:7}  Mbps(ave): {:7.1}  \
             Lost: {:5} ({:.2}%)",
            it.length, it.packets, it.per_s, it.mbps, it.lost, it.lost_percent
        );
        self.line(text, it.cpu)
    }

    fn end(&mut self) -> String {
        String::new()
    }
}
