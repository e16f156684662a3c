//! JSON: one object with an element for each size.

use super::form::{
    Form, Latencies, LatencySummary, Layout, ThroughputInterval, ThroughputSummary, mean_micros,
    micros,
};

pub(super) struct Json {
    form: Form,
    begun: bool,
    /// Elements so far.
    elements: usize,
    /// Intervals of the element that is open; none where no element is.
    intervals: Option<usize>,
}

impl Json {
    pub(super) fn new(form: Form) -> Self {
        Self {
            form,
            begun: false,
            elements: 0,
            intervals: None,
        }
    }

    fn open(&mut self, length: usize) -> String {
        let separator = if self.elements > 0 { "," } else { "" };
        self.elements += 1;
        self.intervals = Some(0);
        let list = if self.form.intervals {
            "\t\t\t\"intervals\":[\n"
        } else {
            ""
        };
        format!("{separator}\n\t\t{{\n\t\t\t\"length\":{length},\n{list}")
    }

    fn interval(&mut self, fields: &str, cpu: f64) -> String {
        let count = self.intervals.get_or_insert(0);
        let separator = if *count > 0 { "," } else { "" };
        *count += 1;
        let cpu = self.cpu("\t\t\t\t\t", cpu);
        format!("{separator}\n\t\t\t\t{{\n{fields}{cpu}\n\t\t\t\t}}")
    }

    /// The end of the open element, which is opened first where nothing was printed of it.
    fn summary(&mut self, length: usize, fields: &str, cpu: f64) -> String {
        let opened = if self.intervals.is_none() {
            self.open(length)
        } else {
            String::new()
        };
        self.intervals = None;
        let list = if self.form.intervals {
            "\n\t\t\t],\n"
        } else {
            ""
        };
        let cpu = self.cpu("\t\t\t\t", cpu);
        format!("{opened}{list}\t\t\t\"summary\":{{\n{fields}{cpu}\n\t\t\t}}\n\t\t}}")
    }

    fn cpu(&self, indent: &str, cpu: f64) -> String {
        if self.form.cpu {
            format!(",\n{indent}\"CPU\": {cpu:.2}")
        } else {
            String::new()
        }
    }
}

/// `"name": value` lines.
fn lines(indent: &str, fields: &[(&str, String)]) -> String {
    let lines: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{indent}\"{name}\": {value}"))
        .collect();
    lines.join(",\n")
}

impl Layout for Json {
    fn begin(&mut self) -> String {
        self.begun = true;
        "{\"perftest\":\n\t[".into()
    }

    fn latency_header(&mut self, length: usize) -> String {
        self.open(length)
    }

    fn latency_interval(&mut self, _: usize, latest: u64, all: Latencies, cpu: f64) -> String {
        let ns = self.form.nanoseconds;
        let fields = [
            ("latency", micros(ns, latest)),
            ("latency_ave", mean_micros(ns, all.ave, 2)),
            ("latency_std", mean_micros(ns, all.std, 2)),
            ("latency_min", micros(ns, all.min)),
            ("latency_max", micros(ns, all.max)),
        ];
        self.interval(&lines("\t\t\t\t\t", &fields), cpu)
    }

    fn latency_summary(&mut self, summary: &LatencySummary) -> String {
        let ns = self.form.nanoseconds;
        let [p50, p90, p99, p9999, p999999] = summary.percentiles.map(|it| micros(ns, it));
        let mut fields = vec![
            ("latency_ave", mean_micros(ns, summary.all.ave, 2)),
            ("latency_std", mean_micros(ns, summary.all.std, 2)),
            ("latency_min", micros(ns, summary.all.min)),
            ("latency_max", micros(ns, summary.all.max)),
            ("latency_50", p50),
            ("latency_90", p90),
            ("latency_99", p99),
            ("latency_99.99", p9999),
            ("latency_99.9999", p999999),
        ];
        if self.form.serialization {
            let (out, back) = summary.serialization_us.unwrap_or_default();
            fields.push(("serialize", format!("{out:.3}")));
            fields.push(("deserialize", format!("{back:.3}")));
            fields.push(("total_s", format!("{:.3}", out + back)));
        }
        self.summary(summary.length, &lines("\t\t\t\t", &fields), summary.cpu)
    }

    fn throughput_header(&mut self, length: usize) -> String {
        self.open(length)
    }

    fn throughput_interval(&mut self, it: &ThroughputInterval) -> String {
        let fields = [
            ("length", it.length.to_string()),
            ("packets", it.packets.to_string()),
            ("packets/s", it.per_s.to_string()),
            ("packets/s_ave", format!("{:.2}", it.per_s_ave)),
            ("mbps", format!("{:.1}", it.mbps)),
            ("mbps_ave", format!("{:.1}", it.mbps_ave)),
            ("lost", it.lost.to_string()),
            ("lost_percent", format!("{:.2}", it.lost_percent)),
        ];
        self.interval(&lines("\t\t\t\t\t", &fields), it.cpu)
    }

    fn throughput_summary(&mut self, it: &ThroughputSummary) -> String {
        let fields = [
            ("packets", it.packets.to_string()),
            ("packets/sAve", it.per_s.to_string()),
            ("mbpsAve", format!("{:.1}", it.mbps)),
            ("lost", it.lost.to_string()),
            ("lostPercent", format!("{:.2}", it.lost_percent)),
        ];
        self.summary(it.length, &lines("\t\t\t\t", &fields), it.cpu)
    }

    fn end(&mut self) -> String {
        let begun = if self.begun {
            String::new()
        } else {
            self.begin()
        };
        let list = if self.form.intervals { "\n\t\t\t]" } else { "" };
        let open = match self.intervals.take() {
            // Nothing came of the last size: its element has no summary.
            Some(_) if self.form.intervals => format!("{list}\n\t\t}}"),
            Some(_) => "\t\t\t\"summary\":null\n\t\t}".into(),
            None => String::new(),
        };
        format!("{begun}{open}\n\t]\n}}\n")
    }
}
